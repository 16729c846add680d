"""Hulls, areas of lesser classifiers and VOROS against exact geometry and quadrature; golden values with reasons."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import reference_metrics as twin
from auclab._core.base import AuclabError
from auclab.metrics import auc_score, cost_range, lesser_area, lesser_volume, roc_hull, voros_from_points, voros_score
from auclab.metrics.voros import (
    VertexRanges,
    _beta_masses,
    _beta_mean_by_quadrature,
    _beta_volumes,
    uniform_mean,
)
from strategies import WIDE, grid_problems, problems

PROBLEMS = st.one_of(problems(most=5), problems(scores=WIDE, most=5))
RATES = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-9]), st.floats(0, 1))
# products of two differences decide where a hull turns: they must not underflow
_FAR_RATES = RATES.map(lambda r: r if r > 1e-100 else 0.0)
POINTS = st.lists(st.tuples(_FAR_RATES, _FAR_RATES), min_size=1, max_size=8)
RANGES = st.one_of(
    st.sampled_from([(0.0, 1.0), (0.0, 0.25), (1 / 3, 2 / 3), (0.9, 1.0)]),
    st.tuples(st.floats(0, 0.999), st.floats(1e-3, 1)).map(lambda r: (r[0], min(1.0, r[0] + r[1]))),
)
# ends whose distance from 1 is exact
EXACT_RANGES = st.lists(st.integers(0, 1024), min_size=2, max_size=2, unique=True).map(
    lambda ends: (min(ends) / 1024, max(ends) / 1024)
)


@given(PROBLEMS, RANGES)
def test_voros_is_the_mean_over_costs_of_the_best_area(problem, costs):
    value = voros_score(*problem.arguments, cost_range=costs, sample_weight=problem.sample_weight)
    assert value == pytest.approx(twin.voros(twin.roc_points(problem), *costs), abs=1e-12)


@given(PROBLEMS, RANGES, st.sampled_from([1.0, 1.02, 1.5, 2.0, 5.0]), st.sampled_from([1.0, 1.08, 1.7, 3.0, 9.0]))
def test_voros_of_a_beta_measure(problem, costs, alpha, beta):
    options = {"cost_range": costs, "measure": ("beta", alpha, beta), "sample_weight": problem.sample_weight}
    mode = costs[1] if alpha > beta else costs[0]
    middle = min(max(mode, 0.05), 0.95)  # a reference that keeps densities of narrow ranges in range

    def density(t):
        return (t / middle) ** (alpha - 1) * ((1 - t) / (1 - middle)) ** (beta - 1)

    expected = twin.voros(twin.roc_points(problem), *costs, density)
    assert voros_score(*problem.arguments, **options) == pytest.approx(expected, abs=1e-12)


@given(POINTS, st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)))
def test_voros_of_a_known_cost_is_the_largest_area(points, share):
    fpr, tpr = np.array(points).T
    value = voros_from_points(fpr, tpr, measure=("point", share))
    assert value == voros_from_points(fpr, tpr, cost_range=(share, share))
    corners = [(0.0, 0.0), (1.0, 1.0)]
    expected = max(float(twin.lesser_area(h, k, share)) for h, k in [*points, *corners])
    assert value == pytest.approx(expected, abs=1e-14)


@given(RATES, RATES, RATES)
def test_lesser_area_is_the_area_of_the_clipped_square(h, k, t):
    assert lesser_area(h, k, t) == pytest.approx(float(twin.lesser_area(h, k, t)), abs=1e-15)


@given(POINTS)
def test_hull_is_scipys(points):
    """Every point lies on or below the hull, vertices are points, slopes fall; the area is Qhull's."""
    fpr, tpr = np.array(points).T
    x, y = roc_hull(fpr, tpr)
    assert (x[0], y[0], x[-1], y[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert {*zip(x, y, strict=True)} <= {*points, (0.0, 0.0), (1.0, 1.0)}
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    turns = np.diff(x)[:-1] * np.diff(y)[1:] - np.diff(y)[:-1] * np.diff(x)[1:]
    assert (turns < 1e-16).all()
    edges = np.diff(x), np.diff(y)
    above = np.subtract.outer(tpr, y[:-1]) * edges[0] - np.subtract.outer(fpr, x[:-1]) * edges[1]
    assert (above <= 1e-15).all()
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    whole = np.concatenate((corners, np.stack([fpr, tpr], axis=1)[tpr >= fpr]))
    assert np.trapezoid(y, x) == pytest.approx(ConvexHull(whole).volume, abs=1e-12)


@given(POINTS, RANGES)
def test_voros_is_at_least_chance_and_the_area_under_the_hull(points, costs):
    fpr, tpr = np.array(points).T
    value = voros_from_points(fpr, tpr, cost_range=costs)
    x, y = roc_hull(fpr, tpr)
    assert value >= voros_from_points([0.0], [0.0], cost_range=costs) - 1e-14
    assert value >= np.trapezoid(y, x) - 1e-14
    assert 0.5 - 1e-14 <= value <= 1.0 + 1e-15


@given(PROBLEMS)
def test_voros_is_at_least_auc(problem):
    options = {"sample_weight": problem.sample_weight}
    assert voros_score(*problem.arguments, **options) >= auc_score(*problem.arguments, **options) - 1e-15


@given(POINTS, EXACT_RANGES, st.sampled_from(["uniform", ("beta", 1.0, 2.5), ("beta", 0.4, 0.7), ("beta", 3.0, 0.98)]))
def test_mirror_symmetry(points, costs, measure):
    """(x, y) → (1 − y, 1 − x) exchanges the classes, and with them t and 1 − t."""
    fpr, tpr = np.array(points).T
    mirrored = measure if measure == "uniform" else ("beta", measure[2], measure[1])
    value = voros_from_points(fpr, tpr, cost_range=costs, measure=measure)
    image = voros_from_points(1 - tpr, 1 - fpr, cost_range=(1 - costs[1], 1 - costs[0]), measure=mirrored)
    assert value == pytest.approx(image, abs=1e-12)


@given(POINTS, st.lists(RATES, min_size=1, max_size=4, unique=True))
def test_voros_is_the_weighted_mean_over_a_partition(points, cuts):
    fpr, tpr = np.array(points).T
    ends = sorted({0.0, *cuts, 1.0})
    parts = sum((b - a) * voros_from_points(fpr, tpr, cost_range=(a, b)) for a, b in pairwise(ends))
    assert parts == pytest.approx(voros_from_points(fpr, tpr), abs=1e-14)


@given(POINTS, RANGES)
def test_beta_with_ones_is_uniform(points, costs):
    fpr, tpr = np.array(points).T
    flat = voros_from_points(fpr, tpr, cost_range=costs, measure=("beta", 1, 1))
    assert flat == pytest.approx(voros_from_points(fpr, tpr, cost_range=costs), abs=1e-13)


@pytest.mark.parametrize("costs", [(0.0, 1.0), (0.2, 0.7), (0.6, 1.0), (0.0, 0.3)])
@pytest.mark.parametrize("exponents", [(2, 3), (0.5, 0.5), (0.3, 4), (1.5, 0.2), (40, 60), (0.05, 30), (1000, 1500)])
def test_closed_form_and_quadrature_of_beta_measures_agree(exponents, costs):
    hull = roc_hull([0.05, 0.2, 0.5, 1e-6, 0.7], [0.5, 0.8, 0.97, 0.1, 1.0])
    ranges = VertexRanges.of(*hull, *costs)
    masses = _beta_masses(ranges, *exponents)
    closed = np.sum(_beta_volumes(ranges, masses, *exponents)) / masses.sum()
    if masses.sum() > 0.1:
        assert _beta_mean_by_quadrature(ranges, *exponents) == pytest.approx(closed, abs=1e-13)
    value = voros_from_points(*hull, cost_range=costs, measure=("beta", *exponents))
    assert value == pytest.approx(_beta_mean_by_quadrature(ranges, *exponents), abs=1e-13)


def test_a_beta_measure_is_continuous_where_the_closed_form_is_left():
    """Values at α = 1.1 and its neighbours lie on a smooth curve; the bend over 2·10⁻⁹ is no more than rounding."""
    options = {"fpr": [0.1, 0.4], "tpr": [0.6, 0.9]}
    for border in (0.9, 1.1):
        values = [voros_from_points(**options, measure=("beta", border + e, 2.0)) for e in (-1e-9, 0.0, 1e-9)]
        assert values[0] + values[2] == pytest.approx(2 * values[1], abs=1e-13)


class TestGolden:
    """A_t of the better of (0, 0) and (1, 1) is 1 − min(t, 1 − t)²/(2t(1 − t)), that is 1 − t/(2(1 − t)) for t ≤ ½."""

    @staticmethod
    def chance(low, high):
        return voros_from_points([0.5], [0.5], cost_range=(low, high))

    def test_chance(self):
        """2 ∫₀^½ (1 − t/(2(1 − t))) dt = 2 · [3t/2 + ½ ln(1 − t)]₀^½ = 3/2 − ln 2."""
        assert self.chance(0.0, 1.0) == pytest.approx(1.5 - math.log(2.0), abs=1e-15)
        assert voros_score([0, 1, 1], [7.0, 7.0, 7.0]) == pytest.approx(1.5 - math.log(2.0), abs=1e-15)

    def test_chance_on_parts(self):
        """[3t/2 + ½ ln(1 − t)] over the part, divided by its length."""
        assert self.chance(0.0, 0.25) == pytest.approx(1.5 + 2 * math.log(0.75), abs=1e-15)
        assert self.chance(0.0, 0.25) == pytest.approx(0.924635855096, abs=1e-12)
        assert self.chance(0.0, 1 / 3) == pytest.approx(1.5 + 1.5 * math.log(2 / 3), abs=1e-15)
        assert self.chance(0.0, 1 / 3) == pytest.approx(0.891802337838, abs=1e-12)
        # twice the part from ⅓ to ½: 2 · (¼ + ½ ln ¾) / ⅓
        assert self.chance(1 / 3, 2 / 3) == pytest.approx(1.5 + 3 * math.log(0.75), abs=1e-15)
        assert self.chance(1 / 3, 2 / 3) == pytest.approx(0.636953782645, abs=1e-12)

    def test_base_of_the_fraud_example(self):
        """Ratigan & Cowen, Table 5, prints 86.9 % as the base; that belongs to the interval of the table's header."""
        assert self.chance(99 / 599, 999 / 5999) == pytest.approx(0.9006, abs=5.1e-5)
        assert self.chance(999 / 5999, 99 / 399) == pytest.approx(0.8687, abs=5.1e-5)
        assert self.chance(99 / 5099, 999 / 1499) == pytest.approx(0.7575, abs=5.1e-5)

    def test_a_half_in_place_of_one_gives_another_number(self):
        """Example 25 prints m > ½ for m > 1, t = ½ for t = ⅓: [3t/2 + ½ ln(1 − t)]₀^⅓ + [3t/2 − ½ ln t]_⅓^1."""
        printed = (0.5 + 0.5 * math.log(2 / 3)) + (1.5 - 0.5 - 0.5 * math.log(3))
        assert printed == pytest.approx(0.74796, abs=1e-5)

    def test_perfect_point(self):
        for costs in ((0.0, 1.0), (0.1, 0.7), (0.999, 1.0)):
            assert voros_from_points([0.0], [1.0], cost_range=costs) == 1.0
            assert voros_from_points([0.0], [1.0], cost_range=costs, measure=("beta", 0.5, 3)) == pytest.approx(1.0)

    def test_lemma_23_as_printed(self):
        """h = 0.2, v = 0.15, [0.3, 0.5]: the bracket 1.00125 is divided by 0.2 and the logarithms are exchanged."""
        swapped = 0.5 * 0.15**2 * math.log(0.5 / 0.7) - 0.5 * 0.2**2 * math.log(0.5 / 0.3)
        printed = lesser_volume(0.2, 0.85, cost_range=(0.3, 0.5), as_published=True)
        assert printed == pytest.approx(1.00125 / 0.2 + swapped, abs=1e-14)
        assert printed == pytest.approx(4.992, abs=5e-4)
        true = lesser_volume(0.2, 0.85, cost_range=(0.3, 0.5))
        assert true == pytest.approx(0.938869, abs=5e-7)
        point = [(twin.Fraction(0.2), twin.Fraction(0.85))]
        assert true == pytest.approx(twin.voros(point, 0.3, 0.5), abs=1e-14)
        assert voros_from_points([0.2], [0.85], cost_range=(0.3, 0.5)) == pytest.approx(true, abs=1e-15)

    def test_theorem_24_as_printed(self):
        """t = 0.37: c = 0.074 + 0.0945; a plus before v²/2t gives 0.999909, a missing −h²/2 gives 0.919099."""
        t, h, v = 0.37, 0.2, 0.15
        area = lesser_area(h, 1 - v, t)
        assert area == pytest.approx(1 - 0.1685**2 / (2 * 0.37 * 0.63), abs=1e-15)
        assert area == pytest.approx(0.939099, abs=5e-7)
        assert area + 2 * v**2 / (2 * t) == pytest.approx(0.999909, abs=5e-7)

    def test_lemma_22_needs_its_condition(self):
        """(0.9, 0.1) costs 0.9 at t = ½; the triangle formula gives 1 − 2 · 0.81 < 0, the true area is 2 · 0.01."""
        assert lesser_area(0.9, 0.1, 0.5) == pytest.approx(0.02, abs=1e-15)
        assert lesser_area(0.9, 0.1, 0.5, as_published=True) == pytest.approx(-0.62, abs=1e-15)
        assert lesser_area(0.2, 0.85, 0.4, as_published=True) == lesser_area(0.2, 0.85, 0.4)

    def test_fraud_example(self):
        """One fraud in 100 to 1000, cost ratio 1/5000 to 1/500: t/(1 − t) from 99/5000 to 999/500."""
        assert cost_range((99, 999), (1 / 5000, 1 / 500)) == pytest.approx((99 / 5099, 999 / 1499), rel=1e-15)


def test_areas_broadcast():
    areas = lesser_area([[0.0], [0.2]], [[0.0], [0.85]], [0.3, 0.5, 1.0])
    assert areas.shape == (2, 3)
    assert areas[1, 1] == lesser_area(0.2, 0.85, 0.5)
    assert areas[0, 2] == 1.0  # false positives alone cost: only (0, ·) is as good
    assert isinstance(lesser_area(0.2, 0.85, 0.5), float)


def test_narrow_ranges_keep_their_digits():
    exact = lesser_area(0.2, 0.85, 0.4)
    for width in (1e-3, 1e-6, 1e-9, 1e-13):
        for measure in ("uniform", ("beta", 2, 3), ("beta", 1, 0.5)):
            value = voros_from_points([0.2], [0.85], cost_range=(0.4, 0.4 + width), measure=measure)
            assert value == pytest.approx(exact, abs=1e-14 + width)


def test_points_next_to_the_perfect_one():
    """Break points at 1 − 1e-18: they are kept as distances from 1. The loss is ½h² ln(…), 1e-34 in all."""
    assert voros_from_points([1e-18], [1.0]) == 1.0
    assert voros_from_points([0.0], [1 - 1e-16]) == 1.0
    ranges = VertexRanges.of(np.array([0.0, 1e-18, 1.0]), np.array([0.0, 0.5, 1.0]), 0.0, 1.0)
    assert ranges.high_rest[1] == pytest.approx(2e-18)
    # h²/2 · ln(1 − b) vanishes: what is left is (h, k) = (0, ½) on [⅓, 1] and (1, 1) below
    assert uniform_mean(ranges) == pytest.approx(voros_from_points([0.0], [0.5]), abs=1e-15)


@given(problem=grid_problems(weights="integer"))
def test_integer_weights_are_repeated_rows(problem):
    y, s = problem.arguments
    repeats = np.ones(y.size, int) if problem.sample_weight is None else problem.sample_weight.astype(int)
    rows = np.repeat(y, repeats), np.repeat(s, repeats)
    for options in ({}, {"cost_range": (0.1, 0.6)}, {"measure": ("beta", 2, 1)}, {"measure": ("point", 0.3)}):
        value = voros_score(y, s, sample_weight=repeats, **options)
        assert value == pytest.approx(voros_score(*rows, **options), abs=1e-14)
        assert voros_score(np.tile(y, 2), np.tile(s, 2), **options) == pytest.approx(
            voros_score(y, s, **options), abs=1e-14
        )


@given(problem=problems())
def test_only_the_order_counts(problem):
    y, s = problem.arguments
    ranks = np.unique(s, return_inverse=True)[1].astype(float)
    far = np.where(ranks == ranks.max(), np.inf, np.where(ranks == 0, -np.inf, ranks)) if ranks.max() else ranks
    value = voros_score(y, s, sample_weight=problem.sample_weight)
    assert voros_score(y, far, sample_weight=problem.sample_weight) == value


def test_cost_range_of_single_numbers():
    assert cost_range(1, 1) == (0.5, 0.5)
    assert cost_range(0, (1, 2)) == (0.0, 0.0)
    assert cost_range(1e308, 1e300)[1] == 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: roc_hull([0.1, 0.2], [0.5]), "lengths differ"),
        (lambda: roc_hull([0.1, 1.2], [0.5, 0.6]), "fpr must lie in .0, 1., got 1.2"),
        (lambda: roc_hull([0.1], [np.nan]), r"tpr\[0\] is nan"),
        (lambda: lesser_area(0.1, 0.5, -0.1), "cost_share must lie in"),
        (lambda: lesser_area([0.1, 0.2], [0.5, 0.6, 0.7], 0.5), "broadcast"),
        (lambda: lesser_area(0.1, 0.5, 0.0, as_published=True), "divides by"),
        (lambda: lesser_volume(0.4, 0.5, cost_range=(0.1, 0.9)), "costs more than"),
        (lambda: lesser_volume(0.0, 1.0, cost_range=(0.5, 0.5)), "lesser_area takes"),
        (lambda: lesser_volume(0.0, 1.0, as_published=True), "0 < a < b < 1"),
        (lambda: voros_from_points([0.1], [0.5], cost_range=(0.5, 0.4)), "0 ≤ a ≤ b ≤ 1"),
        (lambda: voros_from_points([0.1], [0.5], cost_range=(0.5,)), "cost_range must be a pair"),
        (lambda: voros_from_points([0.1], [0.5], measure="beta"), "measure must be"),
        (lambda: voros_from_points([0.1], [0.5], measure=("gamma", 1, 2)), "measure must be"),
        (lambda: voros_from_points([0.1], [0.5], measure=("beta", 0, 2)), "above 0, got 0.0 and 2.0"),
        (lambda: voros_from_points([0.1], [0.5], measure=("point", 1.5)), "got 1.5"),
        (lambda: voros_from_points([0.1], [0.5], cost_range=(0, 0.4), measure=("point", 0.5)), "outside the"),
        (lambda: voros_score([1, 1], [0.1, 0.2]), "two classes are needed, but all 2 labels"),
        (lambda: voros_score([0, 1], [0.1, np.nan]), r"y_score\[1\] is nan"),
        (lambda: cost_range((2, 1), 1), "class_ratio must be"),
        (lambda: cost_range(1, -1), "cost_ratio must be"),
        (lambda: cost_range(1, np.inf), "cost_ratio must be a finite"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(AuclabError, match=words):
        call()
