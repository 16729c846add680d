"""Losses of single negatives, their level and their gradients against sums over all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from auclab._core.pieces import slope_row_sums, smoothed_level, sparse_slope_row_sums, sweep_losses

HALF_WIDTHS = [1e-6, 0.01, 0.3, 5.0]


def smoothed_hinge(a, h):
    return np.where(np.abs(a) < h, (a + h) ** 2 / (4 * h), np.maximum(a, 0.0))


def slope_of(a, h):
    return np.clip((a + h) / (2 * h), 0.0, 1.0)


def drawn(seed, ties):
    """Sorted scores of either class, the weights of the positives, and their rows."""
    rng = np.random.default_rng(seed)
    pos, neg = (np.sort(rng.normal(size=size)) for size in (17, 23))
    if ties:
        pos, neg = np.round(pos), np.round(neg)
    return pos, neg, rng.dirichlet(np.ones(17)), rng.normal(size=(17, 3))


@given(seed=st.integers(0, 10_000), half_width=st.sampled_from(HALF_WIDTHS), ties=st.booleans())
def test_losses_slopes_and_gradients_are_sums_over_the_positives(seed, half_width, ties):
    pos, neg, share, rows = drawn(seed, ties)
    a = 1.0 - pos[:, None] + neg[None, :]
    first, last, slope, loss = sweep_losses(neg, pos, share, 1.0, half_width)
    np.testing.assert_allclose(loss, share @ smoothed_hinge(a, half_width), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(slope, share @ slope_of(a, half_width), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(first, (a >= half_width).sum(axis=0))
    np.testing.assert_array_equal(last, (a > -half_width).sum(axis=0))
    some = slice(5, 19)
    expected = (share[:, None] * slope_of(a, half_width)[:, some]).T @ rows
    windows = pos, share, neg[some], first[some], last[some], 1.0, half_width
    np.testing.assert_allclose(slope_row_sums(rows, *windows), expected, rtol=1e-8, atol=1e-8)
    order = np.random.default_rng(seed).permutation(17).astype(np.int32)
    unsorted = np.empty_like(rows)
    unsorted[order] = rows
    X = sp.csr_array(unsorted)
    sparse = sparse_slope_row_sums(X.data, X.indices, X.indptr, order, *windows, 3)
    np.testing.assert_allclose(sparse, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("half_width", [1e-3, 1e-6, 1e-8])
def test_losses_of_a_narrow_band_keep_their_digits(half_width):
    """Beside a level within h of them their rounding is divided by h: it is that of scores, not of squares over h."""
    rng = np.random.default_rng(0)
    neg = np.sort(rng.choice([-2.0, 0.25, 0.5], 400) + half_width * rng.uniform(-2, 2, 400))
    pos = np.sort(1.0 + rng.choice([-2.0, 0.25, 0.5], 300) + half_width * rng.uniform(-2, 2, 300))
    share = rng.dirichlet(np.ones(300))
    a = (neg.astype(np.longdouble)[None, :] + np.longdouble(1.0)) - pos[:, None]
    *_, slope, loss = sweep_losses(neg, pos, share, 1.0, half_width)
    assert abs(loss - share @ smoothed_hinge(a, np.longdouble(half_width))).max() <= 1e-14
    assert abs(slope - share @ slope_of(a, np.longdouble(half_width))).max() <= 1e-14 + 1e-15 / half_width


@given(
    seed=st.integers(0, 10_000),
    part=st.sampled_from([0.02, 0.25, 0.5, 0.9, 1.0]),
    half_width=st.sampled_from(HALF_WIDTHS),
    ties=st.booleans(),
)
def test_the_level_minimises_the_smoothed_superquantile(seed, part, half_width, ties):
    rng = np.random.default_rng(seed)
    loss, share = np.sort(np.abs(rng.normal(size=20))), rng.dirichlet(np.ones(20))
    if ties:
        loss, share = np.round(loss), np.full(20, 0.05)
    level, first, last = smoothed_level(loss, share, part, half_width)
    assert share @ slope_of(loss - level, half_width) == pytest.approx(part, abs=1e-9)
    edge = 1e-9
    assert (loss[:first] <= level - half_width + edge).all()
    assert (loss[last:] >= level + half_width - edge).all()
    assert (np.abs(loss[first:last] - level) <= half_width + edge).all()

    def value(t):
        return t + share @ smoothed_hinge(loss - t, half_width) / part

    for other in np.linspace(loss[0] - 2 * half_width, loss[-1] + 2 * half_width, 50):
        assert value(level) <= value(other) + 1e-12
