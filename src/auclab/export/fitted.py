"""A fitted scikit-learn pipeline as a scorer over the columns of its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from auclab.export.formula import describe
from auclab.export.scorer import Scorer
from auclab.types import AuclabError


def scorer_of(
    model: Any,
    *,
    columns: Sequence[str] | None = None,
    labels: tuple[str, str] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Scorer:
    """A fitted linear classifier with its preprocessing, as a formula over the original columns.

    The formula is text: `auclab.export.writers.export_scorer` writes it as JSON, SQL or ONNX, `Scorer.read` reads it
    without the classifier or scikit-learn, and `auclab.export.coefficients.effects` explains it.

    The score is ``Σ_k coef_k u_k`` without an intercept; the threshold is minus the intercept of the classifier, so
    that the labels are those of its `predict`. Probabilities are those of the `calibration` of an `AUCClassifier`.

    Parameters
    ----------
    model : estimator
        A fitted binary classifier with `coef_`, such as `auclab.estimators.AUCClassifier`, or a pipeline that ends in
        one, behind steps of `auclab.datasets.preprocess` or scalers of scikit-learn.
    columns : sequence of str, optional
        Names of the columns; by default those seen in `fit`, or x0, x1, …
    labels : (str, str), optional
        Labels of the negative and of the positive class; by default those seen in `fit`.
    about : mapping, optional
        Origin of the scorer, stored with it.

    Raises
    ------
    AuclabError
        A classifier without coefficients, such as a kernel classifier; a step without a formula; a wrong number of
        columns.

    See Also
    --------
    auclab.tracking.load_scorer : The scorer of a recorded run.

    Examples
    --------
    >>> from auclab.estimators import AUCClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> X, y = [[0.0], [4.0], [6.0], [10.0]], ["no", "no", "yes", "yes"]
    >>> model = make_pipeline(MaxAbsScaler(), AUCClassifier("bauc", decision_threshold=2.5)).fit(X, y)
    >>> scorer = scorer_of(model)                         # the smallest margin is 1: w (6 − 4)/10
    >>> new = np.array([[4.0], [6.0]])
    >>> scorer.columns, scorer.threshold, scorer.score(new).round(9).tolist()
    (('x0',), 2.5, [2.0, 3.0])
    >>> scorer.predict(new)["label"].tolist(), model.predict(new).tolist()
    (['no', 'yes'], ['no', 'yes'])
    """
    steps = list(_steps(model))
    before, classifier = steps[:-1], steps[-1]
    check_is_fitted(classifier)
    coef: Any = getattr(classifier, "coef_", None)
    classes: Any = getattr(classifier, "classes_", ())
    if coef is None or np.shape(coef)[:-1] != (1,) or len(classes) != 2:
        raise AuclabError(
            f"{type(classifier).__name__} has no coefficients of a binary classifier, so that it is not a formula over "
            "the columns; keep the model itself, for instance with skops or joblib"
        )
    if columns is None:
        columns = getattr(model, "feature_names_in_", None)
        columns = [f"x{k}" for k in range(model.n_features_in_)] if columns is None else [str(name) for name in columns]
    elif len(columns) != model.n_features_in_:
        raise AuclabError(f"the model has {model.n_features_in_} columns, and {len(columns)} names were given")
    threshold = -float(np.ravel(classifier.intercept_)[0])
    calibration = getattr(classifier, "calibration_", None) if getattr(classifier, "calibration", None) else None
    description = describe(
        Pipeline([(str(k), step) for k, step in enumerate(before)] or [("as_given", FunctionTransformer())]),
        coef=coef[0],
        intercept=0.0,
        columns=columns,
        threshold={"rule": getattr(classifier, "decision_threshold", "intercept"), "value": threshold},
        labels=(str(classes[0]), str(classes[1])) if labels is None else labels,
        probability=None if calibration is None else calibration.in_units(1.0, threshold).as_dict(),
        about=about,
    )
    return Scorer(description)


def _steps(model: Any) -> Iterator[Any]:
    """The steps of a pipeline and of the pipelines in it."""
    if not isinstance(model, Pipeline):
        yield model
        return
    for _, step in model.steps:
        if step not in (None, "passthrough"):
            yield from _steps(step)
