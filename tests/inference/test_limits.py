"""Every interval: lower ≤ value ≤ upper within the range, of small samples, with ties, weights and far scores."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab._core.base import AuclabError
from auclab.inference import compare_pairs, compare_scorers, estimate, estimate_pairs, estimate_summary, tpr_at_fpr
from auclab.inference.intervals import enclose
from auclab.metrics import METRICS, ScoreSummary, censored_pairs, ordered_pairs, voros_from_points
from strategies import WIDE, problems, refused_if_far

FEW = settings(max_examples=20)
PROBLEMS = st.one_of(problems(), problems(scores=WIDE))
LEVELS = st.sampled_from([0.01, 0.5, 0.9, 0.95, 0.999])
METHODS = st.sampled_from(["auto", "half_sample", "bootstrap"])
CHANCE = 1.5 - math.log(2.0)

#: Metric, options, range.
CASES = [
    ("auc", {}, (0, 1)),
    ("auc", {"ties": "strict"}, (0, 1)),
    ("auc_threshold", {}, (0, math.inf)),
    ("bauc", {}, (0, 1)),
    ("bauc", {"threshold": -1.0}, (0, 1)),
    ("bauc", {"threshold": 1.0}, (0, 1)),
    ("ferri_auc", {}, (-math.inf, math.inf)),
    ("gauc", {"modifier": np.arctan}, (-math.inf, math.inf)),
    ("partial_auc", {"max_fpr": 0.3, "standardized": False}, (0, 0.3)),
    ("partial_auc", {"min_fpr": 0.2, "max_fpr": 0.6, "standardized": "mcclish"}, (0.5 - 0.5 * 0.16 / 0.24, 1)),
    ("polynomial_auc", {"degree": 3}, (-math.inf, math.inf)),
    ("polynomial_soft_auc", {"beta": 2.0, "degree": 3}, (-math.inf, math.inf)),
    ("probabilistic_auc", {"width": 0.5}, (0, 1)),
    ("ranking_superquantile", {"level": 0.7}, (-math.inf, math.inf)),
    ("scored_auc", {}, (0, math.inf)),
    ("soft_auc", {"beta": 2.0}, (0, 1)),
    ("two_way_partial_auc", {"min_tpr": 0.25, "max_fpr": 0.75}, (0, 0.5625)),
    ("voros", {}, (CHANCE, 1)),
    ("voros", {"cost_range": (0.5, 1.0)}, (voros_from_points([0.0], [0.0], cost_range=(0.5, 1.0)), 1)),
    ("weighted_auc", {"weight": np.square}, (0, 1 / 3)),
]


def request(name, options):
    """The metric with its options; some of them have the name of an argument of `estimate`."""
    return partial(METRICS[name].function, **options)


def hold(lower, value, upper, ends=(-math.inf, math.inf)):
    """Within the range up to the rounding of the value itself, and exactly in order."""
    assert ends[0] - 1e-15 <= lower <= value <= upper <= ends[1] + 1e-15


def test_every_metric_is_tried():
    assert {name for name, *_ in CASES} == set(METRICS)


@pytest.mark.parametrize(("name", "options", "ends"), CASES)
@settings(max_examples=10)
@given(PROBLEMS, LEVELS, METHODS)
def test_estimates(name, options, ends, problem, level, method):
    weight, metric = problem.sample_weight, request(name, options)
    found = estimate(*problem.arguments, metric, level=level, method=method, sample_weight=weight, resamples=100)
    hold(found.lower, found.value, found.upper, ends)
    assert found.level == level


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "ends"), CASES)
@settings(max_examples=10)
@given(PROBLEMS, st.randoms(use_true_random=False), LEVELS, METHODS)
def test_differences(name, options, ends, problem, random, level, method):
    y, a = problem.arguments
    b = np.array(random.sample(list(a), a.size))
    weight, metric = problem.sample_weight, request(name, options)
    found = compare_scorers(y, a, b, metric, level=level, method=method, sample_weight=weight, resamples=100)
    hold(found.interval[0], found.difference, found.interval[1], (ends[0] - ends[1], ends[1] - ends[0]))
    assert 0.0 <= found.p_value <= 1.0 or math.isnan(found.p_value)


@FEW
@given(PROBLEMS, st.integers(1, 3), st.sampled_from(["auc", "bauc"]), LEVELS, st.booleans())
def test_comparable_pairs(problem, n_groups, metric, level, censored):
    (y, s), weight = problem.arguments, problem.sample_weight
    groups = np.arange(y.size) % n_groups
    try:
        if censored:
            pairs = censored_pairs(np.arange(y.size), y, sample_weight=weight)
        else:
            pairs = ordered_pairs(y, groups, weight)
    except AuclabError:  # no pair
        return
    found = estimate_pairs(pairs, s, metric, level=level)
    hold(found.lower, found.value, found.upper, (0, 1))
    difference = compare_pairs(pairs, s, s[::-1].copy(), metric, level=level)
    hold(difference.interval[0], difference.difference, difference.interval[1], (-1, 1))


@FEW
@given(PROBLEMS, st.sampled_from(["auc", "bauc"]), LEVELS)
def test_summaries(problem, metric, level):
    y, s = problem.arguments
    summary = ScoreSummary.from_scores(y, s, edges=np.unique(s)[::2], sample_weight=problem.sample_weight)
    found = estimate_summary(summary, metric, level=level)
    assert found.lower <= found.value.low <= found.value.high <= found.upper


@FEW
@given(
    PROBLEMS,
    st.sampled_from([0.0, 1e-300, 0.3, 1.0 - 1e-16, 1.0]),
    st.sampled_from(["influence", "bootstrap", "exact"]),
    LEVELS,
)
def test_true_positive_rates(problem, rate, method, level):
    """Of few positives the centre of the bootstrap's interval is far from 0 and 1."""
    weight = None if method == "exact" else problem.sample_weight
    found = tpr_at_fpr(*problem.arguments, rate, level=level, method=method, sample_weight=weight, resamples=100)
    hold(found.lower, found.value, found.upper, (0, 1))


