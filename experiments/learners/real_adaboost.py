"""AdaBoost with probabilities, SAMME.R (Zhu, Zou, Rosset & Hastie 2009): scikit-learn's default until 1.6."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.tree import DecisionTreeClassifier

ROUNDING = np.finfo(float).eps


class RealAdaBoost(ClassifierMixin, BaseEstimator):
    """Two classes, by the shares that trees give them.

    With p the weighted share of the positives that a tree gives a row, the weight of a row with the label y = ±1 is
    multiplied by ``exp(−½ y log(p/(1 − p)))``, and the log odds of the positives are the mean of ``log(p/(1 − p))``
    over the trees. It ends with a tree without an error, so a fully grown one is alone.

    Parameters
    ----------
    estimator : classifier, optional
        By default a tree with one split.
    n_estimators : int
        The most trees.
    random_state : int, optional
        Of the trees.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> RealAdaBoost().fit(X, y).predict_proba(X)[:, 1].round(3).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """

    def __init__(self, estimator: Any = None, n_estimators: int = 50, random_state: int | None = None) -> None:
        self.estimator, self.n_estimators, self.random_state = estimator, n_estimators, random_state

    def fit(self, X: NDArray[np.float64], y: NDArray[Any]) -> Self:
        """Grow the trees."""
        self.classes_ = np.unique(y)
        positive = y == self.classes_[1]
        sign, weights = np.where(positive, 1.0, -1.0), np.full(len(y), 1 / len(y))
        random = np.random.RandomState(self.random_state)
        base = DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator
        self.estimators_ = []
        for _ in range(self.n_estimators):
            tree = clone(base).set_params(random_state=random.randint(2**31 - 1)).fit(X, y, sample_weight=weights)
            self.estimators_.append(tree)
            if (tree.predict(X) == y).all():
                break
            weights = weights * np.exp(-0.5 * sign * _log_odds(tree, X))
            weights /= weights.sum()
        return self

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares of both classes, shape (rows, 2)."""
        positive = expit(np.mean([_log_odds(tree, X) for tree in self.estimators_], axis=0))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: NDArray[np.float64]) -> NDArray[Any]:
        """The likelier class."""
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


def _log_odds(tree: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.clip(tree.predict_proba(X), ROUNDING, None)
    return np.log(shares[:, 1] / shares[:, 0])
