"""Base class of the scikit-learn estimators of linear scorers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from auclab.estimators.checked import checked_rows, checked_sample
from auclab.forms import distinct
from auclab.samples.row_scores import row_scores
from auclab.types import Array, AuclabError


def not_binary(kind: str) -> str:
    """Why a target of another kind is refused, and the way out for several classes.

    Examples
    --------
    >>> not_binary("continuous")
    'Only binary classification is supported. The type of the target is continuous.'
    """
    text = f"Only binary classification is supported. The type of the target is {kind}."
    if kind != "multiclass":
        return text
    way = "sklearn.multiclass.OneVsRestClassifier(model) fits a scorer for each, or y == label one of them"
    return f"{text} With several classes, {way}."


def two_classes(y: Any) -> NDArray[Any]:
    """The two labels in ascending order; the words of the errors are those that scikit-learn expects."""
    classes = distinct("y", y)
    check_classification_targets(y)
    if (kind := type_of_target(y, input_name="y", raise_unknown=True)) != "binary":
        raise AuclabError(not_binary(kind))
    if classes.size < 2:
        raise AuclabError("Classifier can't train when only one class is present: two classes are needed")
    return np.asarray(classes)


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """Scores ``X @ coef_[0] + intercept_[0]``; the second of two sorted classes is positive."""

    coef_: Array
    intercept_: Array
    classes_: NDArray[Any]
    n_features_in_: int

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,), larger for the positive class; predictions change at 0."""
        check_is_fitted(self)
        return row_scores(checked_rows(self, X), self.coef_[0]) + self.intercept_[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The second class where the score is above 0, else the first; shape (n_samples,)."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int)])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of `predict`, the share of correct labels; `auclab.metrics.get_scorer` gives ranking metrics."""
        return float(super().score(X, y, sample_weight))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of a formulation, as ``formulation__penalty``."""
        params: dict[str, Any] = super().get_params(deep)
        return params

    def _two_classes(self, X: Any, y: ArrayLike) -> tuple[Any, NDArray[np.bool_]]:
        """Checked features and which observations are positive; sets `classes_`."""
        X, y = checked_sample(self, X, y)
        self.classes_ = two_classes(y)
        return X, np.asarray(y == self.classes_[1])

    def _columns(self) -> list[str]:
        """Names of the columns that `fit` has seen."""
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags
