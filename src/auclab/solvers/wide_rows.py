"""Solvers get data with more columns than rows in a basis of the span of the rows, if the norm is l2 or none.

The hard-margin separator needs only the Gram matrix and is tried first. Solutions are mapped back, and certified on the
rows as given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from time import perf_counter
from typing import Any

from auclab.formulations.problem import Problem
from auclab.models.hard_margin import is_separated_by_rows
from auclab.samples.rotated import RotatedRows, is_wide, rotated
from auclab.solvers.interrupt import one_thread_each
from auclab.solvers.monitor import monitored
from auclab.solvers.path_parameters import penalty_level
from auclab.solvers.raw import RawSolution
from auclab.solvers.separation import separates

#: Of sparse rows, the share of `penalty_level` above which many hinges are left. Text-like rows, 2,000 × 20,000 and
#: 4,000 × 50,000: at a tenth 0.3 and 0.6 s by products, uncertified after 5 s in the span; at a hundredth the reverse.
LARGE_PENALTY = 0.03


def on_rotated_rows(solve: Callable[..., RawSolution]) -> Callable[..., RawSolution]:
    """A solver that is given at most as many columns as rows, and whose solution is for the rows as given.

    `solve`: a solver of the registry, ``solve(problem, **options)``. Returns: a function with the same signature.
    """

    @wraps(solve)
    def solve_rotated(
        problem: Problem, *, tolerance: float = 1e-6, time_limit: float | None = None, **options: Any
    ) -> RawSolution:
        turns = is_rotated(problem)
        apart = problem.constraints is None and is_separated_by_rows(problem.sample) and not _has_many_hinges(problem)
        if not turns and not apart:
            return solve(problem, tolerance=tolerance, time_limit=time_limit, **options)
        begin = perf_counter()
        with one_thread_each(), monitored(tolerance, time_limit) as monitor:
            found = separates(problem, tolerance, monitor.stopped)
            rows = rotated(problem.sample) if turns and found is None else None
        if found is not None:
            return found
        spent = perf_counter() - begin
        left = None if time_limit is None else max(time_limit - spent, 1e-3)
        if rows is None:
            return solve(problem, tolerance=tolerance, time_limit=left, **options)
        if options.get("start") is not None:
            options["start"] = _turned(rows, *options["start"])
        answer = solve(Problem(problem.program, rows.sample), tolerance=tolerance, time_limit=left, **options)
        timings = replace(answer.timings, build=answer.timings.build + spent)
        return replace(_back(rows, answer, problem.over_pairs), timings=timings)

    return solve_rotated


def is_rotated(problem: Problem) -> bool:
    """Whether solvers get the rows of a problem in a basis of their span."""
    program = problem.program
    return (
        problem.constraints is None
        and program.is_convex
        and program.comparisons.by_marginals
        and (not program.uses_norm or program.regulariser.norm.is_euclidean)
        and is_wide(problem.sample)
        and not _has_many_hinges(problem)
    )


def _has_many_hinges(problem: Problem) -> bool:
    """Whether rows are sparse, and λ or the buffer −z so large that products take less than a basis of their span."""
    program, sample = problem.program, problem.sample
    strength = max(program.regulariser.weight, -program.threshold)
    return sample.is_sparse and strength > 0 and strength > LARGE_PENALTY * penalty_level(program, sample)


def _turned(rows: RotatedRows, coef: Any, intercept: float) -> tuple[Any, float]:
    return rows.coordinates(coef), intercept + float(coef @ rows.centre)


def _back(rows: RotatedRows, answer: RawSolution, over_pairs: bool) -> RawSolution:
    if over_pairs:
        return answer.moved(rows.original, lambda w, b: b)
    return answer.moved(rows.original, lambda w, b: b - float(rows.original(w) @ rows.centre))
