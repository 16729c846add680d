"""The common starting point of the metrics that look at differences of scores, not at their order alone."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from auclab.compiled.ranking import total_weight
from auclab.metrics.class_scores import ClassScores, class_scores, finite_number
from auclab.types import AuclabError


def difference_scores(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any
) -> ClassScores:
    """Sorted scores of either class, finite and with finite differences.

    Raises
    ------
    AuclabError
        As `class_scores`; ±∞ scores, and a range of scores above the largest double.
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label)
    low, high = min(scores.pos[0], scores.neg[0]), max(scores.pos[-1], scores.neg[-1])
    if not math.isfinite(float(high) - float(low)):
        raise AuclabError(
            f"scores range from {low} to {high}: their differences exceed the largest double; divide all of them by 4"
        )
    return scores


def pair_weight(scores: ClassScores) -> float:
    """Total weight of all pairs, ``(Σ u)(Σ v)``."""
    return float(total_weight(scores.weight_pos, scores.pos.size) * total_weight(scores.weight_neg, scores.neg.size))


def positive_number(name: str, value: float, unit: str) -> float:
    """`value` as a finite float above 0; `unit` says what it is measured in."""
    number = finite_number(name, value)
    if number <= 0.0:
        raise AuclabError(f"{name} must be above 0, got {number}; it is {unit}")
    return number
