"""Bands and intervals in ROC space against brute force: curves of repeated rows, distances by bisection, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, kstwo, norm
from sklearn.metrics import roc_curve

from auclab._core.base import AuclabError
from auclab.inference import roc_band, roc_band_part, tpr_at_fpr, tpr_at_fpr_part
from auclab.inference.components import Observations
from auclab.inference.roc_bands import BEST, WORST, displaced, displacement_between, height_at, resampled_curves
from auclab.metrics import ScoredPart, broc_curve
from auclab.metrics.roc import empirical_roc


def sample(size=60, seed=3, shift=1.0, digits=None):
    rng = np.random.default_rng(seed)
    y = np.arange(size) % 2
    s = rng.normal(size=size) + shift * y
    return y, s if digits is None else np.round(s, digits)


def between(curve, other, dx, dy):
    """Whether `other` lies between the displaced curves, compared on vertical and horizontal lines."""
    grid = np.linspace(0.0, 1.0, 4001)
    for turn in (False, True):
        lower, upper, middle = displaced(curve, dx, -dy), displaced(curve, -dx, dy), other
        if turn:  # x as a function of y: the upper end is the left one
            lower, upper, middle = ((c[1], c[0]) for c in (upper, lower, other))
        below = height_at(middle, grid, top=False) >= height_at(lower, grid, top=False) - 1e-9
        above = height_at(middle, grid) <= height_at(upper, grid) + 1e-9
        if not (below.all() and above.all()):
            return False
    return True


@pytest.mark.parametrize("digits", [None, 0])
def test_displacement_by_bisection(digits):
    first = empirical_roc(*sample(31, 1, digits=digits), None, None)
    second = empirical_roc(*sample(28, 2, shift=0.3, digits=digits), None, None)
    found = displacement_between(first, second, (0.1, 0.2))
    low, high = 0.0, 10.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if between(first, second, 0.1 * middle, 0.2 * middle) else (middle, high)
    assert found == pytest.approx(high, abs=2e-3)  # the lines of the grid are 1/4000 apart, a and b are 1/10 and 1/5
    assert displacement_between(second, first, (0.1, 0.2)) == pytest.approx(found)


def test_a_displaced_curve_with_a_slanted_edge_is_cut_where_it_leaves_the_square():
    x, y = displaced((np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0])), 0.25, 0.0)
    np.testing.assert_allclose(height_at((x, y), np.array([0.0, 0.25, 0.5, 0.9])), [0.0, 0.0, 0.25, 0.65])
    assert (x[-1], y[-1]) == (1.0, 1.0)


@pytest.mark.parametrize("threshold", [None, 0.0])
@pytest.mark.parametrize("digits", [None, 1])
def test_resampled_curves_are_those_of_repeated_rows(threshold, digits):
    y, s = sample(40, digits=digits)
    pos, neg = np.sort(s[y == 1]), np.sort(s[y == 0])
    curves = list(resampled_curves(Observations.of(y, s, None, None), threshold, 5, np.random.default_rng(8)))
    rng = np.random.default_rng(8)
    for curve in curves:
        drawn = [scores[rng.integers(scores.size, size=scores.size)] for scores in (pos, neg)]
        again = np.repeat([1, 0], [pos.size, neg.size]), np.concatenate(drawn)
        twin = empirical_roc(*again, None, None) if threshold is None else broc_curve(*again, threshold=threshold)[:2]
        assert displacement_between(curve, twin, (1.0, 1.0)) == pytest.approx(0.0, abs=1e-12)


def test_resamples_without_a_buffered_curve_have_the_curves_of_area_0_and_1():
    y, s = sample(12, seed=1, shift=1.0)
    curves = list(resampled_curves(Observations.of(y, s, None, None), 0.0, 400, np.random.default_rng(0)))
    assert any(curve is WORST for curve in curves)
    separated = [1, 1, 1, 0, 0, 0], [5.0, 3.0, 1.1, 1.2, 0.5, 0.0]
    curves = list(resampled_curves(Observations.of(*separated, None, None), 0.0, 400, np.random.default_rng(0)))
    assert any(curve is BEST for curve in curves)


def test_bootstrap_band_contains_its_share_of_resamples():
    y, s = sample()
    band = roc_band(y, s, level=0.8, resamples=200, seed=6)
    curves = resampled_curves(Observations.of(y, s, None, None), None, 200, np.random.default_rng(6))
    distances = sorted(displacement_between((band.fpr, band.tpr), curve, (1.0, 1.0)) for curve in curves)
    assert band.dx == pytest.approx(distances[160])  # 161 of 201 places between 200 distances
    assert (band.method, band.notes, band.threshold) == ("bootstrap", (), None)
    assert band.dx == pytest.approx(band.dy)  # classes of equal size
    assert roc_band_part(ScoredPart(y, s), level=0.8, resamples=200, seed=6).dx == band.dx


@pytest.mark.parametrize("method", ["ks", "bootstrap"])
def test_limits_are_those_of_the_displaced_curve(method):
    y, s = sample(51)
    band = roc_band(y, s, method=method, resamples=100)
    lower, upper = band.limits(rates := np.linspace(0.0, 1.0, 97))
    curve = band.fpr, band.tpr
    moved = height_at(curve, np.maximum(rates - band.dx, 0.0), top=False) - band.dy
    np.testing.assert_allclose(lower, np.where(rates >= band.dx, np.maximum(moved, 0.0), 0.0), atol=1e-12)
    moved = height_at(curve, np.minimum(rates + band.dx, 1.0)) + band.dy
    np.testing.assert_allclose(upper, np.minimum(moved, 1.0), atol=1e-12)
    assert band.contains(band.fpr, band.tpr)
    assert not band.contains(*WORST)


@pytest.mark.parametrize("digits", [None, 0])
def test_kolmogorov_smirnov_band_has_its_level_in_small_samples(digits):
    """Level 0.5, 12 + 18 observations, continuous and tied scores."""
    if digits is None:
        rates = norm.cdf(np.linspace(-6, 6, 801))
        truth = np.concatenate(([0.0], rates, [1.0])), np.concatenate(([0.0], norm.cdf(norm.ppf(rates) + 1.0), [1.0]))
    else:
        edges = np.arange(-8.5, 10)[::-1]
        truth = tuple(np.concatenate(([0.0], norm.sf(edges, shift), [1.0])) for shift in (0.0, 1.0))
    rng, inside = np.random.default_rng(1), 0
    for _ in range(200):
        y = np.repeat([1, 0], [12, 18])
        s = rng.normal(size=30) + y
        band = roc_band(y, s if digits is None else np.round(s), level=0.5, method="ks")
        inside += band.contains(*truth)
    assert inside / 200 >= 0.5
    assert (band.dx, band.dy) == tuple(kstwo.ppf(math.sqrt(0.5), n) for n in (18, 12))


def test_where_the_bootstrap_says_nothing():
    perfect = [0] * 5 + [1] * 4, range(9)
    band = roc_band(*perfect)
    assert band.method == "ks"
    assert band.notes == ("all resamples have the same curve: Kolmogorov–Smirnov band",)
    assert roc_band([1, 0, 0], [2.0, 1.0, 3.0]).notes[0].startswith("a class of one observation")
    weighted = roc_band(*perfect, sample_weight=np.arange(1, 10), resamples=100)
    assert (weighted.dx, weighted.notes) == (1.0, ("all resamples have the same curve: the band is the whole square",))


def test_scale_and_order_of_rows_and_of_weights():
    y, s = sample(50)
    weight = 1.0 + np.arange(50) % 4
    options = {"resamples": 100, "seed": 1}
    band = roc_band(y, s, sample_weight=weight, **options)
    assert roc_band(y, np.exp(s), sample_weight=3 * weight, **options).dx == pytest.approx(band.dx)
    shares = [weight[y == each] / weight[y == each].sum() for each in (0, 1)]
    assert band.dx / band.dy == pytest.approx(math.sqrt((shares[0] ** 2).sum() / (shares[1] ** 2).sum()))
    equal = roc_band(y, s, sample_weight=np.full(50, 2.0), **options)
    assert equal.dx == pytest.approx(roc_band(y, s, **options).dx)
    turned = roc_band(1 - y, -s, method="ks")  # labels and signs: the curve mirrored at the other diagonal
    plain = roc_band(y, s, method="ks")
    lower, upper = (curve for curve in (plain.lower, plain.upper))
    for mine, theirs in ((lower, turned.lower), (upper, turned.upper)):
        assert displacement_between((1 - mine[1][::-1], 1 - mine[0][::-1]), theirs, (1, 1)) < 1e-12


def test_what_has_no_band():
    y, s = sample()
    for options, match in (
        ({"method": "delong"}, "bootstrap"),
        ({"method": "ks", "threshold": 0.0}, "γ"),
        ({"method": "ks", "sample_weight": np.ones(60)}, "weighted"),
        ({"threshold": 100.0}, "no error exceeds"),
        ({"threshold": -50.0}, "mean error is not below"),
        ({"level": 1.0}, "level"),
        ({"resamples": 10}, "at least 100"),
    ):
        with pytest.raises(AuclabError, match=match):
            roc_band(y, s, **options)
    with pytest.raises(AuclabError, match="in non-decreasing order"):
        roc_band(y, s, method="ks").contains([0.0, 1.0], [1.0, 0.0])


def test_tpr_is_that_of_scikit_learns_curve():
    y, s = sample(60, digits=1)
    fpr, tpr, _ = roc_curve(y, s)
    for rate in np.linspace(0.01, 0.99, 23):  # off the vertical edges
        assert tpr_at_fpr(y, s, rate).value == pytest.approx(np.interp(rate, fpr, tpr))
    assert tpr_at_fpr(y, s, 1.0).value == 1.0
    assert tpr_at_fpr(y, s, 0.0).value == tpr[fpr == 0.0].max()
    assert tpr_at_fpr_part(ScoredPart(y, s), 0.1) == tpr_at_fpr(y, s, 0.1)


def test_standard_errors_are_that_of_the_theory_in_a_large_sample():
    """Normal scores, shift 1: R(u) = Φ(Φ⁻¹(u) + 1), R' the ratio of densities."""
    y, s = sample(20_000, seed=2)
    for rate in (0.05, 0.3):
        point = norm.ppf(rate)
        value, slope = norm.cdf(point + 1.0), norm.pdf(point + 1.0) / norm.pdf(point)
        theory = math.sqrt(value * (1 - value) / 10_000 + slope**2 * rate * (1 - rate) / 10_000)
        found = tpr_at_fpr(y, s, rate)
        assert found.standard_error == pytest.approx(theory, rel=0.1)
        assert tpr_at_fpr(y, s, rate, method="bootstrap", resamples=400).standard_error == pytest.approx(
            theory, rel=0.15
        )
        assert found.lower < value < found.upper
        assert found.upper - found.lower == pytest.approx(2 * 1.96 * theory, rel=0.1)


