"""Intervals: inside the range, invariant where the metric is, right at the ends, covering as often as they say."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab import metrics
from auclab._core.base import AuclabError
from auclab.inference import estimate, hanley_mcneil
from auclab.inference.intervals import transformed_limits
from strategies import WIDE, problems

FEW = settings(max_examples=20)
PROBLEMS = st.one_of(problems(), problems(scores=WIDE))


def sample(seed: int, n_pos: int = 30, n_neg: int = 40, shift: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.repeat([1, 0], [n_pos, n_neg]), np.concatenate((rng.normal(shift, 1, n_pos), rng.normal(0, 1, n_neg)))


@FEW
@given(PROBLEMS)
def test_value_is_that_of_the_metric(problem):
    y, s = problem.arguments
    for function in (metrics.auc_score, metrics.bauc_score):
        expected = function(y, s, sample_weight=problem.sample_weight)
        assert estimate(y, s, function, sample_weight=problem.sample_weight).value == expected


@FEW
@given(problems())
def test_a_higher_level_has_a_wider_interval(problem):
    for name in ("auc", "bauc"):
        narrow, wide = (estimate(*problem.arguments, name, level=level) for level in (0.8, 0.99))
        assert wide.lower <= narrow.lower
        assert narrow.upper <= wide.upper


@FEW
@given(problems(weights="none"))
def test_exchanged_classes_mirror_auc(problem):
    y, s = problem.arguments
    found, mirrored = estimate(y, s), estimate(1 - y, s)
    assert mirrored.standard_error == pytest.approx(found.standard_error, abs=1e-15, nan_ok=True)
    assert (mirrored.lower, mirrored.upper) == pytest.approx((1 - found.upper, 1 - found.lower), abs=1e-12)


def test_auc_sees_the_order_alone_and_bauc_affine_maps():
    y, s = sample(1)
    order = np.random.default_rng(2).permutation(y.size)
    for changed in (np.exp(s), s[order], 1e9 + s * 8):
        labels = y[order] if changed.shape == order.shape and np.array_equal(changed, s[order]) else y
        assert estimate(labels, changed).standard_error == pytest.approx(estimate(y, s).standard_error)
    assert estimate(y, 3.0 * s - 7.0, "bauc").lower == pytest.approx(estimate(y, s, "bauc").lower)


def test_weights_count_relative_to_each_other():
    y, s = sample(3)
    w = np.random.default_rng(4).uniform(0.5, 2.0, y.size)
    for name in ("auc", "bauc"):
        found = estimate(y, s, name, sample_weight=w)
        assert found.standard_error == pytest.approx(estimate(y, s, name, sample_weight=7 * w).standard_error)
        equal = estimate(y, s, name, sample_weight=np.full(y.size, 2.5))
        assert equal.standard_error == pytest.approx(estimate(y, s, name).standard_error)
        dropped = estimate(np.append(y, 1), np.append(s, 99.0), name, sample_weight=np.append(w, 0.0))
        assert dropped.lower == pytest.approx(found.lower)


def test_repeated_rows_are_not_weights():
    """Twice the rows halve the variance, up to n/(n − 1); twice the weight does not."""
    y, s = sample(5)
    once, twice = estimate(y, s), estimate(np.tile(y, 2), np.tile(s, 2))
    assert twice.standard_error == pytest.approx(once.standard_error / math.sqrt(2.0), rel=0.02)


def test_logit_limits_by_hand():
    """Value ¾ and half-width 3/16: logit ln 3 ∓ 1."""
    lower, upper = transformed_limits(0.75, 3 / 16, (0.0, 1.0))
    assert (lower, upper) == pytest.approx((3 / (3 + math.e), 3 * math.e / (1 + 3 * math.e)))
    assert transformed_limits(2.0, 2.0, (0.0, math.inf)) == pytest.approx((2 / math.e, 2 * math.e))
    assert transformed_limits(0.5, 0.5, (-math.inf, 1.0)) == pytest.approx((1 - math.e / 2, 1 - 0.5 / math.e))


class TestEnds:
    y = np.repeat([1, 0], 20)

    def test_a_perfect_order_has_the_limit_of_clopper_and_pearson(self):
        from scipy.stats import binomtest

        exact = binomtest(20, 20).proportion_ci(0.95, method="exact")
        found = estimate(self.y, self.y)
        assert (found.value, found.standard_error, found.upper) == (1.0, 0.0, 1.0)
        assert found.lower == pytest.approx(exact.low)
        assert "20 independent pairs" in found.notes[0]

    def test_constant_scores_say_little(self):
        found = estimate(self.y, np.zeros(40))
        share = 1 - 0.025 ** (1 / 20)
        assert (found.lower, found.upper) == pytest.approx((0.5 - share / 2, 0.5 + share / 2))
        assert estimate(self.y, np.zeros(40), "bauc").upper == pytest.approx(share)

    def test_bauc_of_separated_scores(self):
        """A share q of errors of 1 among errors of −1: bPOE = 2q."""
        found = estimate(self.y, self.y, "bauc")
        assert (found.value, found.upper) == (1.0, 1.0)
        assert found.lower == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 20)), abs=1e-4)

    def test_bauc_with_a_wrong_mean(self):
        """Clearly wrong: nothing but 0. Wrong by less than the noise: bAUC after a shift of the errors."""
        y, s = sample(6, shift=-2.0)
        found = estimate(y, s, "bauc")
        assert (found.value, found.lower, found.upper) == (0.0, 0.0, 0.0)
        y, s = sample(7, shift=0.0)
        s[y == 1] -= s[y == 1].mean() - s[y == 0].mean() + 0.01
        found = estimate(y, s, "bauc")
        assert found.value == 0.0
        shift = (found.upper - 0.0) and 2.0 * estimate(y, s, "ferri_auc").upper - 1.0  # the mean margin's own limit
        assert found.upper == pytest.approx(metrics.bauc_score(y, s + np.where(y == 1, shift + 0.01, 0.0)), abs=1e-9)

    def test_one_observation_leaves_the_variance_unknown(self):
        for name in ("auc", "bauc", "voros", "two_way_partial_auc"):
            options = {"min_tpr": 0.1, "max_fpr": 0.9} if name.startswith("two") else {}
            found = estimate([0, 0, 1], [0, 2, 1], name, **options)
            assert math.isnan(found.standard_error)
            assert found.upper > found.value >= found.lower
            assert found.notes

    def test_unbounded_metrics_without_variation_have_no_limit(self):
        found = estimate(self.y, self.y, "scored_auc")
        assert found.lower == pytest.approx(0.025 ** (1 / 20))
        assert found.upper == math.inf

    def test_extreme_thresholds(self):
        y, s = sample(15)
        for threshold, value in ((1e308, 1.0), (-1e308, 0.0)):
            found = estimate(y, s, "bauc", threshold=threshold)
            assert found.value == value
            assert 0.0 <= found.lower <= found.upper <= 1.0


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-900])
def test_scale_of_the_scores(scale):
    y, s = sample(16)
    for name, unit in (("auc", 1.0), ("bauc", 1.0), ("scored_auc", scale), ("voros", 1.0)):
        plain, scaled = estimate(y, s, name), estimate(y, scale * s, name)
        assert scaled.standard_error == pytest.approx(unit * plain.standard_error, rel=1e-9)
        assert (scaled.lower, scaled.upper) == pytest.approx((unit * plain.lower, unit * plain.upper), rel=1e-9)


def test_weighted_auc_has_the_range_of_its_weight():
    """W = 6s(1 − s) integrates to 1, W = 1 − 2s to ¼ and −¼ by sign."""
    y, s = sample(17)
    found = estimate(y, s, "weighted_auc", weight=lambda u: 6 * u * (1 - u))
    assert found.method == "influence"
    assert 0.0 < found.lower < found.value < found.upper < 1.0
    signed = estimate(y, y, "weighted_auc", weight=lambda u: 1 - 2 * u, breakpoints=[0.5])
    assert -0.25 <= signed.lower <= signed.value <= signed.upper <= 0.25
    share = (s, "weighted_auc"), {"weight": np.square, "convention": "max_rank", "resamples": 200}
    assert estimate(y, *share[0], **share[1]).method == "bootstrap"


class TestHanleyMcNeil:
    def test_one_pair_is_a_coin(self):
        assert hanley_mcneil(0.3, 1, 1) == pytest.approx(math.sqrt(0.3 * 0.7))

    def test_is_exact_for_exponential_scores(self):
        """Its model: A = r/(1 + r); the spread of the metric over samples is the formula's."""
        rng, r, m = np.random.default_rng(8), 4.0, 15
        y = np.repeat([1, 0], m)
        values = [
            metrics.auc_score(y, np.concatenate((rng.exponential(r, m), rng.exponential(1, m)))) for _ in range(4000)
        ]
        assert np.std(values) == pytest.approx(hanley_mcneil(r / (1 + r), m, m), rel=0.04)

    def test_as_a_method(self):
        y, s = sample(9)
        found = estimate(y, s, method="hanley_mcneil")
        assert found.standard_error == hanley_mcneil(found.value, 30, 40)
        assert found.lower < found.value < found.upper
        assert estimate(y, y, method="hanley_mcneil").lower == estimate(y, y).lower

    @pytest.mark.parametrize("arguments", [(1.5, 3, 3), (math.nan, 3, 3), (0.5, 0, 3)])
    def test_bad_input(self, arguments):
        with pytest.raises(AuclabError):
            hanley_mcneil(*arguments)


