"""Tests of every two columns: Holm and Bayesian signed ranks by brute force and against other packages."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from auclab._core.base import AuclabError
from auclab.runs import compare_columns, holm, mean_interval, paired_test, signed_rank_probabilities

DIFFERENCES = np.array([0.02, -0.005, 0.03, 0.012, 0.004, -0.02, 0.018, 0.01, 0.025, 0.0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_step_by_step(p_values):
    """At each level the hypotheses with a corrected p at or below it are those that the stepwise procedure rejects."""
    corrected = holm(p_values)
    for level in (0.01, 0.05, 0.3, 0.9):
        rejected, k = set(), len(p_values)
        for step, index in enumerate(np.argsort(p_values, kind="stable")):
            if p_values[index] * (k - step) > level:
                break
            rejected.add(int(index))
        assert {int(i) for i in np.flatnonzero(corrected <= level)} == rejected
    assert (corrected >= np.asarray(p_values)).all()
    assert corrected.max() <= 1.0


def test_holm_is_that_of_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is not installed")
    p = np.random.default_rng(0).uniform(size=12) ** 3
    np.testing.assert_allclose(holm(p), multitest.multipletests(p, method="holm")[1])


@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_signed_ranks_by_a_loop_over_pairs(rope):
    above, within, below = signed_rank_probabilities(DIFFERENCES, rope=rope, samples=400, seed=3)
    d = [0.0, *DIFFERENCES]
    wins = np.zeros(3)
    for w in np.random.default_rng(3).dirichlet([0.5] + [1.0] * 10, 400):
        share = np.zeros(3)
        for i, one in enumerate(d):
            for j, other in enumerate(d):
                total = one + other
                if total == 2 * rope == 0:
                    share += w[i] * w[j] * np.array([0.5, 0.0, 0.5])
                elif abs(total) == 2 * rope:
                    share += w[i] * w[j] * np.array([0.5 * (total > 0), 0.5, 0.5 * (total < 0)])
                else:
                    share[0 if total > 2 * rope else 2 if total < -2 * rope else 1] += w[i] * w[j]
        wins[np.argmax(share)] += 1
    assert (above, within, below) == pytest.approx(tuple(wins / 400))


@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_signed_ranks_are_those_of_baycomp(rope):
    baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed")
    x = 0.8 + DIFFERENCES
    found = baycomp.SignedRankTest.probs(x, np.full(10, 0.8), rope=rope, nsamples=20_000, random_state=1)
    theirs = (found[0], 0.0, found[1]) if rope == 0.0 else tuple(found)
    ours = signed_rank_probabilities(x - 0.8, rope=rope, samples=20_000)
    np.testing.assert_allclose(ours, theirs, atol=0.015)  # of two shares of 20,000, each has a deviation of 0.0035


def test_probabilities_turn_with_the_sign_and_sum_to_1():
    ours = signed_rank_probabilities(DIFFERENCES, seed=2)
    assert signed_rank_probabilities(-DIFFERENCES, seed=2) == ours[::-1]
    assert sum(ours) == pytest.approx(1.0)
    assert signed_rank_probabilities(np.full(8, 1e-4))[1] > 0.99
    assert signed_rank_probabilities(np.full(8, 0.2))[0] > 0.99


def test_pairs_of_a_table():
    rng = np.random.default_rng(4)
    means = pd.DataFrame(0.8 + 0.05 * rng.normal(size=(9, 3)) + [0.1, 0.0, 0.0], columns=["a", "b", "c"])
    means.loc[0, "c"] = math.nan
    pairs = compare_columns(means)
    assert [(pair.first, pair.second, pair.n_rows) for pair in pairs] == [("a", "b", 9), ("a", "c", 8), ("b", "c", 8)]
    raw = [stats.wilcoxon(*means[[p.first, p.second]].dropna().to_numpy().T).pvalue for p in pairs]
    assert [pair.p_value for pair in pairs] == pytest.approx(raw)
    assert [pair.p_holm for pair in pairs] == pytest.approx(holm(raw).tolist())
    lead = means["a"] - means["b"]
    assert (pairs[0].wins, pairs[0].losses) == ((lead > 0).sum(), (lead < 0).sum())
    assert pairs[0].difference == pytest.approx(lead.mean())
    turned = compare_columns(means, lower_is_better=True)[0]
    assert (turned.wins, turned.losses) == (pairs[0].losses, pairs[0].wins)
    assert (turned.first_better, turned.second_better) == (pairs[0].second_better, pairs[0].first_better)
    assert turned.difference == pairs[0].difference


def test_what_cannot_be_tested():
    with pytest.raises(AuclabError, match="2 columns on 2 data sets"):
        compare_columns(pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(AuclabError, match="2 columns on 2 data sets"):
        compare_columns(pd.DataFrame({"a": [1.0, math.nan], "b": [math.nan, 1.0]}))
    with pytest.raises(AuclabError, match="rope"):
        signed_rank_probabilities([0.1], rope=-1.0)
    with pytest.raises(AuclabError, match="finite"):
        signed_rank_probabilities([math.inf])


@given(st.lists(st.integers(0, 50), min_size=2, max_size=12), st.floats(0, 1))
def test_the_interval_of_a_mean_is_the_test_turned_round(values, ratio):
    x = np.array(values, dtype=float)
    low, high = mean_interval(x, test_train_ratio=ratio)
    if np.ptp(x) == 0:
        assert low == high == x[0]
        return
    for end in (low, high):
        against = paired_test(x, np.full(x.size, end), test="corrected-t", test_train_ratio=ratio)
        assert against.p_value == pytest.approx(0.05, rel=1e-6)
    if ratio == 0.0:
        error = stats.sem(x)
        assert (low, high) == pytest.approx(stats.t.interval(0.95, x.size - 1, x.mean(), error))


def test_intervals_that_are_not_known():
    for values, ratio in (([1.0], 0.0), ([1.0, math.inf], 0.0), ([1.0, 2.0], math.nan)):
        assert all(map(math.isnan, mean_interval(values, test_train_ratio=ratio)))
    with pytest.raises(AuclabError, match="level"):
        mean_interval([1.0, 2.0], level=1.0)


def test_columns_that_are_the_same_share_the_probability():
    assert signed_rank_probabilities(np.zeros(5), rope=0.0) == (0.5, 0.0, 0.5)
    assert signed_rank_probabilities(np.zeros(5), rope=0.01) == (0.0, 1.0, 0.0)
