"""Scorers of other libraries: they are those libraries' own, and go through an experiment as formulations do."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab._core.base import AuclabError, Status
from auclab.datasets.splits import kfold
from auclab.estimators.baselines import BASELINES, LinearDiscriminant, Logistic
from auclab.runs.config.settings import TuneConfig
from auclab.runs.split.tuning import tune_baseline
from auclab.runs.tracking.model import load_model
from composed import REPOSITORY, run_here

SMALL = ("dataset=artificial", "dataset.n_pos=60", "dataset.n_neg=80", "dataset.n_features=3")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [70, 50])
    X = pd.DataFrame(rng.normal(size=(120, 4)) + 0.7 * y[:, None] * [1, 1, 0, 0], columns=list("abcd"))
    return X, y


@pytest.mark.parametrize(
    ("baseline", "own"),
    [(Logistic(C=0.3), LogisticRegression(C=0.3)), (LinearDiscriminant(), LinearDiscriminantAnalysis())],
)
def test_scores_are_those_of_scikit_learn(data, baseline, own):
    X, y = data[0].to_numpy(), data[1]
    fit = baseline.fit(X, y)
    expected = own.fit(X, y).decision_function(X)
    np.testing.assert_allclose(fit.decision_function(X), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(X @ fit.coef + fit.intercept, fit.decision_function(X), rtol=1e-9)
    assert fit.status is Status.BASELINE
    assert math.isnan(fit.gap)
    assert fit.solver.startswith("scikit-learn 1.")


def test_logistic_regression_takes_sparse_rows(data):
    X, y = data[0].to_numpy(), data[1]
    sparse, dense = Logistic(C=0.3).fit(sp.csr_matrix(X), y), Logistic(C=0.3).fit(X, y)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_matrix(X)), dense.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("baseline", [Logistic(C=0.3), LinearDiscriminant()], ids=lambda each: each.name)
def test_weights_of_the_classes_are_rows_that_are_repeated(data, baseline):
    X, y = data[0].to_numpy(), data[1]
    repeated = np.r_[np.arange(y.size), np.repeat(np.flatnonzero(y == 1), 2)]
    weighted = baseline.fit(X, y, {0: 1.0, 1: 3.0})
    longer = baseline.fit(X[repeated], y[repeated], {0: 1.0, 1: 1.0})
    np.testing.assert_allclose(weighted.coef, longer.coef, rtol=1e-3)
    assert weighted.intercept == pytest.approx(longer.intercept, rel=1e-3)
    assert abs(weighted.intercept - baseline.fit(X, y).intercept) > 0.1
    balanced = baseline.fit(X, y, "balanced")
    np.testing.assert_allclose(balanced.coef, baseline.fit(X, y, {0: 120 / 140, 1: 120 / 100}).coef)


def test_a_run_with_weights_of_the_classes_tunes_and_calibrates(tmp_path):
    words = (*SMALL, "formulation=logistic", "tune=auto", "class_weight=balanced", "bounds=none")
    (fold,) = run_here(tmp_path, *words).folds
    assert fold.model[-1].class_weight == "balanced"
    assert fold.tuning is not None
    assert fold.decision.probability is not None


def test_the_parameter_is_that_of_a_plain_loop(data):
    """On the inner folds of the formulations: the same function with the same seed."""
    X, y = data
    values = [10.0, 0.001, 0.1]
    baseline, tuning = tune_baseline(
        make_pipeline(StandardScaler()), Logistic(), X, y, TuneConfig(parameter="C", values=values, folds=3, seed=7)
    )
    for value, mean in zip(tuning.path["value"], tuning.path["mean"], strict=True):
        scores = []
        for split in kfold(y, n_folds=3, seed=7):
            model = make_pipeline(StandardScaler(), LogisticRegression(C=value))
            model.fit(X.iloc[split.train], y[split.train])
            scores.append(roc_auc_score(y[split.test], model.decision_function(X.iloc[split.test])))
        assert mean == pytest.approx(np.mean(scores), abs=2e-3)
    assert tuning.path["value"].tolist() == sorted(values)
    assert baseline == Logistic(C=tuning.selected)
    assert tuning.seconds > 0
    assert "no certificate" not in tuning.statement


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Logistic(C=0.0), "C of logistic regression is a number > 0"),
    ],
)
def test_values_out_of_range_are_refused(make, words):
    with pytest.raises(AuclabError, match=words):
        make()


def test_what_a_baseline_does_not_have_is_not_tuned(data):
    with pytest.raises(AuclabError, match="lda has no parameter 'penalty' to tune; it has none; tune=auto"):
        tune_baseline(make_pipeline(StandardScaler()), LinearDiscriminant(), *data, TuneConfig(parameter="penalty"))
    with pytest.raises(AuclabError, match="list of finite numbers"):
        tune_baseline(make_pipeline(StandardScaler()), Logistic(), *data, TuneConfig(parameter="C"))


def test_every_baseline_has_a_configuration():
    names = {name: kind.__name__ for name, kind in BASELINES.items()}
    for name, kind in names.items():
        text = (REPOSITORY / "conf" / "formulation" / f"{name}.yaml").read_text(encoding="utf-8")
        assert f"_target_: auclab.estimators.baselines.{kind}\n" in text
        assert text.startswith("# Baseline: ")


def test_bounds_in_a_ball_need_coefficients(tmp_path):
    """Those of the held-out part hold for any scorer."""
    words = ("formulation=logistic", "preprocess=unit_ball", "metrics=[auc,bauc]", "bounds=default")
    (fold,) = run_here(tmp_path, *SMALL, *words, parent="a sweep").folds
    names = {item.name for item in fold.guarantees}
    assert {"fixed_scorer_auc", "fixed_scorer_bauc"} <= names
    assert not any("stability" in each or "margin" in each for each in names)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BASELINES))
def test_an_experiment_keeps_what_it_keeps_of_a_formulation(tmp_path, name):
    result = run_here(
        tmp_path, *SMALL, f"formulation={name}", "tune=auto", "tune.folds=2", "metrics=[auc,bauc]", parent="a sweep"
    )
    (fold,) = result.folds
    assert fold.solution.status is Status.BASELINE
    assert {"test/auc", "test/bauc", "test/auc_se", "seconds/total"} <= set(result.summary)
    assert not {"objective", "gap", "lower_bound", "alpha"} & set(result.summary)
    assert result.summary["seconds/total"] >= result.summary["seconds/tune"]
    certificate = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert (certificate["status"], certificate["gap"], certificate["program"]["name"]) == ("baseline", None, name)
    assert (tmp_path / "tuning.csv").exists() == (name != "lda")
    assert (tmp_path / "coefficients.csv").exists()
    assert not (tmp_path / "multipliers.parquet").exists()
    model = load_model(tmp_path / "model")
    X = result.dataset.X.iloc[fold.split.test]
    np.testing.assert_allclose(model.decision_function(X), fold.parts["test"].y_score, rtol=1e-12)
    assert {item.sample for item in fold.guarantees} <= {"test"}
