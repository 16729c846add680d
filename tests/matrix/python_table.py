"""The estimators with what scikit-learn does with estimators; as `matrix.table` of the command line."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.estimators import (
    AUCClassifier,
    AUCClassifierCV,
    AUCRanker,
    PolynomialAUCClassifier,
    ScorecardClassifier,
    SurvivalRanker,
)
from matrix.table import Refusal


@dataclass(frozen=True)
class Estimator:
    """A column of the page: how it is made, and the targets it takes."""

    name: str
    make: Callable[..., Any]
    target: str = "classes"


@dataclass(frozen=True)
class PythonUse:
    """A row of the page: what is typed, and the same as a function of estimator, X and y that returns scores."""

    name: str
    how: str
    act: Callable[[Estimator, Any, Any], Any]


def scores(model: Any, X: Any) -> Any:
    """What ranks the rows."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def _weighted(each: Estimator, X: Any, y: Any) -> Any:
    return scores(each.make().fit(X, y, sample_weight=np.arange(1.0, len(X) + 1.0)), X)


def _pickled(each: Estimator, X: Any, y: Any) -> Any:
    model = each.make().fit(X, y)
    again = scores(pickle.loads(pickle.dumps(model)), X)
    assert np.array_equal(again, scores(model, X))
    return again


def _skops(each: Estimator, X: Any, y: Any) -> Any:
    from skops import io

    model = each.make().fit(X, y)
    text = io.dumps(model)
    again = scores(io.loads(text, trusted=io.get_untrusted_types(data=text)), X)
    assert np.array_equal(again, scores(model, X))
    return again


def _searched(each: Estimator, X: Any, y: Any) -> Any:
    model = each.make()
    name = "tol" if "tol" in model.get_params() else "tolerance"
    return scores(GridSearchCV(model, {name: [1e-3, 1e-2]}, cv=2, error_score="raise").fit(X, y), X)


def _set_output(each: Estimator, X: Any, y: Any) -> Any:
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make_pipeline(StandardScaler(), each.make()).set_output(transform="pandas").fit(frame, y)
    return scores(model, frame)


def _several(each: Estimator, X: Any, y: Any) -> Any:
    return scores(each.make().fit(X, np.arange(len(X)) % 3), X)


def _one_against_rest(each: Estimator, X: Any, y: Any) -> Any:
    found = OneVsRestClassifier(each.make()).fit(X, np.arange(len(X)) % 3)
    assert found.predict(X).shape == (len(X),)
    return found.decision_function(X)[:, 0]


PYTHON_USES = (
    PythonUse("sample weights", "fit(X, y, sample_weight=w)", _weighted),
    PythonUse(
        "class weights", 'class_weight="balanced"',
        lambda each, X, y: scores(each.make(class_weight="balanced").fit(X, y), X),
    ),
    PythonUse(
        "calibration", 'calibration="sigmoid"',
        lambda each, X, y: each.make(calibration="sigmoid", cv=2).fit(X, y).predict_proba(X)[:, 1],
    ),
    PythonUse(
        "constraints", "constraints=Constraints(nonnegative=[0])",
        lambda each, X, y: scores(each.make(constraints={"nonnegative": [0]}).fit(X, y), X),
    ),
    PythonUse(
        "sparse rows", "fit(scipy.sparse.csr_matrix(X), y)",
        lambda each, X, y: scores(each.make().fit(sp.csr_matrix(X), y), sp.csr_matrix(X)),
    ),
    PythonUse("clone", "sklearn.base.clone(model)", lambda each, X, y: scores(clone(each.make()).fit(X, y), X)),
    PythonUse("pickle", "pickle.dumps(model)", _pickled),
    PythonUse("skops", "skops.io.dumps(model)", _skops),
    PythonUse("searches", "GridSearchCV(model, …)", _searched),
    PythonUse("set_output", 'make_pipeline(…).set_output(transform="pandas")', _set_output),
    PythonUse("several classes", "y with three labels", _several),
    PythonUse("one against the rest", "OneVsRestClassifier(model)", _one_against_rest),
)  # fmt: skip
ESTIMATORS = (
    Estimator("AUCClassifier, bauc", lambda **more: AUCClassifier("bauc", **more)),
    Estimator("AUCClassifier, csvm", lambda **more: AUCClassifier("csvm", penalty=0.01, **more)),
    Estimator("AUCClassifier, kernel", lambda **more: AUCClassifier("ranksvm", penalty=0.1, kernel="rbf", **more)),
    Estimator("AUCClassifierCV", lambda **more: AUCClassifierCV(penalties=2, **({"cv": 2} | more))),
    Estimator("ScorecardClassifier", lambda **more: ScorecardClassifier((-2, 2), max_items=2, bins=2, **more)),
    Estimator("PolynomialAUCClassifier", lambda **more: PolynomialAUCClassifier(degree=5, **more)),
    Estimator("AUCRanker", lambda **more: AUCRanker(penalty=0.1, **more), "grades"),
    Estimator("SurvivalRanker", lambda **more: SurvivalRanker(penalty=0.1, **more), "times"),
)
PYTHON_NO_EFFECT: tuple[Refusal, ...] = ()
_CLASSIFIERS = tuple(each.name for each in ESTIMATORS if each.target == "classes")
_OTHERS = tuple(each.name for each in ESTIMATORS if each.target != "classes")
_NO_SUCH = "got an unexpected keyword argument"
PYTHON_REFUSED = (
    Refusal(
        _CLASSIFIERS,
        ("several classes",),
        r"^Only binary classification is supported.*OneVsRestClassifier\(model\) fits a scorer for each, or y == label",
        "AUC is for two classes; use `OneVsRestClassifier(model)` for all classes, or `y == label` for one of them",
    ),
    Refusal(
        ("AUCClassifier, kernel",),
        ("constraints",),
        "constraints are on the coefficients of columns, but a kernel has none",
        "constraints are on the coefficients of columns, and a kernel scorer has no such coefficients",
    ),
    Refusal(
        ("AUCClassifierCV",),
        ("calibration",),
        _NO_SUCH,
        "no such parameter, because its folds choose λ; afterwards, fit "
        "`AUCClassifier(penalty=model.penalty_, calibration=…)`",
    ),
    Refusal(
        ("ScorecardClassifier",),
        ("class weights", "calibration", "constraints"),
        _NO_SUCH,
        "no such parameter: weights cancel over pairs, the scorecard states the share of positives of each total, and "
        "`signs` constrains its points",
    ),
    Refusal(
        ("ScorecardClassifier",),
        ("sparse rows",),
        "a scorecard does not take sparse rows",
        "its bins are intervals of the values of a column, so it needs dense columns",
    ),
    Refusal(
        ("PolynomialAUCClassifier",),
        ("class weights", "calibration", "constraints"),
        _NO_SUCH,
        "no such parameter: weights cancel over pairs, and the algorithm of the paper has no constraints; calibrate it "
        "with `sklearn.calibration.CalibratedClassifierCV`",
    ),
    Refusal(
        _OTHERS,
        ("class weights", "calibration"),
        _NO_SUCH,
        "no such parameter: with grades or times there are no two classes to weight, and no class probability",
    ),
    Refusal(
        ("SurvivalRanker",),
        ("several classes", "one against the rest"),
        "y must be a structured array with a boolean field",
        "its target is an event and a time",
    ),
    Refusal(
        ("AUCRanker",),
        ("one against the rest",),
        "has no attribute 'predict_proba'|has no attribute 'decision_function'",
        "it ranks several grades directly and has no classes",
    ),
)
