"""Calibration and drift of new rows, against scikit-learn, SciPy and sums by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import ks_2samp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

from auclab._core.base import AuclabError
from auclab.inference import check_calibration, score_drift
from auclab.inference.calibration import MOST, condensed

samples = st.lists(st.integers(-5, 5), min_size=1, max_size=30)


@given(samples, samples)
def test_the_distance_is_scipys_and_that_of_every_threshold(first, second):
    found = score_drift(first, second)
    assert found.statistic == pytest.approx(ks_2samp(first, second).statistic, abs=1e-12)
    a, b = np.array(first, float), np.array(second, float)
    assert found.statistic == pytest.approx(max(abs((a <= t).mean() - (b <= t).mean()) for t in [*a, *b]), abs=1e-12)
    assert score_drift(second, first).statistic == pytest.approx(found.statistic, abs=1e-12)
    assert 0 <= found.p_value <= 1
    assert found.positions == tuple((a <= q).mean() for q in found.new)


def test_p_is_that_of_scipys_asymptotic_method():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=400), rng.normal(0.2, size=300)
    theirs = ks_2samp(first, second, method="asymp")
    assert score_drift(first, second).p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_p_of_samples_without_drift_is_uniform():
    """Over 400 pairs of samples the shares below 0.05, 0.2 and 0.5 are within four standard errors."""
    rng = np.random.default_rng(1)
    found = np.array([score_drift(rng.normal(size=200), rng.normal(size=150)).p_value for _ in range(400)])
    for level in (0.05, 0.2, 0.5):
        assert (found < level).mean() == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / 400))


@pytest.mark.parametrize("n", [1, MOST, MOST + 1, 1_400, 100_003])
def test_a_condensed_sample_has_the_distribution_of_the_whole(n):
    scores = np.random.default_rng(n).lognormal(size=n)
    few = condensed(scores)
    assert few.size == min(n, MOST)
    assert set(few) <= set(scores)
    assert ks_2samp(few, scores).statistic <= 1 / (2 * MOST) + 1 / n * (n > MOST)
    new = np.random.default_rng(0).lognormal(0.1, size=500)
    near, exact = score_drift(few, new, n_reference=n), score_drift(scores, new)
    assert near.n_reference == exact.n_reference == n
    assert near.statistic == pytest.approx(exact.statistic, abs=1 / MOST)


def test_drift_of_nothing_is_refused():
    with pytest.raises(AuclabError):
        score_drift([], [1.0])
    with pytest.raises(AuclabError, match="new"):
        score_drift([1.0], [math.nan])


def made(n=4_000, slope=1.0, offset=0.0, seed=0):
    """Labels, and probabilities p with ``logit P(y = 1) = offset + slope · logit p``."""
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(-1, 1.5, n))
    return (rng.random(n) < expit(offset + slope * logit(p))).astype(int), p


def test_slope_and_intercept_are_those_of_a_logistic_regression():
    y, p = made(slope=0.6, offset=0.3)
    found = check_calibration(y, p)
    theirs = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1_000).fit(logit(p)[:, None], y)
    assert found.slope == pytest.approx(theirs.coef_[0, 0], abs=1e-5)
    assert found.intercept == pytest.approx(theirs.intercept_[0], abs=1e-5)
    assert abs(found.slope - 0.6) < 4 * found.slope_error
    assert found.brier == pytest.approx(brier_score_loss(y, p))
    assert found.p_value < 1e-6
    right = check_calibration(*made())
    assert abs(right.slope - 1) < 4 * right.slope_error
    assert abs(right.intercept) < 4 * right.intercept_error
    assert right.interval[0] <= right.observed <= right.interval[1]


def test_spiegelhalters_p_is_uniform_where_probabilities_are_right():
    found = np.array([check_calibration(*made(300, seed=k)).p_value for k in range(300)])
    for level in (0.05, 0.3):
        assert (found < level).mean() == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / 300))


def test_corners():
    separated = check_calibration([0, 0, 1], [0.1, 0.2, 0.9])
    assert math.isnan(separated.slope)
    certain = check_calibration([0, 1], [0.0, 1.0])
    assert (certain.brier, math.isnan(certain.p_value)) == (0.0, True)
    constant = check_calibration([0, 1, 1], [0.5, 0.5, 0.5])
    assert math.isnan(constant.slope)
    assert math.isnan(constant.statistic)  # the Brier score is 1/4 whatever happens
    for p, words in (([0.5, 1.5], "between 0 and 1"), ([0.5], "lengths differ")):
        with pytest.raises(AuclabError, match=words):
            check_calibration([0, 1], p)
