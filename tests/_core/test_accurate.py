"""Sums in twice the precision against exact rationals: the error is within its bound."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from auclab._core.accurate import (
    CHUNK,
    accurate_norm,
    accurate_pair_hinge,
    accurate_scores,
    accurate_sum,
    relative_error,
    two_sums,
    weighted_column_sums,
)

numbers = st.floats(-1e40, 1e40, allow_nan=False, allow_subnormal=False)


def exact(values):
    return sum((Fraction(value) for value in values), Fraction(0))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_rows", [1, 7, CHUNK, 3 * CHUNK + 5])
def test_column_sums_are_within_their_error(n_rows, sparse):
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 3)) * 10.0 ** rng.integers(-8, 9, size=(n_rows, 3))
    weights = rng.random(n_rows) * (rng.random(n_rows) < 0.7)
    high, low, error = weighted_column_sums(sp.csr_array(X) if sparse else X, weights)
    for k in range(3):
        true = sum((Fraction(w) * Fraction(x) for w, x in zip(weights, X[:, k], strict=True)), Fraction(0))
        assert abs(true - Fraction(high[k]) - Fraction(low[k])) <= Fraction(error[k])
        assert error[k] <= 1e-24 * np.abs(weights * X[:, k]).sum()


@given(st.lists(numbers, max_size=40))
def test_sums_are_within_their_error(values):
    high, low = accurate_sum(np.array(values, dtype=float))
    off = abs(exact(values) - Fraction(high) - Fraction(low))
    assert off <= Fraction(relative_error(len(values))) * exact(map(abs, values))


@given(numbers, numbers)
def test_two_sums_lose_nothing(a, b):
    total, rest = two_sums(a, b)
    assert Fraction(total) + Fraction(rest) == Fraction(a) + Fraction(b)


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_scores_have_thirty_digits(form):
    X, coef = form([[1e16, 1.0, 0.0, -1e16], [0.0, 0.0, 0.0, 2.0]]), np.array([1.0, 1e-3, 7.0, 1.0])
    high, low = accurate_scores(X, coef)
    assert (high + low).tolist() == [1e-3, 2.0]


@pytest.mark.parametrize("order", [1, 2, np.inf])
def test_norms_beyond_the_range_of_squares(order):
    vector = np.array([3e200, -4e200])
    expected = {1: 7e200, 2: 5e200, np.inf: 4e200}[order]
    assert accurate_norm(vector, order)[0] == pytest.approx(expected, rel=1e-15)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=5), st.lists(st.integers(-3, 3), min_size=1, max_size=5))
def test_pair_hinge_of_long_scores(pos, neg):
    """Margins of 1e-9 under scores of 1e9: the low parts decide."""
    scale = 2.0**-70
    high_pos, high_neg = np.full(len(pos), 2.0**30), np.full(len(neg), 2.0**30)
    low_pos, low_neg = scale * np.array(pos, float), scale * np.array(neg, float)
    value = accurate_pair_hinge((high_pos, low_pos), (high_neg, low_neg), (0.0, 0.0))
    expected = np.maximum(low_neg[None, :] - low_pos[:, None], 0.0).mean()
    assert value == pytest.approx(expected, rel=1e-14, abs=0)
