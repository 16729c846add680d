"""One point where there are many, points that satisfy constraints, the hard-margin separator.

The separator u is ``Σ a_i x_i⁺ − Σ b_j x_j⁻`` with multipliers a, b ≥ 0 of its margins. For ``λ‖w‖²`` the multipliers
2λ(a, b), for ``λ‖w‖`` λ(a, b)/‖u‖, satisfy the dual constraint of the program with equality; if they are within their
capacities they prove that u is its optimum (derivations 7.1). Without a penalty ``u/(1 + z‖u‖)`` has the value 0.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from auclab._core.base import Array, AuclabError, Status
from auclab._core.tolerances import EQUAL, FEW_ROUNDINGS, HALF_OF_DIGITS, ORDINARY, TOLERANCE
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.models.hard_margin import Separator, hard_margin
from auclab.models.timings import Clock, Timings
from auclab.regularisers.projection import solve_quadratic
from auclab.samples.features import moved_intercept, moved_intercept_parts
from auclab.solvers.budget import CLARABEL_ENTRIES
from auclab.solvers.certificate import certify
from auclab.solvers.monitor import Monitor
from auclab.solvers.registry import PARTS
from auclab.solvers.solution import RawSolution

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
#: The part of a gap, or of a step, that does not count.
LITTLE = 0.1


def satisfies(
    constraints: ColumnConstraints, coef: Array, tolerance: float = EQUAL, spread: Array | None = None
) -> bool:
    """Whether bounds are satisfied exactly, and rows up to a fraction of the size of their terms.

    If the spreads of the columns are given, a w whose scores hardly differ is judged as if they differed by 1e-3.

    Examples
    --------
    >>> half = ColumnConstraints.of(2, lower=[0.0, 0.0], matrix=[[1.0, 1.0]], limit=[1.0])
    >>> satisfies(half, np.array([0.5, 0.5 + 1e-12])), satisfies(half, np.array([1.0, -1e-12]))
    (True, False)
    """
    in_bounds = bool(((coef >= constraints.lower) & (coef <= constraints.upper)).all())
    size = _size(constraints, coef)
    if spread is not None:
        size = size + (abs(constraints.matrix) @ (1.0 / spread)) / ORDINARY
    return in_bounds and not (_excess(constraints, coef) > tolerance * size).any()


def nearest_feasible(constraints: ColumnConstraints, coef: Array, spread: Array) -> Array | None:
    """The point that satisfies the constraints and is nearest to a given one in units of the spreads.

    Bounds are satisfied exactly, rows to rounding. A point that does so already is returned as it is.

    `constraints`: convex. `spread` (n_features,): positive. Returns: None where none was found.

    Examples
    --------
    >>> simplex = ColumnConstraints.of(2, lower=[0.0, 0.0], matrix=[[1.0, 1.0]], limit=[1.0], equal=[True])
    >>> nearest_feasible(simplex, np.array([2.0, 0.0]), np.ones(2)).round(9).tolist()
    [1.0, 0.0]
    """
    if satisfies(constraints, coef, FEW_ROUNDINGS):
        return coef
    clipped = np.clip(coef, constraints.lower, constraints.upper)
    if not constraints.limit.size:
        return clipped
    near = _moved_onto_rows(constraints, clipped, spread)
    step = abs(near - coef) * spread
    small = step.max(initial=0.0) <= 1e-6 * max(1e-300, (abs(coef) * spread).max(initial=0.0))
    if small and satisfies(constraints, near, spread=spread):
        return near
    projected = _projected(constraints, coef, spread)
    if projected is None:
        return near if satisfies(constraints, near, spread=spread) else None
    found = _moved_onto_rows(constraints, np.clip(projected, constraints.lower, constraints.upper), spread)
    return found if satisfies(constraints, found, spread=spread) else None


def check_not_contradictory(constraints: ColumnConstraints) -> None:
    """Raise `AuclabError` if no w satisfies the constraints, naming rows that contradict each other.

    Bounds alone were checked when the constraints were made. A linear program minimises the sum of the violations; its
    prices have to prove the contradiction, since the program itself drops small entries.
    """
    n_rows, n = constraints.matrix.shape
    if not n_rows:
        return
    size = abs(constraints.matrix).max(axis=1, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    A, c = constraints.matrix / size[:, None], constraints.limit / size
    unit = abs(A).max(axis=0, initial=0.0)
    unit = np.where(unit > 0, unit, 1.0)
    A = A / unit
    lower, upper = constraints.lower * unit, constraints.upper * unit
    equal = constraints.equal
    identity = np.eye(n_rows)
    over, under = np.hstack([A, -identity, 0.0 * identity]), np.hstack([-A, 0.0 * identity, -identity])
    rows, right = np.vstack([over, under[equal]]), np.r_[c, -c[equal]]
    cost = np.r_[np.zeros(n), np.ones(2 * n_rows)]
    bounds = [*zip(lower, upper, strict=True), *[(0.0, None)] * (2 * n_rows)]
    found = linprog(cost, A_ub=rows, b_ub=right, bounds=bounds, method="highs")
    if found.x is None or found.fun is None or found.status != 0:
        return  # the linear program is inconclusive: leave it to the solver
    if found.fun <= HALF_OF_DIGITS * max(1.0, float(abs(c).max())):
        return
    prices = -found.ineqlin.marginals
    of_row = prices[:n_rows].copy()
    of_row[equal] -= prices[n_rows:]
    involved = np.flatnonzero(abs(of_row) > 1e-9)
    if not _contradict(A[involved], c[involved], of_row[involved], lower, upper):
        return
    names = " and ".join(f"row {row}" for row in involved)
    raise AuclabError(
        f"the constraints contradict each other: no coefficients satisfy {names} together with the bounds (they miss "
        f"by {found.fun:.3g} at least); drop or loosen one of them"
    )


def _contradict(A: Array, c: Array, prices: Array, lower: Array, upper: Array) -> bool:
    """Whether ``Σ p_i a_i·w ≤ Σ p_i c_i`` fails for every w within the bounds (Farkas).

    Sums that must vanish are made to vanish up to rounding of the entries, because prices are known only to the
    tolerance of a linear program.
    """
    terms = abs(A).T @ abs(prices)
    sums = A.T @ prices
    vanish = abs(sums) <= 1e-8 * terms
    prices = prices - np.linalg.lstsq(A[:, vanish].T, sums[vanish], rcond=None)[0] if vanish.any() else prices
    sums = A.T @ prices
    sums[vanish & (abs(sums) <= FEW_ROUNDINGS * terms)] = 0.0
    ends = np.where(sums > 0, lower, upper)
    used = sums != 0
    least = float(sums[used] @ ends[used]) if np.isfinite(ends[used]).all() else -np.inf
    size = abs(sums[used]) @ abs(ends[used]) + abs(prices) @ abs(c) if np.isfinite(least) else 1.0
    return least > float(prices @ c) + 1e-12 * float(size)


def _excess(constraints: ColumnConstraints, coef: Array) -> Array:
    left = constraints.matrix @ coef - constraints.limit
    return np.asarray(np.where(constraints.equal, abs(left), np.maximum(left, 0.0)))


def _size(constraints: ColumnConstraints, coef: Array) -> Array:
    """The size of the terms of every row."""
    return np.asarray(abs(constraints.matrix) @ abs(coef) + abs(constraints.limit))


def _moved_onto_rows(constraints: ColumnConstraints, coef: Array, spread: Array) -> Array:
    """The shortest steps onto the rows that are violated, within the bounds."""
    A, c, equal = constraints.matrix, constraints.limit, constraints.equal
    active = equal.copy()
    for _ in range(FEW_STEPS):
        violated = _excess(constraints, coef) > FEW_ROUNDINGS * _size(constraints, coef)
        if not violated.any():
            break
        active |= violated
        free = (coef > constraints.lower) & (coef < constraints.upper)
        system = A[active][:, free] / spread[free]
        if not system.size:
            break
        step = np.linalg.lstsq(system, (c - A @ coef)[active], rcond=None)[0]
        moved = coef.copy()
        moved[free] += step / spread[free]
        coef = np.clip(moved, constraints.lower, constraints.upper)
    return coef


def _projected(constraints: ColumnConstraints, coef: Array, spread: Array) -> Array | None:
    """The projection, as a quadratic program in the step in units of the spreads."""
    matrix, limit, equal = constraints.scaled_rows(1.0 / spread)
    rows: Any = sp.csr_array(matrix)
    right = limit - matrix @ (coef * spread)
    unit = max(float(abs(right).max(initial=0.0)), 1e-300)
    quadratic = sp.eye_array(coef.size, format="csc")
    equations = (rows[equal], right[equal] / unit) if equal.any() else None
    step = solve_quadratic(quadratic, np.zeros(coef.size), equations, (rows[~equal], right[~equal] / unit))
    return None if step is None else coef + unit * step / spread


def separates(problem: Problem, monitor: Monitor) -> RawSolution | None:
    """The hard-margin separator where it is proved to be the optimum.

    `monitor`: has the relative gap, and ends the attempt.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> from auclab.samples.as_sample import as_sample
    >>> sample = as_sample([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [1, 0])
    >>> separates(Problem(RankSVM(0.1), sample), Monitor(1e-6)).coef.round(9).tolist()
    [0.5, 0.0, 0.0]
    >>> separates(Problem(RankSVM(1.9), sample), Monitor(1e-6)).coef.round(9).tolist()   # λ‖w‖ below ‖Δ‖ = 2
    [0.5, 0.0, 0.0]
    """
    if not problem.program.used_norm.is_euclidean:
        return None
    if not may_be_separated(problem):
        return None
    begin = monitor.clock.seconds
    separator = hard_margin(problem, monitor.stopped)
    found = None if separator is None else solution_of(problem, separator)
    if found is None or found.multipliers is None:
        return None
    dual = problem.dual_problem(found.share_neg, found.multipliers[1])
    certificate, _ = certify(dual, found.coef, found.intercept, found.multipliers)
    if problem.program.regulariser.weight > 0 and not certificate.gap <= monitor.tolerance:
        return None
    return replace(found, timings=Timings(solve=monitor.clock.seconds - begin))


def solution_of(problem: Problem, separator: Separator) -> RawSolution | None:
    """The separator as a solution, for the proof; None if a threshold is beyond its margin."""
    regulariser, coef, share_neg = problem.program.regulariser, separator.coef, None
    shrunk = 1.0 + problem.program.threshold * regulariser.norm(coef)
    if shrunk <= 0:
        return None
    multipliers = np.zeros(problem.sample.n_pos), np.zeros(problem.sample.n_neg)
    if regulariser.weight > 0:
        length = float(np.linalg.norm(coef))
        factor = regulariser.slope(length) / length
        multipliers = factor * separator.multipliers[0], factor * separator.multipliers[1]
        share_neg = shares_of(problem, multipliers[1])
    intercept = separator.intercept / shrunk
    return RawSolution(coef / shrunk, intercept, Status.OPTIMAL, multipliers, share_neg=share_neg, separator=separator)


def leaves_no_hinge(problem: Problem, objective: float, coef: Array) -> bool:
    """Whether the mean hinge at a point is 0 up to rounding: the data are separable.

    `objective`: the value at the point.
    """
    return problem.program.is_convex and objective - problem.program.regulariser.value(coef) <= EQUAL


def may_be_separated(problem: Problem) -> bool:
    """Whether a separator may be so short that its multipliers fit: no shorter than one of the two means.

    ``u·Δ ≥ c`` with c = 1 over pairs and 2 over points, so that ``R(u)`` is at least ``max_s cs − R*(sΔ)``, and each
    class has multipliers of sum ``∂R(u)·u/c ≥ R(u)/c``.
    """
    program, sample, regulariser = problem.program, problem.sample, problem.program.regulariser
    if not PARTS["hard margin"].takes(problem):
        return False
    difference, wide = sample.mean_difference, program.comparisons.total(1.0, 1.0)
    if regulariser.weight == 0 and not regulariser.ridge:
        return -program.threshold * wide < max(regulariser.norm.dual(difference), 1e-300)
    if program.threshold:
        return False
    room = program.comparisons.null_value(program.loss, sample)  # the largest Σ q
    return regulariser.dual_value(difference / EQUAL, 0.0, wide / EQUAL)[0] <= room  # a large multiple of Δ


def shares_of(problem: Problem, multipliers_neg: Array) -> Array | None:
    """Of partial AUC weights r of the negatives that leave room for these multipliers: in proportion, if they may be.

    With ``r = β/Σβ`` pairs ``q_ij = α_i β_j/Σβ`` are within ``u_i r_j`` if ``α_i ≤ u_i``.
    """
    capacity, total = problem.program.comparisons.capacity(problem.sample), float(multipliers_neg.sum())
    if capacity is None or total == 0.0:
        return None
    share = np.minimum(multipliers_neg / total, capacity)
    room = capacity - share
    return np.asarray(share + room * max(0.0, 1.0 - float(share.sum())) / max(float(room.sum()), 1e-300))


_OF_MANY = "; of the many optima this is the hard-margin one"


def canonical(
    problem: Problem, raw: RawSolution, tolerance: float, clock: Clock
) -> tuple[RawSolution, float, str | None]:
    """One point where there are many: w = 0 exactly, the hard margin for separable data; its value; why w = 0."""
    program, sample = problem.program, problem.sample
    objective = value_returned(problem, raw)
    if not math.isfinite(objective):
        note = "the value at the solver's point is beyond the range of floats; w = 0 replaces it"
        raw = RawSolution.null(problem, Status.FAILED, raw.timings, note)
        return raw, program.null.value(sample), None
    allows_null = problem.constraints is None or problem.constraints.allows_null
    if allows_null and program.null.is_attained(objective, sample):
        null, reason = _null_solution(problem, raw)
        return null, program.null.value(sample), reason
    if not leaves_no_hinge(problem, objective, raw.coef):
        return raw, objective, None
    note = f"the {program.comparisons.separated} are linearly separable: no hinge is left"
    is_free = not sample.in_blocks and problem.constraints is None and program.comparisons.by_marginals
    # With a penalty the separator is the optimum in the norm l2.
    is_optimal = program.regulariser.norm.is_euclidean and sample.n_entries <= CLARABEL_ENTRIES
    if is_free and (program.regulariser.weight == 0 or is_optimal):
        separator = _hard_margin(problem, raw, clock)
        # With a penalty the solver's point equals this one only up to the root of its gap.
        allowed = LITTLE * tolerance * objective if program.regulariser.weight > 0 else 0.0
        if separator is not None and separator[1] <= objective + allowed:
            note += "; the point is the hard-margin one" if program.regulariser.weight > 0 else _OF_MANY
            raw, objective = separator
    return replace(raw, notes=(*raw.notes, note)), objective, None


def _hard_margin(problem: Problem, raw: RawSolution, clock: Clock) -> tuple[RawSolution, float] | None:
    """The hard-margin separator and its value, a little longer if its rounded intercept leaves a hinge."""
    from auclab.models.hard_margin import hard_margin

    separator = hard_margin(problem, lambda: clock.is_over or None) if raw.separator is None else raw.separator
    exact = None if separator is None else solution_of(problem, separator)
    if exact is None:
        return None
    coef, intercept = exact.coef, exact.intercept
    if problem.program.regulariser.weight == 0:  # the value is 0, which needs no proof
        raw = replace(raw, multipliers=exact.multipliers)
    for _ in range(FEW_STEPS):
        found = as_returned(problem, replace(raw, coef=coef, intercept=intercept))
        objective = value_returned(problem, found)
        if objective - problem.program.regulariser.value(coef) <= 0:
            break
        coef, intercept = coef * (1.0 + TOLERANCE), intercept * (1.0 + TOLERANCE)
    return found, objective


def _null_solution(problem: Problem, raw: RawSolution) -> tuple[RawSolution, str | None]:
    """W = 0 with its multipliers where they are unique, else with those of the solver; and the reason."""
    program, sample = problem.program, problem.sample
    null = replace(
        raw, coef=np.zeros_like(raw.coef), intercept=problem.null_intercept(), scorers=(), margin_multipliers=None
    )
    multipliers = program.null.multipliers(sample)
    if multipliers is not None:
        null = replace(null, multipliers=multipliers)
    if problem.constraints is not None:
        return null, "w = 0 is optimal under the constraints, within the tolerance"
    return null, program.null.reason(sample, null.multipliers)


def as_returned(problem: Problem, raw: RawSolution) -> RawSolution:
    """The result as it is returned: without weight on constant columns, with an intercept in the units of the data.

    The intercept is rounded in these units, and the certificate is for the rounded one.
    """
    constant = problem.sample.peaks == 0
    # Of an absolute norm the weight of a constant column only costs; of another one it may make ‖w‖ smaller.
    if problem.program.used_norm.is_absolute and (raw.coef[constant] != 0).any():
        without = np.where(constant, 0.0, raw.coef)
        if problem.constraints is None or problem.constraints.violation(without) <= 0:
            raw = replace(raw, coef=without)
    return replace(raw, intercept=intercept_returned(problem, raw.coef, raw.intercept)[0])


def value_returned(problem: Problem, raw: RawSolution) -> float:
    """The objective at the point that is returned, whose intercept is not quite a float in the units of the sample."""
    return problem.accurate_objective(raw.coef, *intercept_returned(problem, raw.coef, raw.intercept))


def intercept_returned(problem: Problem, coef: Array, intercept: float) -> tuple[float, float]:
    """The intercept as ``high + low`` once it is rounded in the units of the data; 0 over pairs."""
    offset, of_intercept = problem.sample.offset, problem.program.comparisons.of_intercept
    returned = moved_intercept(intercept, coef, offset, -1.0)
    high, low = moved_intercept_parts(returned, coef, offset, 1.0)
    return of_intercept(high), of_intercept(low)
