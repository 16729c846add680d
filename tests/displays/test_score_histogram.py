"""Histograms of the scores."""

from __future__ import annotations

import numpy as np
import pytest

from auclab.displays import ScoreHistogramDisplay


def test_score_histograms_have_area_one():
    rng = np.random.default_rng(6)
    y, s = rng.integers(0, 2, 300), rng.normal(size=300)
    display = ScoreHistogramDisplay.from_predictions(y, s, sample_weight=rng.random(300))
    for density in (display.density_pos, display.density_neg):
        assert density @ np.diff(display.edges) == pytest.approx(1.0)
    assert 10 <= display.density_pos.size <= 80
    assert ScoreHistogramDisplay.from_predictions(y, s, bins=3).density_neg.size == 3