class TestResampling:
    def test_bootstrap_is_seeded_and_near_delong(self):
        y, s = sample(10, 60, 60)
        first, again = (estimate(y, s, method="bootstrap", seed=3) for _ in range(2))
        assert first == again
        delong = estimate(y, s)
        assert first.standard_error == pytest.approx(delong.standard_error, rel=0.08)
        assert (first.lower, first.upper) == pytest.approx((delong.lower, delong.upper), abs=0.02)

    def test_many_observations_take_plain_percentiles(self):
        y, s = sample(10, 60, 60)
        found = estimate(y, s, method="bootstrap", resamples=100)
        assert "more observations than resamples" in found.notes[0]
        assert found.lower < found.value < found.upper

    def test_any_function_of_labels_and_scores(self):
        def lead(y_true, y_score, *, times=1.0):
            return times * float(np.median(y_score[y_true]) - np.median(y_score[~y_true]))

        y, s = sample(11)
        found = estimate(y, s, lead, times=2.0, resamples=300)
        assert found.method == "bootstrap"
        assert found.lower < found.value < found.upper

    def test_a_function_with_the_name_of_a_metric_is_not_that_metric(self):
        def auc(y_true, y_score):
            return float(y_score[y_true].mean())

        y, s = sample(18)
        assert estimate(y, s, auc, resamples=100).method == "bootstrap"

    def test_voros_takes_its_optimism_off(self):
        y, s = sample(12, 100, 100)
        found = estimate(y, s, partial(metrics.voros_score, cost_range=(0.2, 0.8)))
        assert found.method == "half_sample"
        assert found.bias > 0.0
        assert found.lower < found.value - found.bias < found.upper
        assert found == estimate(y, s, "voros", cost_range=(0.2, 0.8))

    def test_half_samples_of_a_mean_give_its_variance(self):
        y, s = sample(13, 60, 60)
        found = estimate(y, s, "ferri_auc", method="half_sample", resamples=4000)
        assert found.standard_error == pytest.approx(estimate(y, s, "ferri_auc").standard_error, rel=0.04)
        assert abs(found.bias) < 0.1 * found.standard_error

    @pytest.mark.parametrize("method", ["bootstrap", "half_sample"])
    def test_no_variation(self, method):
        y = np.repeat([1, 0], 20)
        found = estimate(y, y, "voros", method=method)
        assert found.standard_error == 0.0
        assert found.lower == pytest.approx(0.025 ** (1 / 20))


