"""Costs of ROC points: hull, area of lesser classifiers, and their volume over unknown costs, VOROS.

With C₀ the cost of a false positive and C₁ that of a false negative, ``t = C₀|N|/(C₀|N| + C₁|P|)`` is the share of
the false positives, and a point (x, y) of ROC space costs ``t x + (1 − t)(1 − y)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.roc import roc_polygon, upper_hull
from auclab.metrics.class_scores import class_scores, finite_number
from auclab.metrics.cost_measures import VertexRanges, beta_mean, uniform_mean
from auclab.types import Array, AuclabError
from auclab.validation import finite_vector, same_length

Measure = str | Sequence[Any]


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

    Examples
    --------
    (0.5, 0.6) lies below the edge from (0.2, 0.8) to (1, 1):

    >>> fpr, tpr = roc_hull([0.5, 0.2], [0.6, 0.8])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.2, 1.0], [0.0, 0.8, 1.0])
    """
    x, y = _rates("fpr", fpr), _rates("tpr", tpr)
    same_length(fpr=x, tpr=y)
    x, y = np.concatenate(([0.0], x, [1.0])), np.concatenate(([0.0], y, [1.0]))
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    chain = upper_hull(x, y)
    return x[chain], y[chain]


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

    Examples
    --------
    At t = ½ the cost ¼ leaves a triangle with legs ½ above the point; (0, 0) leaves half of the square:

    >>> lesser_area(0.25, 0.75, 0.5)
    0.875
    >>> lesser_area(0.0, 0.0, 0.5)
    0.5
    """
    h, k, t = _rates("fpr", fpr), _rates("tpr", tpr), _rates("cost_share", cost_share)
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
        ``(1 + ½(v − h)²)/(b − a) + ½v² ln((1 − b)/(1 − a)) − ½h² ln(b/a)``. It is no mean of areas.

    Raises
    ------
    AuclabError
        A point that (0, 0) or (1, 1) beats within the range, an empty range, rates outside [0, 1]; as published, a
        range that touches 0 or 1.

    Examples
    --------
    >>> round(lesser_volume(0.2, 0.85, cost_range=(0.3, 0.5)), 6)
    0.938869
    >>> round(lesser_volume(0.2, 0.85, cost_range=(0.3, 0.5), as_published=True), 3)
    4.992
    """
    h, v = float(_rate("fpr", fpr)), 1.0 - _rate("tpr", tpr)
    a, b = checked_cost_range(cost_range)
    if a == b:
        raise AuclabError(f"cost_range must have a length, got ({a}, {b}); lesser_area takes a single cost share")
    for t in (a, b):
        if t * h + (1.0 - t) * v > min(t, 1.0 - t) + 1e-12:
            raise AuclabError(
                f"the point ({h}, {1.0 - v}) costs more than (0, 0) or (1, 1) at cost share {t}; "
                "voros_from_points takes the best point everywhere"
            )
    if as_published:
        if a == 0.0 or b == 1.0:
            raise AuclabError(f"the published formula needs 0 < a < b < 1, got cost_range ({a}, {b})")
        swapped = 0.5 * v**2 * math.log((1.0 - b) / (1.0 - a)) - 0.5 * h**2 * math.log(b / a)
        return (1.0 + 0.5 * (v - h) ** 2) / (b - a) + swapped
    point = [np.array([value]) for value in (h, v, a, b, 1.0 - a, 1.0 - b)]
    return uniform_mean(VertexRanges(*point))


def voros_from_points(
    fpr: ArrayLike,
    tpr: ArrayLike,
    *,
    cost_range: Sequence[float] = (0.0, 1.0),
    measure: Measure = "uniform",
) -> float:
    """VOROS of ROC points: the mean area of lesser classifiers of the best point, over unknown costs.

    ``(1/μ[a, b]) ∫_a^b max_(h,k) A_t(h, k) dμ(t)`` (Ratigan & Cowen, Def. 21). It is the probability that a uniformly
    drawn point of ROC space costs more than the best of the given ones, for t drawn from μ.

    Parameters
    ----------
    fpr, tpr : arrays of shape (n_points,)
        Rates in [0, 1]; (0, 0) and (1, 1) are added, and every vertex of the hull counts.
    cost_range : pair of float
        ``0 ≤ a ≤ b ≤ 1``, the cost shares t that are possible; `cost_range` computes them. ``a = b`` is the limit, a
        known cost.
    measure : "uniform", ("beta", α, β) or ("point", t)
        How likely the shares in the range are: equally, in proportion to ``t^(α−1) (1 − t)^(β−1)``, or all at t.

    Returns
    -------
    float
        In [½, 1]; at least the area under the hull and the value of chance on the same range, which is ``3/2 − ln 2 =
        0.807`` on [0, 1].

    Raises
    ------
    AuclabError
        Rates or shares outside [0, 1], an unknown measure, exponents ≤ 0, a point of measure outside the range.

    Examples
    --------
    >>> voros_from_points([0.0], [1.0])
    1.0
    >>> round(voros_from_points([0.5], [0.5]), 12)  # 3/2 − ln 2
    0.80685281944
    """
    return _voros(*roc_hull(fpr, tpr), cost_range, measure)


