"""From scores to probabilities: an increasing map that is fitted to scores of rows that the scorer had not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from auclab.types import Array
from auclab.validation import check_choice, finite_vector, positive_mask, same_length, weight_vector

Method = Literal["sigmoid", "isotonic"]
METHODS: tuple[Method, ...] = ("sigmoid", "isotonic")


@dataclass(frozen=True)
class SigmoidCalibration:
    """``P(positive | s) = 1/(1 + exp(−(slope · (s − centre) + offset)))``; Platt 1999.

    Examples
    --------
    >>> SigmoidCalibration(slope=2.0, centre=1.0, offset=0.0)([1.0]).tolist()
    [0.5]
    """

    slope: float
    centre: float
    offset: float

    def __call__(self, scores: ArrayLike) -> Array:
        """Probabilities of the positive class, in the shape of `scores`."""
        return np.asarray(expit(self.slope * (np.asarray(scores, dtype=float) - self.centre) + self.offset))

    def in_units(self, unit: float, origin: float) -> SigmoidCalibration:
        """The map of scores ``s`` where this one is of ``(s − origin)/unit``."""
        return SigmoidCalibration(self.slope / unit, origin + unit * self.centre, self.offset)

    def score_at(self, probability: float) -> float:
        """The score above which the probability is larger; ±∞ where there is none."""
        logit = float(np.log(probability) - np.log1p(-probability))
        if self.slope <= 0:
            return -np.inf if self.offset > logit else np.inf
        return self.centre + (logit - self.offset) / self.slope

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for files."""
        return {"method": "sigmoid", "slope": self.slope, "centre": self.centre, "offset": self.offset}


