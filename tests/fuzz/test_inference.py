"""Inference on nasty scores against the definition in exact rationals, and against the numbers of R's pROC.

pROC 1.18.0 (Robin et al. 2011, BMC Bioinformatics 12:77) under R 4.2.2 gave the stored numbers; each comes with the R
code that printed it, on data that are written out here. On pROC's own data set aSAH, which is not repeated here, DeLong
variances, covariances and paired tests of S100β, NDKA and WFNS agreed to 16 digits.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_inference as twin
from auclab import metrics
from auclab._core.base import AuclabError
from auclab.inference import compare_scorers, estimate
from strategies import Problem

from . import exact_metrics as exact
from .nasty_scores import SMALLEST, crowds, nasty, nasty_settings

TIES = {"strict": Fraction(0), "half": Fraction(1, 2), "upper": Fraction(1)}

# y <- c(1, 0, 0, ...); a <- c(2.1, 0.3, ...); b <- c(3, 1, ...)
Y = np.array([1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0])
A = [2.1, 0.3, -1.2, 0.8, 0.9, 1.7, -0.4, 0.2, -0.1, 3.0, 1.1, -2.0]
A += [0.6, 0.0, 1.9, -0.7, 2.4, 0.5, 1.3, -1.5, 0.7, 0.4, -0.3, 1.0]
B = [3, 1, 1, 2, 2, 2, 1, 3, 2, 3, 2, 0, 1, 1, 2, 1, 3, 0, 3, 1, 2, 2, 1, 0]

# k <- 0:249; y <- as.integer(k %% 5 < 2); a <- (k*37) %% 101 + 30*y; b <- (k*53) %% 97 + (a %/% 2) + 10*y
K = np.arange(250)
Y250 = (K % 5 < 2).astype(int)
A250 = (K * 37) % 101 + 30 * Y250
B250 = (K * 53) % 97 + A250 // 2 + 10 * Y250


@pytest.mark.parametrize(
    ("y", "scores", "auc", "variance"),
    [  # r <- roc(y, a, levels=c(0, 1), direction="<"); auc(r); var(r, method="delong")
        (Y, A, 0.80740740740740735, 0.0084695277287869884),
        (Y, B, 0.83333333333333337, 0.0063874191651969421),
        (Y250, A250, 0.77683333333333338, 0.00084106167190171671),
        (Y250, B250, 0.71396666666666664, 0.0010867256021813963),
    ],
)
def test_delong_as_proc_has_it(y, scores, auc, variance):
    found = estimate(y, scores)
    assert found.value == pytest.approx(auc, rel=1e-15)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-14)


@pytest.mark.parametrize(
    ("y", "a", "b", "statistic", "p_value", "covariance"),
    [  # t <- roc.test(ra, rb, method="delong", paired=TRUE); t$statistic; t$p.value; cov(ra, rb, method="delong")
        (Y, A, B, -0.29328963291843452, 0.7693007771506768, 0.0035214579659024097),
        (Y250, A250, B250, 2.0179092168769359, 0.043600716968339857, 0.00047859661793174096),
    ],
)
def test_paired_test_as_proc_has_it(y, a, b, statistic, p_value, covariance):
    found = compare_scorers(y, a, b)
    assert found.statistic == pytest.approx(statistic, rel=1e-13)
    assert found.p_value == pytest.approx(p_value, rel=1e-13)
    one, other = (estimate(y, scores).standard_error ** 2 for scores in (a, b))
    assert 0.5 * (one + other - found.standard_error**2) == pytest.approx(covariance, rel=1e-13)


def test_limits_of_the_difference_as_proc_has_them():
    """t$conf.int: normal limits, as ours for a difference."""
    assert compare_scorers(Y, A, B).interval == pytest.approx((-0.19918087726885281, 0.14732902541700077), rel=1e-13)


@pytest.mark.parametrize(
    ("scores", "band", "area", "corrected"),
    [  # auc(r, partial.auc=c(1, 0.9)); auc(r, partial.auc=c(1, 0.9), partial.auc.correct=TRUE): specificities
        (A, (0.0, 0.1), 0.04074074074074073, 0.68810916179337234),
        (A, (0.0, 0.2), 0.096296296296296269, 0.7119341563786008),
        (A, (0.25, 0.75), 0.43333333333333329, 0.86666666666666659),
        (A, (0.5, 1.0), 0.48888888888888887, 0.95555555555555549),
        (B, (0.0, 0.1), 0.030555555555555544, 0.63450292397660824),
        (B, (0.0, 0.2), 0.088888888888888851, 0.69135802469135799),
        (B, (0.25, 0.75), 0.45932539682539686, 0.91865079365079372),
        (B, (0.5, 1.0), 0.48928571428571427, 0.95714285714285707),
    ],
)
def test_partial_auc_as_proc_has_it(scores, band, area, corrected):
    options = {"min_fpr": band[0], "max_fpr": band[1]}
    assert metrics.partial_auc(Y, scores, standardized=False, **options) == pytest.approx(area, rel=1e-13)
    assert metrics.partial_auc(Y, scores, standardized="mcclish", **options) == pytest.approx(corrected, rel=1e-13)


def test_partial_auc_is_as_uncertain_as_in_the_bootstrap_of_proc():
    """pROC has no formula here and resamples: set.seed(1), 10,000 times, partial.auc=c(1, 0.8)."""
    options = {"max_fpr": 0.2, "standardized": False}
    for scores, area, variance in (
        (A250, 0.086866666666666648, 0.00010237897273517649),
        (B250, 0.065499999999999975, 0.00010124011737735218),
    ):
        found = estimate(Y250, scores, "partial_auc", **options)
        assert found.value == pytest.approx(area, rel=1e-13)
        assert found.standard_error == pytest.approx(math.sqrt(variance), rel=0.05)
    # roc.test(PA, PB, method="bootstrap", boot.n=10000)
    found = compare_scorers(Y250, A250, B250, "partial_auc", **options)
    assert found.statistic == pytest.approx(1.8555349962747349, rel=0.05)


def counted(problem: Problem) -> bool:
    """Two observations with weight in either class."""
    return all(sum(1 for w in of if w) > 1 for of in twin.weights(problem))


@nasty_settings
@given(nasty(most=5), st.sampled_from(list(TIES)))
def test_delong_is_its_definition(problem, ties):
    """The standard error from row and column means of the kernel, in rationals."""
    y, s = problem.arguments
    found = estimate(y, s, ties=ties, sample_weight=problem.sample_weight)
    if not counted(problem):
        assert math.isnan(found.standard_error)
        assert (found.lower, found.upper) == (0.0, 1.0)
        return
    means = twin.kernel_means(problem, twin.auc_kernel(TIES[ties]))
    variance = twin.variance(problem, means)
    assert found.standard_error**2 == pytest.approx(float(variance), rel=1e-9, abs=1e-15)
    assert 0.0 <= found.lower <= found.value + 1e-15
    assert found.value - 1e-15 <= found.upper <= 1.0


@nasty_settings
@given(crowds())
def test_delong_of_many_ties(case):
    """Thousands of rows: the sums of squares follow from the numbers of rows."""
    problem, labels, scores = case
    found = estimate(labels, scores)
    rows, columns = twin.kernel_means(problem, twin.auc_kernel(TIES["half"]))
    counts = twin.weights(problem)
    if min(sum(of) for of in counts) == 1:
        assert math.isnan(found.standard_error)
        return
    variance = Fraction(0)
    for components, number in zip((rows, columns), counts, strict=True):
        n = sum(number)
        mean = sum(c * k for c, k in zip(components, number, strict=True)) / n
        variance += sum(k * (c - mean) ** 2 for c, k in zip(components, number, strict=True)) / (n - 1) / n
    assert found.standard_error**2 == pytest.approx(float(variance), rel=1e-10, abs=1e-24)


@nasty_settings
@given(nasty(most=5), st.randoms(use_true_random=False))
def test_paired_test_is_its_definition(problem, random):
    """Variance of the difference from the kernel of the difference; the second scorer is the first, shuffled."""
    pos, neg = problem.pos.copy(), problem.neg.copy()
    random.shuffle(pos)
    random.shuffle(neg)
    other = replace(problem, pos=pos, neg=neg)
    y, a = problem.arguments
    found = compare_scorers(y, a, other.arguments[1], sample_weight=problem.sample_weight)
    if not counted(problem):
        assert math.isnan(found.standard_error)
        return
    kernel = twin.auc_kernel(TIES["half"])
    means = tuple(
        [x - z for x, z in zip(first, second, strict=True)]
        for first, second in zip(twin.kernel_means(problem, kernel), twin.kernel_means(other, kernel), strict=True)
    )
    variance = float(twin.variance(problem, means))
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-9, abs=1e-15)
    assert 0.0 <= found.p_value <= 1.0
    if variance > 1e-12:
        assert found.statistic == pytest.approx(found.difference / math.sqrt(variance), rel=1e-6)


@nasty_settings
@given(nasty(most=4, weights=False), st.sampled_from([(0.0, 0.3), (0.25, 0.75), (0.1, 0.2)]))
def test_partial_auc_components_are_derivatives(problem, band):
    """The derivative of the area in the weight of every observation, in rationals."""
    found = estimate(
        *problem.arguments, "partial_auc", min_fpr=band[0], max_fpr=band[1], standardized=False
    ).standard_error
    if not counted(problem):
        assert math.isnan(found)
        return
    means = twin.influence(problem, lambda moved: twin.partial_area(moved, *band))
    assert found**2 == pytest.approx(float(twin.variance(problem, means)), rel=1e-6, abs=1e-12)


ESTIMATES = {
    "auc": {},
    "bauc": {},
    "scored_auc": {},
    "ferri_auc": {},
    "soft_auc": {"beta": 1.0},
    "probabilistic_auc": {"width": 0.5},
    "partial_auc": {"max_fpr": 0.3, "standardized": "mcclish"},
    "weighted_auc": {"weight": np.square},
    "gauc": {"modifier": np.sign},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATES)
@nasty_settings
@given(data=st.data())
def test_intervals_hold_the_value_on_any_scores(name, data):
    """No warning, no NaN without a note, the value within the limits; or a refusal in words."""
    problem = data.draw(nasty())
    y, s = problem.arguments
    try:
        value = metrics.METRICS[name].function(y, s, sample_weight=problem.sample_weight, **ESTIMATES[name])
    except AuclabError as error:
        with pytest.raises(AuclabError, match=str(error)[:20].replace("(", ".").replace("[", ".")):
            estimate(y, s, name, sample_weight=problem.sample_weight, **ESTIMATES[name])
        return
    found = estimate(y, s, name, sample_weight=problem.sample_weight, **ESTIMATES[name])
    assert found.value == pytest.approx(value, rel=1e-14, abs=1e-300)
    if math.isnan(found.standard_error):
        assert found.notes
        assert not counted(problem)
    slack = 1e-12 * max(
        1.0, abs(value), max((float(abs(x)) for x, _ in exact.present(problem).errors), default=SMALLEST)
    )
    assert found.lower <= found.value + slack
    assert found.upper >= found.value - slack


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 2.0, math.nan, "a", None, [0.9]])
def test_levels_are_refused_in_words(level):
    for call in (
        lambda: estimate([0, 1, 0, 1], [1, 2, 3, 4], level=level),
        lambda: compare_scorers([0, 1, 0, 1], [1, 2, 3, 4], [4, 3, 2, 1], level=level),
    ):
        with pytest.raises(AuclabError, match="level must"):
            call()


@pytest.mark.parametrize("option", [math.nan, "a", None, [], 10**400, b"x"])
def test_parameters_are_refused_in_words(option):
    y, s = [0, 1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 2.5]
    for name, options in (
        ("bauc", {"threshold": option}),
        ("soft_auc", {"beta": option}),
        ("partial_auc", {"max_fpr": option, "standardized": False}),
        ("partial_auc", {"max_fpr": 0.5, "standardized": option}),
        ("auc", {"ties": option}),
        ("gauc", {"modifier": option}),
        ("weighted_auc", {"weight": option}),
        ("probabilistic_auc", {"width": option}),
    ):
        if name == "partial_auc" and not option and options["max_fpr"] == 0.5:
            continue
        with pytest.raises(AuclabError):
            estimate(y, s, name, **options)
    for name in ("method", "resamples"):
        if option is not None or name == "method":
            with pytest.raises(AuclabError):
                estimate(y, s, "bauc", **{"method": "bootstrap", name: option})
