"""CVXPY's models solved by a conic solver; SCS, a first-order method."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np

from auclab._core.base import Status
from auclab.formulations.problem import Problem
from auclab.models.cvxpy_model import ConvexModel, to_cvxpy
from auclab.models.hard_margin import marginals
from auclab.models.timings import Clock, Timings
from auclab.solvers.budget import (
    MOMENT,
    Indivisible,
    check_margins,
    check_seconds,
    default_limit_note,
    indivisible,
    seconds_allowed,
)
from auclab.solvers.monitor import Monitor
from auclab.solvers.reformulations import feature_units
from auclab.solvers.solution import RawSolution

#: A limit is never OPTIMAL: SCS reports one as `optimal_inaccurate`, the others as `user_limit`.
_STATUS = {
    cp.OPTIMAL: Status.OPTIMAL,
    cp.OPTIMAL_INACCURATE: Status.ITERATION_LIMIT,
    cp.USER_LIMIT: Status.ITERATION_LIMIT,
}
_SCS_INTERRUPTED = -5
_ADVICE = "use solver=newton or solver=cutting_plane, which look at the clock, or a longer time_limit"
#: Least number of seconds for compiling, whatever the size.
_LEAST_COMPILING = 0.05


class _OutOfTimeError(Exception):
    """Compiling took so long that factorising would exceed the time limit."""


def solve_conic(
    problem: Problem,
    solver: str,
    clock: Clock,
    settings: Callable[[float], dict[str, Any]],
    where_it_fails: dict[str, Any] | None = None,
) -> RawSolution:
    """Build, solve, and read primal and dual values.

    `solver`: CVXPY's name of the solver. `clock`: of the solve; 600 s where it has no limit. `settings`: from
    the seconds that are left for the solver to its options. `where_it_fails`: further options for a second call, if the
    first does not reach its tolerances.
    """
    name = solver.lower()
    check_margins(problem, name)
    expected = indivisible(problem, name)
    margins = f"{problem.n_margins:,} {problem.program.comparisons.name}"
    check_seconds(expected.total, clock.left, f"solver={name} on {margins}", _ADVICE)
    start, allowed = clock.seconds, seconds_allowed(clock.left)
    own = clock.until(allowed)
    model = to_cvxpy(problem, feature_units(problem))
    built = clock.seconds
    try:
        loaded = _solve_in_time(model, solver, settings, where_it_fails, own, expected)
    except _OutOfTimeError:
        note = f"compiling the CVXPY model left no time for {name} to factorise it"
        return RawSolution.null(problem, Status.TIME_LIMIT, Timings(build=built - start), note)
    except (
        cp.SolverError,
        ValueError,
        ArithmeticError,
    ) as error:  # SCS raises ValueError where it has no memory, or NaN
        timings = Timings(build=built - start, solve=clock.seconds - built)
        return RawSolution.null(problem, Status.FAILED, timings, f"{name}: {error}")
    finished = clock.seconds
    stats = model.problem.solver_stats
    timings = Timings(build=built - start, load=loaded - built, solve=finished - loaded)
    status = _STATUS.get(model.problem.status, Status.FAILED)
    if model.problem.status == cp.OPTIMAL_INACCURATE and solver == "CLARABEL":
        status = Status.OPTIMAL  # a point short of its tolerances, which are a thousandth of ours: the gap decides
    if status is Status.ITERATION_LIMIT and finished - start >= 0.95 * allowed:
        status = Status.TIME_LIMIT
    notes = default_limit_note(clock, status)
    if status is Status.FAILED or model.coef.value is None:
        return replace(
            RawSolution.null(problem, status, timings),
            notes=(*notes, f"{name} reports {model.problem.status}"),
        )
    weights = model.weights()
    return RawSolution(
        coef=np.asarray(model.coef.value, dtype=float),
        intercept=0.0 if model.intercept is None else float(model.intercept.value),
        status=status,
        multipliers=None if weights is None else marginals(problem, weights),
        margin_multipliers=weights,
        share_neg=model.share_neg(),
        iterations=int(stats.num_iters or 0),
        timings=timings,
        notes=notes,
    )


def _solve_in_time(
    model: ConvexModel,
    solver: str,
    settings: Callable[[float], dict[str, Any]],
    where_it_fails: dict[str, Any] | None,
    clock: Clock,
    expected: Indivisible,
) -> float:
    """Compile and solve within the limit; returns when the model was compiled."""
    with warnings.catch_warnings():
        # The verification measures how inaccurate a solution is; CVXPY's warning would repeat it.
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        start = clock.seconds
        data, chain, inverse = model.problem.get_problem_data(solver, solver_opts=settings(1.0))
        compiled = clock.seconds
        # The time of compiling shows how fast, and how busy, the machine is.
        expected = expected.slower(max(1.0, (compiled - start) / max(expected.compiling, _LEAST_COMPILING)))
        left = seconds_allowed(clock.left)
        if math.isfinite(left):
            if expected.setup + expected.iteration > left + MOMENT:
                raise _OutOfTimeError
            left -= expected.iteration
            if solver == "SCS":  # its clock starts after the setup
                left -= expected.setup
        answer = chain.solve_via_data(model.problem, data, solver_opts=settings(max(left, 1e-3)))
        if solver == "SCS" and answer["info"]["status_val"] == _SCS_INTERRUPTED:
            raise KeyboardInterrupt  # SCS has a handler of its own for Ctrl-C
        if not _is_accurate(model, answer, chain, inverse) and where_it_fails and not clock.is_over:
            options = settings(seconds_allowed(clock.left)) | where_it_fails
            other = chain.solve_via_data(model.problem, data, solver_opts=options)
            if _is_accurate(model, other, chain, inverse):
                return compiled
        model.problem.unpack_results(answer, chain, inverse)
    return compiled


def _is_accurate(model: ConvexModel, answer: Any, chain: Any, inverse: Any) -> bool:
    """Whether a solver's result meets its tolerances; the model then has the values."""
    try:
        model.problem.unpack_results(answer, chain, inverse)
    except cp.SolverError:
        return False
    return model.problem.status != cp.OPTIMAL_INACCURATE


def solve(problem: Problem, monitor: Monitor, *, max_iters: int = 200_000) -> RawSolution:
    """Solve any convex hinge program, partial AUC included, to about `tolerance`.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
        Has the relative gap to aim at: SCS's own tolerances are set a hundred times smaller. Its time includes the
        building of the model; 600 s where it has no limit.
    max_iters : int
        Largest number of iterations; reaching it is the status ITERATION_LIMIT.

    See Also
    --------
    auclab.solvers.clarabel.solve : An interior-point method on the same model.
    """
    inner = max(1e-11, 1e-2 * monitor.tolerance)

    def settings(seconds: float) -> dict[str, Any]:
        limit = seconds if math.isfinite(seconds) else 0.0  # no limit for SCS
        return {"eps_abs": inner, "eps_rel": inner, "max_iters": int(max_iters), "time_limit_secs": limit}

    return solve_conic(problem, "SCS", monitor.clock, settings)
