"""The linear classifier of Calders & Jaroszewicz: gradient ascent on a polynomial in place of AUC."""

from __future__ import annotations

import operator
import warnings
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from auclab.estimators.linear_classifier import LinearClassifier
from auclab.estimators.polynomial_ascent import stable_ascent
from auclab.estimators.threshold import decision_threshold
from auclab.metrics.series import step_series
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample
from auclab.samples.row_scores import row_scores
from auclab.types import Array, AuclabError
from auclab.validation import check_choice, weight_vector

_SERIES = ("chebyshev", "legendre")
_INITS = ("means", "random")


class PolynomialAUCClassifier(LinearClassifier):
    """Linear classifier fitted by gradient ascent on polynomial AUC; the scores rank, the intercept classifies.

        max_w mean_ij poly(w·(x_i⁺ − x_j⁻)/s(w)),     s(w) = max_ij |w·(x_i⁺ − x_j⁻)|,

    where poly is the truncated series of the step on [−1, 1] with ½ at 0 (`auclab.metrics.polynomial_auc`). Calders &
    Jaroszewicz 2007, Sect. 4, Algorithm 2. The objective is not concave and may exceed 1 a little (the polynomial
    overshoots at the step); the result is a local maximum. A step costs O(m·degree²) and forms no pairs. In place of
    powers of scores, which lose their digits where features are far from 0: centred scores, bivariate Chebyshev
    polynomials, the exact maximum along the angle from degree + 1 values (derivations 10.3, 10.4), and conjugate
    directions in units of the spread of the features, so that the objective never falls.

    Parameters
    ----------
    degree : int
        ≥ 1; an even one is the same as the odd one below it (erratum C5).
    series : {"chebyshev", "legendre"}
        Least squares in the Chebyshev weight, or ordinary least squares.
    max_iter : int
        Largest number of steps; 30 in the paper.
    tol : float
        Stops after a step that improves the objective by no more than this.
    init : {"means", "random"}
        Initial weights: the difference of the class means in units of the squared spread, or normal ones of that scale.
    random_state : int, RandomState or None
        For ``init="random"``.
    decision_threshold : str, tuple or float
        Rule of `auclab.estimators.decision_threshold` that cuts the scores of the training sample for `predict`.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Scaled so that the largest difference of scores is 1; 0 where all scores are equal.
    intercept_ : array of shape (1,)
        Minus the score at which `decision_threshold` cuts the training sample.
    classes_ : array of shape (2,)
        Sorted; the second is the positive class.
    objective_path_ : array of shape (steps + 1,)
        The objective at the initial weights and after every step, non-decreasing.
    n_features_in_ : int
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether it stopped before `max_iter` steps.

    Raises
    ------
    AuclabError
        Bad parameters, more or fewer than two classes, NaN.

    Warns
    -----
    ConvergenceWarning
        `max_iter` steps were not enough.

    See Also
    --------
    auclab.metrics.polynomial_auc : The metric that it maximises.
    AUCClassifier : Convex programs with a certificate.

    Examples
    --------
    >>> model = PolynomialAUCClassifier().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], ["a", "a", "b", "b"])
    >>> model.predict([[0.5, 0.0], [2.5, 1.0]]).tolist()
    ['a', 'b']
    >>> bool(np.all(np.diff(model.objective_path_) >= 0))
    True
    """

    def __init__(
        self,
        degree: int = 29,
        *,
        series: Literal["chebyshev", "legendre"] = "chebyshev",
        max_iter: int = 200,
        tol: float = 1e-6,
        init: Literal["means", "random"] = "means",
        random_state: int | np.random.RandomState | None = None,
        decision_threshold: str | tuple[Any, ...] | float = "prior",
    ):
        self.degree = degree
        self.series = series
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state
        self.decision_threshold = decision_threshold

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Maximise polynomial AUC on the training sample.

        Parameters
        ----------
        X : array, table or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Two classes.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; integer weights act as repeated rows.

        Returns
        -------
        PolynomialAUCClassifier
            This object.
        """
        X, positive = self._two_classes(X, y)
        self._check_parameters()
        # AUC does not depend on a common offset of the features, but rounding does.
        moved: Any = X if sp.issparse(X) else X - X.mean(axis=0)
        weight = weight_vector(sample_weight, positive.size)
        sample = as_sample(moved, positive, weight)
        if weight is not None:
            # A row without weight must not set the scale of the differences.
            used = weight > 0
            sample = as_sample(moved[used], positive[used], weight[used])
        series, start = step_series(self.degree, self.series), self._start(sample)
        result = stable_ascent(sample, series, start, max_iter=self.max_iter, tol=self.tol)
        self.n_iter_ = len(result.path) - 1
        if not result.converged:
            warnings.warn(
                f"still rising after {self.max_iter} steps; raise max_iter or tol", ConvergenceWarning, stacklevel=2
            )
        self.objective_path_ = np.array(result.path)
        self.converged_ = result.converged
        self.coef_ = result.coef[None, :]
        cut = decision_threshold(positive, row_scores(X, result.coef), self.decision_threshold, sample_weight=weight)
        self.intercept_ = np.array([-cut])
        return self

    def _start(self, sample: Sample) -> Array:
        """The first weights."""
        means = sample.mean_difference / sample.spread**2
        if self.init == "means" and means.any():
            return np.asarray(means)
        if self.init == "means":
            # Equal means have no difference to start from: all features alike.
            return np.asarray(1.0 / sample.spread)
        generator = check_random_state(self.random_state)
        return np.asarray(generator.standard_normal(sample.n_features) / sample.spread)

    def _check_parameters(self) -> None:
        for name, choices in (("series", _SERIES), ("init", _INITS)):
            check_choice(name, getattr(self, name), choices)
        for name in ("degree", "max_iter"):
            try:
                number = operator.index(getattr(self, name))
            except TypeError as error:
                raise AuclabError(f"{name} must be a whole number, got {getattr(self, name)!r}") from error
            if number < 1:
                raise AuclabError(f"{name} must be at least 1, got {number}")
        if not self.tol >= 0.0:
            raise AuclabError(f"tol must be ≥ 0, got {self.tol}")
