"""Partial AUC over a band of the TPR, and over a box."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.metrics import roc_curve

from auclab import AuclabError, estimate
from auclab.inference.catalogue import estimable
from auclab.inference.components import Observations
from auclab.metrics import partial_auc, two_way_partial_auc


def drawn(seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate(([0, 1], rng.integers(0, 2, 20)))
    box = np.sort(rng.random((2, 2)), axis=1)
    return y, rng.integers(0, 8, y.size) * 1.0, *box.ravel()


@given(st.integers(0, 10_000))
def test_a_band_of_the_tpr_is_one_of_the_fpr_with_classes_exchanged(seed):
    y, s, low, high, *_ = drawn(seed)
    for scale in (False, "area", "mcclish"):
        assert partial_auc(y, s, min_tpr=low, max_tpr=high, standardized=scale) == pytest.approx(
            partial_auc(1 - y, -s, min_fpr=1 - high, max_fpr=1 - low, standardized=scale), abs=1e-10
        )


@given(st.integers(0, 10_000))
def test_a_box_is_the_integral_of_the_curve_between_its_sides(seed):
    y, s, low, high, floor, ceiling = drawn(seed)
    fpr, tpr, _ = roc_curve(y, s, drop_intermediate=False)
    cuts = [*fpr[(fpr > low) & (fpr < high)], *np.interp([floor, ceiling], tpr, fpr).clip(low, high)]
    edges = np.unique([low, *cuts, high])
    expected = sum(
        quad(lambda u: np.interp(u, fpr, tpr).clip(floor, ceiling) - floor, a + 1e-9, b - 1e-9, limit=200)[0]
        for a, b in pairwise(edges)
        if b - a > 3e-9
    )
    box = {"min_fpr": low, "max_fpr": high, "min_tpr": floor, "max_tpr": ceiling}
    assert partial_auc(y, s, **box, standardized=False) == pytest.approx(expected, abs=1e-6)
    assert partial_auc(y, s, min_tpr=floor, max_fpr=high, standardized=False) == pytest.approx(
        two_way_partial_auc(y, s, min_tpr=floor, max_fpr=high), abs=1e-12
    )


@given(st.integers(0, 10_000))
def test_bands_of_the_tpr_add_up_to_auc(seed):
    y, s, low, *_ = drawn(seed)
    parts = partial_auc(y, s, max_tpr=low, standardized=False) + partial_auc(y, s, min_tpr=low, standardized=False)
    assert parts == pytest.approx(partial_auc(y, s, standardized=False), abs=1e-12)


@pytest.mark.parametrize("scale", [False, "area", "mcclish"])
def test_components_are_derivatives(scale):
    y, s, low, high, *_ = drawn(5)
    s = s + np.random.default_rng(0).random(s.size)
    band = {"min_tpr": low, "max_tpr": high, "standardized": scale}
    found = estimable("partial_auc", band).components(Observations.of(y, s, None, None))
    for row in range(y.size):
        weight = np.ones(y.size)
        weight[row] += 1e-6
        change = (partial_auc(y, s, **band, sample_weight=weight) - found.value) / 1e-6
        rows = np.flatnonzero(y == y[row])
        part = (found.pos if y[row] else found.neg)[np.searchsorted(rows, row)]
        assert change == pytest.approx((part - found.value) / rows.size, abs=1e-4)


def test_intervals():
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], 60)
    s = rng.normal(size=120) + y
    found = estimate(y, s, "partial_auc", min_tpr=0.8, standardized="area")
    assert (found.method, found.lower < found.value < found.upper) == ("influence", True)
    boot = estimate(y, s, "partial_auc", min_tpr=0.8, standardized="area", method="bootstrap", resamples=500)
    assert boot.standard_error == pytest.approx(found.standard_error, rel=0.25)
    box = estimate(y, s, "partial_auc", min_tpr=0.5, max_fpr=0.5, standardized="area", resamples=200)
    assert box.method == "bootstrap"
    assert 0.0 <= box.lower <= box.value <= box.upper <= 1.0


def test_what_is_refused():
    with pytest.raises(AuclabError, match="min_tpr < max_tpr"):
        partial_auc([0, 1], [0.0, 1.0], min_tpr=0.5, max_tpr=0.5, standardized=False)
    with pytest.raises(AuclabError, match="McClish"):
        partial_auc([0, 1], [0.0, 1.0], min_fpr=0.6, max_tpr=0.5, standardized="mcclish")
