"""The drawn band is that of `roc_band`, and the legend has its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from auclab._core.base import AuclabError
from auclab.displays import ROCBandDisplay
from auclab.inference import roc_band, tpr_at_fpr
from auclab.metrics import ScoredPart, auc_score, bauc_score


def sample(size=60):
    rng = np.random.default_rng(5)
    y = np.arange(size) % 2
    return y, rng.normal(size=size) + 1.2 * y


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_numbers_are_those_of_the_functions():
    y, s = sample()
    display = ROCBandDisplay.from_predictions(y, s, at=(0.2,), resamples=200, level=0.9, seed=4)
    band, point = roc_band(y, s, resamples=200, level=0.9, seed=4), tpr_at_fpr(y, s, 0.2, level=0.9)
    assert display.area == auc_score(y, s)
    assert (display.band.dx, display.band.dy, display.points) == (band.dx, band.dy, [(0.2, point)])
    corners = {tuple(corner) for corner in display.band_.get_xy()}
    assert {*zip(*band.lower, strict=True), *zip(*band.upper, strict=True)} <= corners
    assert legend(display)[1:] == [
        "90 % band (bootstrap)",
        f"TPR at FPR 0.2: {point.value:.3f} ({point.lower:.3f}–{point.upper:.3f})",
    ]
    (segment,) = display.points_[0].lines[2][0].get_segments()
    np.testing.assert_allclose(segment, [(0.2, point.lower), (0.2, point.upper)])


def test_buffered_curve():
    y, s = sample()
    display = ROCBandDisplay.from_predictions(y, s, threshold=0.5, resamples=100)
    assert display.area == bauc_score(y, s, threshold=0.5)
    assert legend(display)[0] == f"bROC: bAUC (z = 0.5) = {display.area:.4g}"
    with pytest.raises(AuclabError, match="drop one of them"):
        ROCBandDisplay.from_predictions(y, s, threshold=0.5, at=(0.1,))


def test_from_a_part_and_in_a_colour():
    y, s = sample()
    display = ROCBandDisplay.from_scored_part(ScoredPart(y, s), method="ks", curve_kwargs={"color": "#ff0000"})
    assert display.band.dx == roc_band(y, s, method="ks").dx
    assert display.band_.get_facecolor() == (1.0, 0.0, 0.0, 0.3)