def test_at_rate_0_the_limits_are_wilsons():
    """The rate of the negatives does not vary; 2 of 3 positives: (2/3 + c²/6 ∓ c √(2/27 + c²/36))/(1 + c²/3)."""
    found = tpr_at_fpr([1, 1, 1, 0, 0], [5.0, 4.0, 1.0, 3.0, 2.0], 0.0)
    c = norm.isf(0.025)
    half = c * math.sqrt(2 / 27 + c * c / 36)
    assert found.lower == pytest.approx((2 / 3 + c * c / 6 - half) / (1 + c * c / 3))
    assert found.upper == pytest.approx((2 / 3 + c * c / 6 + half) / (1 + c * c / 3))


def test_exact_limits_by_their_definition():
    y, s = sample(80, digits=1)
    pos, neg, tail = s[y == 1], np.sort(s[y == 0])[::-1], 0.0125
    found = tpr_at_fpr(y, s, 0.3, method="exact")
    orders = range(1, 41)
    # P(the FPR of the k-th largest is at most u) = P(Bin(m, u) ≥ k)
    below = max(k for k in orders if binom.sf(k - 1, 40, 0.3) >= 1 - tail)
    above = min(k for k in orders if binom.cdf(k - 1, 40, 0.3) >= 1 - tail)
    hits, reach = int((pos > neg[below - 1]).sum()), int((pos >= neg[above - 1]).sum())
    assert binom.sf(hits - 1, 40, found.lower) == pytest.approx(tail)
    assert binom.cdf(reach, 40, found.upper) == pytest.approx(tail)
    assert found.lower == pytest.approx(beta.ppf(tail, hits, 41 - hits))
    assert math.isnan(found.standard_error)


