"""Clarabel, an interior-point method: the general route to small and middle-sized problems.

Through CVXPY (`auclab.models.cvxpy_model`), except for few points, which need no modelling language
(`auclab.models.window.solve_cone`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auclab._core.base import Status
from auclab.formulations.problem import Problem
from auclab.models.dual_lp import Fixed
from auclab.models.hard_margin import all_margins, marginals
from auclab.models.timings import Clock
from auclab.models.window import solve_cone
from auclab.solvers.budget import SMALL_ENTRIES, finite_or_none, seconds_allowed
from auclab.solvers.monitor import Monitor
from auclab.solvers.registry import PARTS
from auclab.solvers.solution import RawSolution


def solve_points(problem: Problem, clock: Clock) -> RawSolution | None:
    """The optimum over few points, or None for other programs and where Clarabel does not reach one.

    `problem`: convex. `clock`: of the solve; 600 s where it has no limit.
    """
    sample = problem.sample
    if problem.over_pairs or sample.n_entries > SMALL_ENTRIES:
        return None
    if not PARTS["cones without CVXPY"].takes(problem):
        return None
    nothing = Fixed(0.0, np.zeros(sample.n_features))
    limit = finite_or_none(seconds_allowed(clock.left))
    point = solve_cone(
        problem.program, all_margins(problem), nothing, time_limit=limit, constraints=problem.constraints
    )
    if point.status not in (Status.OPTIMAL, Status.TIME_LIMIT):
        return None
    multipliers = marginals(problem, point.weights)
    return RawSolution(point.coef, point.intercept, point.status, multipliers, point.iterations, point.timings)


#: Linearly dependent columns, such as those of all categories of a variable, leave Clarabel's systems singular and may
#: end it in its first iteration. It is then run again with a hundred times its regularisation; iterative refinement
#: keeps the accuracy (measured on 270 rows, 23 columns of rank 17).
_WHERE_IT_FAILS = {"static_regularization_constant": 1e-6}


def solve(problem: Problem, monitor: Monitor) -> RawSolution:
    """Solve any convex hinge program, partial AUC included.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
        Has the relative gap to aim at: Clarabel's own tolerances are set a thousand times smaller, because the verified
        gap is that of multipliers made feasible. Its time includes the building of the model; 600 s where it has no
        limit.

    See Also
    --------
    auclab.solvers.scs.solve : A first-order method on the same model.
    """
    inner = max(1e-12, 1e-3 * monitor.tolerance)

    def settings(seconds: float) -> dict[str, Any]:
        return {"tol_gap_abs": inner, "tol_gap_rel": inner, "tol_feas": inner, "time_limit": seconds}

    direct = solve_points(problem, monitor.clock)
    if direct is not None:
        return direct
    from auclab.solvers.scs import solve_conic  # imports CVXPY

    return solve_conic(problem, "CLARABEL", monitor.clock, settings, _WHERE_IT_FAILS)
