"""The dual value of multipliers, the only place where they become a lower bound, with rounding subtracted or not.

With ``g = Σ q d``, ``S = Σ q`` and ``e = max(0, ‖g‖_* + zS)`` (derivations 7.1) every w has at least the objective

* ``max_τ τV − R*(τg)``, 0 ≤ τ ≤ 1, with a regulariser R (`Regulariser.dual_value`): of λ‖w‖ it is τV with
  ``τ = min(1, λ/e)``, of λ‖w‖² ``τV − τ²e²/(4λ)``;
* ``V − W·e`` without one, for all ``‖w‖ ≤ W``; without a norm (z = 0) lengths are Euclidean with every feature in units
  of its spread.

V is the value of the multipliers: S for a mean of hinges, minus the price of constraints ``A w ≤ c``, whose multipliers
μ replace g by ``g − Aᵀμ``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from auclab.formulations.problem import Problem
from auclab.models.constraint_multipliers import constraint_multipliers
from auclab.models.timings import Clock
from auclab.precision import FARTHER, FEW_ROUNDINGS, SOLVED
from auclab.regularisers import EUCLIDEAN
from auclab.types import Array

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

    def cost_of_radius(self, total: float) -> float:
        """Allowed loss for the radius: half of the rest of the gap, and never much."""
        left = 0.5 * (self.gap - (self.objective - total))
        return min(max(left, self.least_cost), self.largest_cost)

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
    margins = worth = float(multipliers[0].sum() + (0.0 if problem.over_pairs else multipliers[1].sum()))
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

    `multipliers` (n_pos,) and (n_neg,): what is returned with the bound. `margins`, `worth`: s and V, or what they are
    at least. `between` (n_features,), twice: g is between these. `rounding`: of what is computed here. `goal`: what a
    larger radius may cost.
    """
    program, regulariser, sample = problem.program, problem.program.regulariser, problem.sample
    if not worth > 0:
        return DualBound.nothing(multipliers)
    gradient, more = problem.enclosed(*between)
    # As (g + δ)·w ≤ g·w + ε‖w‖ where ‖δ‖_* ≤ ε, what ‖g‖_* may be larger by is taken from the slack.
    slack = -program.threshold * margins * rounding.down - more
    size = regulariser.size(gradient, slack, rounding.up)
    if program.regulariser.weight > 0:
        bound, scale = regulariser.dual_value(gradient, slack, worth, rounding.up)
        scale = scale if scale == 1.0 else scale * rounding.down
        charged = regulariser.reach_is_finite and scale < 1.0 - SOLVED
        residual = size - regulariser.weight if charged else 0.0
        return DualBound(max(0.0, bound * rounding.down), scale, residual, math.inf, multipliers)
    if program.uses_norm:
        residual, length, unit = size, regulariser.norm(coef), unit_length(problem)
    else:
        residual, length, unit = EUCLIDEAN(gradient / sample.spread) * rounding.up, EUCLIDEAN(coef * sample.spread), 1.0
    if residual == 0:
        return DualBound(worth, 1.0, 0.0, math.inf, multipliers)
    radius = FARTHER * max(length, unit)
    if goal is not None:
        radius = max(radius, goal.cost_of_radius(worth) / residual)
    return DualBound(max(0.0, worth - radius * residual * rounding.up), 1.0, residual, radius, multipliers)


def unit_length(problem: Problem) -> float:
    """The length of w for which scores differ by about 1, in the norm of `Certificate.norm_bound`."""
    return problem.program.regulariser.norm(1.0 / problem.sample.spread) if problem.program.uses_norm else 1.0


def length_that_is_charged(problem: Problem, coef: Array, margins: float) -> float:
    """Approximate loss of a bound per unit of error in ``‖Σ q d‖_*``."""
    program = problem.program
    if program.regulariser.weight > 0 and program.regulariser.reach_is_finite:
        return margins / program.regulariser.weight
    return program.regulariser.norm(coef) * (1.0 if program.regulariser.weight > 0 else FARTHER)
