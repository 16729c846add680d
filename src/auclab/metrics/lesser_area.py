"""Area of lesser classifiers of a ROC point: the part of ROC space that costs more, for one cost share or a range.

With C₀ the cost of a false positive and C₁ that of a false negative, ``t = C₀|N|/(C₀|N| + C₁|P|)`` is the share of
the false positives, and a point (x, y) of ROC space costs ``t x + (1 − t)(1 − y)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from auclab.metrics.class_scores import finite_number
from auclab.metrics.cost_measures import VertexRanges, uniform_mean
from auclab.metrics.rates import checked_cost_range, checked_rate, checked_rates
from auclab.types import Array, AuclabError


def lesser_area(fpr: ArrayLike, tpr: ArrayLike, cost_share: ArrayLike, *, as_published: bool = False) -> float | Array:
    """Area of lesser classifiers: the part of ROC space that costs more than a point, for a cost share t.

    With ``c = t h + (1 − t)(1 − k)`` the cost of (h, k), ``lo = min(t, 1 − t)`` and ``hi = max(t, 1 − t)``: ``1 −
    c²/(2t(1 − t))`` for ``c ≤ lo``, where the point is at least as good as (0, 0) and (1, 1) (Ratigan & Cowen, Lemma
    22); ``1 − (c − lo/2)/hi`` up to hi, and ``(1 − c)²/(2t(1 − t))`` above.

    Parameters
    ----------
    fpr, tpr : float or array
        h and k, rates in [0, 1].
    cost_share : float or array
        t in [0, 1]; the three broadcast.
    as_published : bool
        Use the formula of Lemma 22 for any point, also where its triangle leaves the unit square.

    Returns
    -------
    float or array
        In [0, 1]; as published it may be below 0.

    Raises
    ------
    AuclabError
        Rates or shares outside [0, 1]; t = 0 or 1 as published, where the formula divides by 0.

    See Also
    --------
    lesser_volume : Its mean over a range of cost shares.
    voros_from_points : The mean for the best of many points.

    Examples
    --------
    At t = ½ the cost ¼ leaves a triangle with legs ½ above the point; (0, 0) leaves half of the square:

    >>> lesser_area(0.25, 0.75, 0.5)
    0.875
    >>> lesser_area(0.0, 0.0, 0.5)
    0.5
    """
    h, k, t = checked_rates("fpr", fpr), checked_rates("tpr", tpr), checked_rates("cost_share", cost_share)
    try:
        h, k, t = np.broadcast_arrays(h, k, t)
    except ValueError as error:
        raise AuclabError(
            f"fpr, tpr and cost_share must broadcast, got shapes {h.shape}, {k.shape}, {t.shape}"
        ) from error
    low, high = np.minimum(t, 1.0 - t), np.maximum(t, 1.0 - t)
    cost, benefit = t * h + (1.0 - t) * (1.0 - k), t * (1.0 - h) + (1.0 - t) * k
    if as_published:
        if (t * (1.0 - t) == 0.0).any():
            raise AuclabError("the published formula divides by t (1 − t): 0 < cost_share < 1 is needed")
        area = 1.0 - cost**2 / (2.0 * t * (1.0 - t))
    else:
        proper = low > 0.0  # t = 0 and t = 1 belong to the middle case
        area = 1.0 - (cost - 0.5 * low) / high
        area = np.where(proper & (benefit <= low), _triangle(benefit, low, high), area)
        area = np.where(proper & (cost <= low), 1.0 - _triangle(cost, low, high), area)
    return area if area.ndim else float(area)


def lesser_volume(
    fpr: float, tpr: float, *, cost_range: Sequence[float] = (0.0, 1.0), as_published: bool = False
) -> float:
    """Mean area of lesser classifiers of one ROC point over a range of cost shares.

    ``(1/(b − a)) ∫ A_t dt`` where the point is at least as good as (0, 0) and (1, 1) for all t in [a, b]. With ``v =
    1 − k`` it is ``1 + ½(v − h)² + (−½v² ln(b/a) + ½h² ln((1 − b)/(1 − a)))/(b − a)``.

    Parameters
    ----------
    fpr, tpr : float
        h and k, rates in [0, 1].
    cost_range : pair of float
        ``0 ≤ a < b ≤ 1``.
    as_published : bool
        Ratigan & Cowen's Lemma 23 as printed: ``1/(b − a)`` at the first bracket only and the logarithms exchanged,
        ``(1 + ½(v − h)²)/(b − a) + ½v² ln((1 − b)/(1 − a)) − ½h² ln(b/a)``. It is not a mean of areas.

    Raises
    ------
    AuclabError
        A point that (0, 0) or (1, 1) beats within the range, an empty range, rates outside [0, 1]; as published, a
        range that touches 0 or 1.

    See Also
    --------
    lesser_area : The area for one cost share.
    voros_from_points : The mean for the best of many points.

    Examples
    --------
    >>> round(lesser_volume(0.2, 0.85, cost_range=(0.3, 0.5)), 6)
    0.938869
    >>> round(lesser_volume(0.2, 0.85, cost_range=(0.3, 0.5), as_published=True), 3)
    4.992
    """
    h, v = float(checked_rate("fpr", fpr)), 1.0 - checked_rate("tpr", tpr)
    a, b = checked_cost_range(cost_range)
    if a == b:
        raise AuclabError(
            f"cost_range must have a positive length, got ({a}, {b}); lesser_area takes a single cost share"
        )
    for t in (a, b):
        if t * h + (1.0 - t) * v > min(t, 1.0 - t) + 1e-12:
            raise AuclabError(
                f"the point ({h:g}, {1.0 - v:g}) costs more than (0, 0) or (1, 1) at cost share {t}; "
                "voros_from_points takes the best point everywhere"
            )
    if as_published:
        if a == 0.0 or b == 1.0:
            raise AuclabError(f"the published formula needs 0 < a < b < 1, got cost_range ({a}, {b})")
        swapped = 0.5 * v**2 * math.log((1.0 - b) / (1.0 - a)) - 0.5 * h**2 * math.log(b / a)
        return (1.0 + 0.5 * (v - h) ** 2) / (b - a) + swapped
    point = [np.array([value]) for value in (h, v, a, b, 1.0 - a, 1.0 - b)]
    return uniform_mean(VertexRanges(*point))


def cost_range(class_ratio: float | Sequence[float], cost_ratio: float | Sequence[float]) -> tuple[float, float]:
    """Range of the cost share t from ranges of the class ratio and the cost ratio.

    ``t/(1 − t) = (C₀/C₁) · (|N|/|P|)`` grows in both, so the smallest of both give one end and the largest the other.
    (Ratigan & Cowen's fraud example multiplies the smallest of one by the largest of the other.)

    Parameters
    ----------
    class_ratio : float or pair of float
        ``|N|/|P|``, negatives per positive, ≥ 0.
    cost_ratio : float or pair of float
        ``C₀/C₁``, cost of a false positive in units of a false negative, ≥ 0.

    Returns
    -------
    low, high : float
        In [0, 1], for the `cost_range` of `voros_score`.

    Raises
    ------
    AuclabError
        Ratios that are negative, not finite or not ascending.

    See Also
    --------
    voros_score : Takes the range.

    Examples
    --------
    Three to nine negatives per positive, errors that cost the same:

    >>> cost_range((3, 9), 1)
    (0.75, 0.9)
    """
    classes, costs = _ratios("class_ratio", class_ratio), _ratios("cost_ratio", cost_ratio)
    low, high = (_share(r * c) for r, c in zip(classes, costs, strict=True))
    return low, high


def _triangle(cost: Array, low: Array, high: Array) -> Array:
    """``c²/(2t(1 − t))`` for c up to low, without a product that leaves the range of doubles."""
    legs = np.minimum(cost, low)
    return np.asarray(legs / np.where(low > 0.0, low, 1.0) * (legs / (2.0 * high)))


def _ratios(name: str, ratio: float | Sequence[float]) -> tuple[float, float]:
    """Ends of a range of ratios, checked."""
    try:
        ends = [finite_number(name, end) for end in ratio]  # type: ignore[union-attr]
    except TypeError:  # one number
        ends = [finite_number(name, ratio)]  # type: ignore[arg-type]
    if not 1 <= len(ends) <= 2 or not 0.0 <= ends[0] <= ends[-1]:
        raise AuclabError(f"{name} must be a number ≥ 0 or an ascending pair of them, got {ratio!r}")
    return ends[0], ends[-1]


def _share(odds: float) -> float:
    """``odds/(1 + odds)``."""
    return odds / (1.0 + odds) if math.isfinite(odds) else 1.0
