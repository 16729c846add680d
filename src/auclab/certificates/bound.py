"""The best proved lower bound of multipliers, within their capacities.

Over pairs, marginals ``α_i = Σ_j q_ij`` and ``β_j = Σ_i q_ij`` belong to some ``0 ≤ q_ij ≤ cap_ij`` iff they pass the
transport (Gale–Ryser) condition, so a certificate over 10¹² pairs costs O(m log m). Derived. Over points a multiplier
is at most the weight of its point.

Infeasibility of the multipliers is subtracted: by max-flow/min-cut, marginals that exceed a cut by ε or whose sums
differ by ε are within ε of feasible ones, which lowers S by ε and moves g by at most 2ε times the largest entry of each
column. If this would weaken the bound, the multipliers are corrected first (`correction`), and if the constraint is an
equality, exact multipliers close to them are proved to exist (`feasibility`).

Constraints on w change g and S by their own multipliers (`auclab.certificates.value.Lagrangian`), and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auclab._core.base import Array
from auclab._core.tolerances import FEW_ROUNDINGS
from auclab.certificates.correction import Rows, correct, correct_threshold, correcting_rows
from auclab.certificates.feasibility import feasible_nearby
from auclab.certificates.value import (
    DOWN,
    DualBound,
    Goal,
    Lagrangian,
    Rounding,
    dual_value,
    lagrangian,
    length_that_is_charged,
    moments,
    widened,
)
from auclab.formulations.problem import Problem

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
Multipliers = tuple[Array, Array]


def proved_bound(problem: Problem, coef: Array, multipliers: Multipliers, goal: Goal) -> DualBound:
    """The best bound that is proved with these multipliers, corrected or not.

    `coef` (n_features,): the solution, whose length sets the least radius. `multipliers` (n_pos,) and (n_neg,):
    feasible up to rounding and the constraint on ``Σ q d``. `goal`: the objective at the solution, and the required
    gap.
    """
    if goal.objective <= goal.least_cost:
        return DualBound.nothing(multipliers)
    search, program = _Search(problem, coef, goal), problem.program
    if not program.uses_norm:
        return search.without_norm(multipliers)
    best = search.with_norm(multipliers)
    size = program.regulariser.value(coef) + abs(program.threshold) * program.regulariser.norm(coef)
    if goal.is_reached_by(best) or size > goal.gap:
        return best
    # Penalty and threshold hardly change the objective, so requiring Σ q d = 0 costs nothing.
    found = search.without_norm(multipliers)
    return found if goal.prefers(found, best) else best


@dataclass(frozen=True)
class _Search:
    """The data of all attempts: the problem, the solution, and the required gap."""

    problem: Problem
    coef: Array
    goal: Goal

    def with_norm(self, multipliers: Multipliers) -> DualBound:
        """The bound of multipliers that are corrected until they satisfy their inequality in spite of rounding."""
        held = lagrangian(self.problem, self.coef, multipliers, without_norm=False)
        best = self._charged(multipliers, held)
        for every_column in self._choices:
            if best.residual == 0 or self.goal.is_reached_by(best) or not self.goal.seconds:
                break
            rows = self._rows(best.multipliers, held, every_column)
            for _ in range(FEW_STEPS):
                corrected = None if rows is None else self._corrected(rows, best.multipliers, held)
                if rows is None or corrected is None:
                    break
                changed = held.replaced(corrected[2])
                found = self._charged(corrected[:2], changed)
                if not self.goal.prefers(found, best):
                    break
                best, held, rows = found, changed, rows.updated(*found.multipliers, corrected[2])
                if best.residual == 0 or self.goal.is_reached_by(best):
                    break
        return best

    def without_norm(self, multipliers: Multipliers) -> DualBound:
        """The bound of exact multipliers with ``Σ q d = 0`` close to these, or of these less their violation.

        Exact ones satisfy the constraint of every convex program, however small its λ or −z. If the observations with
        the largest multipliers do not separate all columns, those that change each column most take part.
        """
        held = lagrangian(self.problem, self.coef, multipliers, without_norm=True)
        best: DualBound | None = None
        for every_column in self._choices:
            if not self.goal.seconds:
                break
            found = self._corrected_exactly(multipliers, held, every_column)
            if self.goal.is_reached_by(found):
                return found
            best = self._charged(multipliers, held) if best is None else best
            best = found if self.goal.prefers(found, best) else best
            if np.isinf(best.radius):
                break
        return self._charged(multipliers, held) if best is None else best

    @property
    def _choices(self) -> tuple[bool, ...]:
        """The choices of observations for a correction, in the order in which they are tried (`correcting_rows`)."""
        sample = self.problem.sample
        if sample.in_blocks:
            return (False,)
        return (True,) if sample.is_sparse else (False, True)

    def _rows(self, multipliers: Multipliers, held: Lagrangian, every_column: bool) -> Rows | None:
        """The observations, and active constraints, that take part in a correction."""
        capacities = self.problem.program.comparisons.row_weights(self.problem.sample)
        rows = correcting_rows(self.problem.sample, *multipliers, capacities, every_column)
        return None if rows is None else held.joined(rows)

    def _total(self, one_class: float) -> float:
        """``Σ q``, where either class has this sum."""
        return self.problem.program.comparisons.total(one_class, one_class)

    def _fitting(self, pos: Array, neg: Array, others: Array) -> tuple[Array, Array, Array]:
        """Multipliers scaled into their capacities by a common factor ≤ 1, which keeps ``Σ q d − Aᵀμ`` at 0."""
        factor = self.problem.program.comparisons.largest_factor(self.problem.sample, pos, neg)
        return pos * factor, neg * factor, others * factor

    def _corrected(self, rows: Rows, multipliers: Multipliers, held: Lagrangian) -> tuple[Array, Array, Array] | None:
        """Multipliers that are closer to their inequality, and within their capacities."""
        program, sample, norm = self.problem.program, self.problem.sample, self.problem.program.regulariser.norm
        sums = moments(sample, *multipliers)
        value, total = held.moments(sums).value, self._total(sums.total)
        value[:-1] = held.excess(value[:-1], held.left_over(value[:-1]))
        # ‖g‖_* has to end below its limit by what rounding, and excess over capacities, may add to it.
        spare = (FEW_ROUNDINGS * total + 4.0 * self._lacking(multipliers)) * self.problem.largest_row
        if program.threshold:
            corrected = correct_threshold(
                rows, *multipliers, program, self.coef, value, total, spare, self.goal.seconds
            )
        else:
            # Columns of small spread keep their values if possible.
            weight = (sample.spread / sample.spread.max()) ** 2
            wanted = norm.shortened(value[:-1], max(0.0, program.regulariser.weight - spare), weight)
            corrected = correct(rows, *multipliers, np.r_[wanted - value[:-1], -value[-1]], self.goal.seconds)
        return None if corrected is None else self._fitting(*corrected)

    def _corrected_exactly(self, multipliers: Multipliers, held: Lagrangian, every_column: bool) -> DualBound:
        """The bound of exact multipliers close to these, or else of the closest that were found."""
        sample = self.problem.sample
        rows, nearest = self._rows(multipliers, held, every_column), multipliers
        sums = held.moments(moments(sample, *multipliers))
        # The columns to be brought to 0: no bound takes up their residual, or it may be rounding of 0.
        spare = (FEW_ROUNDINGS + 2.0**-48 * (sample.n_pos + sample.n_neg)) * self._total(sums.total)
        columns = held.left_over(sums.value[:-1], spare * sample.peaks)
        for _ in range(FEW_STEPS):
            if rows is None:
                break
            unwanted = sums.value
            unwanted[:-1] = held.excess(unwanted[:-1], columns)
            corrected = correct(rows, *nearest, -unwanted, self.goal.seconds)
            if corrected is None:
                break
            pos, neg, others = self._fitting(*corrected)
            nearest = pos, neg
            rows, held = rows.updated(*nearest, others), held.replaced(others)
            exact = feasible_nearby(self.problem, rows, *nearest, held, columns)
            if exact is not None:
                found = self._value(exact.multipliers, exact.total, *exact.residual, exact.held, exact.price)
                # All are scaled, those of the constraints too.
                found = replace(found, bound=exact.factor * found.bound * DOWN, scale=exact.factor * found.scale)
                if self.problem.constraints is None or self.goal.is_reached_by(found):
                    return found
                other = self._charged(nearest, held)
                return found if self.goal.prefers(found, other) else other
            sums = held.moments(moments(sample, *nearest))
        return self._charged(nearest, held)

    def _charged(self, multipliers: Multipliers, held: Lagrangian) -> DualBound:
        """The bound less the cost of all violations."""
        sums = held.moments(moments(self.problem.sample, *multipliers))
        # Marginals that exceed a cut, or whose sums differ, by ε are within ε of feasible ones (max-flow/min-cut): S
        # falls by ε, and g moves by at most 2ε times the largest entry of each column.
        lacking = self._lacking(multipliers) + float(sums.largest[-1])
        error = sums.error[:-1] + 2.0 * lacking * self.problem.sample.peaks
        return self._value(multipliers, max(0.0, sums.total - lacking), sums.value[:-1], error, held)

    def _value(
        self, multipliers: Multipliers, total: float, value: Array, error: Array, held: Lagrangian, more: float = 0.0
    ) -> DualBound:
        """The bound of feasible multipliers with at least `total` in each class, and ``Σ q d − Aᵀμ = value ± error``.

        `more` is to be added to the price of the constraints.
        """
        margins = worth = self._total(total) * DOWN
        price, left = held.remaining(value, error)
        price = (held.price + price + more) + 2.0**-50 * (abs(held.price) + abs(price) + more)
        if price:
            # V = S − μ·c − Σ h(ν), rounded down.
            worth = (worth - price) - 2.0**-50 * (abs(worth) + abs(price))
        rounding = Rounding.charged(value.size)
        found = dual_value(self.problem, self.coef, multipliers, margins, worth, widened(*left), rounding, self.goal)
        of_constraints = None if self.problem.constraints is None else held.in_order_of_rows(value)
        return replace(found, constraints=of_constraints)

    def _lacking(self, multipliers: Multipliers) -> float:
        """The largest excess of the multipliers over their capacities.

        They have been scaled to fit in working precision, so only rounding errors are left.
        """
        problem, allowed = self.problem, 0.0
        if problem.program.uses_norm:
            length = length_that_is_charged(problem, self.coef, float(multipliers[0].sum()))
            allowed = 0.01 * self.goal.gap / (1.0 + 2.0 * length * problem.largest_row)
        return problem.program.comparisons.excess(problem.sample, *multipliers, allowed)
