"""Components of partial AUC, with the contribution of the estimated quantiles of the negatives.

The area over the band ``[l, h]`` of false positive rates is a mean over the positives. With ``S(p) = P(n > p)``,

    A = ∫_l^h roc(u) du = E_p g(S(p)),     g(s) = h − min(max(s, l), h),

since a positive adds to the curve from the rate ``S(p)`` on. So ``V10_i = g(S(p_i))``. The negatives enter through S
alone, also through the two quantiles that bound the band; ``g' = −1`` inside the band and 0 outside, hence

    V01_j = A − E_p[ 1{l < S(p) < h} (1{n_j > p} − S(p)) ].

A negative outside the band moves the quantile and has the component of one at its edge. A block of tied scores is one
slanted edge from ``x₀ = P(n > p)`` to ``x₁ = P(n ≥ p)``: g is then its mean over the edge, and its derivatives in x₀
and x₁ share out g'. A positive exactly at an end of the band, where g has a kink, counts half.
"""

from __future__ import annotations

import numpy as np

from auclab.compiled.ranking import total_weight
from auclab.inference.components import Rows, weight_below
from auclab.metrics.class_scores import ClassScores
from auclab.types import Array


def partial_rows(
    scores: ClassScores, *, min_fpr: float = 0.0, max_fpr: float = 1.0, standardized: object = False
) -> Rows:
    """V10 and V01 of the partial AUC on its scale, O(m log m).

    Examples
    --------
    One positive above both negatives, one below, band [0, ½]: the first fills the band, the second adds nothing; no
    positive has its rate inside the band, so the negatives do not matter.

    >>> empty = np.empty(0)
    >>> rows = partial_rows(ClassScores(np.array([1.0, 4.0]), np.array([2.0, 3.0]), empty, empty), max_fpr=0.5)
    >>> [r.tolist() for r in rows]
    [[0.0, 0.5], [0.25, 0.25]]
    """
    low, high = float(min_fpr), float(max_fpr)
    pos, neg, v = scores.pos, scores.neg, scores.weight_neg
    total = total_weight(v, neg.size)
    # the edge from P(n > p) to P(n ≥ p)
    first, last = (np.maximum(total - weight_below(pos, neg, v, side), 0.0) / total for side in ("right", "left"))
    area, by_first, by_last = _edge(first, last, low, high)
    share = scores.weight_pos / total_weight(scores.weight_pos, pos.size) if scores.weight_pos.size else 1.0 / pos.size
    by_first, by_last = by_first * share, by_last * share
    moved = _weight_before(by_first, pos, neg, "left") + _weight_before(by_last, pos, neg, "right")
    drift = moved - np.sum(by_first * first + by_last * last)
    slope = _slope(low, high, standardized)
    value = float(np.sum(area * share))
    chance = 0.5 - 0.5 * (high * high - low * low) * slope if standardized == "mcclish" else 0.0
    return chance + slope * area, chance + slope * (value + drift)


def value_range(min_fpr: float, max_fpr: float, standardized: object) -> tuple[float, float]:
    """Values that the partial AUC can take on its scale."""
    slope = _slope(min_fpr, max_fpr, standardized)
    chance = 0.5 - 0.5 * (max_fpr**2 - min_fpr**2) * slope if standardized == "mcclish" else 0.0
    return chance, chance + slope * (max_fpr - min_fpr)


def _slope(low: float, high: float, standardized: object) -> float:
    """Units of the scale per unit of area."""
    if not standardized:
        return 1.0
    best = high - low
    return 1.0 / best if standardized == "area" else 0.5 / (best - 0.5 * best * (high + low))


def _edge(first: Array, last: Array, low: float, high: float) -> tuple[Array, Array, Array]:
    """Mean of g over the edge from `first` to `last`, and its derivatives in either end."""
    start, stop = np.clip(first, low, high), np.clip(last, low, high)
    length = last - first
    wide = length > 0.0
    divisor = np.where(wide, length, 1.0)
    before = np.maximum(np.minimum(last, low) - first, 0.0)
    area = (before * (high - low) + (stop - start) * (high - 0.5 * (start + stop))) / divisor
    t0, t1 = (start - first) / divisor, (stop - first) / divisor  # the part of the edge within the band
    by_last = -0.5 * (t1 * t1 - t0 * t0)
    by_first = -(t1 - t0) - by_last
    inside = 0.5 * ((first > low) & (first < high)) + 0.5 * ((first >= low) & (first <= high))
    return (
        np.where(wide, area, high - start),
        np.where(wide, by_first, -0.5 * inside),
        np.where(wide, by_last, -0.5 * inside),
    )


def _weight_before(weight: Array, pos: Array, neg: Array, side: str) -> Array:
    """Sum of the weights of the positives below each negative."""
    return np.concatenate(([0.0], np.cumsum(weight)))[np.searchsorted(pos, neg, side=side)]  # type: ignore[call-overload]
