"""Three and more classes: the components of the mean, their variance, paired tests."""

import numpy as np
import pytest

from auclab import AuclabError, compare_scorers, estimate
from auclab.metrics import multiclass_auc, multiclass_bauc


def sample(seed, n, c, lift=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    scores = rng.normal(size=(n, c))
    scores[np.arange(n), y] += lift
    return y, scores


@pytest.mark.parametrize("metric", ["auc", "bauc"])
def test_two_classes_are_those_of_estimate(metric):
    y, s = np.arange(60) % 2, sample(0, 60, 2)[1][:, 1]
    found, two = estimate(y, np.column_stack((-s, s)), f"multiclass_{metric}"), estimate(y, s, metric)
    assert (found.value, found.standard_error) == pytest.approx((two.value, two.standard_error), rel=1e-9)
    assert (found.lower, found.upper) == pytest.approx((two.lower, two.upper), rel=1e-9)


@pytest.mark.parametrize("average", ["ovo", "ovr"])
@pytest.mark.parametrize("metric", ["multiclass_auc", "multiclass_bauc"])
def test_the_parts_are_derivatives(metric, average):
    """The part of a row is what a little more weight of it changes, less the mean of its class."""
    from auclab.inference.multiclass import MulticlassComponents

    y, scores = sample(1, 24, 3)
    function = {"multiclass_auc": multiclass_auc, "multiclass_bauc": multiclass_bauc}[metric]
    components = MulticlassComponents.of(metric, y, scores, average=average)
    assert components.value == pytest.approx(function(y, scores, average))
    change, step = np.empty(24), 1e-6
    for row in range(24):
        weight = np.ones(24)
        weight[row] += step
        change[row] = (function(y, scores, average, sample_weight=weight) - components.value) / step
    means = np.bincount(y, change) / np.bincount(y)
    assert components.parts == pytest.approx(change - means[y], abs=1e-5)


def test_clusters_and_weights():
    y, scores = sample(2, 60, 3)
    once = estimate(y, scores, "multiclass_auc")
    each = estimate(y, scores, "multiclass_auc", clusters=np.arange(60))
    assert each.standard_error == pytest.approx(once.standard_error, rel=0.05)
    ones = estimate(y, scores, "multiclass_auc", sample_weight=np.full(60, 3.0))
    assert ones.standard_error == pytest.approx(once.standard_error, rel=1e-9)


def test_paired_tests():
    y, scores = sample(3, 90, 3)
    worse = scores + np.random.default_rng(4).normal(size=scores.shape)
    found = compare_scorers(y, scores, worse, "multiclass_auc", alternative="greater")
    assert found.difference == pytest.approx(multiclass_auc(y, scores) - multiclass_auc(y, worse))
    assert found.p_value < 0.5
    same = compare_scorers(y, scores, 2 * scores, multiclass_auc)
    assert (same.difference, same.standard_error, same.p_value) == (0.0, 0.0, 1.0)


def test_ends_and_refusals():
    perfect = estimate([0, 1, 2] * 5, np.eye(3)[[0, 1, 2] * 5], "multiclass_auc")
    assert (perfect.value, perfect.standard_error, perfect.upper) == (1.0, 0.0, 1.0)
    assert perfect.lower == pytest.approx(0.025 ** (1 / 5))
    one = estimate([0, 1, 2], np.eye(3), "multiclass_auc")
    assert np.isnan(one.standard_error)
    for y, scores, message in (
        ([0, 1, 2], np.eye(2), "a column for every label"),
        ([0, 0, 0], np.zeros((3, 1)), "two classes"),
    ):
        with pytest.raises(AuclabError, match=message):
            multiclass_auc(y, scores)
    with pytest.raises(AuclabError, match="does not name"):
        multiclass_auc([0, 1, 2], np.zeros((3, 2)), labels=[0, 1])
    with pytest.raises(AuclabError, match="has none"):
        multiclass_auc([0, 1], np.zeros((2, 3)), labels=[0, 1, 2])


@pytest.mark.slow
@pytest.mark.covering(c=1, n=1)
@pytest.mark.parametrize(("c", "n"), [(3, 60), (5, 300)])
def test_coverage(c, n):
    truth, hits, repeats = 0.7602499389065233, 0, 300  # Φ(1/√2), of every pair of classes
    for seed in range(repeats):
        found = estimate(*sample(seed, n, c), "multiclass_auc")
        hits += found.lower <= truth <= found.upper
    assert 0.92 <= hits / repeats <= 0.99
