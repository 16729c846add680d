"""If the solver that "auto" selected proves no optimum, others continue, and their best results are combined.

A solver that makes no progress ends while there is time for another (`patience`), which gets its point to start from
where it takes one. A point needs no multipliers of its own: any dual point is a lower bound. So the best point is
certified with the multipliers of every solver, and the smallest gap counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.precision import FEW_STEPS
from auclab.solvers.budget import (
    SECONDS_FOR_MORE,
    SMALL_MARGINS,
    indivisible,
    is_allowed,
    margin_bytes,
)
from auclab.solvers.encodings import encodings
from auclab.solvers.monitor import ends_without_progress
from auclab.solvers.raw import RawSolution
from auclab.solvers.registry import SOLVERS
from auclab.solvers.solution import Solution
from auclab.solvers.verification import verify
from auclab.types import AuclabError, Status

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
        return " ".join([self.solver, *(f"{key}={value}" for key, value in self.options.items())])


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

Attempt = tuple[str, RawSolution, Solution]


def patience(time_limit: float | None) -> float:
    """Seconds without progress after which a solver ends, so that another one gets its turn.

    `time_limit`: seconds that are left.
    """
    if time_limit is None or math.isinf(time_limit):
        return LEAST_SECONDS
    return max(LEAST_PATIENCE, PATIENCE_SHARE * time_limit)


def others_may_prove_more(problem: Problem, solution: Solution) -> bool:
    """Whether other solvers may prove more: nothing is proved, or only within a radius where more is cheap to try."""
    if solution.status is Status.OPTIMAL_WITHIN:
        return problem.n_margins <= SMALL_MARGINS and not problem.sample.in_blocks
    return solution.status in UNFINISHED


def hand_over(
    problem: Problem,
    first: Attempt,
    run: Callable[[Candidate, float], RawSolution],
    tolerance: float,
    time_limit: float | None,
    stalled: float | None = None,
) -> Solution:
    """The best point and bound of the first attempt and of other solvers together.

    `first`: what the selected solver returned, and its verification. `run`: from a candidate and the seconds that it
    has to its answer. `tolerance`: relative gap. `time_limit`: seconds that are left. `stalled`: the seconds without
    progress that ended the first attempt, for the notes. Returns: its notes say who found the point and who the bound.
    """
    begin = perf_counter()
    spent = first[2].timings.total
    allowed = max(LEAST_SECONDS, spent) if time_limit is None else time_limit
    within = first[2].status is Status.OPTIMAL_WITHIN
    small = others_may_prove_more(problem, replace(first[2], status=Status.OPTIMAL_WITHIN))
    if within:
        allowed = min(allowed, SECONDS_FOR_MORE)
    attempts, best = [first], first[2]
    candidates = list(_candidates(problem, first[0]))
    for k, candidate in enumerate(candidates):
        remaining = allowed - (perf_counter() - begin)
        if remaining <= 0:
            break
        if candidate.model is not None and not _in_time(problem, candidate, remaining):
            continue
        seconds = min(remaining, SECONDS_FOR_MORE) if candidate.solver == "scs" else remaining
        waits = patience(remaining) if k + 1 < len(candidates) else math.inf
        try:
            with ends_without_progress(waits):
                raw = run(_from_point(candidate, attempts), seconds)
        except AuclabError:
            continue  # too many features, or no memory: the next one
        left = None if time_limit is None else max(time_limit - (perf_counter() - begin), 0.0)
        attempts.append((candidate.label, raw, verify(problem, raw, candidate.solver, tolerance, left)))
        best = combined(problem, attempts, tolerance)
        if best.status is Status.OPTIMAL or raw.status is Status.INTERRUPTED:
            break
        if best.status is Status.OPTIMAL_WITHIN:
            if not small:
                break
            allowed = min(allowed, perf_counter() - begin + SECONDS_FOR_MORE)
    if len(attempts) == 1 or (within and best is first[2]):
        return best
    how = f"ended with {first[2].status}" if stalled is None else f"made no progress for {stalled:.3g} s"
    reached = f"gap {first[2].gap:.1e}" if math.isfinite(first[2].gap) else "nothing is proved"
    ended = f"auto: {first[0]} {how} ({reached})"
    others = ", ".join(label for label, _, _ in attempts[1:])
    timings = [solution.timings for _, _, solution in attempts]
    total = Timings(*(sum(getattr(t, kind) for t in timings) for kind in ("build", "load", "compile", "solve")))
    notes = (f"{ended}; {others} went on", *best.notes)
    return replace(best, timings=total, notes=notes, iterations=sum(s.iterations for _, _, s in attempts))


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
    if candidate.solver != "newton" or not solution.gap < _NEAR or not point.coef.any():
        return candidate
    return replace(candidate, options={**candidate.options, "start": (point.coef, point.intercept)})


def _in_time(problem: Problem, candidate: Candidate, seconds: float) -> bool:
    """Whether a model that a library takes as a whole is likely to be solved in the given seconds."""
    if candidate.solver not in ("clarabel", "scs"):
        return True
    expected = indivisible(problem, candidate.solver)
    return expected.total + (_ITERATIONS - FEW_STEPS) * expected.iteration <= seconds


def _rank(solution: Solution) -> tuple[int, float, float]:
    """Proved for all w before proved up to a radius, the largest first, before the rest; then by the gap."""
    place = {Status.OPTIMAL: 0, Status.OPTIMAL_WITHIN: 1}.get(solution.status, 2)
    gap = solution.gap if math.isfinite(solution.gap) else math.inf
    return place, -solution.certificate.norm_bound if place == 1 else 0.0, gap


def _candidates(problem: Problem, first: str) -> Iterator[Candidate]:
    """The solvers that can take the problem, except for the one that has had it."""
    program, sample = problem.program, problem.sample
    for candidate in CANDIDATES:
        capabilities = SOLVERS[candidate.solver].capabilities
        encoding = candidate.options.get("encoding")
        if candidate.label == first or capabilities.why_not(program, problem.constraints) is not None:
            continue
        if encoding is not None and encoding not in encodings(program):
            continue
        if sample.in_blocks and not capabilities.blocks:
            continue
        if problem.n_margins > candidate.margins:
            continue
        if candidate.model is not None and not is_allowed(margin_bytes(problem, candidate.model)):
            continue
        yield candidate
