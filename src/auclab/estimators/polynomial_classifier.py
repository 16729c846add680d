"""Ascent of a polynomial approximation of AUC, as a classifier.

It steps in the plane of the weights and a direction, ``w ← (cos α · w + sin α · g)/√2`` with w and g each scaled by its
own largest |difference| of a positive and a negative score: the differences of the mixture stay in [−1, 1].
"""

from __future__ import annotations

import math
import operator
import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from auclab._core.base import Array, AuclabError
from auclab._core.forms import row_scores
from auclab._core.validation import check_choice, weight_vector
from auclab.estimators.calibration import decision_threshold
from auclab.estimators.checked import LinearClassifier
from auclab.metrics.polynomial import Series, chebyshev_gradient, chebyshev_mean, sigmoid_series, step_series
from auclab.metrics.roc import positive_number
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample

#: Points of the line search for each of its harmonics, from which the largest is refined.
_DENSITY = 32
#: Angles tried where the best one of the line search does not rise at its own scale.
_SHORTER = 0.1 * 0.3 ** np.arange(8)


@dataclass(frozen=True)
class Ascent:
    """Weights whose largest |difference| is 1 (0 where all scores are equal), and the objective step by step."""

    coef: Array
    path: tuple[float, ...]
    converged: bool


@dataclass(frozen=True)
class Scored:
    """A direction of weights with the scores it gives, scaled so that the largest |difference| is 1, and centred.

    `extreme` is the signed pair difference ``x⁺ − x⁻`` that has it.
    """

    coef: Array
    pos: Array
    neg: Array
    extreme: Array


def stable_ascent(sample: Sample, series: Series, start: Array, *, max_iter: int, tol: float) -> Ascent:
    """Conjugate gradients with centred scores, the Chebyshev form and an exact line search (derivations 10.3, 10.4).

    The objective is ``mean_ij poly(w·d_ij/s(w))`` with s(w) the largest |w·d_ij|: it does not depend on the length of
    w. The line search, which keeps the scale fixed, proposes a step; it is taken only if the objective rises, so the
    path does not fall. The ascent ends with a rise of at most `tol`, or where no direction rises.
    """
    here = scored(sample, start)
    if here is None:
        return Ascent(np.zeros_like(start), (float(series(0.0)),), True)
    weights = _kernel_weights(sample)
    path, previous = [objective(series, here, weights)], None
    for _ in range(max_iter):
        slope, ascent = _gradient(sample, series, here, weights)
        direction = ascent
        if previous is not None:
            # Polak–Ribière, in units of the spread of the features.
            ratio = max(0.0, float((slope - previous[0]) @ ascent) / previous[2])
            direction = ascent + ratio * previous[1]
        step = None
        for candidate in (direction, ascent):
            step = _step(sample, series, here, candidate, weights, path[-1]) if candidate @ slope > 0 else None
            if step is not None:
                break
        if step is None:
            return Ascent(here.coef, tuple(path), True)
        here, value = step
        previous = slope, candidate, float(slope @ ascent)
        path.append(value)
        if path[-1] - path[-2] <= tol:
            return Ascent(here.coef, tuple(path), True)
    return Ascent(here.coef, tuple(path), False)


def scored(sample: Sample, coef: Array) -> Scored | None:
    """`coef` with its scores, or None where all of them are equal or not finite."""
    pos, neg = sample.X_pos @ coef, sample.X_neg @ coef
    above, below = (int(pos.argmax()), int(neg.argmin())), (int(pos.argmin()), int(neg.argmax()))
    up, down = float(pos[above[0]] - neg[above[1]]), float(neg[below[1]] - pos[below[0]])
    largest = max(up, down)
    size = max(float(abs(pos).max()), float(abs(neg).max()))
    if not (math.isfinite(largest) and largest > 1e-13 * size):
        return None
    # With the mean of the four ends as the centre, max|p| + max|n| is at most 1 (derivations 10.3).
    center = 0.25 * (pos.max() + pos.min() + neg.max() + neg.min())
    sign, (i, j) = (1.0, above) if up >= down else (-1.0, below)
    extreme = sign * np.asarray(_row(sample.X_pos, i) - _row(sample.X_neg, j), dtype=float)
    return Scored(coef / largest, (pos - center) / largest, (neg - center) / largest, extreme)


def objective(series: Series, here: Scored, weights: tuple[Array, Array]) -> float:
    """``mean_ij poly(w·d_ij/s(w))``."""
    return chebyshev_mean(series, here.pos, here.neg, *weights, 1.0)


