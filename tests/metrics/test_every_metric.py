"""What holds for every metric alike: its twin at any scale, the laws of the sample, any kind of input, the errors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import chebyshev

import reference
import reference_metrics as twin
from auclab._core.base import AuclabError
from auclab.metrics import auc_score, bauc_score, buffered_auc, voros_score
from auclab.metrics.registry import METRICS
from strategies import Problem, problems

ORDINAL = [name for name, metric in METRICS.items() if metric.needs == "ranks"]
IN_UNITS = ("auc_threshold", "ranking_superquantile", "scored_auc")  # of the score, or plus a constant: ferri_auc
WIDTH, BETA, LEVEL = 0.75, 2.0, 0.7


def options_of(name, unit=1.0):
    """Settings of a metric for scores in a unit."""
    return {
        "gauc": {"modifier": np.sign},
        "partial_auc": {"max_fpr": 0.3, "standardized": False},
        "polynomial_auc": {"degree": 9},
        "polynomial_soft_auc": {"beta": BETA / unit, "degree": 9},
        "probabilistic_auc": {"width": WIDTH * unit},
        "ranking_superquantile": {"level": LEVEL},
        "soft_auc": {"beta": BETA / unit},
        "two_way_partial_auc": {"min_tpr": 0.25, "max_fpr": 0.75},
        "weighted_auc": {"weight": np.square},
    }.get(name, {})


def score(name, problem, unit=1.0):
    return METRICS[name].function(*problem.arguments, sample_weight=problem.sample_weight, **options_of(name, unit))


def expected(name, problem, unit):
    """The twin's value."""
    errors = problem.errors
    largest = max(abs(x) for x, _ in errors)
    match name:
        case "auc":
            return reference.auc(errors, "half")
        case "auc_threshold":
            return reference.mean_at_or_above_zero(errors)
        case "bauc":
            return 1 - reference.buffered(errors, 0.0).bpoe
        case "ferri_auc":
            return twin.pair_mean(errors, lambda t: (1 + t) / 2)
        case "gauc":
            return twin.pair_mean(errors, lambda t: Fraction((t > 0) - (t < 0)))
        case "partial_auc":
            return twin.band_area(twin.roc_points(problem), 0.0, 0.3)
        case "polynomial_auc":
            orders = np.arange(1, 10)
            step = np.concatenate(([0.5], 2 / (np.pi * orders) * np.sin(orders * np.pi / 2)))
            return twin.polynomial_mean(errors, largest or Fraction(1), lambda t: float(chebyshev.chebval(t, step)))
        case "polynomial_soft_auc":
            b = float(largest * Fraction(BETA / unit))
            nodes = np.cos((np.arange(4000) + 0.5) * np.pi / 4000)
            values = 1 / (1 + np.exp(-np.minimum(b, 1e4) * nodes).clip(1e-300, 1e300))
            series = [2 * np.mean(values * np.cos(k * np.arccos(nodes))) for k in range(10)]
            series[0] /= 2
            return twin.polynomial_mean(errors, largest or Fraction(1), lambda t: float(chebyshev.chebval(t, series)))
        case "probabilistic_auc":
            return twin.pair_mean(errors, twin.probabilistic_modifier(WIDTH * unit))
        case "ranking_superquantile":
            return reference.superquantile(errors, LEVEL)
        case "scored_auc":
            return twin.pair_mean(errors, lambda t: max(t, Fraction(0)))
        case "soft_auc":
            return twin.soft_auc(errors, BETA / unit)
        case "two_way_partial_auc":
            return twin.band_area(twin.roc_points(problem), 0.0, 0.75, 0.25)
        case "voros":
            return twin.voros(twin.roc_points(problem), 0.0, 1.0)
        case "weighted_auc":
            return twin.weighted_auc(problem, [0, 0, 1], "average", twin.HALF)


def scaled(problem, factor):
    pos, neg = ([s * factor for s in scores] for scores in (problem.pos, problem.neg))
    return Problem(pos, neg, problem.weight_pos, problem.weight_neg)


@pytest.mark.parametrize("name", METRICS)
@given(problem=problems(most=5), exponent=st.sampled_from([0, 0, -900, 900]))
def test_is_its_twin_at_any_scale(name, problem, exponent):
    """Random, tied and offset (10⁹) scores from 10⁻²⁷¹ to 10²⁷¹; powers of two keep them what they are."""
    unit = 2.0**exponent
    there = scaled(problem, unit)
    value, exact = score(name, there, unit), expected(name, there, unit)
    size = max(float(abs(x)) for x, _ in there.errors) if name in (*IN_UNITS, "ferri_auc") else 1.0
    assert abs(Fraction(value) - Fraction(exact)) <= 1e-12 * max(size, 0.0 if name in IN_UNITS else 1.0)


