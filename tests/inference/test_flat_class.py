"""Limits where one class contributes the same: against all pairs by hand, simulated coverage, and notes."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from statistics import fmean, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student

from auclab import metrics
from auclab.inference import compare_scorers, estimate, estimate_summary, roc_band, tpr_at_fpr
from auclab.inference.catalogue import estimable
from auclab.inference.components import Components, Observations
from auclab.inference.intervals import confidence_limits, enclose, flat_class, transformed_limits
from auclab.metrics import ScoreSummary

#: Three positives with one score, many negatives.
NEGATIVES = np.random.default_rng(0).normal(size=100)
TIED_Y, TIED_S = np.repeat([1, 0], [3, 100]), np.concatenate(([1.1] * 3, NEGATIVES))
THE_SAME = "all positives contribute the same: the limits allow for what 3 of them cannot show"
FEW_POSITIVES = "only 3 positives: limits are those of large samples and may be too narrow"


def by_error(y, s, name="auc", **options):
    """The limits from the standard error alone."""
    observations, metric = Observations.of(y, s, None, None), estimable(name, options)
    components = metric.components(observations)
    limits, _ = confidence_limits(metric, components, observations, 0.95)
    return enclose(components.value, limits, metric.range)


def twin(
    tied: float, tied_count: int, others: list[float], level: float, *, tied_positive: bool
) -> tuple[float, float]:
    """Limits of AUC with one class of equal scores, from the pairs of one of its rows."""
    sign = 1 if tied_positive else -1
    kernel = [1.0 if sign * (tied - x) > 0 else 0.5 if tied == x else 0.0 for x in others]
    value, error = fmean(kernel), math.sqrt(variance(kernel) / len(kernel))
    tail = (1 - level) / 2
    width = student.isf(tail, len(kernel) - 1) * error / (value * (1 - value))
    odds = value / (1 - value)
    low, high = (odds * f / (1 + odds * f) for f in (math.exp(-width), math.exp(width)))
    q = 1 - tail ** (1 / tied_count)
    below, above = math.hypot(value - low, q * value), math.hypot(high - value, q * (1 - value))
    return max(value - below, 0.0), min(value + above, 1.0)


@given(
    st.lists(st.integers(-3, 3), min_size=3, max_size=30),
    st.integers(2, 30),
    st.sampled_from([0.5, 0.9, 0.95, 0.999]),
    st.booleans(),
)
def test_auc_by_pairs(others, count, level, tied_positive):
    if not 0 < sum((x < 0) + 0.5 * (x == 0) for x in others) < len(others) or all(x == 0 for x in others):
        return
    y = np.repeat([1, 0] if tied_positive else [0, 1], [count, len(others)])
    found = estimate(y, [0] * count + others, level=level)
    expected = twin(0.0, count, others, level, tied_positive=tied_positive)
    assert (found.lower, found.upper) == pytest.approx(expected, abs=1e-12)
    name = "positives" if tied_positive else "negatives"
    assert found.notes == (f"all {name} contribute the same: the limits allow for what {count} of them cannot show",)


def test_three_tied_positives_say_little():
    """q = 1 − 0.025^(1/3) = 0.708 of the positives may rank below all negatives."""
    found = estimate(TIED_Y, TIED_S)
    short = by_error(TIED_Y, TIED_S)
    page = (Path(__file__).parents[2] / "docs" / "interval_coverage.md").read_text(encoding="utf-8")
    assert f"AUC {found.value:.2f} over 100 negatives the limits would be {short[0]:.2f} and {short[1]:.2f}" in page
    assert f"{found.lower:.2f} and {found.upper:.2f} for the three" in page
    q = 1 - 0.025 ** (1 / 3)
    assert found.lower == pytest.approx(found.value - math.hypot(q * found.value, found.value - short[0]))
    assert found.upper == pytest.approx(found.value + math.hypot(q * (1 - found.value), short[1] - found.value))
    assert found.notes == (THE_SAME,)


@pytest.mark.parametrize(
    ("name", "options", "function"),
    [
        ("bauc", {}, metrics.bauc_score),
        ("bauc", {"threshold": -0.5}, partial(metrics.bauc_score, threshold=-0.5)),
        ("scored_auc", {}, metrics.scored_auc),
        ("ferri_auc", {}, metrics.ferri_auc),
        ("gauc", {"modifier": np.tanh}, partial(metrics.gauc_score, modifier=np.tanh)),
    ],
)
def test_unbounded_terms_put_the_unseen_share_at_the_observed_ends(name, options, function):
    """Two positives at level ½: q = 1 − ¼^½ = ½, so two more rows at an end of the scores are that share."""
    y, s = np.append([1, 1], np.zeros(100)), np.append([1.1, 1.1], NEGATIVES)
    found, metric = estimate(y, s, name, level=0.5, **options), estimable(name, options)
    observations = Observations.of(y, s, None, None)
    short = confidence_limits(metric, metric.components(observations), observations, 0.5)[0]
    more = [function(np.append(y, [1, 1]), np.append(s, [end, end])) for end in (s.min(), s.max())]
    lower = found.value - math.hypot(found.value - short[0], found.value - more[0])
    upper = found.value + math.hypot(short[1] - found.value, more[1] - found.value)
    assert found.lower == pytest.approx(max(lower, metric.range[0]))
    assert found.upper == pytest.approx(min(upper, metric.range[1]))


@pytest.mark.parametrize(("name", "options"), [("auc", {}), ("bauc", {}), ("soft_auc", {"beta": 2.0})])
def test_regular_samples_have_the_limits_of_the_standard_error(name, options):
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], [30, 40])
    s = rng.normal(1.0 * y)
    found = estimate(y, s, name, **options)
    assert (found.lower, found.upper) == by_error(y, s, name, **options)
    assert found.notes == ()


def test_the_limits_never_get_narrower():
    rng = np.random.default_rng(2)
    for _ in range(300):
        sizes = rng.integers(2, 12, 2)
        y = np.repeat([1, 0], sizes)
        s = rng.integers(0, 4, y.size).astype(float)
        for name in ("auc", "bauc"):
            found, short = estimate(y, s, name), by_error(y, s, name)
            assert found.lower <= short[0] + 1e-12
            assert found.upper >= short[1] - 1e-12


def test_which_class():
    assert flat_class((0.1, 0.0), (500, 500)) == 1
    assert flat_class((0.0, 0.0), (3, 3)) is None
    assert flat_class((0.1, 0.2), (3, 3)) is None
    components = estimable("auc", {}).components(Observations.of(TIED_Y, TIED_S, None, None))
    assert isinstance(components, Components)
    assert flat_class(components.parts, (3, 100)) == 0


def test_almost_equal_scores_of_few():
    """Positives between the same two negatives count as equal; a few negatives apart, as almost equal."""
    together = estimate(TIED_Y, np.concatenate(([1.1, 1.1 + 1e-9, 1.1 - 1e-9], NEGATIVES)))
    assert (together.lower, together.upper) == (estimate(TIED_Y, TIED_S).lower, estimate(TIED_Y, TIED_S).upper)
    apart = estimate(TIED_Y, np.concatenate(([1.1, 1.11, 1.12], NEGATIVES)), "bauc")
    assert apart.notes == (THE_SAME.replace("the same", "almost the same", 1),)
    assert apart.lower == 0.0


def test_partial_auc_counts_negatives_of_the_band():
    """Positives have the rates 0.4 and 1, none inside [0.5, 0.9]: the negatives do not matter; 8 are of the band."""
    y = np.repeat([1, 0], [20, 20])
    s = np.concatenate((np.arange(20.0), np.full(12, -1.0), np.full(8, 30.0)))
    s[:4] = -2.0
    found = estimate(y, s, "partial_auc", min_fpr=0.5, max_fpr=0.9, standardized="area")
    assert found.notes == ("all negatives contribute the same: the limits allow for what 8 of them cannot show",)
    short = by_error(y, s, "partial_auc", min_fpr=0.5, max_fpr=0.9, standardized="area")
    q = 1 - 0.025 ** (1 / 8)
    assert found.lower == pytest.approx(found.value - math.hypot(q * found.value, found.value - short[0]))


def test_weighted_rows_count_by_their_effective_number():
    weight = np.concatenate(([4.0, 1.0, 1.0], np.ones(100)))
    found = estimate(TIED_Y, TIED_S, sample_weight=weight)
    assert found.notes == (THE_SAME.replace("3", "2"),)  # 6²/18
    assert found.lower < estimate(TIED_Y, TIED_S).lower
    plain, scaled = (estimate(TIED_Y, TIED_S, "bauc", sample_weight=factor * weight) for factor in (1.0, 7.0))
    assert (plain.lower, plain.upper) == pytest.approx((scaled.lower, scaled.upper))


@pytest.mark.parametrize("name", ["auc", "bauc"])
def test_coverage_with_three_positives_on_a_coarse_grid(name):
    """95 % limits on 400 samples of normal scores in steps of 2, with and without the unseen share."""
    step, shift = 2.0, math.sqrt(2.0) * norm.ppf(0.9)
    grid = np.arange(-10.0, 14.0, step)
    shares = [norm.cdf(grid + 1.0, mean) - norm.cdf(grid - 1.0, mean) for mean in (shift, 0.0)]
    function = {"auc": metrics.auc_score, "bauc": metrics.bauc_score}[name]
    truth = function(np.repeat([1, 0], grid.size), np.tile(grid, 2), sample_weight=np.concatenate(shares))
    rng, y = np.random.default_rng(3), TIED_Y
    counts = np.zeros(2)
    for _ in range(400):
        s = np.round(rng.normal(shift * y) / step) * step
        found, short = estimate(y, s, name), by_error(y, s, name)
        counts += [short[0] <= truth <= short[1], found.lower <= truth <= found.upper]
    assert counts[0] < 0.8 * 400
    assert counts[1] > 0.93 * 400


class TestVOROS:
    """Half-samples of a few positives."""

    @staticmethod
    def samples(n_pos: int, number: int):
        rng, y = np.random.default_rng(n_pos), np.repeat([1, 0], [n_pos, 100])
        for _ in range(number):
            yield y, rng.normal(1.0 * y)

    @staticmethod
    def limits_with(found, quantile: float) -> tuple[float, float]:
        """Limits of value less bias, cut at the VOROS of chance."""
        lower, upper = transformed_limits(
            found.value - found.bias, float(quantile) * found.standard_error, (-math.inf, 1.0)
        )
        return max(lower, 1.5 - math.log(2.0)), upper

    def test_lower_limits_are_those_of_auc_where_these_are_lower(self):
        for y, s in self.samples(4, 20):
            found, auc = estimate(y, s, "voros", resamples=50), estimate(y, s)
            lower, upper = self.limits_with(found, student.isf(0.025, 3))
            assert found.lower == pytest.approx(max(min(lower, auc.lower), 1.5 - math.log(2.0)))
            assert found.upper == pytest.approx(upper)

    def test_ten_of_a_class_have_normal_limits(self):
        for y, s in self.samples(10, 5):
            found = estimate(y, s, "voros", resamples=50)
            assert (found.lower, found.upper) == pytest.approx(self.limits_with(found, norm.isf(0.025)))

    def test_coverage(self):
        """95 % limits of 0.8810 on 100 samples with 4 positives."""
        covered = np.zeros(2)
        for y, s in self.samples(4, 100):
            found = estimate(y, s, "voros", resamples=50)
            for k, (lower, upper) in enumerate((self.limits_with(found, norm.isf(0.025)), (found.lower, found.upper))):
                covered[k] += lower <= 0.8810 <= upper
        assert covered[0] < 75
        assert covered[1] >= 90


class TestNotes:
    def test_few_observations(self):
        y, s = np.repeat([1, 0], [3, 100]), np.concatenate(([0.5, 1.1, -0.3], NEGATIVES))
        for method in ("auto", "bootstrap", "hanley_mcneil"):
            assert estimate(y, s, method=method).notes == (FEW_POSITIVES,)
        assert estimate(y, s, "voros").notes == (FEW_POSITIVES,)
        assert estimate(1 - y, s).notes == (FEW_POSITIVES.replace("positives", "negatives"),)
        assert estimate([1, 1, 0, 0], [3, 1, 2, 0]).notes[0].startswith("only 2 positives and 2 negatives")

    def test_voros_needs_more(self):
        rng = np.random.default_rng(6)
        for n_pos, noted in ((49, True), (50, False)):
            y = np.repeat([1, 0], [n_pos, 60])
            s = rng.normal(1.0 * y)
            assert bool(estimate(y, s, "voros", resamples=50).notes) == noted
            assert estimate(y, s).notes == ()

    def test_few_negatives_in_a_band(self):
        y = np.repeat([1, 0], [50, 20])
        s = np.random.default_rng(4).normal(1.0 * y)
        found = estimate(y, s, "partial_auc", max_fpr=0.1, standardized="area")
        assert found.notes[0].startswith("only 2 negatives in the band")

    def test_tpr_at_a_rate_of_few_negatives(self):
        y = np.repeat([1, 0], [50, 20])
        s = np.random.default_rng(4).normal(1.0 * y)
        for method in ("influence", "bootstrap"):
            (note,) = tpr_at_fpr(y, s, 0.1, method=method, resamples=100).notes
            assert note.startswith("only about 2 of 20 negatives lie above the threshold")
            assert "method='exact'" in note
        (note,) = tpr_at_fpr(y, s, 0.95).notes
        assert note.startswith("only about 1 of 20 negatives lie below the threshold")
        assert tpr_at_fpr(y, s, 0.2).notes == tpr_at_fpr(y, s, 0.0).notes == ()
        assert "exact" not in tpr_at_fpr(y, s, 0.1, sample_weight=np.ones(70)).notes[0]

    def test_a_band(self):
        assert roc_band(TIED_Y, TIED_S, resamples=100).notes == (FEW_POSITIVES,)
        assert roc_band(TIED_Y, TIED_S, method="ks").notes == ()

    def test_two_scorers(self):
        rng = np.random.default_rng(5)
        y, a = np.repeat([1, 0], [30, 40]), rng.normal(size=70)
        a[:30] = 0.0
        b = np.concatenate((np.zeros(30), rng.normal(size=40)))
        found = compare_scorers(y, a, b)
        assert found.notes == (
            "the positives do not distinguish the scorers: limits and p are from the negatives only",
        )
        assert compare_scorers(y, rng.normal(1.0 * y), rng.normal(1.0 * y)).notes == ()
        few = compare_scorers(TIED_Y, rng.normal(size=103), rng.normal(size=103))
        assert few.notes == (FEW_POSITIVES,)


class TestSummaries:
    def test_limits_contain_those_of_the_scores(self):
        expected = estimate(TIED_Y, TIED_S)
        for edges in ([0.0, 1.0], np.linspace(-2.0, 2.0, 400)):
            limits = estimate_summary(ScoreSummary.from_scores(TIED_Y, TIED_S, edges=edges))
            assert limits.lower <= expected.lower
            assert limits.upper >= expected.upper
            assert "cannot show" in limits.notes[0]

    def test_bauc_says_that_the_scores_are_needed(self):
        summary = ScoreSummary.from_scores(TIED_Y, TIED_S, edges=[0.0, 1.0])
        found = estimate_summary(summary, "bauc")
        assert (found.lower, found.upper) == (0.0, 1.0)
        assert "estimate() on the scores" in found.notes[0]


def test_logit_limits_are_those_of_one_class():
    """By the standard error alone, the interval knows the negatives only."""
    found = estimate(TIED_Y, TIED_S)
    one = transformed_limits(found.value, float(student.isf(0.025, 99)) * found.standard_error, (0.0, 1.0))
    assert by_error(TIED_Y, TIED_S) == pytest.approx(one)
