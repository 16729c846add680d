"""Rows of one cluster depend on each other: Obuchowski's variance, its degrees of freedom, resamples of clusters."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab import AuclabError, compare_scorers, estimate
from auclab.metrics import auc_score


def obuchowski(y, s, clusters):
    """The standard error of Obuchowski (1997), term by term, from the kernel of all pairs."""
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    kernel = (s[pos][:, None] > s[neg]) + 0.5 * (s[pos][:, None] == s[neg])
    auc, m, n = kernel.mean(), pos.size, neg.size
    v10, v01 = kernel.mean(axis=1), kernel.mean(axis=0)
    labels = np.unique(clusters)
    of_pos = [clusters[pos] == c for c in labels]
    of_neg = [clusters[neg] == c for c in labels]
    x = np.array([v10[mask].sum() - mask.sum() * auc for mask in of_pos])
    z = np.array([v01[mask].sum() - mask.sum() * auc for mask in of_neg])
    with_pos, with_neg, every = sum(m.any() for m in of_pos), sum(m.any() for m in of_neg), labels.size
    s10 = with_pos / ((with_pos - 1) * m) * np.sum(x**2)
    s01 = with_neg / ((with_neg - 1) * n) * np.sum(z**2)
    s11 = every / (every - 1) * np.sum(x * z)
    return np.sqrt(max(s10 / m + s01 / n + 2 * s11 / (m * n), 0.0))


def clustered(rng, n_clusters, size, correlation, lift=1.0):
    """Rows in clusters, each of either class, with scores that share a part."""
    clusters = np.repeat(np.arange(n_clusters), size)
    y = rng.integers(0, 2, clusters.size)
    shared = rng.normal(size=n_clusters)[clusters]
    own = rng.normal(size=clusters.size)
    return y, np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own + lift * y, clusters


@given(st.integers(0, 10_000))
def test_the_standard_error_is_that_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    y, s, clusters = clustered(rng, int(rng.integers(4, 12)), int(rng.integers(1, 5)), 0.5)
    y[:4] = [0, 1, 0, 1]
    if np.unique(clusters[y == 1]).size < 2 or np.unique(clusters[y == 0]).size < 2:
        return
    s = np.round(s, 1)
    found = estimate(y, s, clusters=clusters)
    assert found.method == "obuchowski"
    assert found.value == auc_score(y, s)
    assert found.standard_error == pytest.approx(obuchowski(y, s, clusters), abs=1e-12)


@pytest.mark.parametrize(
    ("metric", "options"),
    [("auc", {}), ("bauc", {}), ("soft_auc", {"beta": 2.0}), ("partial_auc", {"max_fpr": 0.5, "standardized": "area"})],
)
def test_clusters_of_one_row_are_rows(metric, options):
    y, s, _ = clustered(np.random.default_rng(0), 40, 1, 0.0)
    plain, each = estimate(y, s, metric, **options), estimate(y, s, metric, clusters=np.arange(y.size), **options)
    assert each.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    assert (each.lower, each.upper) == pytest.approx((plain.lower, plain.upper), rel=1e-12)
    a, b = (
        compare_scorers(y, s, -s, metric, **options),
        compare_scorers(y, s, -s, metric, clusters=np.arange(y.size), **options),
    )
    assert b.standard_error == pytest.approx(a.standard_error, rel=1e-12)
    assert b.p_value >= a.p_value  # Student's


def test_repeated_rows_in_clusters_say_no_more_than_once():
    y, s, _ = clustered(np.random.default_rng(1), 60, 1, 0.0)
    once = estimate(y, s)
    repeated = estimate(np.repeat(y, 5), np.repeat(s, 5), clusters=np.repeat(np.arange(60), 5))
    assert repeated.standard_error == pytest.approx(once.standard_error, rel=1e-12)
    assert (repeated.lower, repeated.upper) == pytest.approx((once.lower, once.upper), rel=1e-12)
    naive = estimate(np.repeat(y, 5), np.repeat(s, 5))
    assert naive.standard_error < 0.5 * once.standard_error


def test_labels_of_any_kind_and_rows_without_weight():
    y, s, clusters = clustered(np.random.default_rng(2), 30, 3, 0.5)
    weight = np.ones(y.size)
    weight[:3] = 0.0
    names = np.array([f"p{c}" for c in clusters], dtype=object)
    assert estimate(y, s, clusters=names, sample_weight=weight).standard_error == pytest.approx(
        estimate(y[3:], s[3:], clusters=clusters[3:], sample_weight=weight[3:]).standard_error, rel=1e-12
    )


def test_resamples_are_of_whole_clusters():
    y, s, _ = clustered(np.random.default_rng(3), 60, 1, 0.0)
    clusters = np.repeat(np.arange(60), 4)
    boot = estimate(np.repeat(y, 4), np.repeat(s, 4), clusters=clusters, method="bootstrap", resamples=400)
    assert boot.standard_error == pytest.approx(estimate(y, s).standard_error, rel=0.2)
    voros = estimate(np.repeat(y, 4), np.repeat(s, 4), "voros", clusters=clusters)
    assert voros.standard_error == pytest.approx(estimate(y, s, "voros").standard_error, rel=0.35)


def test_one_cluster_has_no_variance():
    found = estimate([0, 1, 0, 1], [0.0, 2.0, 1.0, 3.0], clusters=[1, 1, 1, 1])
    assert np.isnan(found.standard_error)
    assert (found.lower, found.upper) == (0.0, 1.0)


def test_what_is_refused():
    y, s = [0, 1, 0, 1], [0.0, 2.0, 1.0, 3.0]
    with pytest.raises(AuclabError, match="lengths differ"):
        estimate(y, s, clusters=[1, 2])
    with pytest.raises(AuclabError, match="weights or clusters"):
        estimate(y, s, clusters=[1, 2, 3, 4], method="hanley_mcneil")


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize(("size", "correlation"), list(itertools.product([2, 5], [0.0, 0.8])))
def test_coverage(size, correlation):
    rng, hits, repeats = np.random.default_rng(4), 0, 300
    truth = 0.7602499389065233  # Φ(1/√2): scores of different clusters, of which nearly all pairs are
    for _ in range(repeats):
        y, s, clusters = clustered(rng, 60, size, correlation)
        found = estimate(y, s, clusters=clusters)
        hits += found.lower <= truth <= found.upper
    assert 0.91 <= hits / repeats <= 0.99