@pytest.mark.parametrize("name", METRICS)
@given(problem=problems(weights="none"), times=st.integers(2, 4), seed=st.integers(0, 99))
def test_repeated_and_shuffled_rows_change_nothing(name, problem, times, seed):
    y, s = problem.arguments
    order = np.random.default_rng(seed).permutation(times * y.size)
    rows = np.tile(y, times)[order], np.tile(s, times)[order]
    unit = 1.0 + np.ptp(s)
    value = METRICS[name].function(*rows, **options_of(name))
    assert value == pytest.approx(score(name, problem), abs=1e-12 * unit)
    weighted = METRICS[name].function(y, s, sample_weight=np.full(y.size, float(times)), **options_of(name))
    assert value == pytest.approx(weighted, abs=1e-12 * unit)


Y, S = np.array([0, 1, 1, 0, 1]), np.array([0.125, 0.5, 0.25, 0.75, 0.875])
WORDS = np.where(Y == 1, "pos", "neg")
KINDS = {
    "lists": (Y.tolist(), S.tolist(), {}),
    "booleans": (Y == 1, S, {}),
    "minus one": (2 * Y - 1, S, {}),
    "unsigned": (Y.astype(np.uint8), S.astype(np.float32), {}),
    "half precision": (Y.astype(float), S.astype(np.float16), {}),
    "series": (pd.Series(Y, index=[5, 4, 3, 2, 1]), pd.Series(S, index=list("abcde")), {}),
    "nullable": (pd.Series(Y, dtype="Int64"), pd.Series(S, dtype="Float64"), {}),
    "words": (WORDS, S, {"pos_label": "pos"}),
    "objects": (WORDS.astype(object), S, {"pos_label": "pos"}),
    "categories": (pd.Categorical(WORDS), S, {"pos_label": "pos"}),
    "a column": (Y, S[:, None], {}),
    "every other": (np.repeat(Y, 2)[::2], np.repeat(S, 2)[::2], {}),
    "backwards": (Y[::-1][::-1], S[::-1].copy()[::-1], {}),
    "other byte order": (Y, S.astype(">f8"), {}),
    "weights": (Y, S, {"sample_weight": [2, 2, 2, 2, 2]}),
    "smallest weights": (Y, S, {"sample_weight": np.full(5, 5e-324)}),
    "largest weights": (Y, S, {"sample_weight": np.full(5, 1e308)}),
    "rows without weight": ([*Y, 1, 0], [*S, -9.0, 9.0], {"sample_weight": [1, 1, 1, 1, 1, 0, 0]}),
}


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METRICS)
def test_kinds_of_input(name, kind):
    y, s, more = KINDS[kind]
    value = METRICS[name].function(y, s, **more, **options_of(name))
    assert isinstance(value, float)
    assert value == pytest.approx(METRICS[name].function(Y, S, **options_of(name)), rel=1e-14, abs=1e-15)


def test_input_is_left_as_it_is():
    y, s = Y.copy(), S[::-1].copy()
    y.flags.writeable = s.flags.writeable = False
    for name, metric in METRICS.items():
        metric.function(y, s, **options_of(name))
    np.testing.assert_array_equal(s, S[::-1])


CONSTANT = {
    **dict.fromkeys(("auc", "ferri_auc", "soft_auc", "probabilistic_auc"), 0.5),
    **dict.fromkeys(("polynomial_auc", "polynomial_soft_auc"), 0.5),
    **dict.fromkeys(("bauc", "scored_auc", "gauc", "auc_threshold", "ranking_superquantile"), 0.0),
    "voros": 1.5 - math.log(2.0),
    "partial_auc": 0.045,  # ½ · 0.3²
    "two_way_partial_auc": 0.125,  # a triangle with legs ½
    "weighted_auc": 1 / 6,  # ½ ∫ s² ds
}


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("constant", [0.0, -0.0, 0.3, -1e9, 5e-324, 1e300, 1.7e308])
@pytest.mark.parametrize("name", METRICS)
def test_constant_scores(name, constant):
    for n_pos, n_neg in ((1, 1), (2, 3)):
        y = np.repeat([1, 0], [n_pos, n_neg])
        value = METRICS[name].function(y, np.full(y.size, constant), **options_of(name))
        assert value == pytest.approx(CONSTANT[name], abs=1e-15)


