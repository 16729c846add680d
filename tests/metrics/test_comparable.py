"""Concordance, grouped AUC and their buffered shares: twins over all pairs, laws of the sample, errors."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import reference_comparable as twin
from auclab._core.base import AuclabError
from auclab.metrics import (
    auc_score,
    bauc_score,
    buffered_concordance,
    concordance_index,
    grouped_auc,
    grouped_bauc,
)
from auclab.metrics.comparable import ComparablePairs
from auclab.samples.bicliques import censored_pairs, ordered_pairs
from strategies import refused_if_far

_SCORES = [
    st.integers(-3, 3).map(float),
    st.integers(-9, 9).map(lambda k: k * 0.1),
    st.floats(-10, 10).map(lambda s: s if abs(s) > 1e-9 else 0.0),
    st.floats(-1, 1).map(lambda s: round(s, 6) + 1e9),
]


@st.composite
def rows(draw, *, most=9):
    """Grades or times, marks, scores and weights (or None) of a few rows, with ties of all of them."""
    size = draw(st.integers(1, most))
    level = draw(st.lists(st.integers(0, draw(st.sampled_from([1, 4]))), min_size=size, max_size=size))
    mark = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    scores = draw(st.lists(draw(st.sampled_from(_SCORES)), min_size=size, max_size=size))
    if draw(st.booleans()):  # a lead of the larger levels, so that the buffer starts inside
        scores = [s + 3 * k for s, k in zip(scores, level, strict=True)]
    weight = draw(st.sampled_from([None, st.integers(0, 3).map(float), st.floats(0.01, 5)]))
    weights = None if weight is None else draw(st.lists(weight, min_size=size, max_size=size))
    return np.array(level), np.array(mark), np.array(scores), None if weights is None else np.array(weights)


def checked(found, errors, threshold=None):
    """A value beside its twin's, or the error where there are no pairs."""
    if not errors:
        with pytest.raises(AuclabError, match="no two rows can be compared"):
            found()
        return
    expected = reference.auc(errors, "half") if threshold is None else 1 - reference.buffered(errors, threshold).bpoe
    assert found() == pytest.approx(float(expected), abs=2e-14 if threshold is None else 1e-12)


@pytest.mark.parametrize("tied_times", ["excluded", "censored_later"])
@given(rows(), st.sampled_from([0.0, 0.5, -2.0, 3.0]))
@settings(max_examples=150)
def test_concordance_is_that_of_all_pairs(tied_times, given_rows, threshold):
    level, mark, scores, weight = given_rows
    time, event = -level, mark > 0
    errors = twin.errors(twin.pairs_of_times(time, event, tied_times), scores, weight)
    options = {"tied_times": tied_times, "sample_weight": weight}
    checked(lambda: concordance_index(time, event, scores, **options), errors)
    checked(lambda: buffered_concordance(time, event, scores, threshold=threshold, **options), errors, threshold)


@pytest.mark.parametrize("weights", ["pairs", "groups"])
@pytest.mark.parametrize("grouped", [True, False])
@given(rows(), st.sampled_from([0.0, 0.5, -2.0, 3.0]))
@settings(max_examples=100)
def test_grouped_auc_is_that_of_all_pairs(weights, grouped, given_rows, threshold):
    y, group, scores, weight = given_rows
    groups = group if grouped else None
    by_group = (group if grouped else np.zeros_like(group)) if weights == "groups" else None
    errors = twin.errors(twin.pairs_of_grades(y, groups), scores, weight, by_group)
    options = {"weights": weights, "sample_weight": weight}
    checked(lambda: grouped_auc(y, scores, groups, **options), errors)
    checked(lambda: grouped_bauc(y, scores, groups, threshold=threshold, **options), errors, threshold)


@given(rows(), st.integers(0, 8), st.integers(0, 8), st.sampled_from([1e13, 1e20, 1e200, 1e300, 5e307]), st.data())
@settings(max_examples=150)
def test_far_scores_are_those_of_all_pairs_or_refused(given_rows, first, second, far, data):
    """One or two scores far from the others, of one sign or of two; a threshold anywhere."""
    y, group, scores, weight = given_rows
    scores = scores.copy()
    scores[first % y.size] = far
    scores[second % y.size] = data.draw(st.sampled_from([far, -far, 0.9 * far, 0.0]))
    threshold = data.draw(st.sampled_from([0.0, 0.5, -2.0, far, -far, far / 3, 1e300, -1e300, 1e-300]))
    groups = data.draw(st.sampled_from([group, None]))
    errors = twin.errors(twin.pairs_of_grades(y, groups), scores, weight)
    if not errors:
        return
    with refused_if_far() if far > 1e299 else nullcontext():
        found = grouped_bauc(y, scores, groups, threshold=threshold, sample_weight=weight)
        assert found == pytest.approx(float(1 - reference.buffered(errors, threshold).bpoe), abs=1e-12)


