"""Volume under the ROC surface by costs, the lesser area, and what their measures share.

Vertex (h, k) with ``v = 1 − k`` costs ``c = t h + (1 − t) v`` and is best on an interval of t; the area is ``A_t = 1 −
c²/(2t(1 − t))`` there (Ratigan & Cowen, Lemma 22, Theorem 24).

With C₀ the cost of a false positive and C₁ that of a false negative, ``t = C₀|N|/(C₀|N| + C₁|P|)`` is the share of
the false positives, and a point (x, y) of ROC space costs ``t x + (1 − t)(1 − y)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betaln, xlogy

from auclab._core.base import Array, AuclabError
from auclab._core.scores import upper_hull
from auclab.metrics.partial import MANY_NODES
from auclab.metrics.roc import (
    checked_cost_range,
    checked_rate,
    checked_rates,
    class_scores,
    finite_number,
    roc_from_sorted,
    roc_hull,
)


@dataclass(frozen=True)
class VertexRanges:
    """Vertices and the cost shares ``[low, high]`` where each is best, within a range of t.

    `low_rest` and `high_rest` are ``1 − low`` and ``1 − high``, kept apart because t may be next to 1.
    """

    h: Array
    v: Array
    low: Array
    high: Array
    low_rest: Array
    high_rest: Array

    @classmethod
    def of(cls, fpr: Array, tpr: Array, low: float, high: float) -> VertexRanges:
        """Ranges of the vertices of a hull from (0, 0) to (1, 1), cut to ``[low, high]``; empty ones left out."""
        dx, dy = np.diff(fpr), np.diff(tpr)
        # two vertices cost the same at t = δy/(δx + δy), which falls along the hull
        share = np.minimum.accumulate(np.concatenate(([1.0], dy / (dx + dy), [0.0])))
        rest = np.maximum.accumulate(np.concatenate(([0.0], dx / (dx + dy), [1.0])))
        ends = np.clip(share, low, high), np.clip(rest, 1.0 - high, 1.0 - low)
        ranges = cls(fpr, 1.0 - tpr, ends[0][1:], ends[0][:-1], ends[1][1:], ends[1][:-1])
        return ranges.where(ranges.width > 0.0)

    @property
    def width(self) -> Array:
        """Lengths of the ranges, from whichever of t and 1 − t is small."""
        return np.where(self.low > 0.5, self.low_rest - self.high_rest, self.high - self.low)

    def where(self, mask: NDArray[np.bool_]) -> VertexRanges:
        """The ranges where a mask is true."""
        parts = self.h, self.v, self.low, self.high, self.low_rest, self.high_rest
        return VertexRanges(*(part[mask] for part in parts))

    def mirrored(self) -> VertexRanges:
        """The same with t and 1 − t exchanged, and so h and v."""
        return VertexRanges(self.v, self.h, self.high_rest, self.low_rest, self.high, self.low)


def uniform_volumes(ranges: VertexRanges) -> Array:
    """``∫ A_t dt`` over each range: ``w (1 + ½(v − h)²) − ½v² ln(b/a) + ½h² ln((1 − b)/(1 − a))``.

    Ratigan & Cowen, Lemma 23, with both logarithms at their places and the width at all of the bracket.
    """
    h, v, width = ranges.h, ranges.v, ranges.width
    # a vertex that is best down to t = 0 has v = 0, one that is best up to t = 1 has h = 0; h² < 10⁻³⁰⁰ is not a loss
    growth = np.log1p(np.divide(width, ranges.low, out=np.zeros_like(width), where=v > 1e-150))
    decay = np.log1p(np.divide(width, ranges.high_rest, out=np.zeros_like(width), where=h > 1e-150))
    return width * (1.0 + 0.5 * (v - h) ** 2) - 0.5 * (v**2 * growth + h**2 * decay)


def uniform_mean(ranges: VertexRanges) -> float:
    """Mean of A_t for t uniform on the ranges together."""
    return float(np.sum(uniform_volumes(ranges)) / np.sum(ranges.width))


def density_mean(ranges: VertexRanges, density: Callable[[Array], ArrayLike]) -> float:
    """Mean of A_t for t with a density on the ranges together: Gauss–Legendre on pieces of at most a sixteenth."""
    cuts = np.arange(1, 16) / 16
    columns = np.stack((ranges.h, ranges.v, ranges.low, ranges.high))
    ends = np.clip(np.r_[0.0, cuts, 1.0], columns[2][:, None], columns[3][:, None])
    low, high = ends[:, :-1, None], ends[:, 1:, None]
    t = low + (high - low) * (0.5 * (1.0 + MANY_NODES[0]))
    values = np.asarray(density(t), dtype=float)
    if values.shape != t.shape or not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise AuclabError("a density of cost shares must give a finite number ≥ 0 for each of an array of shares")
    mass = values * (high - low) * (0.5 * MANY_NODES[1])
    if not mass.sum() > 0.0:
        raise AuclabError("the density of cost shares is 0 on the whole cost_range")
    h, v = columns[0][:, None, None], columns[1][:, None, None]
    safe = np.clip(t, 1e-300, 1.0 - 1e-16)
    cost = t * h + (1.0 - t) * v
    return float(np.sum(mass * (1.0 - cost / safe * (cost / (2.0 * (1.0 - safe))))) / mass.sum())


def beta_mean(ranges: VertexRanges, alpha: float, beta: float) -> float:
    """Mean of A_t for t with a Beta(α, β) distribution cut to the ranges together.

    The closed form divides by α − 1 and β − 1 and by the mass of the ranges; where these are small, quadrature.
    """
    masses = _beta_masses(ranges, alpha, beta)
    if min(abs(alpha - 1.0), abs(beta - 1.0)) < 0.1 or masses.sum() < 0.1:
        return _beta_mean_by_quadrature(ranges, alpha, beta)
    return float(np.sum(_beta_volumes(ranges, masses, alpha, beta)) / masses.sum())


def _beta_masses(ranges: VertexRanges, alpha: float, beta: float) -> Array:
    """``μ[a, b]`` of each range, from whichever tail is small."""
    lower = betainc(alpha, beta, ranges.high) - betainc(alpha, beta, ranges.low)
    upper = betaincc(alpha, beta, ranges.low) - betaincc(alpha, beta, ranges.high)
    return np.asarray(np.where(ranges.low > alpha / (alpha + beta), upper, lower))


def _beta_volumes(ranges: VertexRanges, masses: Array, alpha: float, beta: float) -> Array:
    """``(1 − hv) μ − ½(h² M₁ + v² M₂)`` with ``M₁ = ∫ t/(1 − t) dμ``, and ``M₂`` its mirror image."""
    loss = _beta_loss(ranges, masses, alpha, beta) + _beta_loss(ranges.mirrored(), masses, beta, alpha)
    return (1.0 - ranges.h * ranges.v) * masses - loss


def _beta_loss(ranges: VertexRanges, masses: Array, alpha: float, beta: float) -> Array:
    """``½h² M₁`` by parts: ``M₁ = (α μ − [t^α (1 − t)^(β−1)/B]) / (β − 1)`` over each range; 0 where h is."""
    loss = np.zeros_like(masses)
    there = ranges.h > 1e-150
    of = ranges.where(there)
    log_scale = betaln(alpha, beta)
    top = np.exp(xlogy(alpha, of.high) + xlogy(beta - 1.0, of.high_rest) - log_scale)
    bottom = np.exp(xlogy(alpha, of.low) + xlogy(beta - 1.0, of.low_rest) - log_scale)
    loss[there] = 0.5 * of.h**2 * (alpha * masses[there] - (top - bottom)) / (beta - 1.0)
    return loss


def _beta_mean_by_quadrature(ranges: VertexRanges, alpha: float, beta: float) -> float:
    """Gauss–Legendre on pieces that are halved until the sums stay; the density needs no normalisation.

    Either side of ½ is taken in its own small variable. Pieces start at the mode and ten deviations from it, so
    that no peak is missed; what lies next to 0 is the integral of a power.
    """
    spread = np.sqrt(alpha * beta / (alpha + beta + 1.0)) / (alpha + beta)
    mode = (alpha - 1.0) / (alpha + beta - 2.0) if min(alpha, beta) > 1.0 else alpha / (alpha + beta)
    cuts = mode + spread * np.array([-10.0, 0.0, 10.0])
    left = _pieces(ranges, alpha, beta, cuts)
    right = _pieces(ranges.mirrored(), beta, alpha, 1.0 - cuts)
    pieces = np.concatenate((left, right))
    from_zero = pieces[:, 2] == 0.0
    high, power = pieces[from_zero, 3], pieces[from_zero, 4]
    pieces[from_zero, 2] = nearest = np.where(high > 1e-250, 1e-20 * high, high)
    reference = max(_log_density(pieces[:, 2], pieces).max(), _log_density(pieces[:, 3], pieces).max())
    sums = np.full(2, np.sum(np.exp(power * np.log(nearest) - reference) / power))  # A = 1 there
    pieces = pieces[pieces[:, 2] < pieces[:, 3]]
    values = _integrals(pieces, reference)
    while len(pieces):
        halves = _halved(pieces)
        finer = _integrals(halves, reference)
        change = np.abs(finer.reshape(-1, 2, 2).sum(axis=1) - values).max(axis=1)
        total = sums[1] + finer[:, 1].sum()
        settled = (change <= 1e-15 * total) & (total > 0.0)
        if len(halves) > 2**14:
            settled[:] = True  # what is left is the rounding of the density
        settled = np.repeat(settled, 2)
        sums += finer[settled].sum(axis=0)
        pieces, values = halves[~settled], finer[~settled]
    return float(sums[0] / sums[1])


def _pieces(ranges: VertexRanges, alpha: float, beta: float, cuts: Array) -> Array:
    """Rows h, v, low, high, α, β of the ranges below ½, cut at the given points."""
    high = np.minimum(ranges.high, 0.5)
    exponents = np.full(high.size, alpha), np.full(high.size, beta)
    pieces = np.stack((ranges.h, ranges.v, ranges.low, high, *exponents), axis=1)[ranges.low < high]
    for cut in cuts:
        below, above = pieces.copy(), pieces.copy()
        below[:, 3], above[:, 2] = np.minimum(pieces[:, 3], cut), np.maximum(pieces[:, 2], cut)
        pieces = np.concatenate((below, above))
        pieces = pieces[pieces[:, 2] < pieces[:, 3]]
    return np.asarray(pieces)


def _halved(pieces: Array) -> Array:
    """Two pieces for each, next to each other; a quarter is cut off where they come close to 0."""
    low, high = pieces[:, 2], pieces[:, 3]
    middle = np.where(high > 8.0 * low, 0.25 * high, 0.5 * (low + high))
    halves = np.repeat(pieces, 2, axis=0)
    halves[0::2, 3] = halves[1::2, 2] = middle
    return halves


def _integrals(pieces: Array, reference: float) -> Array:
    """``∫ A_t dμ`` and ``∫ dμ`` over each piece, up to the factor of the reference."""
    h, v, low, high = pieces[:, :4, None].transpose(1, 0, 2)
    t = low + (high - low) * (0.5 * (1.0 + MANY_NODES[0]))
    mass = np.exp(_log_density(t, pieces[:, :, None]) - reference) * (high - low) * (0.5 * MANY_NODES[1])
    cost = t * h + (1.0 - t) * v
    area = 1.0 - cost / t * (cost / (2.0 * (1.0 - t)))
    return np.stack((np.sum(mass * area, axis=1), np.sum(mass, axis=1)), axis=1)


def _log_density(t: Array, pieces: Array) -> Array:
    """``(α − 1) ln t + (β − 1) ln(1 − t)``."""
    return np.asarray((pieces[:, 4] - 1.0) * np.log(t) + (pieces[:, 5] - 1.0) * np.log1p(-t))


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


Measure = str | Sequence[Any] | Callable[[Array], ArrayLike]


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
    measure : "uniform", ("beta", α, β), ("point", t) or callable
        How likely the shares in the range are: equally, in proportion to ``t^(α−1) (1 − t)^(β−1)``, or all at t; or a
        density, from an array of shares to an array of the same shape, ≥ 0, smooth, of any scale.

    Returns
    -------
    float
        In [½, 1]; at least the area under the hull and the value of chance on the same range, which is ``3/2 − ln 2 =
        0.807`` on [0, 1].

    Raises
    ------
    AuclabError
        Rates or shares outside [0, 1], an unknown measure, exponents ≤ 0, a point measure outside the range.

    See Also
    --------
    voros_score : The same from labels and scores.
    cost_range : The range from class and cost ratios.
    roc_hull : The points that count.

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
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

    Returns
    -------
    float
        In [½, 1], at least AUC; the value of chance for constant scores.

    Raises
    ------
    AuclabError
        One class only, NaN scores, lengths that differ, a class without weight; as in `voros_from_points`.

    See Also
    --------
    voros_from_points : The same from ROC points.
    cost_range : The range from class and cost ratios.

    Examples
    --------
    >>> voros_score([0, 0, 1, 1], [1, 2, 3, 4])
    1.0
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label, infinite=True)
    fpr, tpr = roc_from_sorted(scores)
    chain = upper_hull(fpr, tpr)
    return _voros(fpr[chain], tpr[chain], cost_range, measure)


def _voros(fpr: Array, tpr: Array, cost_range: Sequence[float], measure: Measure) -> float:
    """VOROS of a hull."""
    a, b = checked_cost_range(cost_range)
    if callable(measure):
        return density_mean(VertexRanges.of(fpr, tpr, a, b), measure) if a < b else _best_area(fpr, tpr, a)
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


def _measure(measure: str | Sequence[Any]) -> tuple[str, list[float]]:
    """Name and numbers of a measure, checked."""
    several = isinstance(measure, Sequence) and not isinstance(measure, str) and len(measure) > 0
    name, *numbers = tuple(measure) if several else (measure,)
    needed = {"uniform": 0, "beta": 2, "point": 1}.get(str(name))
    if needed is None or len(numbers) != needed:
        raise AuclabError(f"measure must be 'uniform', ('beta', α, β), ('point', t) or a density, got {measure!r}")
    values = [finite_number(f"a number of the measure {name}", number) for number in numbers]
    if name == "beta" and min(values) <= 0.0:
        raise AuclabError(f"the exponents of a Beta measure must be above 0, got {values[0]} and {values[1]}")
    if name == "point" and not 0.0 <= values[0] <= 1.0:
        raise AuclabError(f"a cost share lies in [0, 1], got {values[0]}")
    return str(name), values
