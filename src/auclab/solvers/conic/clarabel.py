"""Clarabel, an interior-point method: the general route to small and middle-sized problems.

Through CVXPY, except for few points, which need no modelling language (`direct`).
"""

from __future__ import annotations

from typing import Any

from auclab.formulations.problem import Problem
from auclab.solvers.conic.direct import solve_points
from auclab.solvers.raw import RawSolution
from auclab.solvers.scaling import in_own_units
from auclab.solvers.wide_rows import on_rotated_rows

#: Linearly dependent columns, such as those of all categories of a variable, leave Clarabel's systems singular and may
#: end it in its first iteration. It is then run again with a hundred times its regularisation; iterative refinement
#: keeps the accuracy (measured on 270 rows, 23 columns of rank 17).
_WHERE_IT_FAILS = {"static_regularization_constant": 1e-6}


@in_own_units
@on_rotated_rows
def solve(problem: Problem, *, tolerance: float = 1e-6, time_limit: float | None = None) -> RawSolution:
    """Solve any convex hinge program, partial AUC included.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Relative gap, > 0, to aim at. Clarabel's own tolerances are set a thousand times smaller, because the verified
        gap is that of multipliers made feasible.
    time_limit : float, optional
        Seconds, > 0, the building of the model included; 600 if left out.

    See Also
    --------
    auclab.solvers.conic.scs.solve : A first-order method on the same model.
    """
    inner = max(1e-12, 1e-3 * tolerance)

    def settings(seconds: float) -> dict[str, Any]:
        return {"tol_gap_abs": inner, "tol_gap_rel": inner, "tol_feas": inner, "time_limit": seconds}

    direct = solve_points(problem, time_limit)
    if direct is not None:
        return direct
    from auclab.solvers.conic.cvxpy_solve import solve_conic  # imports CVXPY

    return solve_conic(problem, "CLARABEL", time_limit, settings, _WHERE_IT_FAILS)
