"""Partial AUC and one ROC value, bounded from below."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from auclab._core.base import AuclabError
from auclab.bounds import roc_value_bound, step_weight_bound, step_weight_interval, weighted_auc_bound
from auclab.bounds.weighted import Ramp, best_ramp
from auclab.metrics import partial_auc


def normal_sample(rng, n_pos, n_neg, lead=1.5):
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, rng.normal(size=n_pos + n_neg) + lead * y


def test_ramp_is_below_the_step_and_has_the_numbers_it_says():
    s = np.linspace(0, 1, 100_001)
    for ramp in (Ramp(0.2, 0.7, 0.1), Ramp(0.0, 0.4, 0.2), Ramp(0.6, 1.0, 0.4), Ramp(0.3, 0.5, 0.0)):
        values = ramp.at(s)
        assert (values <= Ramp(ramp.low, ramp.high, 0.0).at(s)).all()
        assert values.mean() == pytest.approx(ramp.integral, abs=2e-5)
        if ramp.width:
            assert np.abs(np.diff(values)).max() / s[1] <= ramp.lipschitz * (1 + 1e-6)


@pytest.mark.parametrize("method", ["mcdiarmid", "dkw", "max_rank"])
@pytest.mark.parametrize("band", [(0.0, 0.2), (0.1, 0.4)])
def test_best_ramp_is_better_than_others(method, band):
    """Area lost plus half-width at 2δ, over a scan of widths."""
    low, high = 1 - band[1], 1 - band[0]
    sizes = {"n_pos": 300, "n_neg": 2000}

    def cost(width):
        ramp = Ramp(low, high, width)
        about = {"weight_lipschitz": ramp.lipschitz, "weight_integral": ramp.integral}
        return ramp.lost + weighted_auc_bound(method, weight_sup=1.0, **about, **sizes, delta=0.1).half_width

    ramp = best_ramp(low, high, **sizes, delta=0.05, method=method)
    widest = (high - low) / ramp.ramps
    scan = min(map(cost, np.geomspace(1e-3, 1, 2000) * widest))
    assert cost(ramp.width) <= min(scan, cost(0.0)) * (1 + 2e-3)


@pytest.mark.parametrize("method", ["mcdiarmid", "dkw", "max_rank"])
def test_partial_auc_of_normal_scores_is_covered(method):
    """∫₀^β Φ(1.5 + Φ⁻¹(u)) du for scores N(1.5, 1) and N(0, 1), ρ = ½ so that failures would show."""
    u = (np.arange(200_000) + 0.5) / 200_000 * 0.3
    truth = 0.3 * norm.cdf(1.5 + norm.ppf(u)).mean()
    rng = np.random.default_rng(3)
    lowers = [
        step_weight_bound(*normal_sample(rng, 200, 800), max_fpr=0.3, delta=0.5, method=method).lower for _ in range(40)
    ]
    assert np.mean(np.array(lowers) <= truth) >= 0.5
    assert max(lowers) < truth + 0.05


def test_slack_is_against_the_value_of_the_sample():
    y, scores = normal_sample(np.random.default_rng(4), 300, 700)
    bound = step_weight_bound(y, scores, max_fpr=0.2, delta=0.05)
    assert bound.lower + bound.slack == pytest.approx(partial_auc(y, scores, max_fpr=0.2, standardized=False))
    assert (type(bound.lower), type(bound.vacuous)) == (float, bool)
    assert any("ramps" in words for words in bound.assumptions)


@pytest.mark.parametrize("method", ["band", "weight"])
def test_roc_value_of_normal_scores_is_covered(method):
    """roc(u) = Φ(1.5 + Φ⁻¹(u))."""
    rng = np.random.default_rng(5)
    samples = [normal_sample(rng, 300, 300) for _ in range(60)]
    for fpr in (0.05, 0.2, 0.7):
        lowers = np.array([roc_value_bound(*sample, fpr, delta=0.5, method=method).lower for sample in samples])
        truth = norm.cdf(1.5 + norm.ppf(fpr))
        assert np.mean(lowers <= truth) >= 0.5
        assert lowers.max() > 0.2 or fpr < 0.1  # ε_neg is 0.048: nothing is left to the left of it


def test_band_is_never_worse_than_a_narrow_weight():
    rng = np.random.default_rng(6)
    for _ in range(30):
        n_pos, n_neg = rng.integers(1, 200, 2)
        y, scores = normal_sample(rng, n_pos, n_neg)
        scores = scores.round(1)
        for fpr in (0.0, 0.1, 0.5, 1.0):
            band, weight = (roc_value_bound(y, scores, fpr, delta=0.2, method=m).lower for m in ("band", "weight"))
            assert band >= weight - 1e-9


def test_roc_value_by_brute_force():
    """P̂(h⁺ > q̂(1 − u)) with the lower quantile, moved by ε_neg, less ε_pos."""
    rng = np.random.default_rng(7)
    for _ in range(30):
        pos, neg = rng.integers(0, 9, 40), np.sort(rng.integers(0, 9, 50))
        y = np.repeat([1, 0], [40, 50])
        fpr = float(rng.uniform(0.1, 1))
        error_pos, error_neg = (math.sqrt(math.log(2 / 0.1) / (2 * n)) for n in (40, 50))
        s = 1 - (fpr - error_neg)
        above = [t for t in neg if (neg <= t).mean() >= s]
        height = (pos > above[0]).mean() if above else 0.0
        bound = roc_value_bound(y, np.concatenate([pos, neg]), fpr, delta=0.1)
        assert bound.lower == pytest.approx(height - error_pos, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda y, s: step_weight_bound(y, s, min_fpr=0.5, max_fpr=0.5, delta=0.1), "min_fpr"),
        (lambda y, s: step_weight_bound(y, s, delta=0.0), "delta"),
        (lambda y, s: step_weight_bound(y, s, delta=0.1, method="published"), "mcdiarmid, dkw"),
        (lambda y, s: step_weight_bound(y, s[:-1], delta=0.1), "lengths"),
        (lambda y, s: roc_value_bound(y, s, 1.5, delta=0.1), "fpr"),
        (lambda y, s: roc_value_bound(y, s, 0.5, delta=0.1, method="x"), "'band'"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(AuclabError, match=words):
        call(np.array([0, 1, 0, 1]), np.arange(4.0))


@pytest.mark.parametrize("method", ["mcdiarmid", "dkw", "max_rank"])
@pytest.mark.parametrize("band", [(0.0, 0.3), (0.1, 0.4), (0.2, 1.0)])
def test_both_limits_contain_the_partial_auc(method, band):
    """δ = ½: of 40 samples at least half must contain the truth, and the limits are not far apart."""
    u = band[0] + (np.arange(200_000) + 0.5) / 200_000 * (band[1] - band[0])
    truth = (band[1] - band[0]) * norm.cdf(1.5 + norm.ppf(u)).mean()
    rng = np.random.default_rng(4)
    options = {"min_fpr": band[0], "max_fpr": band[1], "delta": 0.5, "method": method}
    found = np.array([step_weight_interval(*normal_sample(rng, 200, 800), **options) for _ in range(40)])
    assert np.mean((found[:, 0] <= truth) & (truth <= found[:, 1])) >= 0.5
    assert (found[:, 1] > truth - 0.05).all()


def test_the_ramp_above_is_above_the_step():
    s = np.linspace(0, 1, 10_001)
    for low, high in ((0.7, 1.0), (0.6, 0.9), (0.0, 0.8), (0.0, 1.0)):
        ramp = best_ramp(low, high, n_pos=200, n_neg=300, delta=0.1, method="max_rank", above=True)
        values = ramp.at(s)
        assert (values >= Ramp(low, high, 0.0).at(s) - 1e-12).all()
        assert values.mean() == pytest.approx(ramp.integral, abs=2e-4)
        assert np.abs(np.diff(values)).max() / s[1] <= ramp.lipschitz * (1 + 1e-6)
