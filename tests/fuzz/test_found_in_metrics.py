"""What random scores showed in metrics, inference and bounds, one named test for each."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from auclab import bounds, metrics
from auclab._core.base import AuclabError
from auclab.inference import estimate


def test_tiny_scores_beside_huge_ones_do_not_become_ties():
    """All errors are below 0, so bAUC is 1: it was ½, because scores were divided by 2⁸³⁸ and 9e-271 became 0."""
    y, s = [1, 1, 0, 0], [9.4e-271, 1e-192, -9.9e-286, -8e251]
    assert metrics.bauc_score(y, s) == 1.0
    assert metrics.bpoe([-9.4e-271, -8e251], 0.0) == 0.0


def test_scores_that_no_unit_fits_are_refused():
    """0.25 was returned where 0.75 is right."""
    y, s = [1, 1, 1, 1, 0], [2.3e-308, 0.0, 8e307, 2.3e-308, 0.0]
    for metric in (metrics.bauc_score, metrics.buffered_auc, metrics.auc_threshold):
        with pytest.raises(AuclabError, match="would count as 0; use 0 instead, or divide the largest scores"):
            metric(y, s)
    assert metrics.auc_score(y, s) == 0.875


def test_auc_threshold_of_errors_far_below_the_largest_score():
    """The sum of the errors ≥ 0 was taken for uncertain beside 8e307, a score that is not in it: 0.0 came out."""
    y, s, w = [1, 1, 1, 1, 0], [0.0, 0.0, 8e307, 1e200, 1e200], [1.0, 2.0, 2.0, 1.0, 3.0]
    assert metrics.auc_threshold(y, s, sample_weight=w) == pytest.approx(7.5e199, rel=1e-15)


@pytest.mark.parametrize("convention", ["average", "linear", "max_rank"])
def test_weighted_auc_with_a_negative_of_negligible_weight(convention):
    """Its step has no length in doubles: 0/0 and a warning."""
    y, s, w = [1, 0, 0, 0], [2.0, 1.0, 3.0, 4.0], [1.0, 0.1, 1e12, 1e-12]
    value = metrics.weighted_auc(y, s, weight=np.square, convention=convention, sample_weight=w)
    assert 0.0 <= value < 1e-20


def test_polynomial_auc_of_subnormal_scores():
    """Halves and quarters of the smallest doubles are rounded: the value was off by 1e-9."""
    tiny = 2.0**-1060
    y, s, w = [1, 1, 0], np.array([-90.0, -80.0, -90.0]), [3.0, 1.0, 1.0]
    expected = metrics.polynomial_auc(y, s, degree=9, sample_weight=w)
    assert metrics.polynomial_auc(y, s * tiny, degree=9, sample_weight=w) == pytest.approx(expected, abs=1e-14)


def test_polynomial_auc_of_neighbouring_doubles():
    """The centre was rounded in units of the offset, and differences left [−1, 1], where polynomials grow."""
    steps = np.array([1, -2, 1, 0, 3])
    y, offset = [1, 0, 0, 0, 0], 3.0
    expected = metrics.polynomial_auc(y, steps.astype(float), degree=9)
    found = metrics.polynomial_auc(y, offset + steps * math.ulp(offset), degree=9)
    assert found == pytest.approx(expected, abs=1e-14)


def test_polynomial_of_a_degree_that_no_memory_holds_is_refused():
    """(degree + 1)² numbers: 10⁹ asked for 10¹⁸ of them, 10⁴⁰⁰ ended in NumPy's ValueError."""
    for degree in (10**9, 10**400):
        with pytest.raises(AuclabError, match="degree must be at most 4000"):
            metrics.polynomial_auc([0, 1], [0.0, 1.0], degree=degree)


def test_probabilistic_auc_of_many_tied_scores():
    """Moments of a cell were summed without their rounding errors: 4 units in the last place at 188 rows."""
    y, s = np.repeat([1, 0, 0], [2, 3, 10**6]), np.repeat([0.0, 0.0, 1.7187809084918886], [2, 3, 10**6])
    t = Fraction(1.7187809084918886) / 2
    exact = (3 * Fraction(1, 2) + 10**6 * (1 - t) ** 2 / 2) / (10**6 + 3)
    found = metrics.probabilistic_auc(y, s, width=1.0)
    assert abs(Fraction(found) - exact) <= Fraction(1, 2**52)