def test_a_threshold_that_the_units_of_far_scores_would_make_0():
    """The largest error is 0 and below the threshold; in the units of the scores the threshold would be 0 as well."""
    y, scores = [0, 1, 0, 1], [0.0, 0.0, -3e304, 1.0]
    for metric in (grouped_bauc, bauc_score):
        assert metric(y, scores, threshold=1e-200) == 1.0
        with pytest.raises(AuclabError, match="the threshold, which is below 1e-270, would count as 0"):
            metric(y, scores, threshold=1e-300)


@given(rows())
def test_units_sum_to_the_whole(given_rows):
    y, group, scores, weight = given_rows
    errors = twin.errors(twin.pairs_of_grades(y, group), scores, weight)
    if not errors:
        return
    for groups, times_counted in ((group, 1), (None, 2)):  # of rows, a pair counts for both
        try:
            pairs = ComparablePairs(ordered_pairs(y, groups, weight))
        except AuclabError:
            continue
        assert pairs.unit_totals.sum() == pytest.approx(times_counted * pairs.total)
        right = pairs.auc_sums(scores).sum()
        assert right == pytest.approx(times_counted * pairs.total * pairs.auc(scores), abs=1e-9)


@pytest.fixture(scope="module")
def many():
    """10,000 rows in groups of 1 to 20, grades 0 to 3, times with ties, half of them censored."""
    rng = np.random.default_rng(7)
    groups = np.repeat(np.arange(1000), rng.integers(1, 20, 1000))[:10_000]
    y, signal = rng.integers(0, 4, groups.size), rng.normal(size=groups.size)
    time = np.ceil(20 * rng.exponential(np.exp(-signal)))
    return groups, y, y + rng.normal(size=groups.size), time, rng.random(groups.size) < 0.5, signal


def test_two_classes_in_one_group_are_auc(many):
    _, y, scores, *_ = many
    weight = np.linspace(0.5, 2.0, y.size)
    for options in ({}, {"sample_weight": weight}):
        assert grouped_auc(y > 1, scores, **options) == pytest.approx(auc_score(y > 1, scores, **options), abs=1e-14)
        for z in (0.0, -1.0, 0.7):
            expected = bauc_score(y > 1, scores, threshold=z, **options)
            assert grouped_bauc(y > 1, scores, threshold=z, **options) == pytest.approx(expected, abs=1e-13)


def test_groups_one_by_one(many):
    groups, y, scores, *_ = many
    mixed = [g for g in range(1000) if np.unique(y[groups == g]).size > 1]
    each = [grouped_auc(y[groups == g], scores[groups == g]) for g in mixed]
    assert grouped_auc(y, scores, groups, weights="groups") == pytest.approx(np.mean(each), abs=1e-13)
    counts = [ordered_pairs(y[groups == g]).n_pairs for g in mixed]
    assert grouped_auc(y, scores, groups) == pytest.approx(np.average(each, weights=counts), abs=1e-13)


def test_concordance_of_many_rows_is_that_of_all_pairs(many):
    *_, time, event, scores = (part[:600] for part in many)
    scores = np.round(scores, 1)
    wrong = scores[None, :] - scores[:, None]
    for tied_times, at_once in (("excluded", False), ("censored_later", True)):
        comparable = event[:, None] & ((time[:, None] < time) | (at_once & (time[:, None] == time) & ~event))
        for tolerance in (0.0, 0.15):
            share = (wrong < -tolerance) + 0.5 * (abs(wrong) <= tolerance)
            found = concordance_index(time, event, scores, tied_times=tied_times, tolerance=tolerance)
            assert found == share[comparable].mean()
        errors = wrong[comparable]
        slopes = 1.0 / (0.3 - np.linspace(-6, 0.29, 1000))
        hinge = [np.maximum(a * (errors - 0.3) + 1.0, 0.0).mean() for a in slopes]
        found = buffered_concordance(time, event, scores, threshold=0.3, tied_times=tied_times)
        assert 1 - min(hinge) <= found <= 1 - min(hinge) + 1e-4


def test_laws(many):
    groups, y, scores, time, event, risk = many
    assert concordance_index(time, event, np.exp(risk)) == concordance_index(time, event, risk)
    assert concordance_index(np.log(time), event, risk) == concordance_index(time, event, risk)
    assert concordance_index(time, event, -risk) == pytest.approx(1 - concordance_index(time, event, risk), abs=1e-15)
    assert concordance_index(time, event, np.zeros(time.size)) == 0.5
    assert buffered_concordance(time, event, np.zeros(time.size)) == 0.0
    value = buffered_concordance(time, event, risk)
    assert buffered_concordance(time, event, 1e200 * risk) == pytest.approx(value, abs=1e-13)
    assert buffered_concordance(time, event, 1e-200 * risk) == pytest.approx(value, abs=1e-13)
    assert buffered_concordance(time, event, risk + 1e6) == pytest.approx(value, abs=1e-9)
    # a shift of all scores of a group changes nothing
    shift = np.random.default_rng(1).normal(size=1000)[groups]
    assert grouped_bauc(y, scores + shift, groups) == pytest.approx(grouped_bauc(y, scores, groups), abs=1e-12)
    order = np.random.default_rng(2).permutation(y.size)
    assert grouped_auc(y[order], scores[order], groups[order]) == grouped_auc(y, scores, groups)


