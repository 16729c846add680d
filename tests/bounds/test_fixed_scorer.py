"""Fixed-scorer bounds: constants by hand, and coverage on a distribution whose AUC and bAUC are known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import reference_bounds as reference
from auclab._core.base import AuclabError
from auclab.bounds.fixed_scorer import fixed_scorer_auc_bound, fixed_scorer_bauc_bound, peeled_fixed_scorer_bauc_bound
from auclab.bounds.stability import kl_upper


def test_auc_half_width_is_hoeffdings_for_equal_classes():
    # n_pos = n_neg = m: √(2/m · ln(2/ρ)/2) = √(ln(2/ρ)/m)
    bound = fixed_scorer_auc_bound(0.7, n_pos=400, n_neg=400, rho=0.02)
    assert bound.half_width == pytest.approx(math.sqrt(math.log(100) / 400), rel=1e-14)
    assert bound.slack == bound.half_width
    assert math.isnan(bound.lower)


def test_auc_is_vacuous_only_if_the_whole_interval_is_covered():
    assert fixed_scorer_auc_bound(0.5, n_pos=1, n_neg=1, rho=0.05).vacuous
    assert not fixed_scorer_auc_bound(0.99, n_pos=20, n_neg=20, rho=0.05).vacuous


@pytest.mark.parametrize(("reach", "width"), [(0.25, 0.5), (1.0, 2.0), (3.0, 4.0), (0.0, 0.0)])
def test_width_of_the_hinge(reach, width):
    """|t| ≤ S: [1 − at]₊ lies in [max(0, 1 − aS), 1 + aS]."""
    bound = fixed_scorer_bauc_bound(0.0, 0.5, score_spread=2 * reach, n_pos=10, n_neg=30, rho=0.1)
    deviation = math.sqrt((1 / 10 + 1 / 30) * math.log(10) / 2)
    assert bound.slack == pytest.approx(width * deviation, rel=1e-14, abs=1e-15)
    assert bound.lower == pytest.approx(1 - width * deviation, rel=1e-14)


def test_observed_spread_is_an_assumption():
    arguments = {"empirical_loss": 0.3, "a": 1.0, "score_spread": 2.0, "n_pos": 9, "n_neg": 9, "rho": 0.05}
    assert not any("observed" in words for words in fixed_scorer_bauc_bound(**arguments).assumptions)
    observed = fixed_scorer_bauc_bound(**arguments, spread_is_observed=True)
    assert any("observed" in words for words in observed.assumptions)
    assert observed.vacuous
    assert observed.lower < 0  # it is returned, not cut


def test_coverage():
    """Scores 1 with probability ¾ for positives, ¼ for negatives, else 0: all quantities are exact.

    AUC = ¾·¾ + ½·(¾·¼ + ¼·¾) = ¾. The pair difference t is 1, 0, −1 with probabilities 9/16, 6/16, 1/16; at
    a = 1 the risk is E[1 − t]₊ = 6/16 + 2/16 = ½, so bAUC ≥ ½ is the best the bound can say.
    """
    rng = np.random.default_rng(0)
    n_pos, n_neg, rho, trials = 30, 50, 0.2, 2000
    share_pos = rng.binomial(n_pos, 0.75, trials) / n_pos
    share_neg = rng.binomial(n_neg, 0.25, trials) / n_neg
    auc = share_pos * (1 - share_neg) + 0.5 * (share_pos * share_neg + (1 - share_pos) * (1 - share_neg))
    loss = (1 - share_pos) * (1 - share_neg) + share_pos * share_neg + 2 * (1 - share_pos) * share_neg
    half_width = fixed_scorer_auc_bound(0.75, n_pos=n_pos, n_neg=n_neg, rho=rho).half_width
    assert (abs(auc - 0.75) <= half_width).mean() >= 1 - rho
    slack = fixed_scorer_bauc_bound(0.5, 1.0, score_spread=1.0, n_pos=n_pos, n_neg=n_neg, rho=rho).slack
    assert (1 - loss - slack <= 0.5).mean() >= 1 - rho


@pytest.mark.parametrize(
    ("change", "word"),
    [({"n_pos": 0}, "n_pos=0"), ({"rho": 1.0}, "rho"), ({"rho": 0.0}, "rho"), ({"auc": 1.2}, "auc")],
)
def test_auc_refuses(change, word):
    with pytest.raises(AuclabError, match=word):
        fixed_scorer_auc_bound(**({"auc": 0.5, "n_pos": 5, "n_neg": 5, "rho": 0.05} | change))


@pytest.mark.parametrize("change", [{"a": -1.0}, {"score_spread": math.inf}, {"empirical_loss": math.nan}])
def test_bauc_refuses(change):
    arguments = {"empirical_loss": 0.1, "a": 1.0, "score_spread": 1.0, "n_pos": 5, "n_neg": 5, "rho": 0.05}
    with pytest.raises(AuclabError, match=next(iter(change))):
        fixed_scorer_bauc_bound(**(arguments | change))


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("offset", [0.0, 2.0**20])
def test_peeled_is_the_best_level(scale, offset):
    """Against every level over all pairs, in any unit; a₀ = 1/S."""
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], [300, 500])
    scores = np.round(rng.uniform(0, 1, 800) * 2**20) / 2**20 + 0.9 * y
    pos, neg = scores[y == 1], scores[y == 0]
    every = [
        1
        - reference.hinge(pos, neg, 2.0**k / 2)
        - (2.0**k + min(1, 2.0**k)) * reference.mcdiarmid(300, 500, reference.share(0.05, k))
        for k in range(-6, 7)
    ]
    bound = peeled_fixed_scorer_bauc_bound(y, (scores + offset) * scale, score_spread=2 * scale, rho=0.05)
    assert bound.lower == pytest.approx(max(every), rel=1e-9)
    assert bound.lower > 0


def test_peeled_pays_for_the_choice():
    rng = np.random.default_rng(2)
    y = np.repeat([1, 0], [300, 500])
    scores = rng.uniform(0, 1, 800) + 0.9 * y
    peeled = peeled_fixed_scorer_bauc_bound(y, scores, score_spread=2.0, rho=0.05, a0=0.25)
    single = max(
        fixed_scorer_bauc_bound(
            reference.hinge(scores[y == 1], scores[y == 0], a), a, score_spread=2.0, n_pos=300, n_neg=500, rho=0.05
        ).lower
        for a in (0.25, 0.5, 1.0, 2.0)
    )
    assert 0 < peeled.lower < single


def test_peeled_of_equal_scores():
    bound = peeled_fixed_scorer_bauc_bound([0, 1, 1], [3.0, 3.0, 3.0], score_spread=0.0, rho=0.05)
    assert (bound.lower, bound.slack, bound.vacuous) == (0.0, 0.0, True)


def test_peeled_coverage():
    """The distribution of `test_coverage`; bAUC = 1 − min_a {9/16 (1 − a)₊ + 6/16 + (1 + a)/16} = ½ at a = 1."""
    rng = np.random.default_rng(3)
    n_pos, n_neg, rho = 150, 250, 0.5
    y = np.repeat([1, 0], [n_pos, n_neg])
    lowers = []
    for _ in range(200):
        scores = np.concatenate([rng.random(n_pos) < 0.75, rng.random(n_neg) < 0.25]).astype(float)
        lowers.append(peeled_fixed_scorer_bauc_bound(y, scores, score_spread=1.0, rho=rho).lower)
    assert np.mean(np.array(lowers) <= 0.5) >= 1 - rho
    assert max(lowers) > 0.1


def test_peeled_refuses():
    with pytest.raises(AuclabError, match="too small"):
        peeled_fixed_scorer_bauc_bound([0, 1], [0.0, 2.0], score_spread=1.0, rho=0.05)
    with pytest.raises(AuclabError, match="a0"):
        peeled_fixed_scorer_bauc_bound([0, 1], [0.0, 2.0], score_spread=2.0, rho=0.05, a0=-1.0)
    with pytest.raises(AuclabError, match="y_score"):
        peeled_fixed_scorer_bauc_bound([0, 1], [0.0, np.inf], score_spread=2.0, rho=0.05)


def divergence(p, q):
    """kl(p‖q) with 0 ln 0 = 0."""
    return sum(x * math.log(x / y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)


@given(share=st.floats(0, 1), budget=st.floats(-12, 3).map(lambda e: 10.0**e))
def test_kl_upper_is_the_last_point_within_the_budget(share, budget):
    q = kl_upper(share, budget)
    assert share <= q <= 1
    assert q <= share + math.sqrt(budget / 2) * (1 + 1e-9)
    if share + 1e-6 < q < 1 - 1e-6 and share > 1e-6:
        assert divergence(share, q) == pytest.approx(budget, rel=1e-4)
    if share < 1 and q < 1 - 1e-9:
        beyond = q + (1 - q) * 0.01
        assert divergence(share, beyond) > budget


@pytest.mark.parametrize("rho", [0.05, 0.5])
def test_kl_is_a_confidence_bound_for_shares(rho):
    """Exact binomial sums: P(q(k/n) < p) ≤ ρ."""
    n = 30
    k = np.arange(n + 1)
    upper = np.array([kl_upper(x / n, math.log(1 / rho) / n) for x in k])
    for p in np.linspace(0.01, 0.99, 40):
        assert binom.pmf(k[upper < p], n, p).sum() <= rho


@pytest.mark.parametrize("sizes", [(200, 200), (50, 3000), (1, 1)])
def test_each_method_is_at_least_as_sharp_as_the_one_before(sizes):
    for loss, a in ((0.1, 1.0), (0.9, 0.3), (0.4, 20.0), (1.0, 0.0)):
        arguments = {"score_spread": 1.0, "n_pos": sizes[0], "n_neg": sizes[1], "rho": 0.05}
        slacks = [
            fixed_scorer_bauc_bound(loss, a, method=m, **arguments).slack for m in ("mcdiarmid", "hoeffding", "kl")
        ]
        assert slacks == sorted(slacks, reverse=True)
    auc = [
        fixed_scorer_auc_bound(0.8, n_pos=sizes[0], n_neg=sizes[1], rho=0.05, method=m).half_width
        for m in ("mcdiarmid", "hoeffding")
    ]
    assert auc[1] == pytest.approx(math.sqrt(math.log(40) / (2 * min(sizes))), rel=1e-14)
    assert auc[1] < auc[0]


def test_kl_by_hand():
    """No loss at aS = 1: p = 0, B = 2, U = 2 (1 − ρ^{1/m̂})."""
    bound = fixed_scorer_bauc_bound(0.0, 1.0, score_spread=1.0, n_pos=40, n_neg=90, rho=0.05, method="kl")
    assert bound.slack == pytest.approx(2 * (1 - 0.05 ** (1 / 40)), rel=1e-12)


@pytest.mark.parametrize("method", ["hoeffding", "kl"])
def test_coverage_of_the_sharper_methods(method):
    """As `test_coverage`, with ρ = ½ and few of one class, where failures would show."""
    rng = np.random.default_rng(4)
    n_pos, n_neg, rho, trials = 10, 200, 0.5, 2000
    share_pos = rng.binomial(n_pos, 0.75, trials) / n_pos
    share_neg = rng.binomial(n_neg, 0.25, trials) / n_neg
    loss = (1 - share_pos) * (1 - share_neg) + share_pos * share_neg + 2 * (1 - share_pos) * share_neg
    arguments = {"score_spread": 1.0, "n_pos": n_pos, "n_neg": n_neg, "rho": rho, "method": method}
    lowers = np.array([fixed_scorer_bauc_bound(float(x), 1.0, **arguments).lower for x in loss])
    missed = (lowers > 0.5).mean()
    assert missed <= rho
    assert missed > 0 or method != "kl"  # not so loose that nothing is tested
    auc = share_pos * (1 - share_neg) + 0.5 * (share_pos * share_neg + (1 - share_pos) * (1 - share_neg))
    half = fixed_scorer_auc_bound(0.75, n_pos=n_pos, n_neg=n_neg, rho=rho, method="hoeffding").half_width
    assert (abs(auc - 0.75) <= half).mean() >= 1 - rho


def test_sharper_methods_peeled():
    rng = np.random.default_rng(5)
    y = np.repeat([1, 0], [300, 500])
    scores = rng.uniform(0, 1, 800) + 0.9 * y
    lowers = [
        peeled_fixed_scorer_bauc_bound(y, scores, score_spread=6.0, rho=0.05, method=m).lower
        for m in ("mcdiarmid", "hoeffding", "kl")
    ]
    assert lowers == sorted(lowers)
    assert lowers[2] > lowers[0] + 0.1


def test_methods_refused():
    arguments = {"score_spread": 1.0, "n_pos": 5, "n_neg": 5, "rho": 0.05}
    with pytest.raises(AuclabError, match="mcdiarmid, hoeffding, kl"):
        fixed_scorer_bauc_bound(0.5, 1.0, method="bernstein", **arguments)
    with pytest.raises(AuclabError, match="raise score_spread"):
        fixed_scorer_bauc_bound(5.0, 1.0, method="kl", **arguments)
    with pytest.raises(AuclabError, match="'hoeffding'"):
        fixed_scorer_auc_bound(0.5, n_pos=5, n_neg=5, rho=0.05, method="kl")
