"""The dual value of multipliers as a proved lower bound: every rounding is charged to it.

With ``g = Σ q d``, ``S = Σ q`` and ``e = max(0, ‖g‖_* + zS)`` (derivations 7.1):

* unsquared penalty: ``τS`` with ``τ = min(1, λ/e)``;
* squared penalty: ``τS − τ²e²/(4λ)`` at its best τ in [0, 1];
* no penalty: ``S − W·e``, for all ``‖w‖ ≤ W``; without a norm (z = 0) lengths are Euclidean with every feature in units
  of its spread.

Constraints on w change g and S by their own multipliers (`constraints`), and nothing else.

What the multipliers lack of exact feasibility is charged: by max-flow/min-cut, marginals that exceed a cut by ε or
whose sums differ by ε are within ε of feasible ones, which lowers S by ε and moves g by at most 2ε times the largest
entry of each column. Where that would cost anything, the multipliers are corrected first (`correction`), and where the
constraint is an equality, exact multipliers next to them are proved to exist (`feasibility`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.transport import largest_excess
from auclab.formulations.problem import Problem
from auclab.regularisers import EUCLIDEAN
from auclab.samples.memory import Sample
from auclab.solvers.certificate import transport_factor
from auclab.solvers.verified.constraints import Lagrangian, lagrangian
from auclab.solvers.verified.correction import Rows, correct, correct_threshold, correcting_rows
from auclab.solvers.verified.feasibility import Feasible, feasible_nearby
from auclab.solvers.verified.moments import Moments, moments
from auclab.types import Array

#: A bound that loses less than this, relatively, needs no correction.
_NEGLIGIBLE = 1e-10
#: Corrections one after the other: each leaves the rounding of a sum of floats.
_CORRECTIONS = 5
#: A violation is charged for all ‖w‖ up to this many times the length of the solution, or further.
_MIN_MARGIN = 10.0
#: The rounding of the multipliers that a correction leaves, relative to their sum times the largest features.
_SPARE = 2.0**-46
_UP, _DOWN = 1.0 + 2.0**-46, 1.0 - 2.0**-46


@dataclass(frozen=True)
class Goal:
    """The objective at a solution, and the gap that is wanted, ``tolerance · max(objective, 1e-3)``.

    See Also
    --------
    auclab.solvers.verified.certificate.verified_certificate : Sets it.
    """

    objective: float
    gap: float

    @property
    def least_cost(self) -> float:
        """What no bound may miss."""
        return 1e-3 * self.gap

    def is_reached(self, bound: float) -> bool:
        """Whether the bound is near enough."""
        return self.objective - bound <= self.gap

    @property
    def largest_cost(self) -> float:
        """What a bound may lose to a larger radius."""
        return 0.1 * self.gap

    def cost_of_radius(self, total: float) -> float:
        """What a bound may lose to its radius: half of what is left of the gap, and never much."""
        left = 0.5 * (self.gap - (self.objective - total))
        return min(max(left, self.least_cost), self.largest_cost)


@dataclass(frozen=True)
class ProvedBound:
    """A lower bound, and what it was proved with.

    Attributes
    ----------
    bound : float
        No w with ``‖w‖ ≤ radius`` has a smaller objective.
    radius : float
    residual : float
        The violation of the dual constraint that was charged or scaled away.
    scale : float
        By what the multipliers are to be multiplied.
    multipliers : pair of arrays of shapes (n_pos,) and (n_neg,)
        After the correction, before `scale`.
    constraints : array of shape (n_rows,), optional
        Those of the constraints, in the order of `ColumnConstraints.all_rows`, before `scale`.

    See Also
    --------
    auclab.solvers.certificate.Certificate : What becomes of it.
    """

    bound: float
    radius: float
    residual: float
    scale: float
    multipliers: tuple[Array, Array]
    constraints: Array | None = None


def proved_bound(problem: Problem, coef: Array, multipliers: tuple[Array, Array], goal: Goal) -> ProvedBound:
    """The best bound that is proved with these multipliers, corrected or not.

    Parameters
    ----------
    problem : Problem
    coef : array of shape (n_features,)
        The solution, whose length sets the least radius.
    multipliers : pair of arrays of shapes (n_pos,) and (n_neg,)
        Feasible but for rounding and the constraint on ``Σ q d``.
    goal : Goal
        The objective at the solution, and the gap that is wanted.
    """
    if goal.objective <= goal.least_cost:  # no objective is below 0
        return ProvedBound(0.0, math.inf, 0.0, 0.0, multipliers)
    if not problem.program.uses_norm:
        return _without_norm(problem, coef, multipliers, goal)
    best = _with_norm(problem, coef, multipliers, goal)
    if (math.isinf(best.radius) and goal.is_reached(best.bound)) or not _norm_is_negligible(problem, coef, goal):
        return best
    found = _without_norm(problem, coef, multipliers, goal)
    return found if _better(found, best, goal) else best


def _with_norm(problem: Problem, coef: Array, multipliers: tuple[Array, Array], goal: Goal) -> ProvedBound:
    """The bound of multipliers that are corrected until they satisfy their inequality with the rounding to spare."""
    held = lagrangian(problem, coef, multipliers, without_norm=False)
    best = _charged(problem, coef, multipliers, goal, held)
    for every_column in _choices(problem.sample):
        if best.residual == 0 or (math.isinf(best.radius) and goal.is_reached(best.bound)):
            break
        rows = _rows(problem, best.multipliers, every_column, held)
        for _ in range(_CORRECTIONS):
            lacking = _excess(problem, coef, *best.multipliers, goal)
            corrected = None if rows is None else _corrected(problem, rows, best.multipliers, held, lacking)
            if rows is None or corrected is None:
                break
            changed = None if held is None else held.replaced(corrected[2])
            found = _charged(problem, coef, corrected[:2], goal, changed)
            if not _better(found, best, goal):
                break
            best, held, rows = found, changed, rows.updated(*found.multipliers, corrected[2])
            if best.residual == 0 or (math.isinf(best.radius) and goal.is_reached(best.bound)):
                break
    return best


def _rows(
    problem: Problem, multipliers: tuple[Array, Array], every_column: bool, held: Lagrangian | None
) -> Rows | None:
    """The observations, and active constraints, that take part in a correction."""
    rows = correcting_rows(problem.sample, *multipliers, problem.over_pairs, every_column)
    return rows if rows is None or held is None else held.joined(rows)


def _corrected(
    problem: Problem, rows: Rows, multipliers: tuple[Array, Array], held: Lagrangian | None, lacking: float
) -> tuple[Array, Array, Array] | None:
    """Multipliers that are nearer to their inequality, with what capacities they lack to spare, within these."""
    program, sample = problem.program, problem.sample
    sums = moments(sample, *multipliers)
    value, total = sums.value, sums.total * (1.0 if problem.over_pairs else 2.0)
    if held is not None:
        value = held.moments(sums).value
        value[:-1] = held.excess(value[:-1], held.left_over(value[:-1]))
    spare = (_SPARE * total + 4.0 * lacking) * program.regulariser.norm.dual(sample.peaks)
    if program.threshold:
        corrected = correct_threshold(rows, *multipliers, program, value, total, spare)
    else:
        weight = (sample.spread / sample.spread.max()) ** 2  # columns of small spread keep what they have if they can
        wanted = program.regulariser.norm.shortened(value[:-1], max(0.0, program.penalty - spare), weight)
        corrected = correct(rows, *multipliers, np.r_[wanted - value[:-1], -value[-1]])
    return None if corrected is None else _within_capacities(problem, *corrected)


def _norm_is_negligible(problem: Problem, coef: Array, goal: Goal) -> bool:
    """Whether penalty and threshold hardly change the objective: then ``Σ q d = 0`` loses nothing."""
    program = problem.program
    return program.penalty_part(coef) + abs(program.threshold) * program.regulariser.norm(coef) <= goal.gap


def _without_norm(problem: Problem, coef: Array, multipliers: tuple[Array, Array], goal: Goal) -> ProvedBound:
    """The bound of exact multipliers with ``Σ q d = 0`` next to these, or that of these with what they miss charged.

    Exact ones satisfy the constraint of every convex program, however small its λ or −z. If the observations with the
    largest multipliers do not tell all columns apart, those that change each column most take part.
    """
    held = lagrangian(problem, coef, multipliers, without_norm=True)
    best = _charged(problem, coef, multipliers, goal, held)
    for every_column in _choices(problem.sample):
        found = _corrected_exactly(problem, coef, multipliers, goal, every_column, held)
        best = found if _better(found, best, goal) else best
        if math.isinf(best.radius):
            break
    return best


def _choices(sample: Sample) -> tuple[bool, ...]:
    """Which observations to take for a correction, one choice after the other: see `correcting_rows`."""
    if sample.in_blocks:
        return (False,)
    return (True,) if sample.is_sparse else (False, True)


def _corrected_exactly(
    problem: Problem,
    coef: Array,
    multipliers: tuple[Array, Array],
    goal: Goal,
    every_column: bool,
    held: Lagrangian | None,
) -> ProvedBound:
    """The bound of exact multipliers next to these, or else that of the nearest that were found."""
    rows = _rows(problem, multipliers, every_column, held)
    nearest = multipliers
    columns = None if held is None else _left_over(problem, moments(problem.sample, *multipliers), held)
    for _ in range(_CORRECTIONS):
        if rows is None:
            break
        corrected = correct(rows, *nearest, -_unwanted(moments(problem.sample, *nearest), held, columns))
        if corrected is None:
            break
        pos, neg, others = _within_capacities(problem, *corrected)
        nearest = pos, neg
        rows, held = rows.updated(*nearest, others), None if held is None else held.replaced(others)
        exact = feasible_nearby(problem, rows, *nearest, held, columns)
        if exact is not None and held is not None:
            return _best_with_constraints(problem, coef, nearest, exact, goal, held)
        if exact is not None:
            total = exact.factor * exact.total * (1.0 if problem.over_pairs else 2.0) * _DOWN
            found = _bound_of(problem, coef, total, exact.factor * exact.gradient, exact.multipliers, goal)
            return replace(found, scale=exact.factor * found.scale)
    return _charged(problem, coef, nearest, goal, held)


def _left_over(problem: Problem, sums: Moments, held: Lagrangian) -> NDArray[np.bool_]:
    """The columns whose residual is to be brought to 0: no bound takes it up, or it may be rounding of 0."""
    spare = (_SPARE + 4.0 * _rounding_of_sums(problem.sample)) * sums.total * (1.0 if problem.over_pairs else 2.0)
    return held.left_over(held.moments(sums).value[:-1], spare * problem.sample.peaks)


def _unwanted(sums: Moments, held: Lagrangian | None, columns: NDArray[np.bool_] | None) -> Array:
    """The moments that a correction is to take away: all, or with constraints what is left in some columns."""
    if held is None or columns is None:
        return sums.value
    value = held.moments(sums).value
    value[:-1] = held.excess(value[:-1], columns)
    return value


def _best_with_constraints(
    problem: Problem, coef: Array, nearest: tuple[Array, Array], exact: Feasible, goal: Goal, held: Lagrangian
) -> ProvedBound:
    """The bound of exact multipliers with constraints, or that of the floats next to them if it is better."""
    total = exact.total * (1.0 if problem.over_pairs else 2.0) * _DOWN
    moved = exact.held or held
    found = _constrained_bound(problem, coef, total, *exact.residual, exact.multipliers, goal, moved, exact.price)
    # All multipliers together are scaled, those of the constraints too.
    found = replace(found, bound=exact.factor * found.bound * _DOWN, scale=exact.factor * found.scale)
    other = _charged(problem, coef, nearest, goal, held)
    return found if _better(found, other, goal) else other


def _better(found: ProvedBound, best: ProvedBound, goal: Goal) -> bool:
    """Whether a bound is near enough for every w, or larger, or as good within what a radius may cost, for longer w."""
    for_all = [math.isinf(each.radius) and goal.is_reached(each.bound) for each in (found, best)]
    if for_all[0] != for_all[1]:
        return for_all[0]
    if abs(found.bound - best.bound) <= goal.largest_cost and found.radius != best.radius:
        return found.radius > best.radius
    return found.bound > best.bound


def _charged(
    problem: Problem, coef: Array, multipliers: tuple[Array, Array], goal: Goal, held: Lagrangian | None
) -> ProvedBound:
    """The bound with all violations charged."""
    sample = problem.sample
    sums = moments(sample, *multipliers)
    lacking = _excess(problem, coef, *multipliers, goal) + float(sums.largest[-1])
    total = max(0.0, (sums.total - lacking) * (1.0 if problem.over_pairs else 2.0) * _DOWN)
    if held is not None:
        shifted = held.moments(sums)
        error = shifted.error[:-1] + 2.0 * lacking * sample.peaks
        return _constrained_bound(problem, coef, total, shifted.value[:-1], error, multipliers, goal, held)
    gradient = (sums.largest[:-1] + 2.0 * lacking * sample.peaks) * _UP
    return _bound_of(problem, coef, total, gradient, multipliers, goal)


def _constrained_bound(
    problem: Problem,
    coef: Array,
    total: float,
    value: Array,
    error: Array,
    multipliers: tuple[Array, Array],
    goal: Goal,
    held: Lagrangian,
    more: float = 0.0,
) -> ProvedBound:
    """The bound of feasible multipliers with ``Σ q ≥ total`` and ``Σ q d − Aᵀμ`` within ``value ± error``.

    `more` is to be added to the price of the constraints.
    """
    price, left = held.remaining(value, error)
    price = (held.price + price + more) + 2.0**-50 * (abs(held.price) + abs(price) + more)
    found = _bound_of(problem, coef, total, left * _UP, multipliers, goal, price)
    return replace(found, constraints=held.in_order_of_rows(value))


def _bound_of(
    problem: Problem,
    coef: Array,
    total: float,
    gradient: Array,
    multipliers: tuple[Array, Array],
    goal: Goal,
    price: float = 0.0,
) -> ProvedBound:
    """The bound of feasible multipliers with ``Σ q ≥ total`` and ``|Σ q d| ≤ gradient``, less a price."""
    program, margins = problem.program, total
    if price:
        total = (total - price) - 2.0**-50 * (abs(total) + abs(price))
        if not total > 0:  # no objective is below 0
            return ProvedBound(0.0, math.inf, 0.0, 0.0, multipliers)
    size = program.regulariser.norm.dual(gradient) * _UP
    if program.threshold:
        size = max(0.0, size + program.threshold * margins * _DOWN) * _UP
    if program.penalty > 0 and program.squared:
        scale = 1.0 if size == 0 else min(1.0, 2 * program.penalty * total / size / size)
        bound = scale * total - scale * size * (scale * size / (4 * program.penalty)) * _UP
        return ProvedBound(max(0.0, bound * _DOWN), math.inf, 0.0, scale, multipliers)
    if program.penalty > 0:
        scale = 1.0 if size <= program.penalty else program.penalty / size * _DOWN
        residual = max(0.0, size - program.penalty)
        residual = residual if scale < 1.0 - _NEGLIGIBLE else 0.0
        return ProvedBound(scale * total * _DOWN, math.inf, residual, scale, multipliers)
    residual = size if program.uses_norm else EUCLIDEAN(gradient / problem.sample.spread) * _UP
    if residual == 0 or total == 0:
        return ProvedBound(total, math.inf, 0.0, 1.0, multipliers)
    radius = _radius(problem, coef, residual, total, goal)
    return ProvedBound(max(0.0, total - radius * residual * _UP), radius, residual, 1.0, multipliers)


def _excess(problem: Problem, coef: Array, pos: Array, neg: Array, goal: Goal) -> float:
    """By how much the multipliers exceed their capacities at most.

    They have been scaled until they fit, in working precision: what that leaves is the rounding of running sums.
    """
    sample = problem.sample
    if not problem.over_pairs:
        capacities = sample.point_weights
        return float(sum(np.maximum(q - c, 0.0).sum() for q, c in zip((pos, neg), capacities, strict=True))) * _UP
    rounding = _rounding_of_sums(sample) * float(pos.sum())
    if problem.program.uses_norm and rounding * _price(problem, coef, float(pos.sum())) <= 0.01 * goal.gap:
        return rounding
    return max(0.0, largest_excess(pos, neg, sample.share_pos, sample.share_neg, 1.0))


def _price(problem: Problem, coef: Array, total: float) -> float:
    """About what a bound loses for each unit of excess: in ``Σ q``, and because of what ``‖Σ q d‖_*`` may rise by."""
    program = problem.program
    if program.penalty > 0 and not program.squared:
        length = total / program.penalty
    else:
        length = program.regulariser.norm(coef) * (1.0 if program.penalty > 0 else _MIN_MARGIN)
    return 1.0 + 2.0 * length * program.regulariser.norm.dual(problem.sample.peaks)


def _rounding_of_sums(sample: Sample) -> float:
    """By how much running sums over the observations are off, relatively."""
    return 2.0**-50 * (sample.n_pos + sample.n_neg)


def _within_capacities(problem: Problem, pos: Array, neg: Array, others: Array) -> tuple[Array, Array, Array]:
    """Multipliers scaled by the largest common factor ≤ 1 with which they fit: it keeps ``Σ q d − Aᵀμ`` at 0."""
    sample = problem.sample
    if problem.over_pairs:
        factor = transport_factor(pos, neg, sample.share_pos, sample.share_neg)
    else:
        q, capacity = np.r_[pos, neg], np.concatenate(sample.point_weights)
        factor = min(1.0, float((capacity[q > 0] / q[q > 0]).min(initial=1.0)))
    return (pos, neg, others) if factor == 1.0 else (pos * factor, neg * factor, others * factor)


def _radius(problem: Problem, coef: Array, residual: float, total: float, goal: Goal) -> float:
    """How far a violation is charged."""
    if problem.program.uses_norm:
        length = problem.program.regulariser.norm(coef)
        unit = problem.program.regulariser.norm(1.0 / problem.sample.spread)
    else:
        length, unit = EUCLIDEAN(coef * problem.sample.spread), 1.0
    return max(_MIN_MARGIN * (length or unit), goal.cost_of_radius(total) / residual)
