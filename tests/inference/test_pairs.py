"""Intervals and tests over comparable pairs: the jackknife by leaving units out, degenerate samples, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from auclab._core.base import AuclabError
from auclab.bounds import fixed_scorer_auc_bound, fixed_scorer_pairs_bound
from auclab.inference import compare_pairs, estimate, estimate_pairs
from auclab.metrics import (
    buffered_concordance,
    censored_pairs,
    concordance_index,
    grouped_auc,
    grouped_bauc,
    ordered_pairs,
)


def jackknife(values):
    """From the values without each unit."""
    n = len(values)
    return math.sqrt((n - 1) / n * np.sum((np.array(values) - np.mean(values)) ** 2))


@pytest.fixture(scope="module")
def sample():
    """Twelve groups of five rows with three grades, and times with ties."""
    rng = np.random.default_rng(3)
    groups, y = np.repeat(np.arange(12), 5), rng.integers(0, 3, 60)
    y[::5], y[1::5] = 0, 2
    time, event = np.ceil(8 * rng.exponential(size=60)), rng.random(60) < 0.6
    return groups, y, np.round(1.3 * y + rng.normal(size=60), 1), time, event, rng.uniform(0.5, 2.0, 60)


@pytest.mark.parametrize("weights", ["pairs", "groups"])
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_are_left_out_as_wholes(sample, weights, weighted):
    groups, y, scores, *_, weight = sample
    weight = weight if weighted else np.ones(60)
    found = estimate_pairs(ordered_pairs(y, groups, weight, group_weights=weights), scores)
    without = [
        grouped_auc(y[kept], scores[kept], groups[kept], weights=weights, sample_weight=weight[kept])
        for kept in (groups != g for g in range(12))
    ]
    assert found.value == grouped_auc(y, scores, groups, weights=weights, sample_weight=weight)
    assert found.standard_error == pytest.approx(jackknife(without), rel=1e-12)
    assert 0 < found.lower < found.value < found.upper < 1


@pytest.mark.parametrize("tied_times", ["excluded", "censored_later"])
def test_rows_are_left_out_one_by_one(sample, tied_times):
    *_, scores, time, event, weight = sample
    pairs = censored_pairs(time, event, sample_weight=weight, tied_times=tied_times)
    in_pairs = sum(pairs.shares) > 0
    without = [
        concordance_index(*(part[kept] for part in (time, event, scores)), tied_times=tied_times, sample_weight=w)
        for kept, w in ((k, weight[k]) for k in (np.arange(60) != i for i in np.flatnonzero(in_pairs)))
    ]
    assert estimate_pairs(pairs, scores).standard_error == pytest.approx(jackknife(without), rel=1e-12)


def test_the_buffered_share_has_the_level_of_the_sample(sample):
    groups, y, scores, time, event, _ = sample
    for pairs, z, value in (
        (ordered_pairs(y, groups), 0.2, grouped_bauc(y, scores, groups, threshold=0.2)),
        (censored_pairs(time, event), 1.1, buffered_concordance(time, event, scores, threshold=1.1)),
    ):
        upper, lower, weight = pairs.pairs()
        errors = scores[lower] - scores[upper]
        slopes = 1.0 / (z - np.unique(errors[errors < z]))
        a = min(slopes, key=lambda a: weight @ np.maximum(a * (errors - z) + 1, 0))
        kernel = 1 - np.maximum(a * (errors - z) + 1, 0)
        units = (groups[upper],) * 2 if pairs.kind == "groups" else (upper, lower)
        left_out = [(units[0] == u) | (units[1] == u) for u in np.unique(np.concatenate(units))]
        expected = jackknife([np.average(kernel[~out], weights=weight[~out]) for out in left_out])
        found = estimate_pairs(pairs, scores, "bauc", threshold=z)
        assert found.value == pytest.approx(value, abs=1e-14)
        assert found.standard_error == pytest.approx(expected, rel=1e-10)


def test_two_classes_are_close_to_delong():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    scores = y + rng.normal(size=3000)
    for metric in ("auc", "bauc"):
        of_pairs, of_classes = estimate_pairs(ordered_pairs(y), scores, metric), estimate(y, scores, metric)
        assert of_pairs.value == pytest.approx(of_classes.value, abs=1e-12)
        assert of_pairs.standard_error == pytest.approx(of_classes.standard_error, rel=0.005)
        assert (of_pairs.lower, of_pairs.upper) == pytest.approx((of_classes.lower, of_classes.upper), abs=0.001)


def test_a_difference_is_that_of_the_units(sample):
    groups, y, scores, *_ = sample
    other = scores + np.random.default_rng(1).normal(0, 0.7, 60)
    pairs = ordered_pairs(y, groups)
    found = compare_pairs(pairs, scores, other)
    without = [
        grouped_auc(y[k], scores[k], groups[k]) - grouped_auc(y[k], other[k], groups[k])
        for k in (groups != g for g in range(12))
    ]
    assert found.difference == pytest.approx(grouped_auc(y, scores, groups) - grouped_auc(y, other, groups))
    assert found.standard_error == pytest.approx(jackknife(without), rel=1e-10)
    same = compare_pairs(pairs, scores, 2 * scores)
    assert (same.difference, same.standard_error, same.p_value) == (0.0, 0.0, 1.0)
    opposite = compare_pairs(pairs, other, scores)
    assert (opposite.p_value, opposite.difference) == pytest.approx((found.p_value, -found.difference))


def test_perfect_and_hopeless_scores_have_intervals():
    y, groups = [0, 1] * 20, np.repeat(np.arange(20), 2)
    pairs = ordered_pairs(y, groups)
    perfect = estimate_pairs(pairs, y)
    assert (perfect.value, perfect.upper) == (1.0, 1.0)
    assert perfect.lower == pytest.approx(0.025 ** (1 / 20))  # 1 − q, q the unseen share
    buffered = estimate_pairs(pairs, y, "bauc")
    assert 0 < buffered.lower < perfect.lower
    assert buffered.upper == 1.0
    constant = estimate_pairs(pairs, np.zeros(40), "bauc")
    assert constant.value == constant.lower == 0.0
    assert 0 < constant.upper < 0.2
    noise = np.random.default_rng(5).normal(size=40)
    noise -= 0.01 + (noise[1::2] - noise[::2]).mean() * np.array(y)
    assert estimate_pairs(pairs, noise - 1e-9 * np.array(y), "bauc").upper > 0.1
    times = censored_pairs(np.arange(30.0), np.ones(30))
    assert estimate_pairs(times, -np.arange(30.0)).lower == pytest.approx(0.025 ** (1 / 15))  # 15 against 15


def test_one_unit_in_all_pairs_is_said():
    found = estimate_pairs(censored_pairs([1, 2, 3], [1, 0, 0]), [3, 2, 4])
    assert math.isnan(found.standard_error)
    assert (found.lower, found.upper) == (0.0, 1.0)
    assert "rows is in all pairs" in found.notes[0]
    compared = compare_pairs(ordered_pairs([0, 1], [1, 1]), [1, 2], [2, 1])
    assert math.isnan(compared.p_value)
    assert "groups is in all pairs" in compared.notes[0]


def test_few_groups_are_noted(sample):
    groups, y, scores, *_ = sample
    few = groups < 5
    assert "those of 4 groups" in estimate_pairs(ordered_pairs(y[few], groups[few]), scores[few]).notes[0]


def test_errors():
    pairs = ordered_pairs([0, 1, 0, 1])
    with pytest.raises(AuclabError, match="'auc' or 'bauc', got 'voros'"):
        estimate_pairs(pairs, [1, 2, 3, 4], "voros")
    with pytest.raises(AuclabError, match="level"):
        estimate_pairs(pairs, [1, 2, 3, 4], level=95)
    with pytest.raises(AuclabError, match=r"auc must lie in \[0, 1\]"):
        fixed_scorer_pairs_bound(pairs, 1.1, rho=0.05)


def test_the_bound_is_that_of_two_classes_and_of_means_over_groups(sample):
    groups, y, _, time, event, _ = sample
    of_classes = fixed_scorer_auc_bound(0.8, n_pos=7, n_neg=13, rho=0.1)
    assert fixed_scorer_pairs_bound(ordered_pairs([1] * 7 + [0] * 13), 0.8, rho=0.1).half_width == pytest.approx(
        of_classes.half_width, rel=1e-14
    )
    equal = fixed_scorer_pairs_bound(ordered_pairs(y, groups, group_weights="groups"), 0.8, rho=0.1)
    assert equal.half_width == pytest.approx(math.sqrt(math.log(20) / 24), rel=1e-14)
    upper, lower, _ = censored_pairs(time, event).pairs()
    counts = np.bincount(upper, minlength=60) + np.bincount(lower, minlength=60)
    of_times = fixed_scorer_pairs_bound(censored_pairs(time, event), 0.8, rho=0.1)
    expected = math.sqrt(math.log(20) / 2 * np.sum((counts / upper.size) ** 2))
    assert of_times.half_width == pytest.approx(expected, rel=1e-12)
    assert "times and events as in the held-out part" in of_times.assumptions[1]
