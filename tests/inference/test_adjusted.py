"""Limits that allow for rare errors, the note on an observation that has most of the variance, effective numbers."""

import numpy as np
import pytest
from scipy.stats import norm

from auclab import AuclabError, estimate

#: Of 5 % of the positives the score is lower than that of nearly all negatives.
TRUE_AUC = 0.95 * norm.cdf(3 / np.sqrt(2)) + 0.05 * norm.cdf(-2 / np.sqrt(2))


def hard_cases(rng, n_pos, n_neg):
    y = np.repeat([1, 0], [n_pos, n_neg])
    s = rng.normal(size=y.size) + 3.0 * y
    s[(rng.random(y.size) < 0.05) & (y == 1)] -= 5.0
    return y, s


@pytest.mark.slow
@pytest.mark.covering(sizes=1)
@pytest.mark.parametrize("sizes", [(20, 180), (8, 392), (30, 300)])
def test_rare_errors_are_covered(sizes):
    rng, usual, adjusted, repeats = np.random.default_rng(0), 0, 0, 300
    for _ in range(repeats):
        y, s = hard_cases(rng, *sizes)
        for method in ("auto", "adjusted"):
            found = estimate(y, s, method=method)
            hit = found.lower <= TRUE_AUC <= found.upper
            usual, adjusted = usual + hit * (method == "auto"), adjusted + hit * (method == "adjusted")
    assert usual / repeats < 0.87
    assert adjusted / repeats > 0.9


def test_the_adjusted_interval_is_never_shorter_and_large_samples_do_not_need_it():
    rng = np.random.default_rng(1)
    for n, most in ((20, np.inf), (2000, 1.01)):
        y = np.repeat([0, 1], n)
        s = rng.normal(size=2 * n) + y
        for metric in ("auc", "bauc"):
            usual, adjusted = estimate(y, s, metric), estimate(y, s, metric, method="adjusted")
            assert adjusted.value == usual.value
            assert usual.standard_error <= adjusted.standard_error <= most * usual.standard_error


def test_one_observation_that_has_most_of_the_variance_is_said():
    y = np.repeat([1, 0], [20, 200])
    s = np.random.default_rng(2).normal(size=220) + 4.0 * y
    s[0] = -3.0
    assert "of the variance" in estimate(y, s).notes[-1]
    assert estimate(y, s, clusters=np.arange(220)).notes[-1].startswith("one cluster")


def test_few_rows_of_large_weight_are_few():
    rng = np.random.default_rng(3)
    y = np.repeat([1, 0], 100)
    s, weight = rng.normal(size=200) + y, np.ones(200)
    weight[:3] = 1000.0
    found = estimate(y, s, sample_weight=weight)
    assert found.notes[0].startswith("only 3 effective positives")
    assert found.upper - found.lower > estimate(y, s).upper - estimate(y, s).lower


def test_a_metric_without_components_has_no_adjusted_interval():
    with pytest.raises(AuclabError, match="components"):
        estimate([0, 1], [0.0, 1.0], "voros", method="adjusted")