def best_angle(series: Series, here: Scored, across: Scored, weights: tuple[Array, Array]) -> float:
    """The α in [0, 2π) with the largest ``J(α) = mean poly`` of ``(cos α · w + sin α · g)/√2``.

    J is a trigonometric polynomial of the series' degree d, and ``J(α + π) = 1 − J(α)`` as poly − ½ is odd: d + 1
    values on [0, π) determine it.
    """
    size = series.degree() + 1
    half = np.array([_mixture_mean(series, here, across, weights, np.pi * k / size) for k in range(size)])
    harmonics = np.fft.rfft(np.r_[half, 1.0 - half])[:size] / (2 * size)
    harmonics[1:] *= 2.0
    orders, n_points = np.arange(size), _DENSITY * size
    dense = np.fft.irfft(
        np.r_[harmonics[0], 0.5 * harmonics[1:], np.zeros(n_points // 2 + 1 - size)] * n_points, n_points
    )
    alpha = 2.0 * np.pi * int(dense.argmax()) / n_points
    for _ in range(4):
        wave = harmonics * np.exp(1j * orders * alpha)
        first, second = float(-(orders * wave.imag).sum()), float(-(orders**2 * wave.real).sum())
        if second >= 0.0:
            break
        alpha -= float(np.clip(first / second, -np.pi / n_points, np.pi / n_points))
    return alpha % (2.0 * np.pi)


def _mixture_mean(series: Series, here: Scored, across: Scored, weights: tuple[Array, Array], alpha: float) -> float:
    cosine, sine = math.cos(alpha) / math.sqrt(2.0), math.sin(alpha) / math.sqrt(2.0)
    pos, neg = cosine * here.pos + sine * across.pos, cosine * here.neg + sine * across.neg
    return chebyshev_mean(series, pos, neg, *weights, 1.0)


def _step(
    sample: Sample, series: Series, here: Scored, direction: Array, weights: tuple[Array, Array], value: float
) -> tuple[Scored, float] | None:
    """The first angle that rises: the best of the line search, then short ones; None if there is none."""
    across = scored(sample, direction)
    if across is None:
        return None
    for alpha in (best_angle(series, here, across, weights), *_SHORTER):
        there = scored(sample, math.cos(alpha) * here.coef + math.sin(alpha) * across.coef)
        if there is not None and (reached := objective(series, there, weights)) > value:
            return there, reached
    return None


def _gradient(sample: Sample, series: Series, here: Scored, weights: tuple[Array, Array]) -> tuple[Array, Array]:
    """The gradient of `objective`, and the direction of steepest ascent in units of the spread of the features."""
    slope = chebyshev_gradient(series, sample.X_pos, sample.X_neg, here.pos, here.neg, *weights, 1.0)
    # The scale depends on its pair of observations: without this term the gradient would have a part along w.
    slope = slope - (slope @ here.coef) * here.extreme
    return slope, slope / sample.spread**2


def _kernel_weights(sample: Sample) -> tuple[Array, Array]:
    """Weights as the compiled sums take them: empty for ones."""
    return (sample.share_pos, sample.share_neg) if sample.weighted else (np.empty(0), np.empty(0))


def _row(X: object, number: int) -> Array:
    row = X[number]  # type: ignore[index]
    return np.asarray(row.toarray()).ravel() if hasattr(row, "toarray") else np.asarray(row)


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
    beta : float, optional
        Maximise soft AUC: poly is the Chebyshev series of ``1/(1 + exp(−βt))`` in place of the step's, t in units of
        the largest difference of two scores. (The paper fixes ‖w‖ instead of this unit.)
    series : {"chebyshev", "legendre"}
        Least squares in the Chebyshev weight, or ordinary least squares; for the step only.
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
    auclab.metrics.polynomial_soft_auc : With `beta`.
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
        beta: float | None = None,
        series: Literal["chebyshev", "legendre"] = "chebyshev",
        max_iter: int = 200,
        tol: float = 1e-6,
        init: Literal["means", "random"] = "means",
        random_state: int | np.random.RandomState | None = None,
        decision_threshold: str | tuple[Any, ...] | float = "prior",
    ):
        self.degree = degree
        self.beta = beta
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
        series = (
            step_series(self.degree, self.series)
            if self.beta is None
            else sigmoid_series(float(self.beta), self.degree)
        )
        result = stable_ascent(sample, series, self._start(sample), max_iter=self.max_iter, tol=self.tol)
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
        if self.beta is not None:
            positive_number("beta", self.beta, "the steepness of the sigmoid, per largest difference of two scores")
        if not self.tol >= 0.0:
            raise AuclabError(f"tol must be ≥ 0, got {self.tol}")
