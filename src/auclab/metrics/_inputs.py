"""From what a caller hands over to two sorted lists of scores, the common starting point of the metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.types import Array, AuclabError
from auclab.validation import finite_vector, positive_mask, same_length, weight_vector


@dataclass(frozen=True)
class ClassScores:
    """Scores of the two classes, ascending, with the weight of every score (empty for ones)."""

    pos: Array
    neg: Array
    weight_pos: Array
    weight_neg: Array


def class_scores(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    *,
    infinite: bool = False,
) -> ClassScores:
    """Check labels, scores and weights, and sort the scores of either class; rows of weight 0 are dropped.

    Raises
    ------
    AuclabError
        One class only, NaN scores, ±∞ scores unless `infinite`, lengths that differ, negative weights, or a
        class whose weights are all 0.
    """
    positive = positive_mask(y_true, pos_label)
    scores = finite_vector("y_score", y_score, infinite=infinite)
    same_length(y_true=positive, y_score=scores)
    weight = weight_vector(sample_weight, scores.size)
    pos, weight_pos = _sorted("the positive class", scores[positive], weight if weight is None else weight[positive])
    neg, weight_neg = _sorted("the negative class", scores[~positive], weight if weight is None else weight[~positive])
    return ClassScores(pos, neg, weight_pos, weight_neg)


def plain_sample(x: ArrayLike, sample_weight: ArrayLike | None) -> ClassScores:
    """A sample as the errors of one positive with score 0: then ``ξ = x``."""
    values = finite_vector("x", x)
    weight = weight_vector(sample_weight, values.size)
    neg, weight_neg = _sorted("the sample", values.copy(), weight)
    return ClassScores(np.zeros(1), neg, np.empty(0), weight_neg)


def finite_number(name: str, value: float) -> float:
    """`value` as a float that is neither NaN nor infinite."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise AuclabError(f"{name} must be a number, got {value!r}") from error
    if not np.isfinite(number):
        raise AuclabError(f"{name} must be a finite number, got {number}")
    return number


def _sorted(owner: str, scores: Array, weight: Array | None) -> tuple[Array, Array]:
    """Scores ascending with their weights, scaled by a power of two so that products stay in range."""
    if weight is None:
        scores.sort()  # a copy already
        return scores, np.empty(0)
    present = weight > 0
    if not present.any():
        raise AuclabError(f"all weights of {owner} are 0; give at least one observation of it a positive weight")
    scores, weight = scores[present], weight[present]
    order = np.argsort(scores)
    return scores[order], np.ldexp(weight[order], -np.frexp(weight.max())[1])