def voros_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    cost_range: Sequence[float] = (0.0, 1.0),
    measure: Measure = "uniform",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """VOROS of the ROC curve of a scorer, see `voros_from_points`; O(m log m).

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Larger means more positive; ±∞ is allowed, NaN is not. Only the order counts.
    cost_range, measure
        As in `voros_from_points`.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; integer weights act as repeated rows.
    pos_label : optional
        The positive one of two unusual labels.

    Returns
    -------
    float
        In [½, 1], at least AUC; the value of chance for constant scores.

    Raises
    ------
    AuclabError
        One class only, NaN scores, lengths that differ, a class without weight; as in `voros_from_points`.

    Examples
    --------
    >>> voros_score([0, 0, 1, 1], [1, 2, 3, 4])
    1.0
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label, infinite=True)
    false, true = roc_polygon(scores.pos, scores.neg, scores.weight_pos, scores.weight_neg, True)
    fpr, tpr = false / false[-1], true / true[-1]
    chain = upper_hull(fpr, tpr)
    return _voros(fpr[chain], tpr[chain], cost_range, measure)


def cost_range(class_ratio: float | Sequence[float], cost_ratio: float | Sequence[float]) -> tuple[float, float]:
    """Range of the cost share t from what is known about classes and costs.

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


def _voros(fpr: Array, tpr: Array, cost_range: Sequence[float], measure: Measure) -> float:
    """VOROS of a hull."""
    a, b = checked_cost_range(cost_range)
    name, numbers = _measure(measure)
    if name == "point":
        (t,) = numbers
        if not a <= t <= b:
            raise AuclabError(f"the measure sits at {t}, outside the cost_range ({a}, {b})")
        return _best_area(fpr, tpr, t)
    if a == b:
        return _best_area(fpr, tpr, a)
    ranges = VertexRanges.of(fpr, tpr, a, b)
    return uniform_mean(ranges) if name == "uniform" else beta_mean(ranges, *numbers)


def _best_area(fpr: Array, tpr: Array, share: float) -> float:
    """Largest area of lesser classifiers of the vertices, for one cost share."""
    return float(np.max(lesser_area(fpr, tpr, share)))


def _measure(measure: Measure) -> tuple[str, list[float]]:
    """Name and numbers of a measure, checked."""
    name, *numbers = (measure,) if isinstance(measure, str) else tuple(measure)
    needed = {"uniform": 0, "beta": 2, "point": 1}.get(str(name))
    if needed is None or len(numbers) != needed:
        raise AuclabError(f"measure must be 'uniform', ('beta', α, β) or ('point', t), got {measure!r}")
    values = [finite_number(f"a number of the measure {name}", number) for number in numbers]
    if name == "beta" and min(values) <= 0.0:
        raise AuclabError(f"the exponents of a Beta measure must be above 0, got {values[0]} and {values[1]}")
    if name == "point" and not 0.0 <= values[0] <= 1.0:
        raise AuclabError(f"a cost share lies in [0, 1], got {values[0]}")
    return str(name), values


def checked_cost_range(cost_range: Sequence[float]) -> tuple[float, float]:
    """Ends of a range of cost shares, checked."""
    ends = [finite_number("an end of cost_range", end) for end in cost_range]
    if len(ends) != 2 or not 0.0 <= ends[0] <= ends[1] <= 1.0:
        raise AuclabError(f"cost_range must be a pair 0 ≤ a ≤ b ≤ 1, got {tuple(ends)}")
    return ends[0], ends[1]


def _rates(name: str, values: ArrayLike) -> Array:
    """Numbers in [0, 1], of any shape."""
    array = np.asarray(values, dtype=np.float64)
    flat = finite_vector(name, array.ravel())
    if (flat < 0.0).any() or (flat > 1.0).any():
        raise AuclabError(f"{name} must lie in [0, 1], got {flat[(flat < 0.0) | (flat > 1.0)][0]}")
    return array


def _rate(name: str, value: float) -> float:
    """One number in [0, 1]."""
    return float(_rates(name, finite_number(name, value)))


def _ratios(name: str, ratio: float | Sequence[float]) -> tuple[float, float]:
    """Ends of a range of ratios, checked."""
    ends = [finite_number(name, end) for end in np.atleast_1d(ratio)]
    if len(ends) > 2 or not 0.0 <= ends[0] <= ends[-1]:
        raise AuclabError(f"{name} must be a number ≥ 0 or an ascending pair of them, got {ratio!r}")
    return ends[0], ends[-1]


def _share(odds: float) -> float:
    """``odds/(1 + odds)``."""
    return odds / (1.0 + odds) if math.isfinite(odds) else 1.0
