"""AUC against the count over all pairs, and the laws it obeys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import reference
from auclab._core.base import AuclabError
from auclab.metrics import auc_score
from strategies import grid_problems, problems

TIES = ("strict", "half", "upper")


@given(problems(), st.sampled_from(TIES))
def test_is_the_count_over_all_pairs(problem, ties):
    exact = reference.auc(problem.errors, ties)
    assert auc_score(*problem.arguments, ties=ties, sample_weight=problem.sample_weight) == pytest.approx(
        float(exact), abs=1e-15
    )


@given(grid_problems(), st.sampled_from(TIES))
def test_is_the_exact_quotient_of_the_counts_without_weights(problem, ties):
    assert auc_score(*problem.arguments, ties=ties) == float(reference.auc(problem.errors, ties))


@given(grid_problems(weights="integer"), st.sampled_from(TIES))
def test_integer_weights_are_repeated_rows(problem, ties):
    y, s = problem.arguments
    repeats = np.ones(y.size, int) if problem.sample_weight is None else problem.sample_weight.astype(int)
    repeated = auc_score(np.repeat(y, repeats), np.repeat(s, repeats), ties=ties)
    assert auc_score(y, s, ties=ties, sample_weight=repeats) == repeated


@given(problems(weights="none"))
def test_swapping_the_classes_or_negating_the_scores_gives_the_complement(problem):
    y, s = problem.arguments
    assert auc_score(1 - y, s) + auc_score(y, s) == pytest.approx(1.0, abs=1e-15)
    assert auc_score(y, -s) == auc_score(1 - y, s)
    assert auc_score(y, s, ties="upper") + auc_score(1 - y, s, ties="strict") == pytest.approx(1.0, abs=1e-15)


@given(grid_problems(weights="integer"))
def test_monotone_maps_and_permutations_change_nothing(problem):
    y, s = problem.arguments
    w = problem.sample_weight
    order = np.random.default_rng(0).permutation(y.size)
    value = auc_score(y, s, sample_weight=w)
    assert auc_score(y, np.exp(s / 1e9), sample_weight=w) == pytest.approx(value, abs=1e-15) or np.abs(s).max() > 1e8
    assert auc_score(y, s**3 if np.abs(s).max() < 1e5 else s, sample_weight=w) == value
    assert auc_score(y[order], s[order], sample_weight=None if w is None else w[order]) == pytest.approx(
        value, abs=4e-16
    )


def test_agrees_with_scikit_learn_on_tied_weighted_scores():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    s = np.round(rng.normal(size=500) + y, 1)
    w = rng.random(500)
    assert auc_score(y, s) == pytest.approx(roc_auc_score(y, s), abs=1e-14)
    assert auc_score(y, s, sample_weight=w) == pytest.approx(roc_auc_score(y, s, sample_weight=w), abs=1e-14)


def test_infinite_scores_are_ordered_and_tied_like_any_others():
    y, s = [1, 1, 0, 0], [np.inf, -np.inf, np.inf, 0.0]
    # pairs: (inf, inf) tied, (inf, 0) right, (-inf, inf) and (-inf, 0) wrong
    assert auc_score(y, s) == 1.5 / 4
    assert auc_score(y, s, ties="strict") == 0.25


@pytest.mark.parametrize(("ties", "value"), [("strict", 0.0), ("half", 0.5), ("upper", 1.0)])
def test_constant_scores(ties, value):
    assert auc_score([0, 1, 1], [7.0, 7.0, 7.0], ties=ties) == value


@pytest.mark.parametrize(
    "labels",
    [[-1, 1, 1], [False, True, True], np.array([0.0, 1.0, 1.0]), np.array([0, 1, 1], dtype=np.uint8)],
)
def test_usual_labels(labels):
    assert auc_score(labels, [0.5, 0.2, 0.9]) == 0.5


def test_named_positive_class():
    assert auc_score(["b", "g", "g"], [0.5, 0.2, 0.9], pos_label="g") == 0.5
    assert auc_score([1, 2, 2], [0.5, 0.2, 0.8], pos_label=1) == 0.5


@pytest.mark.parametrize(
    ("y", "s", "options", "words"),
    [
        ([1, 1], [0.1, 0.2], {}, "two classes"),
        ([0, 1, 2], [0.1, 0.2, 0.3], {}, "two classes"),
        ([0, 1], [0.1, np.nan], {}, "y_score"),
        ([0, 1], [0.1, 0.2, 0.3], {}, "lengths differ"),
        ([0, 1], [0.1, 0.2], {"ties": "average"}, "ties"),
        ([0, 1], [0.1, 0.2], {"sample_weight": [1, 0]}, "positive class|negative class"),
        ([0, 1], [0.1, 0.2], {"sample_weight": [1, -1]}, "weights must be"),
        ([3, 4], [0.1, 0.2], {}, "pos_label"),
    ],
)
def test_refuses_what_has_no_auc(y, s, options, words):
    with pytest.raises(AuclabError, match=words):
        auc_score(y, s, **options)
