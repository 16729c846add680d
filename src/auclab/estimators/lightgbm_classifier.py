"""Boosted trees of LightGBM as a scikit-learn classifier whose fitted state is text.

LightGBM's own classifier keeps an object of its compiled library, which models in skops format cannot hold.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from auclab.estimators.checked import checked_rows, checked_sample
from auclab.estimators.class_weights import ClassWeight, class_weights
from auclab.sizes import MANY
from auclab.types import Array, AuclabError


class LightGBMClassifier(ClassifierMixin, BaseEstimator):
    """Gradient boosted trees on the logistic loss; the scores are the logits.

    `n_estimators`, `learning_rate`, `num_leaves`, `min_child_samples`: as those of
    `auclab.estimators.baselines.BoostedTrees`. `class_weight`: weights by label: factors of the losses of the rows.
    `classes_` (2,): sorted; the second is the positive class. `n_iter_`: trees that are used. `model_`: the trees, in
    LightGBM's text format.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        learning_rate: float = 0.05,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        class_weight: ClassWeight = None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.class_weight = class_weight

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Grow the trees on X, an array or CSR matrix, and y of two classes."""
        X, y = checked_sample(self, X, y)
        self.classes_, positive = np.unique(y, return_inverse=True)
        if self.classes_.size != 2:
            raise AuclabError(f"two classes are needed; y has {self.classes_.size}")
        import lightgbm

        settings = {
            "objective": "binary",
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_child_samples": self.min_child_samples,
            "deterministic": True,
            "force_row_wise": True,
            "seed": 0,
            "verbosity": -1,
            # Threads that wait for one another take most of the time on small data.
            "num_threads": 1 if np.prod(X.shape) < MANY else 0,
        }
        weight = None
        if self.class_weight is not None:
            weight = np.array(class_weights(self.class_weight, self.classes_.tolist(), positive == 1, None))[positive]
        data = lightgbm.Dataset(_as_matrix(X), positive.astype(float), weight=weight, params={"verbosity": -1})
        booster = lightgbm.train(settings, data, num_boost_round=self.n_estimators)
        self.model_: str = booster.model_to_string()
        self.n_iter_ = int(booster.num_trees())
        return self

    def first_trees(self, count: int) -> LightGBMClassifier:
        """The fitted classifier that uses the first trees only, as if no more had been grown."""
        check_is_fitted(self)
        fewer = copy(self).set_params(n_estimators=count)
        fewer.n_iter_ = min(count, self.n_iter_)
        return fewer

    def decision_function(self, X: Any) -> Array:
        """Logits of shape (n_samples,), larger for the second class."""
        import lightgbm

        check_is_fitted(self)
        X = checked_rows(self, X)
        booster = lightgbm.Booster(model_str=self.model_)
        return np.asarray(booster.predict(_as_matrix(X), raw_score=True, num_iteration=self.n_iter_), dtype=float)

    def predict(self, X: Any) -> NDArray[Any]:
        """The second class where the logit is above 0, else the first; shape (n_samples,)."""
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the two classes, shape (n_samples, 2)."""
        from scipy.special import expit

        positive = expit(self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def _as_matrix(X: Any) -> Any:
    """Sparse rows as the type that LightGBM knows."""
    sparse = sp.issparse(X)
    return sp.csr_matrix(X) if sparse else X
