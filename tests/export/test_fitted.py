"""A fitted pipeline of scikit-learn as a scorer: the scores, labels and probabilities of the pipeline."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from auclab._core.base import AuclabError
from auclab.datasets import preprocess
from auclab.datasets.records import Dataset
from auclab.estimators import AUCClassifier
from auclab.export.formula import scorer_of
from auclab.export.scorer import Scorer

PROGRAMS = ("ranksvm", "csvm")


def through_a_file(scorer):
    return Scorer(json.loads(json.dumps(scorer.description)))


@pytest.mark.slow
@pytest.mark.parametrize("calibration", [None, "sigmoid", "isotonic"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_scores_labels_and_probabilities_are_those_of_the_pipeline(customers, program, calibration):
    X, y, new = customers
    words = np.where(y == 1, "default", "ok")
    classifier = AUCClassifier(program, penalty=1e-4, class_weight="balanced", calibration=calibration)
    model = make_pipeline(preprocess.standard(Dataset("toy", X, y), dates=["year", "age"]), classifier).fit(X, words)
    scorer = through_a_file(scorer_of(model))
    assert scorer.labels == ("default", "ok")
    expected = model.decision_function(new)
    assert expected.std() > 0.01
    np.testing.assert_allclose(scorer.score(new) - scorer.threshold, expected, atol=1e-11)
    found = scorer.predict(new)
    clear = abs(expected) > 1e-9
    assert (found["label"].to_numpy() == model.predict(new))[clear].all()
    if calibration is None:
        assert found["probability"].isna().all()
    else:
        np.testing.assert_allclose(found["probability"].astype(float), model.predict_proba(new)[:, 1], atol=1e-9)


@pytest.mark.parametrize("before", [[], [StandardScaler()], [Pipeline([("scale", StandardScaler())]), "passthrough"]])
def test_classifiers_and_scalers_of_scikit_learn(before):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    y = X["a"] + rng.normal(size=60) > 0
    model = Pipeline([*((f"s{k}", step) for k, step in enumerate(before)), ("logistic", LogisticRegression())])
    model.fit(X, y)
    scorer = through_a_file(scorer_of(model, about={"data": "drawn"}))
    assert scorer.columns == ("a", "b", "c")
    assert scorer.labels == ("False", "True")
    assert scorer.description["about"] == {"data": "drawn"}
    np.testing.assert_allclose(scorer.score(X[["c", "a", "b"]]) - scorer.threshold, model.decision_function(X))


def test_columns_of_an_array_have_numbers_or_the_names_that_are_given():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    model = AUCClassifier("ranksvm").fit(X, y)
    assert scorer_of(model).columns == ("x0", "x1")
    named = scorer_of(model, columns=["age", "debt"])
    np.testing.assert_allclose(named.score(pd.DataFrame(X, columns=["age", "debt"])), X @ model.coef_[0])
    with pytest.raises(AuclabError, match="the model has 2 columns, and 1 names were given"):
        scorer_of(model, columns=["age"])


def test_what_has_no_formula_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    kernel = AUCClassifier("ranksvm", kernel="rbf").fit(X, y)
    with pytest.raises(AuclabError, match="AUCClassifier has no coefficients"):
        scorer_of(kernel)
    with pytest.raises(AuclabError, match="LogisticRegression has no coefficients of a binary classifier"):
        scorer_of(LogisticRegression().fit(X, np.arange(20) % 3))
    for step in (MinMaxScaler(), FunctionTransformer(np.abs)):
        with pytest.raises(AuclabError, match=f"{type(step).__name__} has no formula"):
            scorer_of(make_pipeline(step, AUCClassifier("ranksvm")).fit(X, y))
