"""Where w = 0 becomes optimal (7.3): the level is exact from both sides."""

import math

import numpy as np
import pytest

from auclab import CSVM, ECSVM, GeneralizedBufferedAUC, RankSVM, solve
from auclab._core.base import NORMS, Status
from programs import equal_means, overlapping, tied


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("data", [overlapping(1), tied(1)], ids=["overlapping", "tied"])
@pytest.mark.parametrize("family", [RankSVM, CSVM])
def test_null_penalty_is_sharp(family, norm, data):
    X, y = data
    level = family(1.0, norm).null_penalty(X, y)
    above = solve(family(level * 1.001, norm), X, y)
    below = solve(family(level * 0.99, norm), X, y)
    shares = 1.0 if family is RankSVM else 2 * min(y.mean(), 1 - y.mean())
    assert not above.coef.any()
    assert above.objective == pytest.approx(shares, rel=1e-12)
    assert above.gap <= 1e-9
    assert any("w = 0 is optimal because λ" in note for note in above.notes)
    assert below.coef.any()
    assert below.objective < shares
    assert above.status is below.status is Status.OPTIMAL


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("family", [GeneralizedBufferedAUC, ECSVM])
def test_null_threshold_is_sharp(family, norm):
    X, y = overlapping(2)
    level = family(-1.0, norm).null_threshold(X, y)
    above, below = (solve(family(-level * factor, norm), X, y) for factor in (1.001, 0.99))
    assert not above.coef.any()
    assert any("w = 0 is optimal because −z" in note for note in above.notes)
    assert below.coef.any()
    assert below.objective < above.objective


def test_null_penalty_by_hand():
    # Class means (2, 0) and (0, 1): Δ = (2, −1), dual norms max = 2, √5, sum = 3.
    X, y = [[2.0, 0.0], [0.0, 1.0]], [1, 0]
    assert RankSVM(1.0, "l1").null_penalty(X, y) == 2.0
    assert RankSVM(1.0, "l2").null_penalty(X, y) == pytest.approx(math.sqrt(5), rel=1e-15)
    assert RankSVM(1.0, "linf").null_penalty(X, y) == 3.0
    assert RankSVM(1.0, squared=True).null_penalty(X, y) == math.inf


def test_points_choose_the_nearest_of_the_majority():
    # One positive at 1; negatives at 0 and 3, a third each. Minority weight ⅓, matched by mass at ... 1 itself
    # (⅓·1 = q₀·0 + q₃·3 with q₀ = 2/9, q₃ = 1/9): the level is 0, w = 0 is optimal for every penalty.
    X, y = [[1.0], [0.0], [3.0]], [1, 0, 0]
    for norm in NORMS:
        assert CSVM(1.0, norm).null_penalty(X, y) == pytest.approx(0.0, abs=1e-9)
        assert ECSVM(-1.0, norm).null_threshold(X, y) == pytest.approx(0.0, abs=1e-9)
    # Without the far negative only 0 is left: (½)·|1 − 0|.
    assert CSVM(1.0).null_penalty(X[:2], y[:2]) == pytest.approx(0.5, rel=1e-9)


def test_equal_means_leave_nothing_to_gain():
    X, y = equal_means()
    for program in (RankSVM(1e-6), RankSVM(0.0), GeneralizedBufferedAUC(-1e-6)):
        solution = solve(program, X, y)
        assert not solution.coef.any()
        assert (solution.objective, solution.status) == (1.0, Status.OPTIMAL)
        assert 0 <= solution.gap < 1e-12  # the bound is rounded down


def test_value_of_the_null_point_over_points_is_twice_the_minority():
    X, y = overlapping(4, 5, 15)
    solution = solve(CSVM(100.0), X, y)
    assert solution.objective == pytest.approx(0.5, rel=1e-12)  # 2 · 5/20
    assert np.sign(solution.intercept) == -1.0
