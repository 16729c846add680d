"""Random programs with constraints: no false certificate, no point outside, no crash.

A hundred by default; `AUCLAB_FUZZ=2000` is for the nightly run.
"""

import os

import numpy as np
import pytest

from auclab import AuclabError, solve
from auclab._core.base import Status
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.canonical import check_not_contradictory
from fuzz.constrained import constrained_case, exact_optimum, is_exactly_solved

COUNT = int(os.environ.get("AUCLAB_FUZZ", "100"))
SOLVERS = ("newton", "cutting_plane", "clarabel")
#: Cases of one test.
PART = 10


def answers(case, seed):
    """What auto and one other solver say, or None if there is nothing that satisfies the constraints."""
    options = {"constraints": case.constraints, "sample_weight": case.sample_weight}
    try:
        check_not_contradictory(case.constraints)
    except AuclabError:
        return None
    return [solve(case.program, case.X, case.y, solver=solver, **options) for solver in ("auto", SOLVERS[seed % 3])]


def feasible_points(case, solutions, seed):
    """Points that satisfy the constraints, and their values."""
    rng = np.random.default_rng(seed)
    problem = Problem(case.program, as_sample(case.X, case.y, case.sample_weight))
    points = [s for s in solutions if case.is_satisfied(s.coef)]
    found = [(s.coef, s.objective) for s in points]
    c = case.constraints
    for solution in points:
        for _ in range(5):
            length = 10.0 ** rng.uniform(-8, 0)
            coef = np.clip(solution.coef + length * rng.normal(size=c.n_features), c.lower, c.upper)
            for _ in range(20):
                violated = np.where(c.equal, True, c.matrix @ coef > c.limit)
                if violated.any():
                    step = np.linalg.lstsq(c.matrix[violated], (c.limit - c.matrix @ coef)[violated], rcond=None)[0]
                    coef = np.clip(coef + step, c.lower, c.upper)
            if case.is_satisfied(coef):
                found.append((coef, problem.accurate_objective(coef, solution.intercept)))
    return found


def best_within(case, points, radius):
    """The least value of the points whose w is at most so long."""
    if case.program.uses_norm:
        order = {"l1": 1, "l2": 2, "linf": np.inf}[case.program.regulariser.name]
        return min((value for coef, value in points if np.linalg.norm(coef, order) <= radius), default=np.inf)
    spread = as_sample(case.X, case.y, case.sample_weight).spread
    return min((value for coef, value in points if np.linalg.norm(coef * spread) <= radius), default=np.inf)


@pytest.mark.slow
@pytest.mark.covering(part=1)
@pytest.mark.parametrize("part", range(max(1, COUNT // PART)))
def test_no_certificate_is_false(part):
    solved = 0
    for seed in range(PART * part, PART * part + PART):
        case = constrained_case(seed)
        solutions = answers(case, seed)
        if solutions is None:
            continue
        points = feasible_points(case, solutions, seed)
        exact = float(exact_optimum(case)) if is_exactly_solved(case) else np.inf
        best = min(exact, *(value for _, value in points))
        for solution in solutions:
            where = f"case {seed}, {case.kind}, {solution!r}"
            radius = solution.certificate.norm_bound
            least = best if np.isinf(radius) else best_within(case, points, radius)
            assert not solution.lower_bound > least + 1e-12 + 1e-10 * abs(least), where
            if solution.status in (Status.OPTIMAL, Status.OPTIMAL_WITHIN):
                solved += 1
                assert case.is_satisfied(solution.coef), where
                assert solution.objective <= best + 1.1e-6 * max(best, 1e-3), where
    assert solved > 1.8 * PART
