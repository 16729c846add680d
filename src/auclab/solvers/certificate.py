"""From a solver's multipliers to a verified lower bound.

The dual value of a pair weighting q depends on its marginals ``α_i = Σ_j q_ij`` and ``β_j = Σ_i q_ij`` alone:

    Σq = Σα = Σβ,     Σ q d = Σ α_i x_i⁺ − Σ β_j x_j⁻,

and marginals belong to some ``0 ≤ q_ij ≤ cap_ij`` iff they pass the transport (Gale–Ryser) condition. So a
certificate over 10¹² pairs costs O(m log m). Derived; the duals: Norton & Uryasev's programs, derivations 7.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.constraint_multipliers import constraint_multipliers
from auclab.solvers.solution import Certificate
from auclab.types import Array

#: Below this objective a gap is absolute, in units of it: the objective is a mean of hinges, of order 1 at w = 0.
SMALL_OBJECTIVE = 1e-3
#: Homogeneous dual constraints cannot be satisfied by scaling; the violation is charged for all ‖w‖ up to
#: this many times the norm of the solution.
NORM_MARGIN = 10.0


def relative_gap(objective: float, lower_bound: float) -> float:
    """``(objective − lower_bound) / max(|objective|, 1e-3)``; NaN if either is unknown.

    Examples
    --------
    >>> round(relative_gap(0.5, 0.4), 12), round(relative_gap(1e-5, 0.0), 12)
    (0.2, 0.01)
    """
    return (objective - lower_bound) / max(abs(objective), SMALL_OBJECTIVE)


def certify(
    problem: Problem,
    coef: Array,
    intercept: float,
    multipliers: tuple[Array, Array] | None,
    objective: float | None = None,
) -> tuple[Certificate, tuple[Array, Array] | None]:
    """The certificate of a point, and its multipliers made feasible.

    Parameters
    ----------
    problem : Problem
    coef : array of shape (n_features,)
    intercept : float
    multipliers : pair of arrays of shapes (n_pos,) and (n_neg,), or None
        Marginals of a dual point, feasible or not; None if there are none.
    objective : float, optional
        The value at the point if it has been computed.

    See Also
    --------
    certify_tree : From the bound of a branch-and-bound tree.
    """
    if objective is None:
        objective = problem.objective(coef, intercept)
    if multipliers is None or not all(np.isfinite(part).all() for part in multipliers):
        return Certificate(objective, math.nan, math.nan, math.nan, math.nan), None
    multipliers = feasible_multipliers(problem, *multipliers)
    dual = dual_bound(problem, coef, multipliers)
    gap = relative_gap(objective, dual.bound)
    certificate = Certificate(objective, dual.bound, objective - dual.bound, gap, dual.residual, dual.radius)
    return certificate, (dual.scale * multipliers[0], dual.scale * multipliers[1])


def certify_tree(bound: float, objective: float) -> Certificate:
    """The certificate of a point whose lower bound is that of a branch-and-bound tree."""
    return Certificate(objective, bound, objective - bound, relative_gap(objective, bound), math.nan)


@dataclass(frozen=True)
class DualBound:
    """A lower bound and how it was reached.

    `scale` is the factor by which the multipliers were scaled for it, `residual` the violation of the dual constraint
    before, `radius` the largest ‖w‖ for which the bound holds.
    """

    bound: float
    scale: float
    residual: float
    radius: float


def dual_bound(problem: Problem, coef: Array, multipliers: tuple[Array, Array]) -> DualBound:
    """The dual value of multipliers within their capacities, a bound for every w (or for all ‖w‖ up to a radius).

    With ``g = Σ q d``, ``S = Σ q`` and ``e = max(0, ‖g‖_* + zS)`` (derivations 7.1):

    * unsquared penalty: ``τS`` with ``τ = min(1, λ/e)``;
    * squared penalty: ``τS − τ²e²/(4λ)`` at its best τ in [0, 1];
    * no penalty: ``S − W·e``, true for all ``‖w‖ ≤ W``; without a norm (z = 0) lengths are Euclidean with every
      feature in units of its spread.

    With constraints ``A w ≤ c`` and their multipliers μ, S less μ·c and g less Aᵀμ take the place of S and g.
    """
    program, sample = problem.program, problem.sample
    margins = total = float(multipliers[0].sum() + (0.0 if problem.over_pairs else multipliers[1].sum()))
    gradient = sample.combine(*multipliers)
    if problem.constraints is not None:
        held = constraint_multipliers(program, problem.constraints, gradient, total, sample.spread, coef)
        gradient, total = held.residual(problem.constraints, gradient), total - held.cost(problem.constraints)
        if not total > 0:
            return DualBound(0.0, 0.0, 0.0, math.inf)
    size = max(0.0, program.regulariser.norm.dual(gradient) + program.threshold * margins)
    if program.penalty > 0 and program.squared:
        scale = 1.0 if size == 0 else min(1.0, 2 * program.penalty * total / size / size)
        return DualBound(max(0.0, scale * total - (scale * size) ** 2 / (4 * program.penalty)), scale, 0.0, math.inf)
    if program.penalty > 0:
        scale = 1.0 if size <= program.penalty else program.penalty / size
        return DualBound(scale * total, scale, max(0.0, size - program.penalty), math.inf)
    if program.uses_norm:
        residual, length = size, program.regulariser.norm(coef)
    else:
        # No norm belongs to the program: take the one in which features of any scale count alike.
        residual = float(np.linalg.norm(gradient / sample.spread))
        length = float(np.linalg.norm(coef * sample.spread))
    if residual == 0:
        return DualBound(total, 1.0, 0.0, math.inf)
    radius = NORM_MARGIN * (length or _unit_norm(problem))
    return DualBound(max(0.0, total - radius * residual), 1.0, residual, radius)


def feasible_multipliers(problem: Problem, pos: Array, neg: Array) -> tuple[Array, Array]:
    """The nearest multipliers of the same shape that belong to a feasible dual point.

    Negative entries are cut off, both classes are brought to one sum (that of ``Σ q y = 0`` over points), and
    what exceeds the capacities is removed: entry by entry over points, by the largest admissible common
    factor over pairs.
    """
    sample = problem.sample
    pos, neg = np.maximum(pos, 0.0), np.maximum(neg, 0.0)
    if problem.over_pairs and sample.weighted:
        # Observations without weight have pairs without capacity.
        pos, neg = pos * (sample.share_pos > 0), neg * (sample.share_neg > 0)
    elif not problem.over_pairs:
        capacity_pos, capacity_neg = sample.point_weights
        pos, neg = np.minimum(pos, capacity_pos), np.minimum(neg, capacity_neg)
    sum_pos, sum_neg = float(pos.sum()), float(neg.sum())
    if sum_pos == 0 or sum_neg == 0:
        return np.zeros_like(pos), np.zeros_like(neg)
    smaller = min(sum_pos, sum_neg)
    pos *= smaller / sum_pos
    neg *= smaller / sum_neg
    if problem.over_pairs:
        factor = transport_factor(pos, neg, sample.share_pos, sample.share_neg)
        pos *= factor
        neg *= factor
    return pos, neg


def transport_factor(pos: Array, neg: Array, share_pos: Array, share_neg: Array) -> float:
    """The largest τ ≤ 1 for which τ·(pos, neg) are the marginals of some ``0 ≤ q_ij ≤ share_pos_i share_neg_j``.

    By max-flow/min-cut it suffices that every set I of positives fits: ``τ Σ_I pos ≤ Σ_j min(τ neg_j, share_neg_j
    share_pos(I))``; with φ(c) = Σ_j min(neg_j, c·share_neg_j), which is concave, the binding sets are those of
    the largest ratios pos_i/share_pos_i, and the condition is ``τ ≤ share_pos(I)/φ⁻¹(Σ_I pos)``.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> transport_factor(half, half, half, half)                       # q_ij = ¼, the capacity
    1.0
    >>> transport_factor(np.array([0.5, 0.0]), half / 2, half, half)   # row sum ½ fills its capacity ½
    1.0
    >>> transport_factor(np.array([1.0, 0.0]), half, half, half)       # twice as much as fits
    0.5
    """
    levels, share, neg = _by_density(neg, share_neg)
    # φ at its kinks c = levels: full sums below, c times the remaining share above. In place, as the arrays are long.
    values = np.zeros(levels.size + 1)
    np.cumsum(neg[:-1], out=values[2:])
    above = np.cumsum(share[::-1])[::-1]
    above *= levels
    values[1:] += above
    levels = np.concatenate(([0.0], levels))
    del above, neg, share
    _, capacity, demand = _by_density(pos, share_pos)
    capacity, demand = np.cumsum(capacity[::-1]), np.cumsum(demand[::-1])
    # Rounding in the sums may put a demand above the largest value of φ; it is then the largest level.
    needed = np.interp(demand, values, levels)
    used = needed > 0
    return float(min(1.0, (capacity[used] / needed[used]).min())) if used.any() else 1.0


def _by_density(multipliers: Array, share: Array) -> tuple[Array, Array, Array]:
    """``multipliers / share``, ascending, with share and multipliers in the same order; shares of 0 left out."""
    if share[0] > 0 and (share == share[0]).all():
        # Equal shares need no permutation, and a plain sort is several times faster.
        ascending = np.sort(multipliers)
        return ascending / share[0], share, ascending
    multipliers, share = multipliers[share > 0], share[share > 0]
    density = multipliers / share
    order = np.argsort(density)
    return density[order], share[order], multipliers[order]


def _unit_norm(problem: Problem) -> float:
    """A norm at which scores differ by about 1: the scale of w when the solution itself is 0."""
    if not problem.program.uses_norm:
        return 1.0
    return problem.program.regulariser.norm(1.0 / problem.sample.spread)
