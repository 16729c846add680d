"""The dual value of multipliers, with rounding charged or not, with constraints, and sums with their errors.

With ``g = Σ q d``, ``S = Σ q`` and ``e = max(0, ‖g‖_* + zS)`` (derivations 7.1) every w has at least the objective

* ``max_τ τV − R*(τg)``, 0 ≤ τ ≤ 1, with a regulariser R (`Regulariser.dual_value`): of λ‖w‖ it is τV with
  ``τ = min(1, λ/e)``, of λ‖w‖² ``τV − τ²e²/(4λ)``;
* ``V − W·e`` without one, for all ``‖w‖ ≤ W``; without a norm (z = 0) lengths are Euclidean with every feature in units
  of its spread.

V is the value of the multipliers: S for a mean of hinges, minus the price of constraints.

For q within its capacities and multipliers μ of the rows ``A w ≤ c`` (≥ 0, free for equations) every w that satisfies
the constraints has

    objective ≥ S − μ·c − (g − Aᵀμ)·w − zS‖w‖ + λΩ(w),      g = Σ q d,  S = Σ q:

the formulas above with ``r = g − Aᵀμ`` in place of g and ``S − μ·c`` in place of the sum. A bound on w_k absorbs
the component r_k of its sign, ``−r_k w_k ≥ −r_k u_k`` for ``r_k > 0`` and ``w_k ≤ u_k``: for a sign constraint this is
free, and the remaining residual is one-sided. μ and these components may be any numbers of the right sign, so they need
no proof; their products with A, c and the bounds are summed with error bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auclab._core.accurate import accurate_sum, relative_error, two_sums, weighted_column_sums
from auclab._core.base import Array
from auclab._core.tolerances import FEW_ROUNDINGS, SOLVED
from auclab.certificates.correction import Rows
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.models.constraint_multipliers import ConstraintMultipliers, constraint_multipliers
from auclab.models.timings import Clock
from auclab.samples.memory import Sample

#: Where a length is not known, w is at most this many times as long as a w that is.
FARTHER = 10.0
#: Change of the scores, by a standard deviation of a column, that tells w from one that is 0 up to rounding.
_SEEN = 0.1


@dataclass(frozen=True)
class Moments:
    """``g = Σ α_i x_i⁺ − Σ β_j x_j⁻`` and the sums ``Σα``, ``Σβ``.

    `high`, `low` (n_features + 1,): g and, as the last entry, ``Σα − Σβ``; the value is ``high + low``. `error`
    (n_features + 1,): bounds on their errors. `total`: ``min(Σα, Σβ)``, rounded down.
    """

    high: Array
    low: Array
    error: Array
    total: float

    @property
    def value(self) -> Array:
        """The sums, rounded; shape (n_features + 1,)."""
        return self.high + self.low

    @property
    def largest(self) -> Array:
        """Upper bounds of their moduli, shape (n_features + 1,)."""
        return (abs(self.value) + self.error) * (1.0 + 2.0**-50)


def moments(sample: Sample, pos: Array, neg: Array) -> Moments:
    """The sums of multipliers ``pos`` (n_pos,) and ``neg`` (n_neg,) of a sample, in one pass over its rows."""
    (high_pos, low_pos, error_pos), (high_neg, low_neg, error_neg) = sample.accurate_sums(pos, neg)
    sum_pos, sum_neg = accurate_sum(pos), accurate_sum(neg)
    parts_pos = np.append(high_pos, sum_pos[0]), np.append(low_pos, sum_pos[1])
    parts_neg = np.append(high_neg, sum_neg[0]), np.append(low_neg, sum_neg[1])
    # g = Σ α_i x_i⁺ − Σ β_j x_j⁻ as high + low: what the differences lose is added to low.
    high, low = two_sums(parts_pos[0], -parts_neg[0])
    carried, lost = two_sums(parts_pos[1], -parts_neg[1])
    high, rest = two_sums(high, low + carried)
    size = abs(parts_pos[0]) + abs(parts_neg[0])
    error = np.append(error_pos + error_neg, relative_error(pos.size + neg.size) * (sum_pos[0] + sum_neg[0]))
    # Rows that are rounded means of others: the rests of the means are summed too.
    if sample.rounding is not None:
        sums = pos @ sample.rounding.rest_pos, neg @ sample.rounding.rest_neg
        rest[:-1] += sums[0] - sums[1]
        off_by = sample.rounding.error + 2.0**-50 * (pos.size + neg.size) * sample.rounding.largest
        error[:-1] += off_by * ((sum_pos[0] + sum_neg[0]) * (1.0 + 2.0**-50))
    total = min(sum_pos[0], sum_neg[0]) * (1.0 - 2.0**-50)
    return Moments(high, rest + lost, error + 2.0**-100 * size, total)


UP, DOWN = 1.0 + FEW_ROUNDINGS, 1.0 - FEW_ROUNDINGS


class Rounding(NamedTuple):
    """Factors that round a norm up and a bound down by more than the error of their evaluation."""

    up: float = 1.0
    down: float = 1.0

    @classmethod
    def charged(cls, n_features: int) -> Rounding:
        """For sums of `n` terms ≥ 0, and roots, quotients and products of them."""
        return cls(UP + n_features * 2.0**-52, DOWN)


@dataclass(frozen=True)
class Goal:
    """The objective at a solution, the required gap, ``tolerance · max(objective, 1e-3)``, and the time for it."""

    objective: float
    gap: float
    clock: Clock = field(default_factory=Clock)

    @property
    def seconds(self) -> float:
        """Seconds left for corrections."""
        left = self.clock.left
        return 0.0 if self.clock.is_over else math.inf if left is None else left

    @property
    def least_cost(self) -> float:
        """Loss of a bound that always counts as negligible."""
        return 1e-3 * self.gap

    @property
    def largest_cost(self) -> float:
        """The largest loss of a bound in exchange for a larger radius."""
        return 0.1 * self.gap

    def is_reached_by(self, found: DualBound) -> bool:
        """Whether a bound holds for every w and reaches the required gap."""
        return math.isinf(found.radius) and self.objective - found.bound <= self.gap

    def prefers(self, found: DualBound, best: DualBound) -> bool:
        """Whether a bound is near enough for every w, or larger, or for longer w at what a radius may cost."""
        enough = self.is_reached_by(found)
        if enough != self.is_reached_by(best):
            return enough
        if abs(found.bound - best.bound) <= self.largest_cost and found.radius != best.radius:
            return found.radius > best.radius
        return found.bound > best.bound


@dataclass(frozen=True)
class DualBound:
    """A lower bound and its multipliers.

    `bound`: no w with ``‖w‖ ≤ radius`` has a smaller objective. `scale`: by what the multipliers are to be multiplied.
    `residual`: the violation of the dual constraint that was charged or scaled away. `multipliers` (n_pos,) and
    (n_neg,): before `scale`. `constraints` (n_rows,): those of the constraints, in the order of
    `ColumnConstraints.all_rows`, before `scale`.
    """

    bound: float
    scale: float
    residual: float
    radius: float
    multipliers: tuple[Array, Array]
    constraints: Array | None = None

    @classmethod
    def nothing(cls, multipliers: tuple[Array, Array]) -> DualBound:
        """The bound 0, which always holds."""
        return cls(0.0, 0.0, 0.0, math.inf, multipliers)


def widened(low: Array, high: Array) -> tuple[Array, Array]:
    """Both ends moved outwards by more than their rounding."""
    return low - (UP - 1.0) * abs(low), high + (UP - 1.0) * abs(high)


def dual_bound(
    problem: Problem, coef: Array, multipliers: tuple[Array, Array], gradient: Array | None = None
) -> DualBound:
    """The dual value of multipliers within their capacities, in working precision: for the iterations of a solver.

    `coef` (n_features,): the solution, whose length sets the radius. `gradient` (n_features,): ``Σ q d``, if known.
    """
    sample, constraints = problem.sample, problem.constraints
    margins = worth = problem.program.comparisons.total(*(float(part.sum()) for part in multipliers))
    gradient = sample.combine(*multipliers) if gradient is None else gradient
    if constraints is not None:
        held = constraint_multipliers(problem.program, constraints, gradient, margins, sample.spread, coef)
        gradient, worth = held.residual(constraints, gradient), worth - held.cost(constraints)
    return dual_value(problem, coef, multipliers, margins, worth, (gradient, gradient), Rounding())


def dual_value(
    problem: Problem,
    coef: Array,
    multipliers: tuple[Array, Array],
    margins: float,
    worth: float,
    between: tuple[Array, Array],
    rounding: Rounding,
    goal: Goal | None = None,
) -> DualBound:
    """The bound of feasible multipliers.

    `multipliers` (n_pos,) and (n_neg,): what is returned with the bound. `margins`, `worth`: S and V, or what they are
    at least. `between` (n_features,), twice: g is between these. `rounding`: of what is computed here. `goal`: what a
    larger radius may cost.
    """
    program, regulariser = problem.program, problem.program.regulariser
    if not worth > 0:
        return DualBound.nothing(multipliers)
    gradient, more = problem.enclosed(*between)
    # As (g + δ)·w ≤ g·w + ε‖w‖ where ‖δ‖_* ≤ ε, what ‖g‖_* may be larger by is taken from the slack.
    slack = -program.threshold * margins * rounding.down - more
    if program.regulariser.weight > 0:
        # max over 0 ≤ τ ≤ 1 of τV − R*(τg): multipliers scale, and g with them (derivations 7.1).
        bound, scale = regulariser.dual_value(gradient, slack, worth, rounding.up)
        scale = scale if scale == 1.0 else scale * rounding.down
        charged = regulariser.reach_is_finite and scale < 1.0 - SOLVED
        residual = regulariser.size(gradient, slack, rounding.up) - regulariser.weight if charged else 0.0
        return DualBound(max(0.0, bound * rounding.down), scale, residual, math.inf, multipliers)
    # e = max(0, ‖g‖_* + zS): the bound is V where e = 0, and V − W e for ‖w‖ ≤ W elsewhere.
    residual = max(0.0, problem.lengths.dual(gradient) * rounding.up - slack) * (rounding.up if slack else 1.0)
    if residual == 0:
        return DualBound(worth, 1.0, 0.0, math.inf, multipliers)
    length, unit = problem.lengths.of(coef), problem.lengths.unit
    radius = FARTHER * max(length, unit)
    if goal is not None:
        # A larger radius may cost half of the rest of the gap, and never much.
        cost = max(0.5 * (goal.gap - (goal.objective - worth)), goal.least_cost)
        affordable = min(cost, goal.largest_cost) / residual
        # Columns of tiny scale make the unit huge; where its price is too high, w itself is the unit, if it is not ≈ 0.
        too_dear = goal.objective - (worth - radius * residual) > goal.gap
        if too_dear and float(abs(coef * problem.sample.spread).max()) > _SEEN:
            radius = FARTHER * length
        radius = max(radius, affordable)
    return DualBound(max(0.0, worth - radius * residual * rounding.up), 1.0, residual, radius, multipliers)


def length_that_is_charged(problem: Problem, coef: Array, margins: float) -> float:
    """Approximate loss of a bound per unit of error in ``‖Σ q d‖_*``."""
    program = problem.program
    if program.regulariser.weight > 0 and program.regulariser.reach_is_finite:
        # λS/e, the bound that scaling leaves, falls by S/λ for a unit of e at e = λ (derivations 7.1).
        return margins / program.regulariser.weight
    return program.regulariser.norm(coef) * (1.0 if program.regulariser.weight > 0 else FARTHER)


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
        # g − Aᵀμ as high + low.
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
        # h(ν_k) is ν_k u_k for ν_k > 0 and ν_k l_k for ν_k < 0.
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
        # An upper bound takes up the positive part of a residual, a lower bound the negative part.
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
    total = problem.program.comparisons.total(*(float(part.sum()) for part in multipliers))
    gradient = sample.combine(*multipliers)
    found = constraint_multipliers(problem.program, constraints, gradient, total, sample.spread, coef)
    if without_norm:  # the bounds take up all of the residual, at their price
        found = replace(found, bounds=np.zeros_like(found.bounds))
        takes = np.isfinite(constraints.upper), np.isfinite(constraints.lower)
    else:
        is_absolute = problem.program.regulariser.norm.is_absolute
        takes = is_absolute & (constraints.upper == 0), is_absolute & (constraints.lower == 0)
    return Lagrangian(constraints, found, *takes, np.sign(np.r_[found.rows, found.bounds]))
