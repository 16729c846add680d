"""Metrics on score differences against exact sums over all pairs, and the laws they obey."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit

import reference_metrics as twin
from auclab._core.base import AuclabError
from auclab.metrics import auc_score, ferri_auc, gauc_score, probabilistic_auc, scored_auc, soft_auc
from strategies import WIDE, grid_problems, problems

PROBLEMS = st.one_of(problems(), problems(scores=WIDE))
SCALES = st.sampled_from([1.0, 2.0**-900, 2.0**900, 1e-5, 1e7])
# relative to the largest difference: from a step to a line
WIDTHS = st.sampled_from([1e-9, 1e-3, 0.1, 0.3, 0.5, 1.0, 4.0, 1e9])


def largest(problem):
    return max(abs(float(x)) for x, _ in problem.errors)


@given(PROBLEMS, SCALES)
def test_scored_auc_is_the_mean_positive_part(problem, scale):
    y, s = problem.arguments
    expected = twin.pair_mean(problem.errors, lambda t: max(t, Fraction(0)))
    assume(scale == 1.0 or np.log2(scale) % 1 == 0 or np.abs(s).max() < 1e8)
    value = scored_auc(y, s * scale, sample_weight=problem.sample_weight) / scale
    rounding = 1e-15 * np.abs(s).max() if np.log2(scale) % 1 else 0.0  # s·scale is rounded
    assert value == pytest.approx(float(expected), rel=1e-14, abs=rounding)


@given(PROBLEMS)
def test_scored_auc_with_half_ties_adds_half_of_the_tied_pairs(problem):
    options = {"sample_weight": problem.sample_weight}
    tied = twin.pair_mean(problem.errors, lambda t: Fraction(int(t == 0), 2))
    zero, half = (scored_auc(*problem.arguments, ties=ties, **options) for ties in ("zero", "half"))
    assert half == pytest.approx(zero + float(tied), rel=1e-14)


@given(PROBLEMS)
def test_ferri_auc_is_half_of_one_plus_the_difference_of_the_means(problem):
    expected = twin.pair_mean(problem.errors, lambda t: (1 + t) / 2)
    value = ferri_auc(*problem.arguments, sample_weight=problem.sample_weight)
    assert value == pytest.approx(float(expected), rel=1e-13, abs=1e-15 * (1 + largest(problem)))


@given(PROBLEMS, WIDTHS, st.sampled_from([1.0, 2.0**-900, 2.0**900]))
def test_probabilistic_auc_is_the_area_of_a_cut_square(problem, relative, scale):
    width = relative * (largest(problem) or 1.0)
    y, s = problem.arguments
    value = probabilistic_auc(y, s * scale, width=width * scale, sample_weight=problem.sample_weight)
    expected = twin.pair_mean(problem.errors, twin.probabilistic_modifier(width))
    assert value == pytest.approx(float(expected), abs=1e-14)


@given(grid_problems(weights="integer"), st.sampled_from([0.25, 0.5, 1.0, 1.5, 3.0, 64.0]))
def test_probabilistic_auc_as_published_is_the_printed_modifier(problem, width):
    value = probabilistic_auc(*problem.arguments, width=width, as_published=True, sample_weight=problem.sample_weight)
    expected = twin.pair_mean(problem.errors, twin.published_probabilistic_modifier(width))
    assert value == pytest.approx(float(expected), abs=1e-14)


@given(PROBLEMS, st.sampled_from([1e-6, 0.1, 1.0, 3.0, 10.0, 40.0, 300.0, 1e6, 1e12]))
def test_soft_auc_is_the_mean_sigmoid(problem, relative):
    beta = relative / (largest(problem) or 1.0)
    value = soft_auc(*problem.arguments, beta=beta, sample_weight=problem.sample_weight)
    assert value == pytest.approx(twin.soft_auc(problem.errors, beta), abs=1e-14)


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 5.0, 20.0, 100.0, 1e4])
def test_soft_auc_where_cells_are_full(offset, spread):
    """Hundreds of scores in a cell go through its nodes; the twin adds 600 · 700 sigmoids."""
    rng = np.random.default_rng(7)
    pos, neg = (np.round(rng.normal(size=n) * spread, 6) + offset for n in (600, 700))
    weight = rng.random(1300)
    y, s = np.repeat([1, 0], [600, 700]), np.concatenate([pos, neg])
    sigmoid = expit(np.subtract.outer(pos, neg))
    assert soft_auc(y, s, beta=1.0) == pytest.approx(sigmoid.mean(), abs=1e-14)
    expected = weight[:600] @ sigmoid @ weight[600:] / (weight[:600].sum() * weight[600:].sum())
    assert soft_auc(y, s, beta=1.0, sample_weight=weight) == pytest.approx(expected, abs=1e-14)
    # one score repeated sits between two nodes
    tied = np.repeat([0.3, 0.5], [300, 500]) * spread
    assert soft_auc(np.repeat([1, 0], [300, 500]), tied, beta=1.0) == pytest.approx(expit(-0.2 * spread), abs=1e-14)


@pytest.mark.parametrize("relative", [1e-9, 1e-4, 1e-2, 0.3, 5.0])
def test_probabilistic_auc_of_hundreds(relative):
    rng = np.random.default_rng(8)
    pos, neg = rng.normal(size=300) + 0.5, rng.normal(size=400)
    t = np.subtract.outer(pos, neg) / (2 * relative)
    w = np.where(t < 0, 0.5 * np.maximum(1 + t, 0) ** 2, 1 - 0.5 * np.maximum(1 - t, 0) ** 2)
    y, s = np.repeat([1, 0], [300, 400]), np.concatenate([pos, neg])
    assert probabilistic_auc(y, s, width=relative) == pytest.approx(w.mean(), abs=1e-14)


@given(problems(), st.sampled_from([np.tanh, np.sign, lambda t: t > 0]))
def test_gauc_is_the_mean_over_a_matrix_of_differences(problem, modifier):
    y, s = problem.arguments
    u = np.ones(y.size) if problem.sample_weight is None else problem.sample_weight
    values = modifier(np.subtract.outer(s[y == 1], s[y == 0])) * np.outer(u[y == 1], u[y == 0])
    expected = values.sum() / (u[y == 1].sum() * u[y == 0].sum())
    value = gauc_score(y, s, modifier, sample_weight=problem.sample_weight)
    assert value == pytest.approx(expected, abs=1e-14)


def test_gauc_in_chunks():
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 5000)
    s = np.round(rng.normal(size=5000), 2)
    weight = rng.random(5000)
    for w in (None, weight):
        value = gauc_score(y, s, lambda t: np.heaviside(t, 0.5), sample_weight=w)
        assert value == pytest.approx(auc_score(y, s, sample_weight=w), abs=1e-14)


METRICS = [
    pytest.param(lambda y, s, **o: scored_auc(y, s, **o), id="scored"),
    pytest.param(lambda y, s, **o: scored_auc(y, s, ties="half", **o), id="scored-half"),
    pytest.param(lambda y, s, **o: ferri_auc(y, s, **o), id="ferri"),
    pytest.param(lambda y, s, **o: soft_auc(y, s, beta=0.7, **o), id="soft"),
    pytest.param(lambda y, s, **o: probabilistic_auc(y, s, width=1.3, **o), id="probabilistic"),
    pytest.param(lambda y, s, **o: probabilistic_auc(y, s, width=1.3, as_published=True, **o), id="published"),
    pytest.param(lambda y, s, **o: gauc_score(y, s, np.arctan, **o), id="gauc"),
]


@pytest.mark.parametrize("metric", METRICS)
@given(problem=grid_problems(weights="integer"))
def test_integer_weights_are_repeated_rows(metric, problem):
    y, s = problem.arguments
    repeats = np.ones(y.size, int) if problem.sample_weight is None else problem.sample_weight.astype(int)
    rows = np.repeat(y, repeats), np.repeat(s, repeats)
    assert metric(y, s, sample_weight=repeats) == pytest.approx(metric(*rows), abs=1e-14)
    assert metric(np.tile(y, 2), np.tile(s, 2)) == pytest.approx(metric(y, s), abs=1e-14)


@given(PROBLEMS, WIDTHS)
def test_exchanging_the_classes(problem, relative):
    """softAUC and probAUC give the complement; sAUC(p, n) − sAUC(n, p) = mean p − mean n = 2 pAUC_F − 1."""
    y, s = problem.arguments
    options = {"sample_weight": problem.sample_weight}
    size = largest(problem) or 1.0
    soft = [soft_auc(labels, s, beta=1 / (relative * size), **options) for labels in (y, 1 - y)]
    assert sum(soft) == pytest.approx(1.0, abs=2e-14)
    probable = [probabilistic_auc(labels, s, width=relative * size, **options) for labels in (y, 1 - y)]
    assert sum(probable) == pytest.approx(1.0, abs=2e-15)
    scored = scored_auc(y, s, **options) - scored_auc(1 - y, s, **options)
    assert scored == pytest.approx(2 * ferri_auc(y, s, **options) - 1, abs=1e-14 * (1 + size))


@given(problems())
def test_sharp_modifiers_approach_auc_with_half_ties(problem):
    """Differences are at least 1e-9 or 0 here; both modifiers are at their limits for such."""
    smallest = min((abs(float(x)) for x, _ in problem.errors if x), default=1.0)
    options = {"sample_weight": problem.sample_weight}
    auc = auc_score(*problem.arguments, **options)
    assert soft_auc(*problem.arguments, beta=50 / smallest, **options) == pytest.approx(auc, abs=1e-15)
    assert probabilistic_auc(*problem.arguments, width=smallest / 3, **options) == pytest.approx(auc, abs=1e-15)


@pytest.mark.parametrize("constant", [0.0, 0.3, -1e9])
def test_constant_scores(constant):
    y, s = [0, 1, 1], [constant] * 3
    assert scored_auc(y, s) == 0.0
    assert scored_auc(y, s, ties="half") == 0.5
    assert ferri_auc(y, s) == soft_auc(y, s, beta=2.0) == probabilistic_auc(y, s, width=0.1) == 0.5


def test_printed_modifier_differs_where_the_errata_say():
    """h = 0.1, t = 0.05: s = ¼; printed ¼ + ½·(¾)² = 0.53125, true 1 − ½·(¾)² = 0.71875. It jumps at ±h."""
    y, s = [1, 0], [0.05, 0.0]
    assert probabilistic_auc(y, s, width=0.1) == pytest.approx(0.71875, abs=1e-15)
    assert probabilistic_auc(y, s, width=0.1, as_published=True) == pytest.approx(0.53125, abs=1e-15)
    inside, outside = np.nextafter(0.125, 0.0), 0.125
    printed = [probabilistic_auc(y, [t, 0.0], width=0.125, as_published=True) for t in (inside, outside)]
    assert printed == pytest.approx([0.625, 1.0], abs=1e-15)
    printed = [probabilistic_auc(y, [-t, 0.0], width=0.125, as_published=True) for t in (inside, outside)]
    assert printed == pytest.approx([0.125, 0.0], abs=1e-15)


def test_the_largest_scores():
    y, s = [1, 1, 0, 0], np.array([8e307, 4e307, 0.0, -8e307])
    assert scored_auc(y, s) == pytest.approx(1e308, rel=1e-15)  # the mean of 8, 16, 4, 12
    assert soft_auc(y, s, beta=1e-307) == pytest.approx(expit([8.0, 16.0, 4.0, 12.0]).mean(), abs=1e-15)
    assert probabilistic_auc(y, s, width=1.7e308) == pytest.approx(
        np.mean(1 - 0.5 * (1 - np.array([8, 16, 4, 12]) / 34) ** 2), abs=1e-15
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda y, s: scored_auc(np.ones(3), s), "two classes are needed, but all 3 labels"),
        (lambda y, s: scored_auc(y, [0.0, np.inf, 1.0]), r"y_score\[1\] is inf"),
        (lambda y, s: soft_auc(y, [0.0, -np.inf, 1.0], beta=1.0), r"y_score\[1\] is -inf"),
        (lambda y, s: probabilistic_auc(y, [0.0, np.nan, 1.0], width=1.0), r"y_score\[1\] is nan"),
        (lambda y, s: ferri_auc(y, [0.0, 1.0]), "lengths differ"),
        (lambda y, s: ferri_auc(y, [-1.5e308, 1.0, 1.5e308]), "range from -1.5e"),
        (lambda y, s: scored_auc(y, s, ties="strict"), "ties"),
        (lambda y, s: soft_auc(y, s, beta=0.0), "beta must be above 0, got 0.0"),
        (lambda y, s: soft_auc(y, s, beta=np.inf), "beta must be a finite number"),
        (lambda y, s: probabilistic_auc(y, s, width=-0.1), "width must be above 0, got -0.1"),
        (lambda y, s: gauc_score(y, s, 3.0), "modifier must be a function"),
        (lambda y, s: gauc_score(y, s, np.sum), "modifier turned"),
        (lambda y, s: gauc_score(y, s, lambda t: t * np.nan), "NaN at the difference"),
        (lambda y, s: scored_auc(y, s, sample_weight=[1, 0, 0]), "weights of the positive class"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(AuclabError, match=words):
        call([0, 1, 1], [0.1, 0.2, 0.3])


def test_named_positive_class():
    assert ferri_auc(["b", "g"], [0.0, 0.5], pos_label="g") == 0.75
    assert soft_auc([2, 1], [0.0, 0.5], beta=1.0, pos_label=2) == pytest.approx(float(expit(-0.5)), abs=1e-15)
