"""SCS, a first-order method, on the CVXPY model: low memory, slow to high accuracy."""

from __future__ import annotations

import math
from typing import Any

from auclab.formulations.problem import Problem
from auclab.solvers.conic.cvxpy_solve import solve_conic
from auclab.solvers.monitor import Monitor
from auclab.solvers.solution import RawSolution


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
    auclab.solvers.conic.clarabel.solve : An interior-point method on the same model.
    """
    inner = max(1e-11, 1e-2 * monitor.tolerance)

    def settings(seconds: float) -> dict[str, Any]:
        limit = seconds if math.isfinite(seconds) else 0.0  # no limit for SCS
        return {"eps_abs": inner, "eps_rel": inner, "max_iters": int(max_iters), "time_limit_secs": limit}

    return solve_conic(problem, "SCS", monitor.clock, settings)
