"""Optimism-corrected values against the definition, and against new rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from auclab import AuclabError, validate
from auclab.estimators import AUCClassifier
from auclab.metrics import auc_score


def sample(seed, n=120, p=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + 1.5 * rng.normal(size=n) > 0).astype(int)


def test_the_parts_are_those_of_the_definition():
    X, y = sample(0)
    found = validate(LogisticRegression(), X, y, repeats=15, seed=3)
    rng, optimism, out = np.random.default_rng(3), [], []
    for _ in range(15):
        rows = rng.integers(y.size, size=y.size)
        s = LogisticRegression().fit(X[rows], y[rows]).decision_function(X)
        left = np.setdiff1d(np.arange(y.size), rows)
        optimism.append(auc_score(y[rows], s[rows]) - auc_score(y, s))
        out.append(auc_score(y[left], s[left]))
    apparent = auc_score(y, LogisticRegression().fit(X, y).decision_function(X))
    assert (found.apparent, found.optimism) == pytest.approx((apparent, np.mean(optimism)))
    assert found.corrected == pytest.approx(apparent - np.mean(optimism))
    rate = (apparent - np.mean(out)) / (apparent - 0.5)
    weight = 0.632 / (1 - 0.368 * rate)
    assert found.plus632 == pytest.approx((1 - weight) * apparent + weight * np.mean(out))
    assert found.lower < found.corrected < found.upper


@pytest.mark.slow
def test_the_corrected_value_is_near_that_of_new_rows():
    new, truth = sample(99, 20_000), []
    corrected, apparent, plus632 = [], [], []
    for seed in range(12):
        X, y = sample(seed)
        found = validate(LogisticRegression(), X, y, repeats=40)
        truth.append(auc_score(new[1], LogisticRegression().fit(X, y).decision_function(new[0])))
        corrected, apparent = [*corrected, found.corrected], [*apparent, found.apparent]
        plus632.append(found.plus632)
    assert np.mean(apparent) - np.mean(truth) > 0.015
    assert abs(np.mean(corrected) - np.mean(truth)) < 0.02
    assert abs(np.mean(plus632) - np.mean(truth)) < 0.02


@pytest.mark.parametrize(
    "estimator", [LinearSVC(), AUCClassifier("ranksvm"), make_pipeline(StandardScaler(), LinearSVC())]
)
def test_estimators_and_tables(estimator):
    X, y = sample(1, 60, 3)
    table = pd.DataFrame(X, columns=list("abc"))
    found = validate(estimator, table, np.where(y == 1, "yes", "no"), "bauc", repeats=10)
    assert 0.0 <= found.corrected <= found.apparent <= 1.0
    assert found.repeats == 10


@pytest.mark.parametrize("params", [{"squared": True}, {"squared": False}, {"kernel": "rbf", "penalty": 0.1}])
def test_refits_near_the_full_fit_are_certified_and_measure_the_same(params):
    X, y = sample(4)
    full = AUCClassifier("ranksvm", **params).fit(X, y)
    near, rows = full.for_resamples(), np.random.default_rng(5).integers(y.size, size=y.size)
    assert not hasattr(near, "solution_")
    near, exact = near.fit(X[rows], y[rows]), AUCClassifier("ranksvm", **params).fit(X[rows], y[rows])
    assert near.solution_.status == "optimal"
    assert near.solution_.gap <= 1e-3
    assert near.solution_.lower_bound <= exact.solution_.objective * (1 + 1e-9)
    assert near.solution_.objective >= exact.solution_.lower_bound * (1 - 1e-9)
    assert auc_score(y, near.decision_function(X)) == pytest.approx(auc_score(y, exact.decision_function(X)), abs=2e-3)


def test_tolerance_that_was_given_stays_and_a_solver_without_a_start_gets_none():
    X, y = sample(4)
    near = AUCClassifier("ranksvm", "highs", tolerance=1e-5, norm="l1", squared=False).fit(X, y).for_resamples()
    assert near.tolerance == 1e-5
    assert near.solver_options is None
    # "auto" leaves a start out where the solver that it selects takes none
    assert AUCClassifier("exact_auc", solver_options={"start": (np.ones(2), 0.0)}).fit(X[:12, :2], y[:12]).solution_


def test_samples_without_a_class_are_left_out():
    X, y = sample(2, 40, 2)
    y[:] = 0
    y[:3] = 1
    found = validate(LogisticRegression(), X, y, repeats=60)
    assert found.repeats < 60


def test_what_is_refused():
    X, y = sample(0, 30, 2)
    for changes, message in (({"repeats": 5}, "at least 10"), ({"metric": "aucc"}, "no metric")):
        with pytest.raises(AuclabError, match=message):
            validate(LogisticRegression(), X, y, **changes)
    with pytest.raises(AuclabError, match="two classes"):
        validate(LogisticRegression(), X, np.arange(30) % 3)
    with pytest.raises(AuclabError, match="both classes inside"):
        validate(LogisticRegression(), X, [1] + [0] * 29, repeats=12)
    with pytest.raises(AuclabError, match="decision_function"):
        validate(StandardScaler(), X, y, repeats=10)
