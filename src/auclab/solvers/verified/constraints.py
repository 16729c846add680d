"""The contribution of constraints on w to a verified bound, including all rounding errors.

For q within its capacities and multipliers μ of the rows ``A w ≤ c`` (≥ 0, free for equations) every w that satisfies
the constraints has

    objective ≥ S − μ·c − (g − Aᵀμ)·w − zS‖w‖ + λΩ(w),      g = Σ q d,  S = Σ q:

the formulas of `bound` with ``r = g − Aᵀμ`` in place of g and ``S − μ·c`` in place of the sum. A bound on w_k absorbs
the component r_k of its sign, ``−r_k w_k ≥ −r_k u_k`` for ``r_k > 0`` and ``w_k ≤ u_k``: for a sign constraint this is
free, and the remaining residual is one-sided. μ and these components may be any numbers of the right sign, so they need
no proof; their products with A, c and the bounds are summed with error bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.accurate import two_sums, weighted_column_sums
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.models.constraint_multipliers import ConstraintMultipliers, constraint_multipliers
from auclab.solvers.verified.correction import Rows
from auclab.solvers.verified.moments import Moments
from auclab.solvers.verified.value import UP
from auclab.types import Array


@dataclass(frozen=True)
class Lagrangian:
    """Constraints with multipliers.

    `constraints`: convex. `takes_up`, `takes_down` (n_features,): the columns whose upper, and whose lower, bounds
    absorb residuals: all, at their price, in programs without a norm; otherwise bounds of 0, which is free, and makes
    an absolute norm of the residual smaller. `signs` (n_rows + n_features,): those of the multipliers of rows and
    bounds; constraints with 0 are left out of corrections.
    """

    constraints: ColumnConstraints
    multipliers: ConstraintMultipliers
    takes_up: NDArray[np.bool_]
    takes_down: NDArray[np.bool_]
    signs: Array

    def moments(self, sums: Moments) -> Moments:
        """The moments with ``g − Aᵀμ`` in place of g."""
        if not self.multipliers.rows.size:
            return sums
        high, low, error = weighted_column_sums(self.constraints.matrix, -self.multipliers.rows)
        total, lost = two_sums(sums.high, np.r_[high, 0.0])
        carried, rest = two_sums(sums.low, np.r_[low, 0.0])
        size = abs(sums.high) + abs(np.r_[high, 0.0])
        return replace(
            sums, high=total, low=lost + carried + rest, error=sums.error + np.r_[error, 0.0] + 2.0**-98 * size
        )

    @property
    def price(self) -> float:
        """``μ·c + Σ h(ν)``, rounded up."""
        held, limits = self.multipliers, self.constraints
        weights = np.r_[held.rows, held.bounds]
        bounds = np.where(held.bounds > 0, limits.upper, np.where(held.bounds < 0, limits.lower, 0.0))
        high, low, error = weighted_column_sums(np.r_[limits.limit, bounds][:, None], weights)
        total = float(high[0] + low[0])
        return total + float(error[0]) + abs(total) * 2.0**-50

    def remaining(self, value: Array, error: Array) -> tuple[float, tuple[Array, Array]]:
        """The price of the residual that bounds absorb, rounded up, and what the rest is between.

        `value`, `error` (n_features,): ``g − Aᵀμ`` is within ``value ± error``.
        """
        rest = value - self.multipliers.bounds
        error = error * UP + 2.0**-52 * (abs(value) + abs(rest))
        low, high = rest - error, rest + error
        of_upper = np.where(self.takes_up, self.constraints.upper, 0.0)
        of_lower = np.where(self.takes_down, self.constraints.lower, 0.0)
        # −r w ≥ −max(r u), at the worst r of its interval; the other sign of r likewise.
        worst = np.maximum(np.maximum(high, 0.0) * of_upper, np.maximum(low, 0.0) * of_upper)
        worst = worst + np.maximum(np.minimum(low, 0.0) * of_lower, np.minimum(high, 0.0) * of_lower)
        price = float(worst.sum()) + 2.0**-50 * worst.size * float(abs(worst).sum())
        low, high = (np.where(self.takes_up, np.minimum(end, 0.0), end) for end in (low, high))
        low, high = (np.where(self.takes_down, np.maximum(end, 0.0), end) for end in (low, high))
        return price, (low, high)

    def left_over(self, value: Array, spare: Array | float = 0.0) -> NDArray[np.bool_]:
        """The columns whose residual is not absorbed by a bound, or is within `spare` of 0.

        `value` (n_features,): ``g − Aᵀμ``.
        """
        rest = value - self.multipliers.bounds
        up, down = self.takes_up, self.takes_down
        return ~((up & down) | (up & (rest > spare)) | (down & (rest < -np.asarray(spare))))

    def excess(self, value: Array, columns: NDArray[np.bool_]) -> Array:
        """The residual that a correction has to remove from ``g − Aᵀμ``, in some columns."""
        return np.where(columns, value - self.multipliers.bounds, 0.0)

    def in_order_of_rows(self, value: Array) -> Array:
        """The multipliers in the order of `ColumnConstraints.all_rows`, including the residual that bounds absorb."""
        bounds = self.multipliers.bounds
        rest = value - bounds
        bounds = bounds + np.where(self.takes_up, np.maximum(rest, 0.0), 0.0)
        bounds = bounds + np.where(self.takes_down, np.minimum(rest, 0.0), 0.0)
        return ConstraintMultipliers(self.multipliers.rows, bounds).in_order_of_rows(self.constraints)

    def joined(self, rows: Rows) -> Rows:
        """Observations of a correction with the active constraints, whose multipliers may change as well."""
        active = np.flatnonzero(self.signs)
        if not active.size:
            return rows
        features = np.vstack([self.constraints.matrix, np.eye(self.constraints.n_features)])[active]
        values = np.r_[self.multipliers.rows, self.multipliers.bounds][active]
        return rows.with_others(np.c_[-self.signs[active, None] * features, np.zeros(active.size)], abs(values))

    def replaced(self, values: Array) -> Lagrangian:
        """With other moduli of the multipliers of the active constraints, in the order of `joined`."""
        changed = np.zeros(self.signs.size)
        changed[self.signs != 0] = values
        rows, bounds = np.split(self.signs * changed, [self.multipliers.rows.size])
        return replace(self, multipliers=ConstraintMultipliers(rows, bounds))

    def price_of(self, change: Array) -> float:
        """The largest cost of changes of these moduli, rounded up."""
        bounds = np.where(
            self.signs[-self.constraints.n_features :] > 0, self.constraints.upper, self.constraints.lower
        )
        limits = np.r_[self.constraints.limit, bounds][self.signs != 0]
        return float(abs(change) @ abs(limits)) * UP


def lagrangian(problem: Problem, coef: Array, multipliers: tuple[Array, Array], without_norm: bool) -> Lagrangian:
    """The constraints with the multipliers that go with those of the margins; without constraints nothing is changed.

    `without_norm`: whether only the constraints absorb ``Σ q d``.
    """
    sample, constraints = problem.sample, problem.constraints
    if constraints is None:
        found, none = ConstraintMultipliers(np.zeros(0), np.zeros(sample.n_features)), np.zeros(sample.n_features, bool)
        return Lagrangian(ColumnConstraints.of(sample.n_features), found, none, none, found.bounds)
    total = float(multipliers[0].sum() + (0.0 if problem.over_pairs else multipliers[1].sum()))
    gradient = sample.combine(*multipliers)
    found = constraint_multipliers(problem.program, constraints, gradient, total, sample.spread, coef)
    if without_norm:
        found = replace(found, bounds=np.zeros_like(found.bounds))
    if without_norm:
        takes = np.isfinite(constraints.upper), np.isfinite(constraints.lower)
    else:
        is_absolute = problem.program.regulariser.norm.is_absolute
        takes = is_absolute & (constraints.upper == 0), is_absolute & (constraints.lower == 0)
    return Lagrangian(constraints, found, *takes, np.sign(np.r_[found.rows, found.bounds]))
