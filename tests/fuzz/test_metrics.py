"""Metrics on nasty scores and weights against their exact twins, to a stated number of units in the last place.

``AUCLAB_FUZZ=1000 python -m pytest tests/fuzz/test_metrics.py`` tries a thousand new cases of every test.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
import reference_metrics as twin
from auclab import metrics
from auclab._core.base import AuclabError
from auclab.metrics.registry import METRICS
from strategies import Problem

from . import exact_metrics as exact
from .nasty_scores import LARGEST, SMALLEST, crowds, nasty, nasty_settings

Size = Callable[[Problem, Any, Fraction], float]


def one(problem: Problem, option: Any, value: Fraction) -> float:
    """Rates and shares: units in the last place of 1."""
    return 1.0


def itself(problem: Problem, option: Any, value: Fraction) -> float:
    """Sums without cancellation: units in the last place of the value."""
    return max(float(abs(value)), SMALLEST)


def largest_error(problem: Problem, option: Any, value: Fraction) -> float:
    """Values in units of the score: units in the last place of the largest difference."""
    return max(1.0 if option == "ferri" else SMALLEST, float(max(abs(x) for x, _ in problem.errors)))


def up_to_32_digits(problem: Problem, option: Any, value: Fraction) -> float:
    """The value; what lies 32 digits below the largest difference counts as 0."""
    return max(itself(problem, option, value), 2.0**-43 * largest_error(problem, option, value))


def mcclish(problem: Problem, option: tuple[float, float], value: Fraction) -> float:
    """The scale divides the area by ``best − chance``."""
    low, high = map(Fraction, option)
    return float(1 / ((high - low) * (1 - (high + low) / 2)))


@dataclass(frozen=True)
class Measure:
    """A metric, its twin, its options, and what it promises: `most` units in the last place of a size."""

    value: Callable[..., float]
    expected: Callable[[Problem, Any], Fraction]
    options: tuple[Any, ...] = (None,)
    size: Size = one
    most: float = 4.0
    ordinal: bool = False


BANDS = ((0.0, 0.3), (0.25, 0.75), (0.9, 1.0), (0.0, 1e-9), (0.0, 1.0))
THRESHOLDS = (0.0, 0.0, -1.0, 0.5, 1e-9, -1e8, 1e300)
LEVELS = (0.0, 0.5, 0.1, 0.999, 1.0, 1.0 - 2.0**-53, 1e-300)
UNITS = (1.0, 0.3, 1e-300, 1e9, SMALLEST, 1e300)


def partial_area(problem: Problem, band: tuple[float, float]) -> Fraction:
    return twin.band_area(twin.roc_points(exact.present(problem)), *band)


def standardized_area(problem: Problem, band: tuple[float, float]) -> Fraction:
    low, high = map(Fraction, band)
    chance, best = (high**2 - low**2) / 2, high - low
    return (1 + (partial_area(problem, band) - chance) / (best - chance)) / 2


MEASURES = {
    "auc": Measure(
        lambda y, s, t, **w: metrics.auc_score(y, s, ties=t, **w),
        lambda p, t: reference.auc(p.errors, t),
        ("half", "strict", "upper"),
        itself,
        most=6.0,  # a product of two rounded sums, a sum of products and a quotient
        ordinal=True,
    ),
    "bauc": Measure(
        lambda y, s, z, **w: metrics.bauc_score(y, s, threshold=z, **w),
        lambda p, z: 1 - reference.buffered(p.errors, z).bpoe,
        THRESHOLDS,
    ),
    "auc_threshold": Measure(
        lambda y, s, _, **w: metrics.auc_threshold(y, s, **w),
        lambda p, _: reference.mean_at_or_above_zero(p.errors),
        size=up_to_32_digits,
    ),
    "ranking_superquantile": Measure(
        lambda y, s, level, **w: metrics.ranking_superquantile(y, s, level, **w),
        lambda p, level: reference.superquantile(p.errors, level),
        LEVELS,
        largest_error,
    ),
    "ferri_auc": Measure(
        lambda y, s, _, **w: metrics.ferri_auc(y, s, **w),
        lambda p, _: exact.ferri_auc(p),
        ("ferri",),
        largest_error,
    ),
    "scored_auc": Measure(
        lambda y, s, _, **w: metrics.scored_auc(y, s, **w),
        lambda p, _: twin.pair_mean(p.errors, lambda t: max(t, Fraction(0))),
        # scores above 2⁸⁰⁰ are divided by 2¹²⁸, which costs digits below 2⁻⁸⁹⁴
        size=lambda p, _, v: max(itself(p, _, v), 2.0**-894 if max(map(abs, p.pos + p.neg)) > 2.0**800 else SMALLEST),
    ),
    "gauc": Measure(
        lambda y, s, _, **w: metrics.gauc_score(y, s, lambda t: t > 0, **w),
        lambda p, _: reference.auc(p.errors, "strict"),
        size=itself,
        most=6.0,
    ),
    "probabilistic_auc": Measure(
        lambda y, s, h, **w: metrics.probabilistic_auc(y, s, width=h, **w),
        lambda p, h: twin.pair_mean(p.errors, twin.probabilistic_modifier(h)),
        UNITS,
    ),
    "soft_auc": Measure(
        lambda y, s, beta, **w: metrics.soft_auc(y, s, beta=beta, **w),
        lambda p, beta: exact.soft_auc(p.errors, beta),
        UNITS,
        most=45.0,  # 10⁻¹⁴: many scores of a cell are moved to Chebyshev nodes
    ),
    "polynomial_auc": Measure(
        lambda y, s, o, **w: metrics.polynomial_auc(y, s, degree=o[0], series=o[1], **w),
        lambda p, o: exact.polynomial_auc(p.errors, *o),
        ((9, "chebyshev"), (5, "legendre"), (1, "chebyshev")),
        most=32.0,
    ),
    "partial_auc": Measure(
        lambda y, s, b, **w: metrics.partial_auc(y, s, min_fpr=b[0], max_fpr=b[1], standardized=False, **w),
        partial_area,
        BANDS,
        ordinal=True,
    ),
    "partial_auc_mcclish": Measure(
        lambda y, s, b, **w: metrics.partial_auc(y, s, min_fpr=b[0], max_fpr=b[1], standardized="mcclish", **w),
        standardized_area,
        BANDS[:3],
        mcclish,
        ordinal=True,
    ),
    "two_way_partial_auc": Measure(
        lambda y, s, o, **w: metrics.two_way_partial_auc(y, s, min_tpr=o[0], max_fpr=o[1], **w),
        lambda p, o: twin.band_area(twin.roc_points(exact.present(p)), 0.0, o[1], o[0]),
        ((0.25, 0.75), (0.0, 1.0), (0.9, 1e-9)),
        ordinal=True,
    ),
    "weighted_auc": Measure(
        lambda y, s, c, **w: metrics.weighted_auc(y, s, weight=np.square, convention=c, **w),
        lambda p, c: twin.weighted_auc(exact.present(p), [0, 0, 1], c, Fraction(1, 2)),
        ("average", "max_rank", "linear"),
        ordinal=True,
    ),
    "voros": Measure(
        lambda y, s, r, **w: metrics.voros_score(y, s, cost_range=r, **w),
        lambda p, r: exact.voros(twin.roc_points(exact.present(p)), *map(Fraction, r)),
        ((0.0, 1.0), (0.2, 0.5), (1e-9, 1e-8), (1.0 - 1e-9, 1.0)),
        ordinal=True,
    ),
}


def check(measure: Measure, problem: Problem, labels, scores, option, weight=None) -> None:
    """The value is within its promise, or the scores were refused for a reason that holds."""
    exact_errors = problem.errors
    too_wide = max(abs(x) for x, _ in exact_errors) > Fraction(LARGEST)
    sizes = {abs(s) for s in problem.pos + problem.neg} - {0.0}
    try:
        value = measure.value(labels, scores, option, **({} if weight is None else {"sample_weight": weight}))
    except AuclabError as error:
        words = str(error)
    else:
        words = ""
    if words:
        assert not measure.ordinal
        if "largest double" in words:
            assert max(problem.pos + problem.neg) - min(problem.pos + problem.neg) == math.inf
        else:
            assert "would count as 0" in words
            assert max(sizes) > 1e270
            assert min(sizes) < 1e-250
        return
    assert isinstance(value, float)
    assert measure.ordinal or not too_wide
    expected = measure.expected(problem, option)
    assert exact.ulps(value, expected, measure.size(problem, option, expected)) <= measure.most


@pytest.mark.parametrize("name", MEASURES)
@nasty_settings
@given(data=st.data())
def test_is_its_exact_twin(name, data):
    measure, problem = MEASURES[name], data.draw(nasty())
    option = data.draw(st.sampled_from(measure.options))
    check(measure, problem, *problem.arguments, option, problem.sample_weight)


@pytest.mark.parametrize("name", MEASURES)
@nasty_settings
@given(data=st.data())
def test_many_ties_are_their_numbers(name, data):
    """Thousands of rows with a few scores, against the twin with the numbers of rows as weights."""
    measure, (problem, labels, scores) = MEASURES[name], data.draw(crowds())
    check(measure, problem, labels, scores, data.draw(st.sampled_from(measure.options)))


@pytest.mark.parametrize("name", [name for name, measure in MEASURES.items() if measure.ordinal])
@nasty_settings
@given(data=st.data())
def test_only_the_order_counts(name, data):
    """Scores and their ranks have the same value to the last bit."""
    measure, problem = MEASURES[name], data.draw(nasty())
    option = data.draw(st.sampled_from(measure.options))
    y, s = problem.arguments
    ranks = np.unique(s, return_inverse=True)[1]
    weight = {} if problem.sample_weight is None else {"sample_weight": problem.sample_weight}
    assert measure.value(y, s, option, **weight) == measure.value(y, ranks.astype(np.int16), option, **weight)
    infinite = np.where(ranks == ranks.max(), np.inf, np.where(ranks == 0, -np.inf, ranks))
    assume(np.unique(infinite).size == np.unique(ranks).size)
    assert measure.value(y, s, option, **weight) == measure.value(y, infinite, option, **weight)


@pytest.mark.parametrize("name", ["bauc", "auc_threshold", "ranking_superquantile", "scored_auc", "probabilistic_auc"])
@nasty_settings
@given(st.data())
def test_a_power_of_two_is_a_unit(name, data):
    """Scores times 2^k, options too: shares stay and values in units of the score scale, to the last bit."""
    problem = data.draw(nasty(wide=False))
    size = max(map(abs, problem.pos + problem.neg))
    assume(1e-20 < size < 1e20)
    assume(min((abs(s) for s in problem.pos + problem.neg if s), default=1.0) > 1e-20)
    factor = 2.0 ** data.draw(st.sampled_from([-300, -1, 7, 300]))
    y, s = problem.arguments
    weight = {} if problem.sample_weight is None else {"sample_weight": problem.sample_weight}
    measure = MEASURES[name]
    option = {"bauc": -1.0, "probabilistic_auc": 0.3, "ranking_superquantile": 0.7}.get(name)
    scaled = option if name == "ranking_superquantile" or option is None else option * factor
    unit = 1.0 if name in ("bauc", "probabilistic_auc") else factor
    value = measure.value(y, s, option, **weight)
    assert measure.value(y, s * factor, scaled, **weight) == pytest.approx(value * unit, rel=1e-14, abs=1e-14 * unit)


@nasty_settings
@given(nasty(), st.sampled_from(THRESHOLDS))
def test_bpoe(problem, z):
    """Of a plain sample, in units of 1; the upper and the lower one differ at the maximum only."""
    x, w = np.array(problem.neg), None if problem.weight_neg is None else np.array(problem.weight_neg)
    sample = [(Fraction(v), Fraction(u)) for v, u in zip(x, np.ones(x.size) if w is None else w, strict=True) if u]
    assume(not (max(abs(x)) > 1e270 and min((a for a in abs(x) if a), default=1.0) < 1e-250))
    assume(max(x) - min(x) < LARGEST)
    assume(max(float(v) for v, _ in sample) > -LARGEST / 2)
    for threshold in (z, float(max(v for v, _ in sample))):
        expected = reference.buffered(sample, threshold).bpoe
        assert exact.ulps(metrics.bpoe(x, threshold, sample_weight=w), expected, 1.0) <= 4.0
    assert metrics.bpoe(x, threshold, kind="lower", sample_weight=w) == 0.0


@nasty_settings
@given(nasty(), st.sampled_from(LEVELS))
def test_superquantile(problem, level):
    """Of a plain sample, in units of its largest number."""
    x, w = np.array(problem.neg), None if problem.weight_neg is None else np.array(problem.weight_neg)
    sample = [(Fraction(v), Fraction(u)) for v, u in zip(x, np.ones(x.size) if w is None else w, strict=True) if u]
    assume(max(x) - min(x) < LARGEST)
    size = max(SMALLEST, *(float(abs(v)) for v, _ in sample))
    found = metrics.superquantile(x, level, sample_weight=w)
    assert exact.ulps(found, reference.superquantile(sample, level), size) <= 4.0


GRIDS = nasty(wide=False).filter(lambda p: all(s == round(s) and abs(s) < 1e6 for s in p.pos + p.neg))


@pytest.mark.slow
@nasty_settings
@given(GRIDS, st.sampled_from([0.0, -1.0, -2.5, 3.0]))
def test_buffered_auc_and_its_curve(problem, z):
    """γ*, θ and the areas, and the corners of the buffered ROC curve, on scores with exact differences."""
    y, s = problem.arguments
    expected = reference.buffered(exact.present(problem).errors, z)
    found = metrics.buffered_auc(y, s, threshold=z, sample_weight=problem.sample_weight)
    assert exact.ulps(found.value, 1 - expected.bpoe, 1.0) <= 4.0
    if expected.gamma_left is None:
        assert math.isnan(found.gamma_left)
        with pytest.raises(AuclabError, match="no curve"):
            metrics.broc_curve(y, s, threshold=z, sample_weight=problem.sample_weight)
        return
    assert (found.gamma_left, found.gamma_right) == (expected.gamma_left, expected.gamma_right)
    for got, right in (
        (found.theta, expected.theta),
        (found.area_closed, expected.area_closed),
        (found.area_open, expected.area_open),
    ):
        assert exact.ulps(got, right, 1.0) <= 8.0
    fpr, tpr, gamma = metrics.broc_curve(y, s, threshold=z, sample_weight=problem.sample_weight)
    assert gamma == expected.gamma_left
    corners = exact.broc(problem, expected.gamma_left)
    # weights far apart round some corners onto others
    assert {(round(float(x), 12), round(float(u), 12)) for x, u in corners} == {
        (round(float(x), 12), round(float(u), 12)) for x, u in zip(fpr, tpr, strict=True)
    }
    assert float(np.trapezoid(tpr, fpr)) == pytest.approx(float(expected.area_closed), abs=1e-14)


RATES = st.one_of(
    st.integers(0, 8).map(lambda k: k / 8), st.floats(0, 1), st.sampled_from([0.0, 1.0, SMALLEST, 1e-300, 1.0 - 2**-53])
)


@nasty_settings
@given(st.lists(st.tuples(RATES, RATES), min_size=1, max_size=6))
def test_hull(points):
    """Vertices of exact points: none too many beyond rounding, and none missing."""
    fpr, tpr = metrics.roc_hull(*zip(*points, strict=True))
    expected = exact.hull([(Fraction(x), Fraction(y)) for x, y in points])
    found = [(Fraction(x), Fraction(y)) for x, y in zip(fpr, tpr, strict=True)]
    assert set(found) <= {*((Fraction(x), Fraction(y)) for x, y in points), (0, 0), (1, 1)}
    for x, y in expected:  # below the found curve by no more than rounding
        heights = [b + (d - b) * (x - a) / (c - a) for (a, b), (c, d) in pairwise(found) if a <= x <= c and a < c]
        heights += [b for a, b in found if a == x]
        assert max(heights) >= y - Fraction(1, 2**50)


@nasty_settings
@given(RATES, RATES, RATES)
def test_lesser_area(h, k, t):
    """The part of the square that costs more, cut out exactly."""
    found = metrics.lesser_area(h, k, t)
    assert exact.ulps(found, twin.lesser_area(h, k, t), 1.0) <= 4.0
    assert 0.0 <= found <= 1.0 + 2.0**-52


@nasty_settings
@given(RATES, RATES, RATES, RATES)
def test_lesser_volume(h, k, a, b):
    """The integral with logarithms of 80 digits."""
    low, high = sorted((a, b))
    assume(high - low > 1e-3)  # the mean divides by the length
    try:
        found = metrics.lesser_volume(h, k, cost_range=(low, high))
    except AuclabError:
        t = [Fraction(low), Fraction(high)]
        assert any(s * Fraction(h) + (1 - s) * (1 - Fraction(k)) > min(s, 1 - s) for s in t)
        return
    v = 1 - Fraction(k)
    if (low == 0 and v) or (high == 1 and h):
        return  # allowed within 10⁻¹², where the logarithm of 0 has no weight
    expected = exact.volume(Fraction(h), v, Fraction(low), Fraction(high)) / (Fraction(high) - Fraction(low))
    assert found == pytest.approx(float(expected), abs=1e-12)


NUMBERS = {
    "one missing": ([0.1, math.nan, 0.3, 0.4], r"y_score\[1\] is nan"),
    "missing": (pd.array([1, pd.NA, 2, 3], dtype="Int64"), r"y_score\[1\] is nan"),
    "none": ([None, 1, 2, 3], r"y_score\[0\] is nan"),
    "masked": (np.ma.array([1.0, 2, 3, 4], mask=[0, 1, 0, 0]), r"y_score\[1\] is nan"),
    "huge integer": ([10**400, 1, 2, 3], "y_score must be numeric"),
    "integers that round": (np.array([2**62, 2**62 + 1, 5, 6]), r"y_score\[1\] is 4611686018427387905"),
    "python integers that round": ([2**53 + 1, 1, 2, 3], r"y_score\[0\] is 9007199254740993"),
    "long doubles": (np.array([1, 2, 3, 4], np.longdouble) * np.longdouble(10) ** 400, "must be numeric: overflow"),
    "text": (["1", "2", "3", "4"], "not a real number"),
    "text as objects": (np.array(["1", "2", "3", "4"], object), "text is not a real number"),
    "bytes": ([b"1", b"2", b"3", b"4"], "not a real number"),
    "text and numbers": ([1, "2", 3, 4], "not a real number"),
    "ragged": ([[1], [2, 3], [4], [5]], "must be an array"),
    "complex": ([1j, 2, 3, 4], "not a real number"),
    "dates": (pd.date_range("2020", periods=4), "not a real number"),
    "durations": (np.arange(4).astype("m8[s]"), "not a real number"),
    "records": (np.zeros(4, dtype=[("a", float)]), "not a real number"),
    "names": (pd.Categorical(list("abca")), "must be numeric"),
    "two columns": (pd.DataFrame({"a": [1.0, 2, 3, 4], "b": 1}), "one-dimensional"),
    "a number": (3.0, "one-dimensional"),
    "a set": ({1, 2, 3, 4}, "must be an array, got set"),
    "an iterator": (iter(range(4)), "must be an array, got range_iterator"),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_scores_are_refused_in_words(kind):
    scores, words = NUMBERS[kind]
    for function in (metrics.auc_score, metrics.bauc_score, metrics.voros_score):
        with pytest.raises(AuclabError, match=words):
            function([0, 1, 1, 0], scores)


@pytest.mark.parametrize(
    "scores",
    [
        [decimal.Decimal(1), decimal.Decimal(3), decimal.Decimal(2), decimal.Decimal(0)],
        [Fraction(1), Fraction(3), Fraction(2), Fraction(0)],
        np.array([-128, 127, 126, -127], np.int8),
        np.array([0, 255, 254, 1], np.uint8),
        np.array([1, 3, 2, 0], np.longdouble),
        np.ma.array([1.0, 3.0, 2.0, 0.0]),
        pd.Categorical([1, 3, 2, 1]),
        pd.arrays.SparseArray([1.0, 3.0, 2.0, 0.0]),
        np.array([1, 3, 2, 0], object),
        [2**53 + 2, 2**60, 2**61, 0],
    ],
)
def test_numbers_of_other_kinds_are_scores(scores):
    assert metrics.auc_score([0, 1, 1, 0], scores) == 1.0
    assert metrics.auc_score(np.array([0, 1, 1, 0], np.int8), scores) == 1.0


LABELS = {
    "masked": (np.ma.array([0, 1, 1, 0], mask=[0, 1, 0, 0]), None, r"labels\[1\] is missing"),
    "ragged": ([[1], [2, 3], [4], [5]], None, "must be an array"),
    "missing": (pd.array([True, pd.NA, False, True], dtype="boolean"), None, r"labels\[1\] is missing"),
    "missing category": (pd.Categorical(["a", None, "b", "a"]), "a", r"labels\[1\] is missing"),
    "two positive labels": ([0, 1, 1, 0], [0, 1], "pos_label must be one label"),
    "labels as the positive one": ([0, 1, 1, 0], np.array([0, 1, 1, 0]), "pos_label must be one label"),
    "an absent one": ([0, 1, 1, 0], math.nan, "does not occur"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_refused_in_words(kind):
    labels, positive, words = LABELS[kind]
    with pytest.raises(AuclabError, match=words):
        metrics.auc_score(labels, [0.1, 0.2, 0.3, 0.4], pos_label=positive)


_Y, _S = np.array([0, 1, 1, 0]), [0.1, 0.2, 0.3, 0.5]
PARAMETERS: dict[str, Callable[[Any], Any]] = {
    "threshold": lambda v: metrics.bauc_score(_Y, _S, threshold=v),
    "level": lambda v: metrics.ranking_superquantile(_Y, _S, v),
    "beta": lambda v: metrics.soft_auc(_Y, _S, beta=v),
    "width": lambda v: metrics.probabilistic_auc(_Y, _S, width=v),
    "max_fpr": lambda v: metrics.partial_auc(_Y, _S, max_fpr=v, standardized=False),
    "min_tpr": lambda v: metrics.two_way_partial_auc(_Y, _S, min_tpr=v, max_fpr=0.5),
    "cost_range": lambda v: metrics.voros_score(_Y, _S, cost_range=v),
    "an end of cost_range": lambda v: metrics.voros_score(_Y, _S, cost_range=(0.0, v)),
    "measure": lambda v: metrics.voros_score(_Y, _S, measure=v),
    "beta of the measure": lambda v: metrics.voros_score(_Y, _S, measure=("beta", v, 1.0)),
    "degree": lambda v: metrics.polynomial_auc(_Y, _S, degree=v),
    "scale": lambda v: metrics.polynomial_auc(_Y, _S, scale=v),
    "series": lambda v: metrics.polynomial_auc(_Y, _S, series=v),
    "basis": lambda v: metrics.polynomial_auc(_Y, _S, basis=v),
    "fpr": lambda v: metrics.lesser_area(v, 0.5, 0.5),
    "tpr": lambda v: metrics.lesser_volume(0.1, v),
    "class ratio": lambda v: metrics.cost_range(v, 1.0),
    "bpoe": lambda v: metrics.bpoe(_S, v),
    "kind": lambda v: metrics.bpoe(_S, 1.0, kind=v),
    "superquantile": lambda v: metrics.superquantile(_S, v),
    "modifier": lambda v: metrics.gauc_score(_Y, _S, v),
    "weight": lambda v: metrics.weighted_auc(_Y, _S, weight=v),
    "breakpoints": lambda v: metrics.weighted_auc(_Y, _S, weight=np.square, breakpoints=v),
    "convention": lambda v: metrics.weighted_auc(_Y, _S, weight=np.square, convention=v),
    "ties": lambda v: metrics.auc_score(_Y, _S, ties=v),
    "ties of scored_auc": lambda v: metrics.scored_auc(_Y, _S, ties=v),
    "standardized": lambda v: metrics.partial_auc(_Y, _S, max_fpr=0.5, standardized=v),
    "hull": lambda v: metrics.roc_hull(v, v),
    "points": lambda v: metrics.voros_from_points(v, v),
}


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -1e308, "a", None, [], [2.0], [[1], [2, 3]], np.array(7.0), 10**400, 1j, pd.NA, {}, b"x"],
    ids=repr,
)
def test_parameters_are_taken_or_refused_in_words(name, value):
    """No other exception, no warning, and a finite number where the value is taken."""
    try:
        found = PARAMETERS[name](value)
    except AuclabError:
        return
    assert np.isfinite(np.asarray(found, dtype=float)).all()


def test_every_metric_has_a_twin():
    """A metric that is added to the registry gets one here; the polynomial sigmoid has no rational coefficients."""
    assert set(METRICS) - set(MEASURES) == {"polynomial_soft_auc"}