@pytest.mark.parametrize("seed", [14, 113, 114])
def test_voros_at_chance_has_no_crossed_limits(seed):
    """The value less its bias is below chance, the least value there is."""
    rng = np.random.default_rng(seed)
    found = estimate(np.arange(120) % 2, np.round(rng.normal(size=120), 1), "voros", level=0.9)
    assert found.value - found.bias < CHANCE <= found.lower <= found.value <= found.upper <= 1.0


def test_limits_of_scipys_bootstrap_that_cross_are_percentiles():
    """Weights over 24 orders of magnitude: the acceleration of BCa is large, its lower limit above the upper one."""
    rng = np.random.default_rng(296)
    y, w = np.repeat([1, 0], [60, 20]), 10.0 ** rng.uniform(-12, 12, 80)
    s = rng.normal(size=80) - y
    more = {"degree": 5, "sample_weight": w, "resamples": 100, "level": 1.0 - 1e-9}
    found = estimate(y, s, "polynomial_auc", **more)
    hold(found.lower, found.value, found.upper)
    assert found.notes == ("plain percentiles: BCa is undefined on this sample",)


def test_a_metric_of_ones_own_may_change_its_arguments():
    y, s = np.arange(60) % 2, np.random.default_rng(0).normal(size=60)
    before = s.copy()

    def share(labels, scores):
        high = float(np.mean(labels[np.argsort(scores)[-20:]]))
        scores.sort()
        labels[:] = 0
        return high

    found = estimate(y, s, share, method="bootstrap", resamples=200)
    np.testing.assert_array_equal(s, before)
    clean = estimate(y, s, lambda labels, scores: float(np.mean(labels[np.argsort(scores)[-20:]])), resamples=200)
    assert (found.value, found.lower, found.upper) == (clean.value, clean.lower, clean.upper)


def test_resamples_without_a_value_are_counted():
    y, s = np.arange(60) % 2, np.random.default_rng(0).normal(size=60)

    def defined_at_times(labels, scores):
        return float(scores.mean()) if scores.mean() < s.mean() + 0.1 else np.nan

    found = estimate(y, s, defined_at_times, method="bootstrap", resamples=200)
    assert any("of 200 resamples have no value, and are left out" in note for note in found.notes)


def test_a_metric_without_a_value_on_any_resample_is_refused():
    y, s = np.arange(60) % 2, np.random.default_rng(0).normal(size=60)
    with pytest.raises(AuclabError, match="NaN on every resample"):
        estimate(y, s, lambda labels, scores: 0.5 if len(np.unique(scores)) == 60 else np.nan, resamples=200)


def test_what_is_enclosed():
    assert enclose(0.5, (0.4, 0.6), (0.0, 1.0)) == (0.4, 0.6)
    assert enclose(0.5, (-0.4, 1.6), (0.0, 1.0)) == (0.0, 1.0)
    assert enclose(0.5, (0.6, 0.7), (0.0, 1.0)) == (0.5, 0.7)
    assert enclose(0.5, (0.1, 0.2), (0.4, 1.0)) == (0.4, 0.5)
    assert enclose(0.5, (math.nan, math.nan), (0.0, 1.0)) == (0.0, 1.0)


