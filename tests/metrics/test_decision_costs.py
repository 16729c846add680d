"""Costs at the best threshold, dominance and crossings against all thresholds, rational curves and grids of shares."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab._core.base import AuclabError
from auclab.metrics import (
    cost_curve,
    cost_range,
    crossing_shares,
    expected_cost,
    least_cost,
    roc_dominates,
    voros_from_points,
)
from auclab.metrics.costs import hull_costs, mean_hull, scorer_hull

SHARES = np.linspace(0, 1, 241)
SAMPLES = st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12).filter(
    lambda rows: 0 < sum(row[0] for row in rows) < len(rows)
)


def by_all_thresholds(y, s, t):
    """Cost of every threshold, counted."""
    rows = []
    for cut in [*np.unique(s), np.inf]:
        called = s >= cut
        rows.append(t * np.mean(called[y == 0]) + (1 - t) * np.mean(~called[y == 1]))
    return np.min(rows, axis=0)


def columns(rows):
    y, a, b = (np.array(column) for column in zip(*rows, strict=True))
    return y.astype(int), a, b


@given(SAMPLES)
def test_the_least_cost_is_that_of_the_best_threshold(rows):
    y, s, _ = columns(rows)
    expected = by_all_thresholds(y, s, SHARES)
    assert least_cost(y, s, SHARES) == pytest.approx(expected, abs=1e-14)
    share, cost = cost_curve(y, s)
    assert np.interp(SHARES, share, cost) == pytest.approx(expected, abs=1e-14)


@given(SAMPLES)
@settings(max_examples=200)
def test_scorers_change_places_at_the_crossings_only(rows):
    y, a, b = columns(rows)
    difference = by_all_thresholds(y, a, SHARES) - by_all_thresholds(y, b, SHARES)
    found = crossing_shares(y, a, b)
    assert (np.diff(found) > 0).all()
    between = np.searchsorted(found, SHARES)
    signs = [np.sign(difference[(between == k) & (np.abs(difference) > 1e-9)]) for k in range(found.size + 1)]
    for side in signs:
        assert np.unique(side).size <= 1
    for left, right in pairwise(signs):
        if left.size and right.size:
            assert left[0] == -right[0]
    assert crossing_shares(y, b, a) == pytest.approx(found)
    for t in found:
        assert least_cost(y, a, t) == pytest.approx(least_cost(y, b, t), abs=1e-12)


def test_definition_9_is_a_multiple():
    negatives, positives, false_alarm, miss = 900, 100, 1.0, 9.0
    t = cost_range(negatives / positives, false_alarm / miss)[0]
    counted = false_alarm * negatives * 0.1 + miss * positives * 0.4
    assert expected_cost(0.1, 0.6, t) * (false_alarm * negatives + miss * positives) == pytest.approx(counted)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, 3), (1, 2)])
@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.2, 0.45), (0.9, 1.0)])
def test_a_density_is_any_measure(alpha, beta, ends):
    fpr, tpr = [0.02, 0.1, 0.4], [0.3, 0.7, 0.95]
    named = voros_from_points(fpr, tpr, cost_range=ends, measure=("beta", alpha, beta))

    def density(t):
        return 7.0 * t ** (alpha - 1) * (1 - t) ** (beta - 1)

    assert voros_from_points(fpr, tpr, cost_range=ends, measure=density) == pytest.approx(named, abs=1e-13)


def test_a_bad_density_is_refused():
    for density in (lambda t: -t, lambda t: t[0], lambda t: 0 * t):
        with pytest.raises(AuclabError, match="density"):
            voros_from_points([0.1], [0.7], measure=density)


def test_a_curve_that_falls_is_refused():
    with pytest.raises(AuclabError, match="fall"):
        roc_dominates([0.1, 0.2], [0.5, 0.4], [0.1], [0.2])


@given(st.lists(SAMPLES, min_size=1, max_size=4))
def test_the_mean_hull_costs_the_mean(samples):
    scorers = [columns(rows)[:2] for rows in samples]
    hull = mean_hull([scorer_hull(y, s) for y, s in scorers])
    expected = np.mean([by_all_thresholds(y, s, SHARES) for y, s in scorers], axis=0)
    assert hull_costs(*hull, SHARES) == pytest.approx(expected, abs=1e-14)
