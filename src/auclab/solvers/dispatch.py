"""The referee, not the player, scores: every solution is evaluated, bounded and named by this file."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.compiling import compile_hinge
from auclab.formulations.base import Program
from auclab.formulations.null import pair_null_level
from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.samples.as_sample import as_sample
from auclab.solvers.nonconvex import solve_nonconvex
from auclab.solvers.raw import RawSolution
from auclab.solvers.registry import check_blocks, check_capable, check_options
from auclab.solvers.solution import Solution
from auclab.solvers.verification import verify
from auclab.types import AuclabError, Status

#: More margins than this are left to the smoothed method (measured, benchmarks/pair_statements.py).
WINDOWS_UP_TO = 100_000_000
#: Seconds of compiling that are worth a note; to load what is compiled takes less.
NOTEWORTHY = 2.0
#: More features than this, and newton has no matrix for its Hessian.
MANY_FEATURES = 2_000


def solve(
    formulation: Program,
    X: Any,
    y: ArrayLike,
    *,
    solver: str = "auto",
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> Solution:
    """Solve a formulation on a sample and certify what came out.

    Parameters
    ----------
    formulation : Program
        For example ``BufferedAUC()``, ``RankSVM(0.01, norm="l1")`` or ``PartialAUC(0.1)``.
    X : array or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans; larger is positive.
    solver : str
        "auto", "highs" (linear programs, z > 0, exact AUC), "newton", "cutting_plane", "clarabel" or "scs" (convex
        programs).
    tolerance : float
        Relative gap at or below which the status is OPTIMAL.
    time_limit : float, optional
        Seconds for the solver proper; a solution that came out of a limit is never called OPTIMAL.
    sample_weight : array of shape (n_samples,), optional
    **options
        What the solver takes besides, for example ``pairs="full"`` with "highs".

    Returns
    -------
    Solution
        Objective re-evaluated without pairs, lower bound from repaired dual values, relative gap, seconds.

    Raises
    ------
    AuclabError
        Bad input, an unknown solver or option, or a solver that cannot take the formulation; the message
        names what works.

    Examples
    --------
    >>> from auclab.formulations import BufferedAUC
    >>> solution = solve(BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], solver="highs")
    >>> round(solution.objective, 9), str(solution.status)   # ξ/w ∈ {−3, −1, −1, 1}: the worst two average 0
    (0.5, 'optimal')
    """
    check_limits(tolerance, time_limit)
    problem = Problem(formulation, as_sample(X, y, sample_weight))
    return solve_problem(problem, solver, tolerance=tolerance, time_limit=time_limit, **options)


def check_limits(tolerance: float, time_limit: float | None) -> None:
    """Raise `AuclabError` unless the tolerance and the seconds are positive."""
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise AuclabError(f"tolerance must be a positive number, got {tolerance}")
    if time_limit is not None and not time_limit > 0:
        raise AuclabError(f"time_limit must be a positive number of seconds or None, got {time_limit}")


def solve_problem(problem: Problem, solver: str, *, tolerance: float, **options: Any) -> Solution:
    """`solve` on a sample that was checked before."""
    formulation = problem.program
    name, reason = (solver, "") if solver != "auto" else choose_solver(problem)
    run = check_capable(name, formulation)
    check_options(name, run, options)
    if problem.sample.in_blocks:
        check_blocks(name)
    limits: dict[str, Any] = {"tolerance": tolerance, **options}
    compiling = compile_hinge()
    answer = _null_if_optimal(problem)
    if answer is None and formulation.family != "count" and not formulation.is_convex:
        solution = solve_nonconvex(problem, run, verify, name, limits)
    else:
        solution = verify(problem, answer or run(problem, **limits), name, tolerance)
    timings = replace(solution.timings, compile=solution.timings.compile + compiling)
    remarks = [reason] if reason else []
    if timings.compile > NOTEWORTHY:
        remarks.append(f"the kernels were compiled in {timings.compile:.1f} s; later calls find them in a cache")
    return replace(solution, timings=timings, notes=(*remarks, *solution.notes))


def choose_solver(problem: Problem) -> tuple[str, str]:
    """The solver that "auto" stands for, and the reason in one line."""
    program, n_features = problem.program, problem.sample.n_features
    if program.family == "count":
        return "highs", "auto picked highs: counting pairs is a mixed-integer program"
    if program.family == "hardest":
        return "cutting_plane", "auto picked cutting_plane: it forms no pairs"
    if problem.sample.in_blocks:
        return "newton", "auto picked newton: the sample is in blocks"
    if not program.is_convex:
        return "highs", "auto picked highs: z > 0 is solved by a family of linear programs"
    if program.is_linear and problem.n_margins <= WINDOWS_UP_TO:
        return "highs", "auto picked highs: the program is linear"
    if problem.over_pairs and n_features <= MANY_FEATURES:
        why = "so many margins are as good as smooth" if program.is_linear else "the program is conic, and has pairs"
        return "newton", f"auto picked newton: {why}"
    if program.is_linear:
        return "highs", f"auto picked highs: the program is linear, and n = {n_features} is too many for newton"
    if problem.over_pairs or n_features > MANY_FEATURES:
        return "cutting_plane", f"auto picked cutting_plane: n = {n_features} is too many for a Hessian"
    return "clarabel", "auto picked clarabel: the program is conic"


def _null_if_optimal(problem: Problem) -> RawSolution | None:
    """W = 0 where a pair program is seen to have nothing better (7.3): all pair weights full prove it."""
    program, sample = problem.program, problem.sample
    if program.family != "hinge" or not problem.over_pairs or (program.squared and program.penalty > 0):
        return None
    if pair_null_level(sample, program.norm) > program.penalty - program.threshold:
        return None
    return RawSolution(
        np.zeros(sample.n_features),
        0.0,
        Status.OPTIMAL,
        (sample.share_pos, sample.share_neg),
        timings=Timings(),
    )