def test_exact_limits_have_their_level_in_small_samples():
    rng, true, inside = np.random.default_rng(3), norm.cdf(norm.ppf(0.3) + 1.0), 0
    for _ in range(200):
        y = np.repeat([1, 0], [12, 18])
        found = tpr_at_fpr(y, rng.normal(size=30) + y, 0.3, method="exact", level=0.5)
        inside += found.lower <= true <= found.upper
    assert inside / 200 >= 0.5


def test_degenerate_points():
    perfect = [0] * 10 + [1] * 10, range(20)
    c = norm.isf(0.025)
    found = tpr_at_fpr(*perfect, 0.2)
    assert (found.value, found.upper) == (1.0, 1.0)
    assert found.lower == pytest.approx(10 / (10 + c * c))  # Wilson's limit of ten of ten
    again = tpr_at_fpr(*perfect, 0.2, method="bootstrap", resamples=100)
    assert again.notes == ("all resamples have the same value",)
    assert 0.6 < again.lower < again.upper == 1.0
    assert tpr_at_fpr([1, 0, 0], [2.0, 1.0, 3.0], 0.5).notes[0].startswith("a class of one observation")


def test_what_has_no_point():
    y, s = sample()
    for rate, options, match in (
        (1.5, {}, "fpr must lie"),
        (math.nan, {}, "fpr"),
        (0.1, {"method": "ks"}, "exact"),
        (0.1, {"method": "exact", "sample_weight": np.ones(60)}, "counts observations"),
        (0.1, {"level": 0.0}, "level"),
    ):
        with pytest.raises(AuclabError, match=match):
            tpr_at_fpr(y, s, rate, **options)
