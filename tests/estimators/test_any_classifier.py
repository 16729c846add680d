"""Any classifier of scikit-learn's interface beside the formulations: fitted, tuned, stored, scored again, refused."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from auclab import AuclabError
from auclab.estimators.baselines import AnyClassifier, ScoredClassifier, as_baseline
from auclab.formulations import BufferedAUC
from auclab.metrics import auc_score
from auclab.runs.tracking.model import MODEL_FILE, load_model
from composed import run_here

SMALL = ("dataset=artificial", "dataset.n_pos=40", "dataset.n_neg=60", "dataset.seed=0", "bounds=none")


def rows(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(20, random_state=0), SVC(), GaussianNB(), LinearSVC(), RidgeClassifier()]
)
def test_scores_are_those_of_the_classifier(estimator):
    X, y = rows()
    fit = AnyClassifier(estimator=estimator).fit(X, y)
    alone = estimator.fit(X, y)
    scores = alone.decision_function(X) if hasattr(alone, "decision_function") else alone.predict_proba(X)[:, 1]
    assert fit.decision_function(X) == pytest.approx(scores)
    assert fit.solver.startswith("scikit-learn ")
    assert (fit.coef is None) == (not hasattr(alone, "coef_"))
    assert fit.formulation.name == type(estimator).__name__


def test_sparse_rows_weights_and_parameters():
    X, y = rows()
    dense = AnyClassifier(estimator=HistGradientBoostingClassifier(max_iter=5)).fit(X, y).decision_function(X)
    sparse = AnyClassifier(estimator=HistGradientBoostingClassifier(max_iter=5)).fit(sp.csr_array(X), y)
    assert sparse.decision_function(sp.csr_array(X)) == pytest.approx(dense)
    weighted = AnyClassifier(estimator=SVC()).fit(X, y, "balanced")
    assert weighted.classifier.estimator_.class_weight == "balanced"
    tree = AnyClassifier(estimator=DecisionTreeClassifier(), tunable="max_depth").at(2.0)
    assert tree.estimator.max_depth == 2
    assert tree.get_params()["criterion"] == "gini"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AnyClassifier(estimator=SVC), "not a classifier with fit and predict"),
        (lambda: AnyClassifier(estimator=StandardScaler()), "not a classifier with fit and predict"),
        (lambda: AnyClassifier(estimator=SVC(), tunable="c"), r"not a parameter of SVC \(did you mean 'C'\?\)"),
        (lambda: AnyClassifier(estimator=GaussianNB()).classifier(rows()[1], "balanced"), "no parameter class_weight"),
        (lambda: as_baseline(3), "not a classifier"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(AuclabError, match=message):
        make()


def test_a_classifier_is_a_formulation():
    assert as_baseline(classifier := SVC()) == AnyClassifier(estimator=classifier)
    assert as_baseline(program := BufferedAUC()) is program


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("formulation=forest", "formulation.estimator.n_estimators=10", "tune=auto", "tune.folds=2"),
        ("formulation=boosting", "formulation.estimator.max_iter=10"),
        ("formulation=svc", "tune=auto", "tune.folds=2", "class_weight=balanced"),
        ("formulation=sklearn", "formulation.estimator._target_=sklearn.naive_bayes.GaussianNB"),
    ],
)
def test_a_run_keeps_the_model(tmp_path, words):
    result = run_here(tmp_path, *SMALL, *words, "decision.probability=sigmoid", "metrics=[auc,bauc]", parent="a sweep")
    (fold,) = result.folds
    assert fold.decision.probability is not None
    assert (fold.tuning is not None) == ("tune=auto" in words)
    certificate = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert (certificate["status"], certificate["gap"]) == ("baseline", None)
    X = result.dataset.X.iloc[fold.split.test]
    scores = load_model(tmp_path / "model").decision_function(X)
    assert scores == pytest.approx(fold.parts["test"].y_score, rel=1e-12)
    y = np.asarray(result.dataset.y)[fold.split.test]
    assert result.summary["test/auc"] == pytest.approx(auc_score(y, scores))


@pytest.mark.slow
def test_a_tree_that_points_out_of_its_nodes_is_refused(tmp_path):
    result = run_here(tmp_path, *SMALL, "formulation=forest", "formulation.estimator.n_estimators=2", parent="a sweep")
    model = result.folds[0].model
    for kind, spoil in (("left", lambda nodes: nodes["left_child"]), ("feature", lambda nodes: nodes["feature"])):
        tree = model[-1].estimator_.estimators_[0].tree_
        state = tree.__getstate__()
        spoil(state["nodes"])[0] = 10_000
        broken = type(tree)(tree.n_features, np.array([2]), 1)
        broken.__setstate__(state)
        kept = tree.__getstate__()["nodes"].copy()
        model[-1].estimator_.estimators_[0].tree_ = broken
        folder = tmp_path / kind
        folder.mkdir()
        skops.io.dump(model, folder / MODEL_FILE)
        with pytest.raises(AuclabError, match="nodes point out of it"):
            load_model(folder)
        state["nodes"][:] = kept
        tree.__setstate__(state)
        model[-1].estimator_.estimators_[0].tree_ = tree


def test_no_scores():
    class Mute(DecisionTreeClassifier):
        predict_proba = property()  # raises AttributeError

    with pytest.raises(AuclabError, match="AUC needs scores"):
        ScoredClassifier(Mute()).fit(*rows())
