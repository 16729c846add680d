"""Labels and scores to two sorted lists of scores, the common starting point of the metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.classes import separate
from auclab.compiled.ranking import total_weight
from auclab.compiled.threads import LARGE, in_parallel
from auclab.metrics.pair_errors import PairErrors
from auclab.types import Array, AuclabError
from auclab.validation import finite_vector, positive_mask, same_length, weight_vector


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
