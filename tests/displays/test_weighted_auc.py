"""Weighted AUC: value, weight and shaded area."""

from __future__ import annotations

import numpy as np
import pytest

from auclab._core.base import AuclabError
from auclab.displays import WeightedAUCDisplay
from auclab.metrics import weighted_auc

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, 80)
S = RNG.normal(size=80) + Y


def band(s):
    return ((s >= 0.7) & (s <= 0.9)).astype(float)


@pytest.mark.parametrize(
    ("weight", "breakpoints", "total"),
    [(lambda s: s**2, (), 1 / 3), (band, (0.7, 0.9), 0.2), (lambda s: 1 + 0 * s, (), 1.0)],
)
def test_the_curve_times_the_weight_has_the_area_of_the_value(weight, breakpoints, total):
    options = {"weight": weight, "breakpoints": breakpoints}
    display = WeightedAUCDisplay.from_predictions(Y, S, **options)
    assert display.value == weighted_auc(Y, S, **options)
    assert display.total == pytest.approx(total, abs=1e-12)
    u = np.linspace(0, 1, 200_001)
    curve = np.interp(u, display.fpr, display.tpr) * weight(1 - u)
    assert np.trapezoid(curve, u) == pytest.approx(display.value, abs=1e-4)
    np.testing.assert_array_equal(display.weights, weight(display.specificity))


def test_a_jump_is_drawn_upright_on_the_false_positive_rate():
    display = WeightedAUCDisplay.from_predictions(Y, S, weight=band, breakpoints=(0.7, 0.9))
    u, w = display.weight_line_.get_data()
    inside = w > 0.5
    assert u[inside].min() == pytest.approx(0.1)
    assert u[inside].max() == pytest.approx(0.3)
    rise = np.flatnonzero(np.diff(w))
    np.testing.assert_allclose(np.diff(u)[rise], 0.0, atol=1e-15)
    assert display.weight_ax_.get_xlim() == display.ax_.get_xlim()
    assert "of at most 0.2" in display.ax_.get_legend().get_texts()[0].get_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weight": 3}, "function"),
        ({"weight": lambda s: s[:1]}, "shape"),
        ({"weight": lambda s: 1 / (s * 0)}, "bounded"),
        ({"weight": lambda s: s, "breakpoints": (2.0,)}, "breakpoints"),
        ({"weight": lambda s: s, "convention": "best"}, "convention"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refuses_what_the_metric_refuses(options, words):
    with pytest.raises(AuclabError, match=words):
        WeightedAUCDisplay.from_predictions(Y, S, **options)
