"""The ROC curve and AUC from the scores of the two classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.comparable import separate
from auclab._core.forms import as_array
from auclab._core.ranking import concordance, total_weight
from auclab._core.scores import roc_polygon, upper_hull
from auclab._core.threads import LARGE, in_parallel
from auclab._core.validation import check_choice, finite_vector, positive_mask, same_length, weight_vector
from auclab.metrics.pair_errors import PairErrors


@dataclass(frozen=True)
class ClassScores:
    """Scores of the two classes in ascending order, with the weight of every score (empty for ones)."""

    pos: Array
    neg: Array
    weight_pos: Array
    weight_neg: Array

    @classmethod
    def of(cls, pos: tuple[Array, Array], neg: tuple[Array, Array]) -> ClassScores:
        """From the scores and weights of either class."""
        return cls(pos[0], neg[0], pos[1], neg[1])

    @property
    def lists(self) -> tuple[Array, Array, Array, Array]:
        """Scores and weights in the order in which the compiled loops take them."""
        return self.pos, self.neg, self.weight_pos, self.weight_neg

    @cached_property
    def pair_errors(self) -> PairErrors:
        """Distribution of the ranking errors ``ξ = n − p`` over all pairs; needs finite scores."""
        return PairErrors.of(*self.lists)

    @property
    def pair_weight(self) -> float:
        """Total weight of all pairs, ``(Σ u)(Σ v)``."""
        return float(total_weight(self.weight_pos, self.pos.size) * total_weight(self.weight_neg, self.neg.size))


def class_scores(
    y_true: ArrayLike | ClassScores,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    *,
    infinite: bool = False,
) -> ClassScores:
    """Check labels, scores and weights, and sort the scores of either class; rows of weight 0 are dropped.

    Scores that are sorted already, in place of the labels, are returned as they are.
    """
    if isinstance(y_true, ClassScores):  # a metric is one function for both: see `Metric.from_sorted`
        return y_true
    positive = positive_mask(y_true, pos_label)
    scores = finite_vector("y_score", y_score, infinite=infinite)
    same_length(y_true=positive, y_score=scores)
    weight = weight_vector(sample_weight, scores.size)
    pos, neg = separate(np.ascontiguousarray(scores), positive, int(np.count_nonzero(positive)))
    if weight is None:
        _sort_both(pos, neg)
        return ClassScores(pos, neg, np.empty(0), np.empty(0))
    sides = ("positive", pos, positive), ("negative", neg, ~positive)
    return ClassScores.of(*(_sorted(f"the {name} class", scores, weight[side]) for name, scores, side in sides))


def difference_scores(
    y_true: ArrayLike | ClassScores, y_score: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any
) -> ClassScores:
    """`class_scores` that are finite and have finite differences."""
    scores = class_scores(y_true, y_score, sample_weight, pos_label)
    low, high = min(scores.pos[0], scores.neg[0]), max(scores.pos[-1], scores.neg[-1])
    if not math.isfinite(float(high) - float(low)):
        raise AuclabError(
            f"scores range from {low} to {high}: their differences exceed the largest double; divide all of them by 4"
        )
    return scores


def plain_sample(x: ArrayLike, sample_weight: ArrayLike | None) -> ClassScores:
    """A sample as the errors of one positive with score 0: then ``ξ = x``."""
    values = finite_vector("x", x)
    weight = weight_vector(sample_weight, values.size)
    neg, weight_neg = (np.sort(values), np.empty(0)) if weight is None else _sorted("the sample", values, weight)
    return ClassScores(np.zeros(1), neg, np.empty(0), weight_neg)


def finite_number(name: str, value: float) -> float:
    """`value` as a float that is neither NaN nor infinite."""
    try:
        if isinstance(value, complex | np.complexfloating | str | bytes):
            raise TypeError
        number = float(value)
    except OverflowError as error:
        raise AuclabError(f"{name} must be a finite number, got one above the largest double") from error
    except (TypeError, ValueError) as error:
        raise AuclabError(f"{name} must be a number, got {value!r}") from error
    if not np.isfinite(number):
        raise AuclabError(f"{name} must be a finite number, got {number}")
    return number


def positive_number(name: str, value: float, unit: str) -> float:
    """`value` as a finite float above 0; `unit` says what it is measured in."""
    number = finite_number(name, value)
    if number <= 0.0:
        raise AuclabError(f"{name} must be above 0, got {number}; it is {unit}")
    return number


def _sort_both(pos: Array, neg: Array) -> None:
    """Sort both lists in place, large ones in two threads: NumPy releases the GIL while it sorts."""
    in_parallel(lambda scores: scores.sort(), (pos,), (neg,), threads=min(pos.size, neg.size) >= LARGE)


def _sorted(owner: str, scores: Array, weight: Array) -> tuple[Array, Array]:
    """Scores ascending with their weights, scaled by a power of two so that products stay in range."""
    present = weight > 0
    if not present.any():
        raise AuclabError(f"all weights of {owner} are 0; give at least one observation of it a positive weight")
    scores, weight = scores[present], weight[present]
    order = np.argsort(scores)
    return scores[order], np.ldexp(weight[order], -np.frexp(weight.max())[1])


#: What a tied pair counts, by the name of the convention.
TIED_SHARE = {"strict": 0.0, "half": 0.5, "upper": 1.0}


def auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    ties: Literal["half", "strict", "upper"] = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Area under the ROC curve, as the share of pairs in the right order, in O(m log m).

    ``AUC = P(h⁺ > h⁻) + c · P(h⁺ = h⁻)`` over all pairs of a positive and a negative, with ``c = ½`` for
    ``ties="half"`` (the area under the ROC polygon, the usual number), 0 for ``"strict"`` (Norton & Uryasev
    2018, eq. 2: ``1 − P(ξ ≥ 0)``) and 1 for ``"upper"`` (``1 − P(ξ > 0)``).

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Larger means more positive; ±∞ is allowed, NaN is not.
    ties : {"half", "strict", "upper"}
        Contribution of a tied pair.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both. Integer weights act as repeated rows.
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

    Returns
    -------
    float
        In [0, 1]; the counts are exact integers up to 2⁵³ pairs.

    Raises
    ------
    AuclabError
        One class only, NaN scores, lengths that differ, an unknown `ties`.

    See Also
    --------
    bauc_score : Buffered AUC, a lower bound of the strict AUC.
    partial_auc : The area over a band of false positive rates.
    auclab.inference.estimate : Standard error and confidence interval.

    Examples
    --------
    Of the four pairs, two are right, one is tied and one is wrong:

    >>> auc_score([0, 0, 1, 1], [1, 3, 3, 2])
    0.625
    >>> auc_score([0, 0, 1, 1], [1, 3, 3, 2], ties="strict")
    0.5
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label, infinite=True)
    check_choice("ties", ties, TIED_SHARE)
    right, tied, pairs = concordance(*scores.lists)
    return min(float((right + TIED_SHARE[ties] * tied) / pairs), 1.0)


def checked_rates(name: str, values: ArrayLike) -> Array:
    """Numbers in [0, 1], of any shape."""
    given = as_array(name, values)
    flat = finite_vector(name, given.ravel())
    array = flat.reshape(given.shape)
    if (flat < 0.0).any() or (flat > 1.0).any():
        raise AuclabError(f"{name} must lie in [0, 1], got {flat[(flat < 0.0) | (flat > 1.0)][0]}")
    return array


def checked_rate(name: str, value: float) -> float:
    """One number in [0, 1]."""
    return float(checked_rates(name, finite_number(name, value)))


def checked_cost_range(cost_range: Sequence[float]) -> tuple[float, float]:
    """Ends of a range of cost shares, checked."""
    try:
        ends = [finite_number("an end of cost_range", end) for end in cost_range]
    except TypeError as error:  # one number
        raise AuclabError(f"cost_range must be a pair 0 ≤ a ≤ b ≤ 1, got {cost_range!r}") from error
    if len(ends) != 2 or not 0.0 <= ends[0] <= ends[1] <= 1.0:
        raise AuclabError(f"cost_range must be a pair 0 ≤ a ≤ b ≤ 1, got {tuple(ends)}")
    return ends[0], ends[1]


def empirical_roc(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any
) -> tuple[Array, Array]:
    """Vertices (FPR, TPR) of the ROC polygon."""
    return roc_from_sorted(class_scores(y_true, y_score, sample_weight, pos_label, infinite=True))


def roc_from_sorted(scores: ClassScores) -> tuple[Array, Array]:
    """Vertices (FPR, TPR) of the ROC polygon of sorted scores."""
    false, true = roc_polygon(*scores.lists, True)
    return false / false[-1], true / true[-1]


def roc_hull(fpr: ArrayLike, tpr: ArrayLike) -> tuple[Array, Array]:
    """Vertices of the upper convex hull of ROC points, from (0, 0) to (1, 1), in O(n log n).

    Its vertices are the points that are cheapest for some costs; (0, 0) and (1, 1), the classifiers that call
    nothing or everything positive, are always among them.

    Parameters
    ----------
    fpr, tpr : arrays of shape (n_points,)
        Rates in [0, 1], in any order.

    Returns
    -------
    fpr, tpr : arrays of shape (n_vertices,)
        Ascending in both; points on an edge are left out.

    Raises
    ------
    AuclabError
        Rates outside [0, 1], NaN, lengths that differ.

    See Also
    --------
    voros_from_points : Mean area of lesser classifiers of the best point.
    auclab.displays.ROCHullDisplay : Draws it.

    Examples
    --------
    (0.5, 0.6) lies below the edge from (0.2, 0.8) to (1, 1):

    >>> fpr, tpr = roc_hull([0.5, 0.2], [0.6, 0.8])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.2, 1.0], [0.0, 0.8, 1.0])
    """
    x, y = (np.atleast_1d(checked_rates(name, rates)) for name, rates in (("fpr", fpr), ("tpr", tpr)))
    if x.ndim > 1 or y.ndim > 1:
        raise AuclabError(f"fpr and tpr must be one-dimensional, got shapes {x.shape} and {y.shape}")
    same_length(fpr=x, tpr=y)
    x, y = np.concatenate(([0.0], x, [1.0])), np.concatenate(([0.0], y, [1.0]))
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    chain = upper_hull(x, y)
    return x[chain], y[chain]