@dataclass(frozen=True)
class IsotonicCalibration:
    """A non-decreasing map, linear between `knots` and constant outside; Zadrozny & Elkan 2002.

    Examples
    --------
    >>> IsotonicCalibration(np.array([0.0, 1.0]), np.array([0.2, 0.6]))([-1.0, 0.5]).tolist()
    [0.2, 0.4]
    """

    knots: Array
    probabilities: Array

    def __call__(self, scores: ArrayLike) -> Array:
        """Probabilities of the positive class, in the shape of `scores`."""
        return np.asarray(np.interp(np.asarray(scores, dtype=float), self.knots, self.probabilities))

    def in_units(self, unit: float, origin: float) -> IsotonicCalibration:
        """The map of scores ``s`` where this one is of ``(s − origin)/unit``."""
        return IsotonicCalibration(origin + unit * self.knots, self.probabilities)

    def score_at(self, probability: float) -> float:
        """The score above which the probability is larger; ±∞ where there is none."""
        above = np.flatnonzero(self.probabilities > probability)
        if above.size == 0:
            return np.inf
        k = int(above[0])
        if k == 0:
            return -np.inf
        (low, high), (left, right) = self.probabilities[k - 1 : k + 1], self.knots[k - 1 : k + 1]
        return float(left + (right - left) * (probability - low) / (high - low))

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for files."""
        return {"method": "isotonic", "knots": self.knots.tolist(), "probabilities": self.probabilities.tolist()}


Calibration: TypeAlias = SigmoidCalibration | IsotonicCalibration


def check_method(method: object) -> None:
    """Raise `AuclabError` unless it is one of `METHODS`."""
    check_choice("calibration", method, METHODS)


def fit_calibration(
    y_true: ArrayLike,
    y_score: ArrayLike,
    method: Method = "sigmoid",
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Calibration:
    """Fit a map from scores to probabilities.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Labels 0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Scores of rows that the scorer was not fitted to (`held_out_scores`); on its training rows the probabilities
        would be too extreme.
    method : {"sigmoid", "isotonic"}
        "sigmoid": two parameters by maximum likelihood, with Platt's targets ``(n₊ + 1)/(n₊ + 2)`` and ``1/(n₋ + 2)``
        in place of 1 and 0, so that it is finite for separated classes. A slope below 0 becomes 0. "isotonic": least
        squares among all non-decreasing maps; needs about 1,000 rows.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0.
    pos_label : optional
        Label of the positive class.

    Returns
    -------
    SigmoidCalibration or IsotonicCalibration

    Raises
    ------
    AuclabError
        An unknown method; bad labels, scores or weights.

    See Also
    --------
    auclab.estimators.AUCClassifier : With ``calibration="sigmoid"`` it has `predict_proba`.

    Examples
    --------
    >>> y, s = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    >>> fit_calibration(y, s, "isotonic")([1.0, 2.0, 3.0, 4.0]).tolist()
    [0.0, 0.5, 0.5, 1.0]
    >>> bool(fit_calibration(y, s)(2.5) == 0.5)   # by symmetry
    True
    """
    check_method(method)
    positive, scores = positive_mask(y_true, pos_label), finite_vector("y_score", y_score)
    same_length(y_true=positive, y_score=scores)
    weight = weight_vector(sample_weight, scores.size)
    weight = np.ones(scores.size) if weight is None else weight
    if method == "isotonic":
        return _isotonic(positive, scores, weight)
    return _sigmoid(positive, scores, weight)


def _isotonic(positive: NDArray[np.bool_], scores: Array, weight: Array) -> IsotonicCalibration:
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(scores, positive.astype(float), sample_weight=weight)
    return IsotonicCalibration(np.asarray(fitted.X_thresholds_), np.asarray(fitted.y_thresholds_))


def _sigmoid(positive: NDArray[np.bool_], scores: Array, weight: Array) -> SigmoidCalibration:
    from sklearn.linear_model import LogisticRegression

    n_pos, n_neg = float(weight[positive].sum()), float(weight[~positive].sum())
    centre, unit = standard_units(scores, weight)
    target = np.where(positive, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))
    slope = offset = 0.0
    if np.ptp(scores) > 1e-12 * abs(scores).max():
        # Every row twice, as a positive with weight t and as a negative with weight 1 − t.
        rows = np.tile((scores - centre) / unit, 2)[:, None]
        labels, weights = np.repeat([1, 0], scores.size), np.concatenate([weight * target, weight * (1 - target)])
        model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10, max_iter=1000)
        model.fit(rows, labels, sample_weight=weights)
        slope, offset = float(model.coef_[0, 0]), float(model.intercept_[0])
    if slope <= 0:  # the scores say nothing, or the contrary: the share of the positives for all
        share = float((weight * target).sum() / weight.sum())
        slope, offset = 0.0, float(np.log(share) - np.log1p(-share))
    return SigmoidCalibration(slope / unit, centre, offset)


Fold: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


def held_out_scores(
    fit: Callable[[NDArray[np.intp]], Callable[[NDArray[np.intp]], Array]],
    folds: Iterable[Fold],
    sample_weight: Array | None = None,
) -> tuple[NDArray[np.intp], Array]:
    """Cross-validated scores, each standardised by the training scores of its own scorer.

    Ranking scores have no natural unit, and scorers of different folds may differ in length. The scores of each are
    therefore standardised by the mean and standard deviation of its scores on its training rows.

    Parameters
    ----------
    fit : callable
        Maps the numbers of the training rows to a function from row numbers to scores.
    folds : iterable of (train, test)
        Row numbers.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0 of the rows, for mean and deviation.

    Returns
    -------
    rows, scores : array of shape (n_held_out,)
        Numbers of the rows, and their scores.

    See Also
    --------
    auclab.estimators.calibration.standard_units : The centre and the unit of a scorer.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([0.0, 1.0, 2.0, 3.0])
    >>> folds = [(np.array([0, 2]), np.array([1, 3])), (np.array([1, 3]), np.array([0, 2]))]
    >>> rows, scores = held_out_scores(lambda train: lambda rows: values[rows], folds)
    >>> rows.tolist(), scores.tolist()  # minus the mean of the training rows, 1 or 2, over their deviation 1
    ([1, 3, 0, 2], [0.0, 2.0, -2.0, 0.0])
    """
    rows: list[NDArray[np.intp]] = []
    scores: list[Array] = []
    for train, test in folds:
        score = fit(train)
        centre, unit = standard_units(score(train), None if sample_weight is None else sample_weight[train])
        rows.append(test)
        scores.append((score(test) - centre) / unit)
    return np.concatenate(rows), np.concatenate(scores)


def standard_units(scores: ArrayLike, sample_weight: Array | None = None) -> tuple[float, float]:
    """Mean and standard deviation of scores; 1 in place of a deviation that is 0 or rounding.

    Examples
    --------
    >>> standard_units([1.0, 3.0])
    (2.0, 1.0)
    """
    values = np.asarray(scores, dtype=float)
    centre = float(np.average(values, weights=sample_weight))
    spread = float(np.sqrt(np.average((values - centre) ** 2, weights=sample_weight)))
    return centre, spread if spread > 1e-12 * float(abs(values).max()) else 1.0