#: Scores near the largest double, beyond the range of its squares, and an outlier far from the others.
FAR = {
    "an outlier below": [-5e307, 0.9, 0.3, 0.8, 0.4, 0.5, 0.7, 0.2],
    "an outlier above": [0.1, 0.9, 1.7e308, 0.8, 0.4, 0.5, 0.7, 0.2],
    "outliers on both sides": [-8e307, 0.9, 0.3, 8e307, 0.4, 0.5, 0.7, 0.2],
    "a far offset": [1.1e308, 1.3e308, 1.2e308, 1.7e308, 1.6e308, 1.15e308, 1.5e308, 1.4e308],
    "the widest range": [-8.9e307, 8.9e307, 1e307, 5e307, -5e307, 3e307, 2e307, -7e307],
    "differences that are too large": [-1.7e308, 1.7e308, 1e307, 5e307, -5e307, 3e307, 2e307, -7e307],
    "squares that are too large": [-1e200, 2e200, 1e200, 5e200, -5e200, 3e200, 2e200, -7e200],
    "squares that are 0": [-1e-200, 2e-200, 1e-200, 5e-200, -5e-200, 3e-200, 2e-200, -7e-200],
}
FAR_Y = np.array([0, 1, 0, 1, 1, 0, 1, 0])


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("scores", FAR)
@pytest.mark.parametrize(("name", "options", "ends"), CASES)
def test_far_scores_have_an_interval_or_are_refused(name, options, ends, scores):
    """Warnings are errors, so nothing overflows on the way."""
    s, metric = np.array(FAR[scores]), request(name, options)
    for method, weight in (("auto", None), ("half_sample", None), ("bootstrap", np.linspace(0.1, 9.0, s.size))):
        more = {"method": method, "sample_weight": weight, "resamples": 100}
        with refused_if_far():
            found = estimate(FAR_Y, s, metric, **more)
            hold(found.lower, found.value, found.upper, ends)
            assert found.standard_error > 0.0 or found.notes
            difference = compare_scorers(FAR_Y, s, s[::-1].copy(), metric, **more)
            hold(difference.interval[0], difference.difference, difference.interval[1])


@pytest.mark.parametrize("scores", FAR)
@pytest.mark.parametrize("threshold", [0.0, 1e308, -1e308, 1e-300])
def test_far_scores_of_comparable_pairs_and_summaries(scores, threshold):
    s, time = np.array(FAR[scores]), np.arange(8)
    for pairs in (ordered_pairs(FAR_Y), ordered_pairs(FAR_Y, time // 4), censored_pairs(time, FAR_Y)):
        for metric in ("auc", "bauc"):
            with refused_if_far():
                found = estimate_pairs(pairs, s, metric, threshold=threshold)
                hold(found.lower, found.value, found.upper, (0, 1))
                difference = compare_pairs(pairs, s, s[::-1].copy(), metric, threshold=threshold)
                hold(difference.interval[0], difference.difference, difference.interval[1], (-1, 1))
    with refused_if_far():
        summary = ScoreSummary.from_scores(FAR_Y, s, edges=np.unique(s)[::3])
        for metric, options in (("auc", {}), ("bauc", {"threshold": threshold})):
            found = estimate_summary(summary, metric, **options)
            assert found.lower <= found.value.low <= found.value.high <= found.upper


@pytest.mark.parametrize("unit", [2.0**900, 2.0**-900])
@pytest.mark.parametrize("method", ["half_sample", "bootstrap"])
@pytest.mark.parametrize("name", ["auc_threshold", "scored_auc", "ranking_superquantile"])
def test_resampled_limits_have_the_unit_of_the_scores(name, method, unit):
    rng = np.random.default_rng(3)
    y, s = np.repeat([1, 0], 12), rng.normal(size=24)
    metric = request(name, {"level": 0.7} if name == "ranking_superquantile" else {})
    plain, scaled = (estimate(y, scale * s, metric, method=method, resamples=100) for scale in (1.0, unit))
    expected = [unit * each for each in (plain.value, plain.standard_error, plain.bias, plain.lower, plain.upper)]
    found = [scaled.value, scaled.standard_error, scaled.bias, scaled.lower, scaled.upper]
    tolerance = 1e-9 if unit > 1.0 or method == "half_sample" else 0.2  # cubes are 0: percentiles in place of BCa
    assert found == pytest.approx(expected, rel=tolerance, abs=0.0 if tolerance < 0.1 else unit)
