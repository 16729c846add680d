"""`solver=integer`: integer scorecards, and convex programs of which at most k features are used."""

from __future__ import annotations

from auclab.formulations.problem import Problem
from auclab.solvers.integer.max_features import solve_max_features
from auclab.solvers.integer.scorecard import solve_scorecard
from auclab.solvers.raw import RawSolution


def solve(problem: Problem, *, tolerance: float = 1e-6, time_limit: float | None = None) -> RawSolution:
    """Branch and bound over linear programs of cuts (docs/scorecards.md).

    Parameters
    ----------
    problem : Problem
        A scorecard, or a convex program with constraints that have `max_features`.
    tolerance : float
        Relative gap, > 0, at or below which the status is OPTIMAL.
    time_limit : float, optional
        Seconds, > 0; 600 if left out.
    """
    run = {"integer": solve_scorecard}.get(problem.program.kind, solve_max_features)
    return run(problem, tolerance=tolerance, time_limit=time_limit)
