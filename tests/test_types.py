"""What a type checker makes of the public names: mypy checks this file, in which a type that became Any is an error."""

from typing import Any, assert_type

import numpy as np
import pytest

import auclab
from auclab._core.base import Array, Status
from auclab.estimators import AUCClassifier, PolynomialAUCClassifier, decision_threshold
from auclab.formulations import formulation_named
from auclab.formulations.base import Program
from auclab.metrics import auc_score, get_scorer
from auclab.metrics.scorers import MetricScorer

X = np.array([[0.0], [2.0], [1.0], [3.0], [4.0], [1.5]])
Y = [0, 0, 1, 1, 1, 0]


def test_solutions() -> None:
    solution = auclab.solve("ranksvm", X, Y)
    assert_type(solution, auclab.Solution)
    assert_type(solution.coef, Array)
    assert_type(solution.objective, float)
    assert_type(solution.status, Status)
    assert_type(solution.certificate, auclab.Certificate)
    assert_type(solution.decision_function(X), Array)
    assert_type(auclab.RankSVM(0.1).with_params(penalty=1.0), auclab.RankSVM)
    assert_type(formulation_named("csvm"), Program)
    assert_type(auclab.certify(auclab.BufferedAUC(), X, Y, [1.0]), auclab.Certificate)
    assert solution.formulation == auclab.RankSVM()


def test_estimators() -> None:
    model = AUCClassifier("csvm", calibration="sigmoid", cv=3).fit(X, Y)
    assert_type(model, AUCClassifier)
    assert_type(model.coef_, Array)
    assert_type(model.solution_, auclab.Solution)
    assert_type(model.n_features_in_, int)
    assert_type(model.decision_function(X), Array)
    assert_type(model.predict_proba(X), Array)
    assert_type(model.score(X, Y), float)
    assert_type(model.get_params(), dict[str, Any])
    assert_type(model.set_params(penalty=0.1), AUCClassifier)
    assert_type(PolynomialAUCClassifier().fit(X, Y), PolynomialAUCClassifier)
    assert_type(decision_threshold(Y, X[:, 0]), float)


def test_metrics() -> None:
    assert_type(auc_score(Y, X[:, 0]), float)
    assert_type(get_scorer("bauc"), MetricScorer)
    AUCClassifier("csvm", penalty="0.1")  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="slove"):
        assert auclab.slove  # type: ignore[attr-defined]