def test_infinite_scores_are_ranked():
    assert concordance_index([1, 2, 3], [1, 1, 1], [np.inf, np.inf, -np.inf]) == pytest.approx(5 / 6)
    with pytest.raises(AuclabError, match=r"scores\[0\] is inf"):
        buffered_concordance([1, 2, 3], [1, 1, 1], [np.inf, 0.0, 1.0])


def test_what_may_stand_for_groups_and_events():
    y, scores = [1, 0, 1, 0], [2.0, 1.0, 1.0, 2.0]
    for groups in (["a", "a", "b", "b"], pd.Series([7, 7, 9, 9]), np.array([0.5, 0.5, -1, -1])):
        assert grouped_auc(y, scores, groups) == 0.5
    for event in ([True, False, True], np.array([1, 0, 1]), pd.Series([1.0, 0.0, 1.0])):
        assert censored_pairs([1, 2, 3], event).n_pairs == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: concordance_index([1, 2], [0, 0], [1, 2]), "an event before the time of another row"),
        (lambda: concordance_index([1, 1], [1, 1], [1, 2]), "an event before the time of another row"),
        (lambda: concordance_index([1, 2], [1, 2], [1, 2]), "event must be 0 or 1, or a boolean"),
        (lambda: concordance_index([1, 2], [1, np.nan], [1, 2]), r"event\[1\] is nan"),
        (lambda: concordance_index([1, 2, 3], [1, 1], [1, 2]), "event has 2 entries, but there are 3 times"),
        (lambda: concordance_index([1, 2], [1, 1], [1, 2, 3]), "scores has 3 entries for 2 rows"),
        (lambda: concordance_index([1, 2], [1, 1], [1, np.nan]), r"scores\[1\] is nan"),
        (lambda: concordance_index([1, 2], [1, 1], [1, 2], tolerance=-1), "tolerance must be at least 0"),
        (lambda: concordance_index([1, 2], [1, 1], [1, 2], tied_times="both"), "tied_times must be"),
        (lambda: buffered_concordance([1, 2], [1, 1], [-1e308, 1e308]), "exceed the largest double"),
        (lambda: grouped_auc([1, 0], [1, 2], [1, 2]), "two rows of one group with different y"),
        (lambda: grouped_auc([1, 1], [1, 2]), "two different values of y"),
        (lambda: grouped_auc([1, 0], [1, 2], [1.0, np.nan]), r"groups\[1\] is missing"),
        (lambda: grouped_auc([1, 0], [1, 2], ["a", None]), r"groups\[1\] is missing"),
        (lambda: grouped_auc([1, 0], [1, 2], ["1", 1]), "groups must be all numbers or all text"),
        (lambda: grouped_auc([1, 0], [1, 2], [1, 1], weights="group"), "weights='group' is unknown"),
        (lambda: grouped_auc(["a", "b"], [1, 2]), "which class is positive"),
        (lambda: grouped_auc([1, 0], [1, 2], sample_weight=[0, 0]), "no two rows can be compared"),
    ],
)
def test_errors_say_what_came(call, message):
    with pytest.raises(AuclabError, match=message):
        call()


def test_values_of_scikit_survival_on_its_data_sets():
    datasets = pytest.importorskip("sksurv.datasets", reason="compares with scikit-survival where it is installed")
    from sksurv.metrics import concordance_index_censored

    for name in ("veterans_lung_cancer", "whas500", "gbsg2", "flchain", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")()
        event, time = (y[field] for field in y.dtype.names)
        column = X.select_dtypes("number").iloc[:, 0].to_numpy(float)
        scores = np.nan_to_num(column) + np.random.default_rng(0).normal(0.0, column.std(), column.size).round(1)
        expected = concordance_index_censored(event, time, scores)[0]
        found = concordance_index(time, event, scores, tied_times="censored_later", tolerance=1e-8)
        assert found == pytest.approx(expected, abs=1e-12), name


def test_values_of_lifelines_on_its_data_sets():
    datasets = pytest.importorskip("lifelines.datasets", reason="compares with lifelines where it is installed")
    from lifelines.utils import concordance_index as expected_index

    for name, time, event in (("rossi", "week", "arrest"), ("gbsg2", "time", "cens"), ("larynx", "time", "death")):
        table = getattr(datasets, f"load_{name}")()
        for scores in (table["age"], np.random.default_rng(0).normal(size=len(table))):
            found = concordance_index(table[time], table[event], scores, tied_times="censored_later")
            assert found == pytest.approx(expected_index(table[time], -scores, table[event]), abs=1e-12), name
