"""The Lagrangian bound of programs whose constraints are limits on mean hinges, less all rounding errors.

For the program

    minimise  Σ_k cost_k |w_k| + ω(w)     subject to   h_g(w) ≤ c_g,   A w ≤ c  (or = c),   lower ≤ w ≤ upper,

``h_g(w) = mean_ij [1 − w·d_ij]₊`` over the pairs of part g, and ω one of

* 0                          (least norm),
* h_0(w)                     (a further mean hinge, without a limit),
* max_g (h_g(w) − c_g)       (the largest excess; the limits are then no constraints),

take weights ``0 ≤ q_ij ≤ share_i share_j`` on the pairs of each part, with ``S_g = Σ q``, ``g_g = Σ q d``. As
``[1 − m]₊ ≥ t (1 − m)`` for t in [0, 1], ``h_g(w) ≥ S_g − g_g·w`` for every w. With multipliers π_g ≥ 0 (π_0 ≤ 1 for
h_0; Σπ_g = 1 for the largest excess), μ ≥ 0 (free for equations) and ``r = Σ π_g g_g − Aᵀμ``, every feasible w has an
objective of at least

    Σ_g π_g (S_g − c_g) − μ·c + Σ_k min { cost_k |w_k| − r_k w_k : lower_k ≤ w_k ≤ upper_k },      c_0 = 0.

The minimum over one coefficient is at a bound or at 0. It is −∞ if ``r_k > cost_k`` and there is no upper bound (or
``r_k < −cost_k`` and no lower one); all multipliers of limits and rows are then scaled down by the factor that makes
r_k fit. Only the sums S and g of the weights are needed, so no pairs (`auclab.solvers.certificate`). Derived.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auclab.compiled.transport import largest_excess
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.precision import FEW_ROUNDINGS
from auclab.solvers.guaranteed.parts import Part
from auclab.solvers.verified.marginals import feasible_multipliers
from auclab.solvers.verified.moments import moments
from auclab.solvers.verified.value import DOWN
from auclab.types import Array


@dataclass(frozen=True)
class WeightedPart:
    """A part, its multiplier π, and weights of its pairs by their sums for each observation.

    `limit`: c_g; 0 for what is minimised. `weight` ≥ 0: π_g. `pos`, `neg` (n_pos,) and (n_neg,): ``Σ_j q_ij`` and ``Σ_i
    q_ij``, feasible.
    """

    part: Part
    limit: float
    weight: float
    pos: Array
    neg: Array

    @classmethod
    def of(cls, part: Part, limit: float, weight: float, pos: Array, neg: Array) -> WeightedPart:
        """With the nearest feasible weights."""
        return cls(part, limit, weight, *feasible_multipliers(part.problem, pos, neg))

    def bounds(self) -> tuple[float, Array, Array]:
        """A lower bound of S, and g with a bound on its error, both after charging for exceeded capacities.

        Weights that exceed a capacity by ε, or whose sums differ by ε, are within ε of feasible ones, which lowers S by
        ε and moves g by at most 2ε times the largest entry of each column.
        """
        sample = self.part.sample
        sums = moments(sample, self.pos, self.neg)
        excess = largest_excess(self.pos, self.neg, sample.share_pos, sample.share_neg, 1.0)
        lacking = max(0.0, excess) + float(sums.largest[-1])
        return sums.total - lacking, sums.value[:-1], sums.error[:-1] + 2.0 * lacking * sample.peaks


def lagrangian_bound(
    parts: Sequence[WeightedPart],
    cost: Array,
    constraints: ColumnConstraints,
    row_multipliers: Array,
    *,
    scalable: bool = True,
) -> float:
    """The bound of the module's docstring, rounded down.

    `parts`: with weights as the objective requires. `cost` (n_features,), ≥ 0. `row_multipliers` (n_rows,): μ;
    negative entries of inequalities count as 0. `scalable`: whether the multipliers may be scaled down; not for
    the largest excess, where ``Σπ_g = 1``. Returns: −∞ where nothing is proved.
    """
    mu = np.where(constraints.equal, row_multipliers, np.maximum(row_multipliers, 0.0))
    terms = list(-mu * constraints.limit)
    residual = -(constraints.matrix.T @ mu)
    error = FEW_ROUNDINGS * (abs(constraints.matrix).T @ abs(mu))
    for each in parts:
        total, gradient, off = each.bounds()
        terms += [each.weight * total, -each.weight * each.limit]
        residual = residual + each.weight * gradient
        error = error + each.weight * (off + FEW_ROUNDINGS * abs(gradient))
    value = math.fsum(terms) - FEW_ROUNDINGS * math.fsum(map(abs, terms))
    largest = _largest_scale(residual, error, cost, constraints)
    if not scalable and largest < 1.0:
        return -math.inf
    scales = {0.0, largest} if scalable else {1.0}
    return max(scale * value + _least(scale, residual, error, cost, constraints) for scale in scales)


def _largest_scale(residual: Array, error: Array, cost: Array, constraints: ColumnConstraints) -> float:
    """The largest factor ≤ 1 for which the minimum over every w_k is finite."""
    scale = 1.0
    for size, free in (
        (residual + error, constraints.upper == np.inf),
        (error - residual, constraints.lower == -np.inf),
    ):
        too_large = free & (size > cost)
        if too_large.any():
            scale = min(scale, float((cost[too_large] / size[too_large]).min()) * DOWN)
    return scale


def _least(scale: float, residual: Array, error: Array, cost: Array, constraints: ColumnConstraints) -> float:
    """``Σ_k min (cost_k |w_k| − scale·r_k w_k)`` over the bounds of w and all r within the error, rounded down."""
    lower, upper = constraints.lower, constraints.upper
    ends = [
        np.clip(0.0, lower, upper),
        np.where(np.isfinite(lower), lower, 0.0),
        np.where(np.isfinite(upper), upper, 0.0),
    ]
    found = np.full(cost.size, np.inf)
    for w in ends:
        w = np.clip(w, lower, upper)
        size = cost * abs(w) + scale * (abs(residual) + error) * abs(w)
        found = np.minimum(found, cost * abs(w) - scale * (residual * w + error * abs(w)) - FEW_ROUNDINGS * size)
    return math.fsum(found) - FEW_ROUNDINGS * math.fsum(abs(found))
