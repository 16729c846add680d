"""The best proved lower bound of multipliers, within their capacities.

Over pairs, marginals ``α_i = Σ_j q_ij`` and ``β_j = Σ_i q_ij`` belong to some ``0 ≤ q_ij ≤ cap_ij`` iff they pass the
transport (Gale–Ryser) condition, so a certificate over 10¹² pairs costs O(m log m). Derived. Over points a multiplier
is at most the weight of its point.

Infeasibility of the multipliers is subtracted: by max-flow/min-cut, marginals that exceed a cut by ε or whose sums
differ by ε are within ε of feasible ones, which lowers S by ε and moves g by at most 2ε times the largest entry of each
column. If this would weaken the bound, the multipliers are corrected first (`correction`), and if the constraint is an
equality, exact multipliers close to them are proved to exist (`feasibility`).

Constraints on w change g and S by their own multipliers (`constraints`), and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auclab.compiled.hinge import largest_excess, least_capacity_ratio
from auclab.compiled.threads import LARGE, in_parallel
from auclab.formulations.problem import Problem
from auclab.precision import FEW_ROUNDINGS, FEW_STEPS
from auclab.samples.memory import Sample
from auclab.solvers.verified.correction import Rows, correct, correct_threshold, correcting_rows
from auclab.solvers.verified.feasibility import Feasible, feasible_nearby
from auclab.solvers.verified.value import (
    DOWN,
    UP,
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
from auclab.types import Array


def feasible_multipliers(problem: Problem, pos: Array, neg: Array) -> tuple[Array, Array]:
    """The nearest multipliers of the same shape that belong to a feasible dual point.

    Negative entries become 0, both classes get the same sum (``Σ q y = 0`` over points), and excess over the
    capacities is removed: entry by entry over points, by the largest admissible common factor over pairs.
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
    """
    threads = min(pos.size, neg.size) >= LARGE
    (levels, values), (capacity, demand) = in_parallel(
        lambda sums, *marginals: sums(*_by_density(*marginals)),
        (_kinks, neg, share_neg),
        (_largest_sums, pos, share_pos),
        threads=threads,
    )

    def least_ratio(part: slice) -> float:
        wanted = demand[part]
        first = int(np.searchsorted(values, wanted[0], side="right")) - 1 if wanted.size else 0
        return float(least_capacity_ratio(wanted, capacity[part], levels, values, max(first, 0)))

    half = demand.size // 2
    return min(in_parallel(least_ratio, (slice(half),), (slice(half, None),), threads=threads))


def _kinks(levels: Array, share: Array, marginals: Array) -> tuple[Array, Array]:
    """The kinks c of φ, and its values there: full sums below, c times the remaining share above."""
    values = np.zeros(levels.size + 1)
    np.cumsum(marginals[:-1], out=values[2:])
    above = np.cumsum(share[::-1])[::-1]
    above *= levels  # in place, as the arrays are long
    values[1:] += above
    return np.concatenate(([0.0], levels)), values


def _largest_sums(_: Array, share: Array, marginals: Array) -> tuple[Array, Array]:
    """The shares and marginals of the sets of the largest densities."""
    return np.cumsum(share[::-1]), np.cumsum(marginals[::-1])


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


def within_capacities(problem: Problem, pos: Array, neg: Array, others: Array) -> tuple[Array, Array, Array]:
    """Multipliers scaled into their capacities by a common factor ≤ 1, which keeps ``Σ q d − Aᵀμ`` at 0."""
    sample = problem.sample
    if problem.over_pairs:
        factor = transport_factor(pos, neg, sample.share_pos, sample.share_neg)
    else:
        q, capacity = np.r_[pos, neg], np.concatenate(sample.point_weights)
        factor = min(1.0, float((capacity[q > 0] / q[q > 0]).min(initial=1.0)))
    return (pos, neg, others) if factor == 1.0 else (pos * factor, neg * factor, others * factor)


def excess(problem: Problem, pos: Array, neg: Array) -> float:
    """The largest excess of multipliers over their capacities."""
    sample = problem.sample
    if problem.over_pairs:
        return max(0.0, largest_excess(pos, neg, sample.share_pos, sample.share_neg, 1.0))
    capacities = sample.point_weights
    return float(sum(np.maximum(q - c, 0.0).sum() for q, c in zip((pos, neg), capacities, strict=True))) * UP


def rounding_of_sums(sample: Sample) -> float:
    """Relative error of running sums over the observations."""
    return 2.0**-50 * (sample.n_pos + sample.n_neg)


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
        rows = correcting_rows(self.problem.sample, *multipliers, self.problem.over_pairs, every_column)
        return None if rows is None else held.joined(rows)

    def _margins(self, one_class: float) -> float:
        """``Σ q``, where either class has this sum."""
        return one_class * (1.0 if self.problem.over_pairs else 2.0)

    def _corrected(self, rows: Rows, multipliers: Multipliers, held: Lagrangian) -> tuple[Array, Array, Array] | None:
        """Multipliers that are closer to their inequality, and within their capacities."""
        program, sample, norm = self.problem.program, self.problem.sample, self.problem.program.regulariser.norm
        sums = moments(sample, *multipliers)
        value, total = held.moments(sums).value, self._margins(sums.total)
        value[:-1] = held.excess(value[:-1], held.left_over(value[:-1]))
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
        return None if corrected is None else within_capacities(self.problem, *corrected)

    def _corrected_exactly(self, multipliers: Multipliers, held: Lagrangian, every_column: bool) -> DualBound:
        """The bound of exact multipliers close to these, or else of the closest that were found."""
        sample = self.problem.sample
        rows, nearest = self._rows(multipliers, held, every_column), multipliers
        sums = held.moments(moments(sample, *multipliers))
        # The columns to be brought to 0: no bound takes up their residual, or it may be rounding of 0.
        spare = (FEW_ROUNDINGS + 4.0 * rounding_of_sums(sample)) * self._margins(sums.total)
        columns = held.left_over(sums.value[:-1], spare * sample.peaks)
        for _ in range(FEW_STEPS):
            if rows is None:
                break
            unwanted = sums.value
            unwanted[:-1] = held.excess(unwanted[:-1], columns)
            corrected = correct(rows, *nearest, -unwanted, self.goal.seconds)
            if corrected is None:
                break
            pos, neg, others = within_capacities(self.problem, *corrected)
            nearest = pos, neg
            rows, held = rows.updated(*nearest, others), held.replaced(others)
            exact = feasible_nearby(self.problem, rows, *nearest, held, columns)
            if exact is not None:
                found = self._of_exact(exact)
                if self.problem.constraints is None or self.goal.is_reached_by(found):
                    return found
                other = self._charged(nearest, held)
                return found if self.goal.prefers(found, other) else other
            sums = held.moments(moments(sample, *nearest))
        return self._charged(nearest, held)

    def _charged(self, multipliers: Multipliers, held: Lagrangian) -> DualBound:
        """The bound less the cost of all violations."""
        sums = held.moments(moments(self.problem.sample, *multipliers))
        lacking = self._lacking(multipliers) + float(sums.largest[-1])
        error = sums.error[:-1] + 2.0 * lacking * self.problem.sample.peaks
        return self._value(multipliers, max(0.0, sums.total - lacking), sums.value[:-1], error, held)

    def _of_exact(self, exact: Feasible) -> DualBound:
        """The bound of exact multipliers, all of which are scaled, those of the constraints too."""
        found = self._value(exact.multipliers, exact.total, *exact.residual, exact.held, exact.price)
        return replace(found, bound=exact.factor * found.bound * DOWN, scale=exact.factor * found.scale)

    def _value(
        self, multipliers: Multipliers, total: float, value: Array, error: Array, held: Lagrangian, more: float = 0.0
    ) -> DualBound:
        """The bound of feasible multipliers with at least `total` in each class, and ``Σ q d − Aᵀμ = value ± error``.

        `more` is to be added to the price of the constraints.
        """
        margins = worth = self._margins(total) * DOWN
        price, left = held.remaining(value, error)
        price = (held.price + price + more) + 2.0**-50 * (abs(held.price) + abs(price) + more)
        if price:
            worth = (worth - price) - 2.0**-50 * (abs(worth) + abs(price))
        rounding = Rounding.charged(value.size)
        found = dual_value(self.problem, self.coef, multipliers, margins, worth, widened(*left), rounding, self.goal)
        of_constraints = None if self.problem.constraints is None else held.in_order_of_rows(value)
        return replace(found, constraints=of_constraints)

    def _lacking(self, multipliers: Multipliers) -> float:
        """The largest excess of the multipliers over their capacities.

        They have been scaled to fit in working precision, so only the rounding errors of running sums are left.
        """
        problem, total = self.problem, float(multipliers[0].sum())
        if problem.over_pairs and problem.program.uses_norm:
            rounding = rounding_of_sums(problem.sample) * total
            length = length_that_is_charged(problem, self.coef, total)
            price = 1.0 + 2.0 * length * problem.largest_row
            if rounding * price <= 0.01 * self.goal.gap:
                return rounding
        return excess(problem, *multipliers)