def test_masked_entries_are_not_read():
    """The numbers under the mask were used, of scores and of labels."""
    masked = np.ma.array([0, 1, 1, 0], mask=[0, 1, 0, 0])
    with pytest.raises(AuclabError, match=r"y_score\[1\] is nan"):
        metrics.auc_score([0, 1, 1, 0], masked)
    with pytest.raises(AuclabError, match=r"labels\[1\] is missing"):
        metrics.auc_score(masked, [0.1, 0.2, 0.3, 0.4])


def test_integers_that_doubles_cannot_hold_do_not_become_ties():
    """2⁶² and 2⁶² + 1 are one double: AUC was ½."""
    with pytest.raises(AuclabError, match="which a double rounds to"):
        metrics.auc_score([0, 1], np.array([2**62, 2**62 + 1]))


def test_text_is_not_read_as_numbers():
    """["1", "2"] was taken for [1.0, 2.0] without a word."""
    with pytest.raises(AuclabError, match="y_score must be numeric"):
        metrics.auc_score([0, 1], ["1", "2"])


def test_pos_label_is_one_label():
    """Labels given as the positive label made all rows positive, and a ZeroDivisionError."""
    y = np.array([0, 1, 1, 0])
    with pytest.raises(AuclabError, match="pos_label must be one label"):
        metrics.auc_score(y, [0.1, 0.2, 0.3, 0.4], pos_label=y)


@pytest.mark.parametrize("option", ["a", None, [0.5], 10**400])
def test_options_of_estimates_are_refused_as_those_of_metrics(option):
    """The range of the values was computed before the metric had checked its options: TypeError and others."""
    y, s = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(AuclabError, match="max_fpr must be"):
        estimate(y, s, "partial_auc", max_fpr=option, standardized=False)
    with pytest.raises(AuclabError, match="min_tpr must be"):
        estimate(y, s, "two_way_partial_auc", min_tpr=option, max_fpr=0.5)
    with pytest.raises(AuclabError, match="level must be"):
        estimate(y, s, level=option)


@pytest.mark.parametrize("resamples", [math.nan, "200", 200.0, 0, -5, 10**400])
def test_resamples_are_a_whole_number(resamples):
    """NaN ended in a ValueError of SciPy, and 0 was taken for the default."""
    for metric in ("two_way_partial_auc", "voros"):
        options = {"min_tpr": 0.5, "max_fpr": 0.5} if metric == "two_way_partial_auc" else {}
        with pytest.raises(AuclabError, match="resamples must be a whole number"):
            estimate([0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0], metric, resamples=resamples, **options)


def test_bounds_beyond_doubles_have_a_number_or_a_word():
    """NaN was returned without a word, and other parameters ended in ZeroDivisionError, OverflowError or TypeError."""
    sizes = {"n_pos": 50, "n_neg": 50}
    found = bounds.pairwise_stability_bound(0.1, 1e300, diameter=1e300, penalty=1e-300, rho=0.05, **sizes)
    assert (found.lower, found.slack, found.vacuous) == (-math.inf, math.inf, True)
    X, y = [[1.0], [0.1], [0.0], [2.0]], [0, 1, 0, 1]
    found = bounds.peeled_stability_bound(X, y, [0.0], diameter=1.7e308, penalty=2.0, rho=0.05, a=2.0)
    assert (found.lower, found.vacuous) == (-math.inf, True)
    with pytest.raises(AuclabError, match="rho must be at least 1e-300"):
        bounds.fixed_scorer_auc_bound(0.7, rho=5e-324, **sizes)
    with pytest.raises(AuclabError, match="class sizes are whole numbers, got n_pos=inf"):
        bounds.fixed_scorer_auc_bound(0.7, n_pos=math.inf, n_neg=5, rho=0.05)
    with pytest.raises(AuclabError, match="n_pos must fit into a double"):
        bounds.fixed_scorer_auc_bound(0.7, n_pos=10**400, n_neg=5, rho=0.05)
    with pytest.raises(AuclabError, match="a0 must be a number, got None"):
        bounds.peeled_stability_bound(X, y, [0.1], diameter=9.0, penalty=2.0, rho=0.05, a0=None)
    with pytest.raises(AuclabError, match="X @ coef exceed the largest double"):
        bounds.peeled_stability_bound([[-1e8], [1.0]], [0, 1], [1.7e308], diameter=1e9, penalty=2.0, rho=0.05)
    found = bounds.roc_value_bound([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], 5e-324, delta=0.05, method="weight")
    assert found.vacuous
