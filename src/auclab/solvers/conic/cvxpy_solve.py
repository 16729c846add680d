"""How a CVXPY model is solved by any of its conic solvers."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.cvxpy_model import to_cvxpy
from auclab.models.margins import marginals
from auclab.models.timings import Timings
from auclab.solvers.raw import RawSolution
from auclab.types import Status

#: A limit is never OPTIMAL: SCS reports one as `optimal_inaccurate`, the others as `user_limit`.
_STATUS = {
    cp.OPTIMAL: Status.OPTIMAL,
    cp.OPTIMAL_INACCURATE: Status.ITERATION_LIMIT,
    cp.USER_LIMIT: Status.ITERATION_LIMIT,
}


def solve_conic(problem: Problem, solver: str, time_limit: float | None, settings: dict[str, Any]) -> RawSolution:
    """Build, solve, and read primal and dual values.

    Parameters
    ----------
    problem : Problem
    solver : str
        CVXPY's name of the solver.
    time_limit : float, optional
        Seconds; `settings` hold it under the solver's own name.
    settings : dict
        Options of the solver.
    """
    start = perf_counter()
    model = to_cvxpy(problem)
    built = perf_counter()
    try:
        with warnings.catch_warnings():
            # The verification measures how inaccurate a solution is; CVXPY's warning would repeat it.
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            model.problem.solve(solver=solver, **settings)
    except cp.SolverError as error:
        timings = Timings(build=built - start, solve=perf_counter() - built)
        return RawSolution.null(problem, Status.FAILED, timings, f"{solver.lower()}: {error}")
    elapsed = perf_counter() - built
    stats = model.problem.solver_stats
    solve_time = float(stats.solve_time or elapsed)
    timings = Timings(build=built - start, load=max(0.0, elapsed - solve_time), solve=solve_time)
    status = _STATUS.get(model.problem.status, Status.FAILED)
    if status is Status.ITERATION_LIMIT and time_limit is not None and elapsed >= 0.95 * time_limit:
        status = Status.TIME_LIMIT
    if status is Status.FAILED or model.coef.value is None:
        return RawSolution.null(problem, status, timings, f"{solver.lower()} reports {model.problem.status}")
    weights = model.weights()
    return RawSolution(
        coef=np.asarray(model.coef.value, dtype=float),
        intercept=0.0 if model.intercept is None else float(model.intercept.value),
        status=status,
        multipliers=None if weights is None else marginals(problem, weights),
        share_neg=model.share_neg(),
        iterations=int(stats.num_iters or 0),
        timings=timings,
    )
