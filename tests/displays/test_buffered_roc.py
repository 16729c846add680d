"""ROC and buffered ROC curves: areas, families of thresholds, legends, thinned polylines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib.colors import to_rgb

from auclab._core.base import AuclabError
from auclab.displays import BufferedROCDisplay
from auclab.displays.canvas import ordered, thinned
from auclab.metrics import auc_score, auc_threshold, buffered_auc
from strategies import problems

CASES = {
    "overlapping": ([1, 1, 0, 0], [4.0, 1.0, 2.0, 0.0]),
    "separated": ([1, 1, 0, 0], [4.0, 3.0, 2.0, 0.0]),
    "reversed": ([1, 1, 0, 0], [0.0, 1.0, 2.0, 3.0]),
    "constant": ([1, 0, 0], [2.5, 2.5, 2.5]),
    "constant at zero": ([1, 0, 0], [0.0, 0.0, 0.0]),
    "ties": ([0] + [1] * 10, [0.0] + [1.0] * 6 + [-1.0] * 4),
    "tiny": ([1, 1, 0, 0], [4e-200, 1e-200, 2e-200, 0.0]),
}


def legend(display):
    return " | ".join(text.get_text() for text in display.ax_.get_legend().get_texts())


@settings(max_examples=30)
@given(problems())
def test_roc_areas(problem):
    y, s = problem.arguments
    weight = problem.sample_weight
    display = BufferedROCDisplay.from_predictions(y, s, sample_weight=weight)
    assert np.trapezoid(display.tpr, display.fpr) == pytest.approx(auc_score(y, s, sample_weight=weight), abs=1e-12)
    result = buffered_auc(y, s, sample_weight=weight)
    if display.buffered_fpr is None:
        assert np.isnan(result.gamma_left)
        assert "no bROC" in legend(display)
    else:
        area = np.trapezoid(display.buffered_tpr, display.buffered_fpr)
        assert area == pytest.approx(result.area_closed, abs=1e-14)
        assert (display.buffered_tpr <= 1).all()


def test_roc_legend_names_values_and_tells_ties():
    text = legend(BufferedROCDisplay.from_predictions(*CASES["ties"]))
    assert "AUC = 0.6" in text
    assert "bAUC = 0.2, γ* = −1" in text
    assert "the area is 0.6" in text
    assert "the mean error is not below 0" in legend(BufferedROCDisplay.from_predictions(*CASES["reversed"]))
    assert "no error exceeds 0" in legend(BufferedROCDisplay.from_predictions(*CASES["separated"]))
    assert "bAUC (z = 0.5)" in legend(BufferedROCDisplay.from_predictions(*CASES["overlapping"], threshold=0.5))


@settings(max_examples=20)
@given(problems())
def test_the_family_climbs_from_bauc_to_strict_auc(problem):
    y, s = problem.arguments
    options = {"sample_weight": problem.sample_weight}
    z = np.array([0.0, 0.5, 1.0]) * auc_threshold(y, s, **options)
    display = BufferedROCDisplay.from_predictions(y, s, thresholds=z, **options)
    for threshold, curve in zip(z, display.curves, strict=True):
        result = buffered_auc(y, s, threshold=threshold, **options)
        assert curve.result == result or np.isnan(result.theta)
        if curve.fpr is not None:
            assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(result.area_closed, abs=1e-14)
    values = [curve.result.value for curve in display.curves]
    assert values == sorted(values)
    if z[-1] > 0:
        assert values[-1] == pytest.approx(auc_score(y, s, ties="strict", **options), abs=1e-12)
    lines = sum(curve.fpr is not None for curve in display.curves)
    assert len(display.buffered_lines_) == lines
    assert display.threshold == z[0]
    assert display.buffered is display.curves[0].result


def test_the_members_of_a_family_look_different():
    display = BufferedROCDisplay.from_predictions([1, 1, 0, 0], [4.0, 1.0, 2.0, 0.0], thresholds=(0.0, 0.2, 0.4, 0.6))
    styles = ordered(4)
    assert [line.get_color() for line in display.buffered_lines_] == [style["color"] for style in styles]
    lightness = [np.dot(to_rgb(style["color"]), (0.299, 0.587, 0.114)) for style in styles]
    assert np.diff(lightness).min() > 0.1
    assert len({style["linestyle"] for style in styles}) == 4
    assert legend(display) == "ROC: AUC = 0.75 | " + " | ".join(line.get_label() for line in display.buffered_lines_)
    assert "z = 0.2: bAUC = " in legend(display)


def test_refuses_no_threshold():
    with pytest.raises(AuclabError, match="thresholds is empty"):
        BufferedROCDisplay.from_predictions(*CASES["overlapping"], thresholds=())


def test_a_long_curve_is_drawn_by_few_of_its_vertices():
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], 40_000)
    display = BufferedROCDisplay.from_predictions(y, rng.normal(size=80_000) + y)
    assert display.fpr.size > 20_000
    x, v = display.line_.get_data()
    assert x.size <= 2 * 4096 + 2
    assert (x[0], v[0], x[-1], v[-1]) == (0, 0, 1, 1)
    # every vertex that was left out lies between two that stayed, and they are at most a cell apart
    right = np.clip(np.searchsorted(x + v, display.fpr + display.tpr), 1, x.size - 1)
    kept = np.isin(display.fpr + display.tpr, x + v)
    gap = (x + v)[right] - (x + v)[right - 1]
    assert gap[~kept].max() <= 2 / 4096
    assert np.trapezoid(v, x) == pytest.approx(display.auc, abs=1e-6)


def test_points_without_an_order_are_all_drawn():
    rng = np.random.default_rng(1)
    x, y = rng.random(10_000), rng.random(10_000)
    assert thinned(x, y) == (x, y)
