"""Displays of costs: hull, areas of lesser classifiers, surface; against the metrics and against all points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from auclab._core.base import AuclabError
from auclab.displays import LesserAreaDisplay, ROCHullDisplay, VOROSDisplay
from auclab.metrics import lesser_area, roc_hull, voros_score
from strategies import problems

RANGES = st.sampled_from([(0.0, 1.0), (0.0, 0.25), (1 / 3, 2 / 3), (0.9, 1.0), (0.4, 0.40001)])


@given(problems(), st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]))
@settings(max_examples=20)
def test_the_best_point_is_the_cheapest_of_all(problem, t):
    options = {"sample_weight": problem.sample_weight}
    display = ROCHullDisplay.from_predictions(*problem.arguments, cost_shares=[t], **options)
    costs = t * display.fpr + (1 - t) * (1 - display.tpr)
    assert display.costs[0] == pytest.approx(costs.min(), abs=1e-12)
    assert 0 <= display.costs[0] <= min(t, 1 - t) + 1e-15
    for mine, hull in zip((display.hull_fpr, display.hull_tpr), roc_hull(display.fpr, display.tpr), strict=True):
        np.testing.assert_array_equal(mine, hull)
    x, y = display.cost_lines_[0].get_data()
    np.testing.assert_allclose(t * x + (1 - t) * (1 - y), display.costs[0], atol=1e-12)


@pytest.mark.slow
@given(problems(), RANGES, st.sampled_from(["uniform", ("beta", 2.0, 5.0), ("beta", 1.5, 1.0)]))
@settings(max_examples=25)
def test_the_mean_of_the_areas_is_voros(problem, costs, measure):
    options = {"cost_range": costs, "measure": measure, "sample_weight": problem.sample_weight}
    display = LesserAreaDisplay.from_predictions(*problem.arguments, **options)
    t = display.cost_shares
    kind, *numbers = (measure,) if isinstance(measure, str) else measure
    density = np.ones_like(t) if kind == "uniform" else t ** (numbers[0] - 1) * (1 - t) ** (numbers[1] - 1)
    mean = np.trapezoid(density * display.area, t) / np.trapezoid(density, t)
    assert display.voros == voros_score(*problem.arguments, **options)
    assert mean == pytest.approx(display.voros, abs=3e-4)  # of the grid and the root of t at 0
    assert (display.area >= display.chance_area - 1e-12).all()
    assert (t[0], t[-1]) == costs


def test_areas_of_chance_are_those_of_the_better_end():
    display = LesserAreaDisplay.from_points([0.3], [0.3])
    t = display.cost_shares[1:-1]
    better = np.where(t < 0.5, 1 - t / (2 * (1 - t)), 1 - (1 - t) / (2 * t))  # Ratigan & Cowen, Example 25
    np.testing.assert_allclose(display.area[1:-1], better, atol=1e-14)
    np.testing.assert_array_equal(display.area, display.chance_area)
    assert display.voros == pytest.approx(1.5 - math.log(2), abs=1e-14)


def test_a_known_cost_is_a_dot_at_its_area():
    for options in ({"cost_range": (0.5, 0.5)}, {"measure": ("point", 0.5)}):
        display = LesserAreaDisplay.from_points([0.25], [0.75], **options)
        (at,), (height,) = display.mean_line_.get_data()
        assert (at, height) == (0.5, 0.875)


@pytest.mark.slow
@given(problems(), RANGES)
@settings(max_examples=20)
def test_the_surface_cuts_off_the_better_classifiers(problem, costs):
    options = {"cost_range": costs, "sample_weight": problem.sample_weight}
    display = VOROSDisplay.from_predictions(*problem.arguments, **options)
    t, corner = display.cost_shares, 0.5 * display.top_fpr * (1 - display.left_tpr)
    best = [np.max(lesser_area(display.hull_fpr, display.hull_tpr, share)) for share in t]
    inside = (t > 0) & (t < 1)  # at the ends the formula has another case, with the same limit
    np.testing.assert_allclose(1 - corner[inside], np.array(best)[inside], atol=1e-12)
    assert display.voros == pytest.approx(voros_score(*problem.arguments, **options), abs=1e-12)
    volume = np.trapezoid(1 - corner, t) / (t[-1] - t[0])
    assert volume == pytest.approx(display.voros, abs=3e-4)


def test_the_surface_needs_room():
    with pytest.raises(AuclabError, match='projection="3d"'):
        VOROSDisplay.from_points([0.2], [0.8], ax=Figure().add_subplot())
    with pytest.raises(AuclabError, match="single cost share"):
        VOROSDisplay.from_points([0.2], [0.8], cost_range=(0.5, 0.5))


@pytest.mark.parametrize("display_class", [ROCHullDisplay, LesserAreaDisplay, VOROSDisplay])
def test_refuses_what_the_metrics_refuse(display_class):
    with pytest.raises(AuclabError, match=r"must lie in \[0, 1\]"):
        display_class.from_points([0.5], [1.5])
    if display_class is ROCHullDisplay:
        with pytest.raises(AuclabError, match="cost_share"):
            display_class.from_points([0.5], [0.5], cost_shares=[1.2])
    else:
        with pytest.raises(AuclabError, match="cost_range"):
            display_class.from_points([0.5], [0.5], cost_range=(0.6, 0.5))
        with pytest.raises(AuclabError, match="measure"):
            display_class.from_points([0.5], [0.5], measure="normal")
