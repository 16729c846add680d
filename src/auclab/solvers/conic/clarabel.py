"""Clarabel, an interior-point method, on the CVXPY model: the general route to small and middle-sized problems."""

from __future__ import annotations

from typing import Any

from auclab.formulations.problem import Problem
from auclab.solvers.conic.cvxpy_solve import solve_conic
from auclab.solvers.raw import RawSolution


def solve(problem: Problem, *, tolerance: float = 1e-6, time_limit: float | None = None) -> RawSolution:
    """Solve any convex hinge program.

    The solver's own tolerance is set well below `tolerance`, because the referee's gap is taken on repaired
    multipliers.
    """
    inner = max(1e-12, 1e-3 * tolerance)
    settings: dict[str, Any] = {"tol_gap_abs": inner, "tol_gap_rel": inner, "tol_feas": inner}
    if time_limit is not None:
        settings["time_limit"] = float(time_limit)
    return solve_conic(problem, "CLARABEL", time_limit, settings)
