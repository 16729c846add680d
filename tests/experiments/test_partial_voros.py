"""Partial areas against counts of points on a grid, and limits against counts of rows."""

import numpy as np
import pytest
from experiments.partial_voros_2026.metric import Limits, best, partial_voros
from experiments.partial_voros_2026.statements import drawn_data

from auclab.metrics import lesser_area

GRID = (np.arange(1000) + 0.5) / 1000


@pytest.mark.parametrize(
    ("limits", "point", "ratio"),
    [
        (Limits(10, 100, 0.2, 0.3), (0.1, 0.8), 1 / 6),
        (Limits(50, 20, 0.6, 0.7), (0.3, 0.7), 2.0),
        (Limits(7, 9), (0.4, 0.5), 1.0),
        (Limits(3, 40, 0.5, 0.05), (0.0, 0.6), 0.02),
    ],
)
def test_areas_are_shares_of_a_grid(limits, point, ratio):
    x, y = np.meshgrid(GRID, GRID)
    n_pos, n_neg = limits.n_pos, limits.n_neg
    hits, alarms = n_pos * y, n_neg * x
    allowed = (hits >= limits.precision * (hits + alarms)) & (hits + alarms <= limits.capacity * (n_pos + n_neg))
    cost = ratio * alarms + n_pos - hits
    lesser = cost >= ratio * n_neg * point[0] + n_pos * (1 - point[1])
    assert limits.area == pytest.approx(allowed.mean(), abs=2e-3)
    assert limits.lesser_area(*point, ratio) == pytest.approx((allowed & lesser).sum() / allowed.sum(), abs=2e-2)


def test_without_limits_it_is_the_area_of_lesser_classifiers():
    limits = Limits(30, 50)
    assert limits.lesser_area(0.2, 0.6, 0.4) == pytest.approx(lesser_area(0.2, 0.6, limits.cost_share(0.4)))


def test_the_chosen_threshold_is_the_cheapest_of_those_that_keep_the_limits():
    labels, scores = drawn_data()
    limits, ratios = Limits(int(labels.sum()), int((1 - labels).sum()), 0.6, 0.3), [0.1, 0.5, 1.0]
    for ratio, (fpr, tpr, threshold) in zip(ratios, best(labels, scores, limits, ratios), strict=True):
        costs = {}
        for tried in [*np.unique(scores), np.inf]:
            predicted = scores >= tried
            precise = labels[predicted].sum() >= 0.6 * predicted.sum()
            if precise and predicted.mean() <= 0.3:
                costs[tried] = ratio * (predicted & (labels == 0)).sum() + (~predicted & (labels == 1)).sum()
        predicted = scores >= threshold
        assert (predicted[labels == 0].mean(), predicted[labels == 1].mean()) == pytest.approx((fpr, tpr))
        assert costs[threshold] == min(costs.values())


def test_a_scorer_that_is_good_where_it_is_allowed_only_has_a_larger_partial_voros():
    labels = np.array([1, 1, 0, 0, 0, 0, 0, 0, 1, 1])
    scores = np.arange(10.0)[::-1]
    ratios = np.linspace(0.1, 1.0, 50)
    assert partial_voros(labels, scores, ratios, capacity=0.2) > partial_voros(labels, scores, ratios) + 0.05
