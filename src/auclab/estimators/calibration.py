"""Probabilities and thresholds of scores.

A threshold lies in the middle of the gap between two scores of the sample; scores above it are positive. Rows of weight
0 do not count, and integer weights act as repeated rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from auclab._core.base import Array, AuclabError
from auclab._core.tolerances import ROUNDING
from auclab._core.validation import (
    both_classes_weighted,
    check_choice,
    finite_vector,
    positive_mask,
    same_length,
    weight_vector,
)

#: The rules of `decision_threshold`, as they are written.
RULES = "'prior', ('prior', share), 'youden', ('cost', false_positive, false_negative), ('fpr', max_fpr)"


def decision_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    rule: str | Sequence[Any] | float = "prior",
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """The score above which an observation is called positive.

    Use scores of rows that the scorer was not fitted to, such as those of inner folds; scores of the training sample
    are optimistic.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Labels 0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Finite; larger is more positive.
    rule : str, tuple or float
        ``"prior"``: the share of predicted positives matches that of the sample; ``("prior", 0.1)``: it is 0.1.
        ``"youden"``: largest TPR − FPR. ``("cost", c_fp, c_fn)``: least total cost, a false positive at c_fp ≥ 0 and a
        false negative at c_fn ≥ 0. ``("fpr", 0.05)``: largest TPR among the thresholds with FPR ≤ 0.05. A number is
        the threshold itself.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0.
    pos_label : optional
        Label of the positive class.

    Returns
    -------
    float
        The highest of several equally good thresholds; below all scores if all rows are predicted positive, above all
        scores if none is.

    Raises
    ------
    AuclabError
        An unknown rule, a number outside its range, and bad labels, scores or weights.

    See Also
    --------
    auclab.estimators.AUCClassifier : Uses it in `predict`.

    Examples
    --------
    Of the scores 1 to 5, 2 and 5 are positive; two are predicted positive, or one if no false positive is allowed:

    >>> y, s = [0, 1, 0, 0, 1], [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> decision_threshold(y, s, "prior"), decision_threshold(y, s, ("fpr", 0.0))
    (3.5, 4.5)
    >>> decision_threshold(y, s, ("cost", 1.0, 4.0))  # two false positives are cheaper than a false negative
    1.5
    """
    name, numbers = read_rule(rule)
    if name == "score":
        return numbers[0]
    return best_cut(Cuts.of(y_true, y_score, sample_weight, pos_label), name, numbers)


def best_cut(cuts: Cuts, name: str, numbers: Sequence[float]) -> float:
    """The threshold that a rule chooses among cuts.

    `name`, `numbers`: what `read_rule` returns, for any rule but a score.
    """
    if name == "prior":
        share = numbers[0] if numbers else cuts.tp[-1] / (cuts.tp[-1] + cuts.fp[-1])
        # Without a division where it can be helped: sums of integer weights are exact.
        wanted = numbers[0] * (cuts.tp[-1] + cuts.fp[-1]) if numbers else cuts.tp[-1]
        return cuts.threshold(-abs(cuts.tp + cuts.fp - wanted)) if 0 < share < 1 else cuts.ends(share >= 1)
    if name == "youden":
        return cuts.threshold(cuts.tp * cuts.fp[-1] - cuts.fp * cuts.tp[-1])
    if name == "cost":
        return cuts.threshold(numbers[1] * cuts.tp - numbers[0] * cuts.fp)
    allowed = cuts.fp <= numbers[0] * cuts.fp[-1] * (1.0 + ROUNDING)
    return cuts.threshold(np.where(allowed, cuts.tp, -np.inf))


def read_rule(rule: Any) -> tuple[str, tuple[float, ...]]:
    """Name and numbers of a rule of `decision_threshold`, checked; a number is the rule ``"score"``."""
    if isinstance(rule, int | float | np.number) and not isinstance(rule, bool):
        parts: tuple[Any, ...] = ("score", rule)
    elif isinstance(rule, str):
        parts = (rule,)
    elif isinstance(rule, Sequence) and len(rule) > 0:
        parts = tuple(rule)
    else:
        raise AuclabError(f"a decision threshold is one of {RULES}, or a score; got {rule!r}")
    name, given = parts[0], parts[1:]
    wanted = {"prior": (0, 1), "youden": (0,), "cost": (2,), "fpr": (1,), "score": (1,)}
    if not isinstance(name, str) or name not in wanted or len(given) not in wanted[name]:
        raise AuclabError(f"a decision threshold is one of {RULES}, or a score; got {rule!r}")
    try:
        numbers = tuple(float(value) for value in given)
    except (TypeError, ValueError) as error:
        raise AuclabError(f"a decision threshold needs numbers, got {rule!r}; choose one of {RULES}") from error
    if not all(map(math.isfinite, numbers)):
        raise AuclabError(f"a decision threshold needs finite numbers, got {rule!r}")
    if name in ("prior", "fpr") and not all(0.0 <= value <= 1.0 for value in numbers):
        raise AuclabError(f"{'a share' if name == 'prior' else 'max_fpr'} lies in [0, 1], got {rule!r}")
    if name == "cost" and (min(numbers) < 0 or max(numbers) == 0):
        raise AuclabError(f"costs must be ≥ 0 and one of them above 0, got {rule!r}")
    return name, numbers


@dataclass(frozen=True)
class Cuts:
    """Every threshold of a sample, from above all scores down to below all of them, and what is positive above it.

    `between` (n_cuts,): descending; the first is above all scores, the last below all. `tp`, `fp` (n_cuts,): weight of
    the positives and of the negatives above.
    """

    between: Array
    tp: Array
    fp: Array

    @classmethod
    def of(cls, y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any) -> Cuts:
        """The cuts of a sample; tied scores are not cut apart."""
        positive, scores = positive_mask(y_true, pos_label), finite_vector("y_score", y_score)
        same_length(y_true=positive, y_score=scores)
        weight = weight_vector(sample_weight, scores.size)
        weight = np.ones(scores.size) if weight is None else weight
        used = weight > 0
        both_classes_weighted(positive, weight)
        values, group = np.unique(scores[used], return_inverse=True)
        sums = [
            np.bincount(group, weights=weight[used] * side[used], minlength=values.size)
            for side in (positive, ~positive)
        ]
        tp, fp = (np.concatenate(([0.0], np.cumsum(part[::-1]))) for part in sums)
        # Outside by as much as the scores are apart on average, so that the unit of the scores does not matter.
        margin = (values[-1] - values[0]) / (values.size - 1) if values.size > 1 else max(abs(values[0]), 1.0)
        inner = values[:-1] + 0.5 * np.diff(values)
        between = np.concatenate(([values[-1] + 0.5 * margin], inner[::-1], [values[0] - 0.5 * margin]))
        return cls(between, tp, fp)

    def threshold(self, gain: Array) -> float:
        """The highest of the cuts with the largest gain; differences that are rounding do not count."""
        finite = gain[np.isfinite(gain)]
        noise = ROUNDING * max(abs(finite).max(), self.tp[-1], self.fp[-1])
        return float(self.between[np.flatnonzero(gain >= finite.max() - noise)[0]])

    def ends(self, all_positive: bool) -> float:
        """The cut below all scores, or the one above all."""
        return float(self.between[-1 if all_positive else 0])


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
