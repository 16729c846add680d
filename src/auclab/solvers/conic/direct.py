"""Small programs over points in Clarabel's own form: CVXPY, whose import takes a second, is not needed for them."""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.dual_lp import Fixed
from auclab.models.margins import all_margins, marginals
from auclab.models.timings import Clock
from auclab.models.window import solve_cone
from auclab.solvers.budget import SMALL_ENTRIES, finite_or_none, seconds_allowed
from auclab.solvers.raw import RawSolution
from auclab.solvers.registry import PARTS
from auclab.types import Status


def solve_points(problem: Problem, clock: Clock) -> RawSolution | None:
    """The optimum over few points, or None for other programs and where Clarabel does not reach one.

    `problem`: convex. `clock`: of the solve; 600 s where it has no limit.
    """
    sample = problem.sample
    if problem.over_pairs or sample.n_entries > SMALL_ENTRIES:
        return None
    if PARTS["cones without CVXPY"].why_not(problem.program, problem.constraints) is not None:
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
