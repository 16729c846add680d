"""SCS, a first-order method, on the CVXPY model: low memory, slow to high accuracy."""

from __future__ import annotations

import math
from typing import Any

from auclab.formulations.problem import Problem
from auclab.solvers.conic.cvxpy_solve import solve_conic
from auclab.solvers.raw import RawSolution
from auclab.solvers.scaling import in_own_units
from auclab.solvers.wide_rows import on_rotated_rows


@in_own_units
@on_rotated_rows
def solve(
    problem: Problem, *, tolerance: float = 1e-6, time_limit: float | None = None, max_iters: int = 200_000
) -> RawSolution:
    """Solve any convex hinge program, partial AUC included, to about `tolerance`.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Relative gap, > 0, to aim at. SCS's own tolerances are set a hundred times smaller.
    time_limit : float, optional
        Seconds, > 0, the building of the model included; 600 if left out.
    max_iters : int
        Largest number of iterations; reaching it is the status ITERATION_LIMIT.

    See Also
    --------
    auclab.solvers.conic.clarabel.solve : An interior-point method on the same model.
    """
    inner = max(1e-11, 1e-2 * tolerance)

    def settings(seconds: float) -> dict[str, Any]:
        limit = seconds if math.isfinite(seconds) else 0.0  # no limit for SCS
        return {"eps_abs": inner, "eps_rel": inner, "max_iters": int(max_iters), "time_limit_secs": limit}

    return solve_conic(problem, "SCS", time_limit, settings)
