"""The exact optimum against HiGHS where that is accurate, and by hand where it is not."""

import numpy as np
import pytest

from auclab import CSVM, BufferedAUC, RankSVM, solve
from auclab._core.base import Status
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.samples.as_sample import as_sample
from auclab.solvers.rational_simplex import MAX_SIZE, is_small_linear, solve_exactly


@pytest.mark.parametrize("program", [BufferedAUC(), CSVM(0.0)], ids=["pairs", "points"])
@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_highs(program, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(14) < 6
    X = rng.normal(size=(14, 2)) + 0.5 * y[:, None]
    weight = None if seed % 2 else rng.integers(0, 3, 14) + (np.arange(14) % 7 == 0)
    problem = Problem(program, as_sample(X, y, weight))
    found, solution = solve_exactly(problem, Clock()), solve(program, X, y, solver="highs", sample_weight=weight)
    assert found.value == pytest.approx(solution.objective, abs=1e-12)
    assert problem.objective(found.coef, found.intercept) == pytest.approx(found.value, abs=1e-12)
    pos, neg = found.multipliers
    assert pos.sum() == pytest.approx(neg.sum(), abs=1e-15)
    assert pos.sum() + (0 if problem.over_pairs else neg.sum()) == pytest.approx(found.value, abs=1e-12)


def test_long_w_is_found():
    """A positive 1e-12 above one negative and 2 above the other: w = 1e12 leaves no hinge."""
    found = solve_exactly(Problem(BufferedAUC(), as_sample([[1 + 2.0**-40], [1.0], [-1.0]], [1, 0, 0])), Clock())
    assert found.value == 0.0
    assert found.coef.tolist() == [2.0**40]


def test_degenerate_programs_end():
    """Equal observations: every step has length 0."""
    X, y = np.ones((8, 3)), np.arange(8) % 2
    found = solve_exactly(Problem(BufferedAUC(), as_sample(X, y)), Clock())
    assert found.value == pytest.approx(1.0, abs=1e-14)
    assert not found.coef.any()


def test_what_is_small():
    X, y = np.eye(40), np.arange(40) % 2
    assert not is_small_linear(Problem(BufferedAUC(), as_sample(X, y)))  # 400 · 41 > MAX_SIZE
    assert is_small_linear(Problem(CSVM(0.0), as_sample(X, y)))
    assert not is_small_linear(Problem(RankSVM(0.1), as_sample(X[:, :2], y)))
    assert MAX_SIZE < 400 * 41


def test_solve_goes_on_to_a_long_w():
    """Each solver ends near w = 1 or finds w = 1e9; the answer is the optimum over every w."""
    X, y = [[1 + 1e-9], [1.0], [1.0], [1e-9]], [1, 0, 0, 0]
    for solver in ("auto", "highs", "newton", "cutting_plane", "clarabel"):
        solution = solve(BufferedAUC(), X, y, solver=solver)
        assert solution.status is Status.OPTIMAL
        assert solution.objective < 1e-12
        assert solution.coef[0] > 9e8


def test_without_time_there_is_no_optimum():
    problem = Problem(BufferedAUC(), as_sample([[3.0], [1.0], [0.0]], [1, 0, 0]))
    assert solve_exactly(problem, Clock(-1.0)) is None