@pytest.mark.parametrize("name", METRICS)
def test_one_observation_a_class(name):
    for lead in (1.0, -1.0):
        problem = Problem([lead], [0.0])
        assert score(name, problem) == pytest.approx(float(expected(name, problem, 1.0)), abs=1e-14)
    for z, value in ((-2.0, 0.0), (-1.0, 0.0), (-0.5, 1.0), (0.0, 1.0)):  # 1 iff z > ξ = −1
        assert bauc_score([1, 0], [1.0, 0.0], threshold=z) == value


@pytest.mark.parametrize("name", METRICS)
def test_scores_at_the_ends_of_the_doubles(name):
    smallest, largest = [5e-324, 2e-323, 1.5e-323, 4e-323, 4.4e-323], [8e307, -8e307, 1e-200, 0.0, 0.0]
    for scores in (smallest, largest):
        assert math.isfinite(METRICS[name].function(Y, scores, **options_of(name)))
    both = [1e300, -1e300, 1e-300, 0.0, 5e-324]
    if name in ("bauc", "auc_threshold"):  # they compare differences, and sums of both do not fit into doubles
        with pytest.raises(AuclabError, match="and some scores below 1e-270"):
            METRICS[name].function(Y, both, **options_of(name))
    else:
        assert math.isfinite(METRICS[name].function(Y, both, **options_of(name)))
    infinite = [-np.inf, 0.0, np.inf, np.inf, 1.0]
    if name in ORDINAL:
        finite = [-9.0, 0.0, 9.0, 9.0, 1.0]
        assert METRICS[name].function(Y, infinite, **options_of(name)) == METRICS[name].function(
            Y, finite, **options_of(name)
        )
    else:
        with pytest.raises(AuclabError, match=r"y_score\[0\] is -inf"):
            METRICS[name].function(Y, infinite, **options_of(name))


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize(
    ("y", "s", "more", "words"),
    [
        ([], [], {}, "non-empty"),
        ([1] * 5, S, {}, "two classes are needed, but all 5 labels"),
        ([0, 1, 2, 0, 1], S, {}, "two classes are needed, got 3"),
        ([0, 1, 1, 0, np.nan], S, {}, r"labels\[4\] is missing \(nan\)"),
        ([0, 1, 1, 0, None], S, {}, r"labels\[4\] is missing"),
        ([0, 1, 1, 0, "1"], S, {}, "labels must be all numbers or all text, got int, str"),
        (WORDS, S, {}, "which class is positive"),
        (Y, S, {"pos_label": 7}, "does not occur"),
        (np.column_stack([Y, Y]), S, {}, "one-dimensional"),
        (Y, S[:4], {}, "lengths differ: y_true has 5, y_score has 4"),
        (Y, np.ones((5, 2)), {}, "one-dimensional"),
        (Y, [0.0, np.nan, 1.0, 2.0, 3.0], {}, r"y_score\[1\] is nan"),
        (Y, list("abcde"), {}, "y_score must be numeric"),
        (Y, S * 1j, {}, "complex128 is not a real number"),
        (Y, np.arange(5).astype("M8[D]"), {}, "is not a real number"),
        (Y, S, {"sample_weight": [1, 1, 1, 1]}, "4 entries for 5"),
        (Y, S, {"sample_weight": [1, 1, 1, 1, -1]}, r"sample_weight\[4\] is -1.0"),
        (Y, S, {"sample_weight": [1, 1, 1, 1, np.inf]}, r"sample_weight\[4\] is inf"),
        (Y, S, {"sample_weight": [0, 1, 1, 0, 1]}, "weights of the negative class are 0"),
    ],
)
@pytest.mark.parametrize("name", METRICS)
def test_refuses(name, y, s, more, words):
    with pytest.raises(AuclabError, match=words):
        METRICS[name].function(y, s, **more, **options_of(name))


@given(problems())
def test_order_of_the_metrics(problem):
    """A_open ≤ bAUC ≤ A_closed, bAUC ≤ strict AUC ≤ AUC ≤ VOROS, and VOROS is at least that of chance."""
    y, s = problem.arguments
    weight = problem.sample_weight
    strict, half, upper = (auc_score(y, s, ties=ties, sample_weight=weight) for ties in ("strict", "half", "upper"))
    bauc = bauc_score(y, s, sample_weight=weight)
    result = buffered_auc(y, s, sample_weight=weight)
    voros = voros_score(y, s, sample_weight=weight)
    assert bauc <= strict + 1e-15 <= half + 2e-15 <= upper + 3e-15
    assert voros >= max(half, 1.5 - math.log(2.0)) - 1e-15
    if not math.isnan(result.gamma_left):
        assert result.area_open - 1e-15 <= bauc <= result.area_closed + 1e-15
