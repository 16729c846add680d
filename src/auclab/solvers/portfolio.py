"""The solver of a convex program, and others that continue where it proves no optimum.

A solver that makes no progress ends while there is time for another (`patience`), which gets its point to start from
where it takes one. A point needs no multipliers of its own: any dual point is a lower bound. So the best point is
certified with the multipliers of every solver, and the smallest gap counts.

`benchmarks/auto_selection.py` measures them; docs/all_data_sets.md shows its table. Newton's method wins on pairs of
any number and on points but the fewest, where a library that takes all margins at once needs no smoothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from auclab._core.base import AuclabError, Status
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock, Timings
from auclab.solvers.budget import (
    CLARABEL_ENTRIES,
    NEWTON_FEATURES,
    SECONDS_FOR_MORE,
    SMALL_ENTRIES,
    SMALL_MARGINS,
    indivisible,
    is_allowed,
    margin_bytes,
    without_verification,
)
from auclab.solvers.column_generation import column_limits, generate_columns
from auclab.solvers.interior import why_not
from auclab.solvers.monitor import Monitor, Patience
from auclab.solvers.reformulations import is_rotated, run_solver
from auclab.solvers.registry import HIGHS_PAIRS, SOLVERS, capable_solvers, encodings, fastest_encoding, is_linear
from auclab.solvers.solution import RawSolution, Solution
from auclab.solvers.verification import finish_exactly, verify

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
#: Statuses after which another solver may do better; a time limit and Ctrl-C are final.
UNFINISHED = (Status.ITERATION_LIMIT, Status.FAILED, Status.UNCERTIFIED)
PROVED = (Status.OPTIMAL, Status.OPTIMAL_WITHIN)
#: Without a time limit the others have as many seconds together as the first took, or this many, and each
#: this many without progress.
LEAST_SECONDS = 60.0
#: A solver that another could follow ends after this share of the time limit without progress, but not before this
#: number of seconds.
PATIENCE_SHARE, LEAST_PATIENCE = 0.3, 2.0
#: Gap below which a point is used as a start.
_NEAR = 0.1
#: Iterations that an interior-point method takes.
_ITERATIONS = 20


@dataclass(frozen=True)
class Candidate:
    """A solver with its options, and up to how many margins it is used."""

    solver: str
    options: dict[str, Any]
    margins: float = math.inf
    model: str | None = None

    @property
    def label(self) -> str:
        """For the notes."""
        return " ".join([self.solver, *(f"{key}={value}" for key, value in self.options.items() if key != "start")])


#: Margins up to which HiGHS takes every one of them as a row, and others form all of them.
_OF_HIGHS, _OF_CONES = 20_000, 100_000
#: In this order: from what is fast and robust to what is slow.
CANDIDATES = (
    Candidate("highs", {"encoding": "dual"}, margins=_OF_HIGHS, model="highs encoding=dual"),
    Candidate("newton", {}),  # refuses more columns than it can take
    Candidate("cutting_plane", {}),
    Candidate("clarabel", {}, margins=_OF_CONES, model="clarabel"),
    Candidate("interior", {}, margins=_OF_CONES),
    Candidate("highs", {"encoding": "aggregated"}),
    Candidate("highs", {"encoding": "full"}, margins=_OF_HIGHS, model="highs encoding=full"),
    Candidate("scs", {}, margins=SMALL_MARGINS, model="scs"),
)

#: A solver's name with its options, what it returned, and its verification.
Attempt = tuple[str, RawSolution, Solution]


def patience(seconds: float | None) -> float:
    """Seconds without progress after which a solver ends, so that another one gets its turn.

    `seconds`: until the limit.
    """
    if seconds is None or math.isinf(seconds):
        return LEAST_SECONDS
    return max(LEAST_PATIENCE, PATIENCE_SHARE * seconds)


def others_may_prove_more(problem: Problem, solution: Solution) -> bool:
    """Whether other solvers may prove more: nothing is proved, or only within a radius where more is cheap to try."""
    if solution.status is Status.OPTIMAL_WITHIN:
        return problem.n_margins <= SMALL_MARGINS and not problem.sample.in_blocks
    return solution.status in UNFINISHED


def solve_convex(
    problem: Problem, name: str, others_follow: bool, tolerance: float, clock: Clock, options: dict[str, Any]
) -> Solution:
    """Run the solver `name`; others too, if `others_follow` and it proves no optimum.

    `tolerance`: relative gap. `options`: of the solver.
    """
    # No other solver takes programs with integers, and a pass over blocks may take minutes without progress.
    waiting = others_follow and name != "integer" and not problem.sample.in_blocks
    own = clock.until(without_verification(problem, clock.left))
    monitor = Monitor(tolerance, own, Patience(patience(own.left) if waiting else math.inf))
    label, raw, solution = attempt(problem, Candidate(name, options), monitor, clock)
    if problem.constraints is None:
        solution = finish_exactly(problem, solution, tolerance, clock)
    if not others_follow or not others_may_prove_more(problem, solution):
        return solution
    if name == "highs":
        label = f"highs encoding={fastest_encoding(problem)}"
    stalled = monitor.patience.seconds if monitor.patience.ran_out else None
    return hand_over(problem, (label, raw, solution), tolerance, clock, stalled)


def attempt(problem: Problem, candidate: Candidate, monitor: Monitor, clock: Clock) -> Attempt:
    """Run a solver, on a working set of columns where it suits it, and verify what it returns.

    `monitor`: with the tolerance, and with the time of the solver. `clock`: with that of the verification too.
    """
    options, limits = dict(candidate.options), None
    if SOLVERS[candidate.solver].generates_columns and options.get("start") is None:
        limits = column_limits(problem)
    if limits is None:
        raw = run_solver(candidate.solver, problem, monitor, **options)
    else:
        raw = generate_columns(candidate.solver, problem, limits, monitor, **options)
    return candidate.label, raw, verify(problem, raw, candidate.solver, monitor.tolerance, clock)


def hand_over(
    problem: Problem, first: Attempt, tolerance: float, clock: Clock, stalled: float | None = None
) -> Solution:
    """The best point and bound of the first attempt and of other solvers together.

    `tolerance`: relative gap. `stalled`: the seconds without progress that ended the first attempt, for the notes.
    Returns: its notes say who found the point and who the bound.
    """
    spent = first[2].timings.total
    within = first[2].status is Status.OPTIMAL_WITHIN
    small = others_may_prove_more(problem, replace(first[2], status=Status.OPTIMAL_WITHIN))
    ends = clock if clock.end is not None else clock.until(max(LEAST_SECONDS, spent))
    if within:
        ends = ends.until(SECONDS_FOR_MORE)
    attempts, best = [first], first[2]
    others = list(candidates(problem, first[0]))
    for k, candidate in enumerate(others):
        if ends.is_over:
            break
        if candidate.model is not None and not _in_time(problem, candidate, ends.left):
            continue
        own = ends.until(SECONDS_FOR_MORE) if candidate.solver == "scs" else ends
        waits = patience(ends.left) if k + 1 < len(others) else math.inf
        try:
            monitor = Monitor(tolerance, own, Patience(waits))
            attempts.append(attempt(problem, _from_point(candidate, attempts), monitor, clock))
        except AuclabError:
            continue  # too many features, or no memory: the next one
        best = combined(problem, attempts, tolerance)
        if best.status is Status.OPTIMAL or attempts[-1][1].status is Status.INTERRUPTED:
            break
        if best.status is Status.OPTIMAL_WITHIN:
            if not small:
                break
            ends = ends.until(SECONDS_FOR_MORE)
    if len(attempts) == 1 or (within and best is first[2]):
        return best
    how = f"ended with {first[2].status}" if stalled is None else f"made no progress for {stalled:.3g} s"
    reached = f"gap {first[2].gap:.1e}" if math.isfinite(first[2].gap) else "nothing is proved"
    ended = f"auto: {first[0]} {how} ({reached})"
    went_on = ", ".join(label for label, _, _ in attempts[1:])
    solutions = [solution for _, _, solution in attempts]
    return replace(
        best,
        timings=sum((solution.timings for solution in solutions), Timings()),
        notes=(f"{ended}; {went_on} went on", *best.notes),
        iterations=sum(solution.iterations for solution in solutions),
        steps=tuple(step for solution in solutions for step in solution.steps),
    )


def combined(problem: Problem, attempts: list[Attempt], tolerance: float) -> Solution:
    """The point of least objective with the multipliers that leave it the smallest gap.

    `tolerance`: relative gap.
    """
    alone = min((solution for _, _, solution in attempts), key=_rank)
    if alone.status is Status.OPTIMAL or all(solution.status in PROVED for _, _, solution in attempts):
        return alone
    usable = [attempt for attempt in attempts if math.isfinite(attempt[2].objective)]
    if not usable:
        return alone
    _, point, found = min(usable, key=lambda attempt: attempt[2].objective)
    solutions = [alone]
    for label, raw, _ in usable:
        if raw.multipliers is None:
            continue
        claimed = Status.OPTIMAL if point.status in (*UNFINISHED, Status.OPTIMAL) else point.status
        pair = replace(point, multipliers=raw.multipliers, share_neg=raw.share_neg, status=claimed)
        solution = verify(problem, pair, found.solver, tolerance)
        if raw is not point:
            solution = replace(solution, notes=(*solution.notes, f"the lower bound is by the multipliers of {label}"))
        solutions.append(solution)
    return min(solutions, key=_rank)


def _from_point(candidate: Candidate, attempts: list[Attempt]) -> Candidate:
    """The candidate with the best point so far as its start, where it takes one and that is near."""
    _, point, solution = min(attempts, key=lambda attempt: _rank(attempt[2]))
    if not SOLVERS[candidate.solver].takes_start or not solution.gap < _NEAR or not point.coef.any():
        return candidate
    return replace(candidate, options={**candidate.options, "start": (point.coef, point.intercept)})


def _in_time(problem: Problem, candidate: Candidate, seconds: float | None) -> bool:
    """Whether a model that a library takes as a whole is likely to be solved in the given seconds."""
    if seconds is None or candidate.solver not in ("clarabel", "scs"):
        return True
    expected = indivisible(problem, candidate.solver)
    return expected.total + (_ITERATIONS - FEW_STEPS) * expected.iteration <= seconds


def _rank(solution: Solution) -> tuple[int, float, float]:
    """Proved for all w before proved up to a radius, the largest first, before the rest; then by the gap."""
    place = {Status.OPTIMAL: 0, Status.OPTIMAL_WITHIN: 1}.get(solution.status, 2)
    gap = solution.gap if math.isfinite(solution.gap) else math.inf
    return place, -solution.certificate.norm_bound if place == 1 else 0.0, gap


def candidates(problem: Problem, first: str) -> Iterator[Candidate]:
    """The solvers that can take the problem, except for the one that has had it."""
    for candidate in CANDIDATES:
        encoding = candidate.options.get("encoding")
        if candidate.label == first or not SOLVERS[candidate.solver].capabilities.takes(problem):
            continue
        if encoding is not None and encoding not in encodings(problem.program):
            continue
        if problem.n_margins > candidate.margins:
            continue
        if candidate.model is not None and not is_allowed(margin_bytes(problem, candidate.model)):
            continue
        yield candidate


#: Programs with a norm and at most this number of rows, and of rows per column, are solved by systems of the size of
#: the rows.
INTERIOR_ROWS, INTERIOR_RATIO = 2_500, 2.5
#: With more pairs than this cutting planes in the span of the rows are faster where the norm is l2, and products with
#: sparse rows (text-like rows, 20,000 × 50,000, λ‖w‖² with 1e-5: 1.7 s; cutting planes have a gap of 1e-5 after 25 s).
INTERIOR_PAIRS = 300_000

#: The only solver of the programs of a kind.
_ONLY = {
    "integer": ("integer", "a scorecard has whole points"),
    "mip": ("highs", "counting pairs is a mixed-integer program"),
}


def select_solver(problem: Problem) -> tuple[str, str]:
    """The solver that "auto" selects, and the reason in one line."""
    name, reason = _selected(problem)
    return name, f"auto selected {name}: {reason}"


def _selected(problem: Problem) -> tuple[str, str]:
    program, sample = problem.program, problem.sample
    n_features, entries = sample.n_features, sample.n_entries
    if program.kind in _ONLY:
        return _ONLY[program.kind]
    if problem.constraints is not None and not problem.constraints.is_convex:
        able = next(capable_solvers(program, problem.constraints), "newton")  # which says why it cannot
        return able, "max_features takes integer variables"
    if not program.is_convex:
        return "highs", "z > 0 is solved by many linear programs, each by the solver that suits it"
    if SOLVERS["newton"].capabilities.why_not(program) is not None:
        return "cutting_plane", "it forms no pairs"
    if sample.in_blocks:
        return "newton", "the sample is in blocks"
    n_pairs, n_rows = program.comparisons.n_pairs(sample), sample.n_pos + sample.n_neg
    # Too many columns for a Hessian, and steps by products with sparse rows end first. Over points, and over the
    # hardest pairs, few margins are near the kink, and cutting planes are as fast or faster.
    in_l2 = program.uses_norm and program.regulariser.norm.is_euclidean
    by_products = in_l2 and sample.is_sparse and n_features > NEWTON_FEATURES and problem.constraints is None
    if by_products and n_pairs > INTERIOR_PAIRS and not program.comparisons.hardest:
        return "newton", "of sparse rows with many columns it needs only products"
    if program.uses_norm and is_rotated(problem) and n_pairs > INTERIOR_PAIRS:
        return "cutting_plane", "more columns than rows, and too many pairs to store each"
    # Few rows relative to the columns, and few margins relative to the entries of the systems.
    is_wide = n_rows <= min(INTERIOR_ROWS, INTERIOR_RATIO * n_features)
    large = is_wide and (n_features * n_rows > SMALL_ENTRIES or is_rotated(problem))
    if large and SOLVERS["interior"].capabilities.takes(problem) and why_not(problem) is None:
        return "interior", "systems of the size of the rows, of which there are few"
    if is_rotated(problem):
        return "newton", "with more columns than rows the program is solved in the span of the rows"
    if n_features > NEWTON_FEATURES:
        return "cutting_plane", f"n = {n_features} is too many for a Hessian"
    if program.kind == "piecewise":
        return "newton", "it follows the minimum of a smooth loss"
    if is_linear(program) and problem.n_margins <= HIGHS_PAIRS and "aggregated" in encodings(program):
        return "highs", "a linear program over few pairs"
    if n_pairs:
        return "newton", "the program is over pairs, which it never forms"
    if is_linear(program) and entries <= SMALL_ENTRIES:
        return "highs", "a linear program over few points"
    if not is_linear(program) and entries <= CLARABEL_ENTRIES:
        return "clarabel", "a conic program over few points"
    return "newton", "the program is over many points"