def test_coverage_on_a_small_scale():
    """95 % limits on 400 samples: 0.95 ± 4 standard deviations of a share is [0.906, 0.994]."""
    rng, truth = np.random.default_rng(14), {"auc": 0.760250, "bauc": 0.441788}
    y = np.repeat([1, 0], 50)
    covered = dict.fromkeys(truth, 0)
    for _ in range(400):
        s = rng.normal(size=100) + y
        for name, value in truth.items():
            found = estimate(y, s, name)
            covered[name] += found.lower <= value <= found.upper
    assert all(0.906 * 400 <= count <= 0.994 * 400 for count in covered.values())


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("aucc",), {}, "metric='aucc' is unknown .did you mean 'auc'"),
        ((3,), {}, "name or a function"),
        (("auc",), {"level": 1.0}, "level must lie"),
        (("auc",), {"method": "magic"}, "method='magic' is unknown"),
        (("bauc",), {"method": "delong"}, "metric='auc'"),
        (("voros",), {"method": "influence"}, "no components"),
        (("soft_auc",), {}, "beta"),
        (("auc",), {"beta": 1.0}, "its options are ties"),
        (("partial_auc",), {"standardized": False, "max_fpr": 2.0}, "max_fpr"),
        (("auc",), {"ties": "none"}, "ties"),
        (("auc",), {"method": "hanley_mcneil", "ties": "strict"}, "ties ½"),
        (("auc",), {"method": "hanley_mcneil", "sample_weight": [1, 2, 3, 4]}, "does not support weights"),
        (("auc",), {"sample_weight": [0, 0, 1, 1]}, "weights of the positive class are all zero"),
        (("auc",), {"method": "bootstrap", "resamples": 10}, "at least 100"),
        (("voros",), {"resamples": 10}, "at least 50"),
    ],
)
def test_bad_requests(arguments, options, words):
    with pytest.raises(AuclabError, match=words):
        estimate([1, 1, 0, 0], [3.0, 1.0, 2.0, 0.0], *arguments, **options)


@pytest.mark.parametrize("scores", [[1.0, math.nan], [1.0], [1.0, math.inf]])
def test_bad_scores(scores):
    with pytest.raises(AuclabError):
        estimate([1, 0], scores, "bauc")
