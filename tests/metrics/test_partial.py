"""Weighted, partial and two-way partial AUC against exact integrals of the ROC curve."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import reference_metrics as twin
from auclab._core.base import AuclabError
from auclab.metrics import auc_score, partial_auc, two_way_partial_auc, weighted_auc
from strategies import WIDE, grid_problems, problems

PROBLEMS = st.one_of(problems(), problems(scores=WIDE))
TIES = {"strict": Fraction(0), "half": Fraction(1, 2), "upper": Fraction(1)}
CONVENTIONS = ("average", "max_rank", "linear")
COEFFICIENTS = st.lists(st.integers(-3, 3), min_size=1, max_size=6)
RATES = st.one_of(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), st.floats(0, 1))


def polynomial(coefficients):
    return lambda s: np.polynomial.polynomial.polyval(s, np.array(coefficients, float), tensor=False)


@given(PROBLEMS, COEFFICIENTS, st.sampled_from(CONVENTIONS), st.sampled_from(list(TIES)))
def test_weighted_auc_is_the_exact_integral(problem, coefficients, convention, ties):
    if convention == "linear":
        ties = "half"
    value = weighted_auc(
        *problem.arguments,
        weight=polynomial(coefficients),
        convention=convention,
        ties=ties,
        sample_weight=problem.sample_weight,
    )
    expected = twin.weighted_auc(problem, coefficients, convention, TIES[ties])
    assert value == pytest.approx(float(expected), abs=1e-13)


@given(PROBLEMS, st.sampled_from(CONVENTIONS), st.sampled_from(list(TIES)))
def test_a_constant_weight_gives_auc(problem, convention, ties):
    ties = "half" if convention == "linear" else ties
    options = {"ties": ties, "sample_weight": problem.sample_weight}
    value = weighted_auc(*problem.arguments, weight=np.ones_like, convention=convention, **options)
    assert value == pytest.approx(auc_score(*problem.arguments, **options), abs=1e-14)


@given(PROBLEMS, st.sampled_from(CONVENTIONS))
def test_is_additive_in_the_weight(problem, convention):
    def value(weight):
        return weighted_auc(
            *problem.arguments, weight=weight, convention=convention, sample_weight=problem.sample_weight
        )

    assert value(np.exp) == pytest.approx(value(np.sin) + value(lambda s: np.exp(s) - np.sin(s)), abs=1e-13)


@given(PROBLEMS, st.lists(RATES, min_size=2, max_size=2, unique=True).map(sorted))
def test_a_band_of_the_linear_convention_is_the_partial_area(problem, band):
    low, high = band
    if high - low < 1e-12:
        return
    first, last = 1.0 - high, 1.0 - low
    value = weighted_auc(
        *problem.arguments,
        weight=lambda s: ((s >= first) & (s <= last)).astype(float),
        convention="linear",
        breakpoints=(first, last),
        sample_weight=problem.sample_weight,
    )
    area = partial_auc(
        *problem.arguments, min_fpr=low, max_fpr=high, standardized=False, sample_weight=problem.sample_weight
    )
    assert value == pytest.approx(area, abs=1e-14)


@given(PROBLEMS, st.lists(RATES, min_size=2, max_size=2, unique=True).map(sorted))
def test_partial_area_is_the_area_of_the_clipped_polygon(problem, band):
    low, high = band
    options = {"min_fpr": low, "max_fpr": high, "sample_weight": problem.sample_weight}
    expected = float(twin.band_area(twin.roc_points(problem), low, high))
    area = partial_auc(*problem.arguments, standardized=False, **options)
    assert area == pytest.approx(expected, rel=1e-12, abs=1e-15)
    mean = partial_auc(*problem.arguments, standardized="area", **options)
    assert mean * (high - low) == pytest.approx(area, rel=1e-14, abs=1e-300)
    chance = float((Fraction(high) ** 2 - Fraction(low) ** 2) / 2)
    best = float(Fraction(high) - Fraction(low))
    if best > 1e-6:
        mcclish = partial_auc(*problem.arguments, standardized="mcclish", **options)
        assert mcclish == pytest.approx((1 + (expected - chance) / (best - chance)) / 2, abs=1e-8)


@given(PROBLEMS, st.floats(0, 0.99), st.floats(0.01, 1))
def test_two_way_area_is_the_area_of_the_clipped_polygon(problem, floor, high):
    expected = float(twin.band_area(twin.roc_points(problem), 0.0, high, floor))
    area = two_way_partial_auc(*problem.arguments, min_tpr=floor, max_fpr=high, sample_weight=problem.sample_weight)
    assert area == pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(PROBLEMS, st.floats(0.01, 1))
def test_two_way_area_without_floor_is_the_partial_area(problem, high):
    options = {"max_fpr": high, "sample_weight": problem.sample_weight}
    plain = partial_auc(*problem.arguments, standardized=False, **options)
    assert two_way_partial_auc(*problem.arguments, min_tpr=0.0, **options) == plain


@pytest.mark.parametrize("max_fpr", [0.01, 0.1, 0.37, 0.5, 0.999, 1.0])
def test_mcclish_is_scikit_learns(max_fpr):
    rng = np.random.default_rng(1)
    for decimals in (0, 1, 12):
        y = rng.integers(0, 2, 400)
        s = np.round(rng.normal(size=400) + y, decimals)
        for weight in (None, rng.random(400), rng.integers(1, 4, 400)):
            value = partial_auc(y, s, max_fpr=max_fpr, standardized="mcclish", sample_weight=weight)
            theirs = roc_auc_score(y, s, max_fpr=max_fpr, sample_weight=weight)
            assert value == pytest.approx(theirs, abs=1e-12)


@given(PROBLEMS)
def test_average_and_max_rank_differ_by_at_most_the_variation_over_the_negatives(problem):
    """|f_S − f_R| ≤ V(W)/n_neg on a sample without ties of negatives; V = 1 for a jump at ½."""
    y, s = problem.arguments
    neg = s[y == 0]
    if np.unique(neg).size < neg.size:
        return
    options = {"weight": lambda q: (q >= 0.5).astype(float), "breakpoints": (0.5,)}
    average, max_rank = (weighted_auc(y, s, convention=c, **options) for c in ("average", "max_rank"))
    assert abs(average - max_rank) <= 1 / neg.size + 1e-15


METRICS = [
    *(
        pytest.param(lambda y, s, c=c, **o: weighted_auc(y, s, weight=np.exp, convention=c, **o), id=c)
        for c in CONVENTIONS
    ),
    pytest.param(lambda y, s, **o: partial_auc(y, s, min_fpr=0.1, max_fpr=0.6, standardized="area", **o), id="area"),
    pytest.param(lambda y, s, **o: two_way_partial_auc(y, s, min_tpr=0.3, max_fpr=0.6, **o), id="two-way"),
]


@pytest.mark.parametrize("metric", METRICS)
@given(problem=grid_problems(weights="integer"))
def test_integer_weights_are_repeated_rows(metric, problem):
    y, s = problem.arguments
    repeats = np.ones(y.size, int) if problem.sample_weight is None else problem.sample_weight.astype(int)
    rows = np.repeat(y, repeats), np.repeat(s, repeats)
    assert metric(y, s, sample_weight=repeats) == pytest.approx(metric(*rows), abs=1e-14)
    assert metric(np.tile(y, 2), np.tile(s, 2)) == pytest.approx(metric(y, s), abs=1e-14)


@pytest.mark.parametrize("metric", METRICS)
@given(problem=problems())
def test_only_the_order_counts(metric, problem):
    """Ranks instead of scores, the outermost ones moved to infinity, rows in another order."""
    y, s = problem.arguments
    weight = problem.sample_weight
    value = metric(y, s, sample_weight=weight)
    ranks = np.unique(s, return_inverse=True)[1].astype(float)
    far = np.where(ranks == ranks.max(), np.inf, np.where(ranks == ranks.min(), -np.inf, ranks))
    far = ranks if ranks.max() == 0 else far
    order = np.random.default_rng(0).permutation(y.size)
    assert metric(y, ranks, sample_weight=weight) == metric(y, far, sample_weight=weight) == value
    shuffled = metric(y[order], s[order], sample_weight=None if weight is None else weight[order])
    assert shuffled == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("n", [3, 300, 30_000])
def test_weighted_auc_of_a_perfect_order_is_the_integral_of_the_weight(n):
    """∫₀¹ e^s ds = e − 1, whether the steps are wide or narrow; the max-rank sum differs by (e − 1)/2n."""
    y, s = np.repeat([1, 0], n), np.arange(2.0 * n)[::-1]
    for convention in ("average", "linear"):
        assert weighted_auc(y, s, weight=np.exp, convention=convention) == pytest.approx(np.e - 1, abs=1e-14)
    ranks = weighted_auc(y, s, weight=np.exp, convention="max_rank")
    assert ranks == pytest.approx(np.exp(np.arange(1, n + 1) / n).sum() / n, abs=1e-13)
    # 30000 steps of alternating height: Φ(s) = s³/3 summed exactly
    y, s = np.tile([0, 1], n), np.arange(2.0 * n)
    above = np.arange(n, 0, -1) / n
    steps = [Fraction(3 * j * j + 3 * j + 1, 3 * n**3) for j in range(min(n, 300))]
    if n <= 300:
        expected = float(sum((Fraction(n - j, n) * step for j, step in enumerate(steps)), Fraction(0)))
        assert weighted_auc(y, s, weight=np.square) == pytest.approx(expected, abs=1e-15)
    assert weighted_auc(y, s, weight=np.ones_like) == pytest.approx(above.mean(), abs=1e-14)


def test_impossibility_example():
    """Negatives at a and b, positives between: rank ½ at a gets W = 1 from the plug-in, the lower half gets 0."""
    y, s = [0, 0, 1], [0.0, 2.0, 1.0]
    upper_half = {"weight": lambda q: (q >= 0.5).astype(float), "breakpoints": [0.5]}
    assert weighted_auc(y, s, convention="max_rank", **upper_half) == 0.5
    assert weighted_auc(y, s, convention="average", **upper_half) == 0.0


def test_constant_scores():
    """The polygon is the diagonal: the trapezium from ¼ to ¾ has the area ¼; W(s) = s has the integral ½."""
    y, s = [0, 1, 1], [7.0] * 3
    assert partial_auc(y, s, min_fpr=0.25, max_fpr=0.75, standardized=False) == 0.25
    assert partial_auc(y, s, min_fpr=0.25, max_fpr=0.75, standardized="mcclish") == 0.5
    assert two_way_partial_auc(y, s, min_tpr=0.5, max_fpr=1.0) == 0.125
    for ties, value in (("strict", 0.0), ("half", 0.25), ("upper", 0.5)):
        assert weighted_auc(y, s, weight=lambda q: q, ties=ties) == pytest.approx(value, abs=1e-16)
    # ∫ u (1 − u) du = 1/6
    assert weighted_auc(y, s, weight=lambda q: q, convention="linear") == pytest.approx(1 / 6, abs=1e-16)


def test_standardized_has_no_default():
    with pytest.raises(TypeError, match="standardized"):
        partial_auc([0, 1], [0.0, 1.0], max_fpr=0.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda y, s: partial_auc([0, 0, 0], s, standardized=False), "two classes are needed, but all 3 labels"),
        (lambda y, s: partial_auc(y, [0.0, np.nan, 1.0], standardized=False), r"y_score\[1\] is nan"),
        (lambda y, s: partial_auc(y, s, standardized=True), "standardized must be"),
        (lambda y, s: partial_auc(y, s, standardized="mean"), "standardized must be"),
        (lambda y, s: partial_auc(y, s, min_fpr=0.5, max_fpr=0.5, standardized=False), "min_fpr=0.5 and max_fpr=0.5"),
        (lambda y, s: partial_auc(y, s, max_fpr=1.1, standardized=False), "max_fpr=1.1"),
        (lambda y, s: two_way_partial_auc(y, s, min_tpr=1.0, max_fpr=0.5), "min_tpr=1.0"),
        (lambda y, s: two_way_partial_auc(y, s, min_tpr=0.5, max_fpr=0.0), "max_fpr=0.0"),
        (lambda y, s: weighted_auc(y, s, weight=np.exp, convention="mean"), "convention='mean' is unknown"),
        (lambda y, s: weighted_auc(y, s, weight=np.exp, ties="mid"), "ties='mid' is unknown"),
        (lambda y, s: weighted_auc(y, s, weight=np.exp, convention="linear", ties="strict"), "another convention"),
        (lambda y, s: weighted_auc(y, s, weight=2.0), "weight must be a function"),
        (lambda y, s: weighted_auc(y, s, weight=lambda q: 1.0), "weight turned"),
        (lambda y, s: weighted_auc(y, s, weight=lambda q: q + np.inf), "weight is inf at specificity"),
        (lambda y, s: weighted_auc(y, s, weight=np.exp, breakpoints=[0.5, 1.5]), "got 1.5"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(AuclabError, match=words):
        call([0, 1, 1], [0.1, 0.2, 0.3])
