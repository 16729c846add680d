"""The terms V10 and V01 of every metric, whose sample variances are those of `auclab.inference.components`.

Each function takes sorted scores and a metric's own options, which the metric has checked, and returns V10 and V01 in
the order of the sorted scores, with the metric's convention on ties. `row(x, y, weight)` sums a function of ``x − y``
over the scores y of the opposite class; the columns are the rows of −n against −p.

With ``Φ(s) = ∫₀^s W`` and the share c of a tied pair, the metric is a mean over the positives,

    A = E_p [ (1 − c) Φ(F₀(p−)) + c Φ(F₀(p)) ],

F₀ the distribution function of the negatives. V10 are its terms; F₀ enters smoothly, with ``Φ' = W``:

    V01_j = A + E_p [ (1 − c) W(F₀(p−)) (1{n_j < p} − F₀(p−)) + c W(F₀(p)) (1{n_j ≤ p} − F₀(p)) ].

Partial AUC is W = 1 on a band (`partial` has the interpolated curve). Where W jumps, W at the jump counts.

``bAUC_z = 1 − min_{a≥0} Ĝ(a)`` with ``Ĝ(a) = mean_ij [a(ξ_ij − z) + 1]₊``. Let a* be the only minimiser of the
population's ``G``. Both are convex and Ĝ − G is a smooth process of order m^(−½), so that to first order (envelope
theorem; Danskin 1967, Shapiro 1991)

    min Ĝ − min G = Ĝ(a*) − G(a*) + o(m^(−½)):

that a is estimated does not show, and the components are those of the mean over pairs at fixed ``a = 1/(z − γ*)``,

    V10_i = 1 − mean_j [a(ξ_ij − z) + 1]₊ = 1 − mean_j (ξ_ij − γ*)₊ / (z − γ*),       V01_j = 1 − mean_i … .

Kinks and ends:

* a* not unique (the errors leave a gap ``(γ_left, γ_right)`` free and those above have mean z): the limit is the
  largest of a family of normal variables and no single component fits; the left end γ* is taken. On a sample the gap
  is a spacing wide unless the scores lie on a grid.
* ``z = max ξ``: every large a is optimal, the kernel is ``1{ξ < z}``.
* ``z > max ξ``: value 1, a → ∞, all components are 1. ``z ≤ E ξ``: value 0, a = 0, all components are 0. The standard
  error is 0 in both; `intervals` covers the remaining uncertainty.

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

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array
from auclab._core.ranking import rank_counts_above, total_weight
from auclab._core.rows import positive_part_rows, quadratic_window_rows, sigmoid_rows
from auclab.metrics.bpoe import solve_bpoe
from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.partial import FEW_NODES, MANY_NODES, NARROW, WIDE, checked_breakpoints, weight_values
from auclab.metrics.roc import TIED_SHARE, ClassScores

#: Pairs that are formed at once.
_PAIRS = 1_048_576

Rows = tuple[Array, Array]
RowSum = Callable[[Array, Array, Array], Array]


def row_means(row: RowSum, scores: ClassScores | PairErrors) -> Rows:
    """Mean over the negatives for each positive, and over the positives for each negative."""
    pos, neg, u, v = scores.pos, scores.neg, scores.weight_pos, scores.weight_neg
    rows = row(pos, neg, v) / total_weight(v, neg.size)
    reversed_u = np.ascontiguousarray(u[::-1])  # loops are compiled once for each layout
    columns = row(-neg[::-1], -pos[::-1], reversed_u)[::-1] / total_weight(u, pos.size)
    return rows, columns


def auc_rows(scores: ClassScores, *, ties: str = "half") -> Rows:
    """Share of the negatives below a positive, and of the positives above a negative (DeLong et al. 1988)."""
    return row_means(lambda x, y, w: _below(x, y, w, TIED_SHARE[ties]), scores)


def scored_rows(scores: ClassScores, *, ties: str = "zero") -> Rows:
    """Mean of ``(p − n)₊``, with ½ for a tied pair where ``ties="half"``."""
    errors = scores.pair_errors
    rows, columns = row_means(positive_part_rows, errors)
    means = np.ldexp(rows, -errors.units.exponent), np.ldexp(columns, -errors.units.exponent)
    if ties == "zero":
        return means
    upper, strict = auc_rows(scores, ties="upper"), auc_rows(scores, ties="strict")
    return means[0] + 0.5 * (upper[0] - strict[0]), means[1] + 0.5 * (upper[1] - strict[1])


def ferri_rows(scores: ClassScores) -> Rows:
    """``½ (1 + p_i − mean n)`` and ``½ (1 + mean p − n_j)``."""
    errors = scores.pair_errors
    mean_pos, mean_neg = (
        np.average(s, weights=w if w.size else None)
        for s, w in ((errors.pos, errors.weight_pos), (errors.neg, errors.weight_neg))
    )
    lead_pos, lead_neg = (
        np.ldexp(lead, -errors.units.exponent) for lead in (errors.pos - mean_neg, mean_pos - errors.neg)
    )
    return 0.5 + 0.5 * lead_pos, 0.5 + 0.5 * lead_neg


def soft_rows(scores: ClassScores, *, beta: float) -> Rows:
    """Mean of ``1/(1 + e^(−β(p − n)))``."""
    return row_means(lambda x, y, w: sigmoid_rows(x, y, w, float(beta)), scores)


def probabilistic_rows(scores: ClassScores, *, width: float, as_published: bool = False) -> Rows:
    """Mean of the distribution function of a triangular variable on ±2h."""
    h = float(width)
    reach, linear, square = (h, 0.0, 0.5) if as_published else (2.0 * h, 1.0, -0.5)
    return row_means(lambda x, y, w: quadratic_window_rows(x, y, w, h, reach, linear, square), scores)


def modifier_rows(scores: ClassScores, *, modifier: Callable[[Array], ArrayLike]) -> Rows:
    """Mean of any function of ``p − n``; visits all pairs."""
    pos, neg, u, v = scores.pos, scores.neg, scores.weight_pos, scores.weight_neg
    rows, columns = np.empty(pos.size), np.zeros(neg.size)
    step = max(1, _PAIRS // neg.size)
    for first in range(0, pos.size, step):
        part = slice(first, first + step)
        values = np.asarray(modifier(np.subtract.outer(pos[part], neg)), dtype=np.float64)
        rows[part] = values @ v if v.size else values.sum(axis=1)
        columns += u[part] @ values if u.size else values.sum(axis=0)
    return rows / total_weight(v, neg.size), columns / total_weight(u, pos.size)


def weight_below(points: Array, opposite: Array, weight: Array, side: Any) -> Array:
    """Weight of the opposite class below each point, strictly (``side="left"``) or with equal scores (``"right"``)."""
    rank = np.searchsorted(opposite, points, side=side)
    return np.concatenate(([0.0], np.cumsum(weight)))[rank] if weight.size else rank.astype(np.float64)


def _below(points: Array, opposite: Array, weight: Array, tied: float) -> Array:
    """Weight of the opposite class below each point, equal ones in part."""
    strictly, upto = (weight_below(points, opposite, weight, side) for side in ("left", "right"))
    return strictly + tied * (upto - strictly)


Weight = Callable[[Array], ArrayLike]


def weighted_rows(
    scores: ClassScores,
    *,
    weight: Weight,
    convention: str = "average",
    ties: str = "half",
    breakpoints: Sequence[float] = (),
) -> Rows:
    """V10 and V01 of the weighted AUC with ``convention="average"``, O(m log m).

    Examples
    --------
    Positives 1 and 3, negatives 2 and 4, W(s) = 2s: Φ(s) = s² is 0 for the first and ¼ for the second. A negative below
    3 adds ``½ · 1 · (1 − ½)``, one above subtracts as much.

    >>> empty = np.empty(0)
    >>> lists = ClassScores(np.array([1.0, 3.0]), np.array([2.0, 4.0]), empty, empty)
    >>> [r.round(12).tolist() for r in weighted_rows(lists, weight=lambda s: 2 * s)]
    [[0.0, 0.25], [0.375, -0.125]]
    """
    pos, neg, v, tied = scores.pos, scores.neg, scores.weight_neg, TIED_SHARE[ties]
    share = scores.weight_pos / total_weight(scores.weight_pos, pos.size) if scores.weight_pos.size else 1.0 / pos.size
    below, upto = (np.minimum(weight_below(pos, neg, v, s) / total_weight(v, neg.size), 1.0) for s in ("left", "right"))
    area = antiderivative(weight, breakpoints, np.concatenate((below, upto)))
    terms = (1.0 - tied) * area[: pos.size] + tied * area[pos.size :]
    by_below = (1.0 - tied) * weight_values(weight, below) * share
    by_upto = tied * weight_values(weight, upto) * share
    moved = _weight_from(by_below, pos, neg, "right") + _weight_from(by_upto, pos, neg, "left")
    return terms, float(np.sum(terms * share)) + moved - np.sum(by_below * below + by_upto * upto)


def weighted_range(weight: Weight, breakpoints: Sequence[float]) -> tuple[float, float]:
    """Values that the weighted AUC can take: the integrals of the negative and of the positive part of W."""

    def part(of: np.ufunc) -> Weight:
        return lambda s: of(weight_values(weight, s), 0.0)

    end = np.ones(1)
    return tuple(float(antiderivative(part(of), breakpoints, end)[0]) for of in (np.minimum, np.maximum))  # type: ignore[return-value]


def antiderivative(weight: Weight, breakpoints: Sequence[float], points: Array) -> Array:
    """``Φ(s) = ∫₀^s W`` at points of [0, 1], by the Gauss–Legendre rule between them and the break points."""
    grid = np.arange(0.0, 1.0, WIDE)
    edges = np.unique(np.concatenate((grid, points, checked_breakpoints(breakpoints))))
    lengths = np.diff(edges)
    pieces = np.zeros(lengths.size)
    for (at, share), mask in ((FEW_NODES, lengths <= NARROW), (MANY_NODES, lengths > NARROW)):
        if mask.any():
            length = lengths[mask, None]
            nodes = edges[:-1][mask, None] + length * (0.5 * (1.0 + at))
            values = weight_values(weight, nodes.ravel()).reshape(nodes.shape)
            pieces[mask] = np.sum(values * (length * (0.5 * share)), axis=1)
    return np.concatenate(([0.0], np.cumsum(pieces)))[np.searchsorted(edges, points)]


def _weight_from(weight: Array, pos: Array, neg: Array, side: str) -> Array:
    """Sum of the weights of the positives above each negative (``"right"``) or from it on (``"left"``)."""
    total = np.concatenate((np.cumsum(weight[::-1])[::-1], [0.0]))
    return np.asarray(total[np.searchsorted(pos, neg, side=side)])  # type: ignore[call-overload]


def bauc_rows(scores: ClassScores, *, threshold: float = 0.0) -> Rows:
    """V10 and V01 of bAUC_z in the order of the sorted scores, O(m log m).

    Examples
    --------
    Errors −4, −2, −1, 1 of the positives 1 and 4 with the negatives 0 and 2: γ* = −2, and the kernel ``1 − (ξ + 2)₊/2``
    is ½, −½ for the positive 1, and 1, 1 for 4.

    >>> empty = np.empty(0)
    >>> rows = bauc_rows(ClassScores(np.array([1.0, 4.0]), np.array([0.0, 2.0]), empty, empty))
    >>> [r.tolist() for r in rows]
    [[0.0, 1.0], [0.75, 0.25]]
    """
    errors = scores.pair_errors
    solution = solve_bpoe(errors, float(threshold))
    if solution.share == 0.0 or solution.rest == 0.0:
        return np.full(errors.pos.size, solution.rest), np.full(errors.neg.size, solution.rest)
    if math.isnan(solution.level):
        return _exceedance_rows(errors, math.nextafter(errors.units.working(threshold), -math.inf))
    # the hinge is (x − y)₊ of x = n − γ* and y = p
    raised = ClassScores(errors.neg - solution.level, errors.pos, errors.weight_neg, errors.weight_pos)
    by_neg, by_pos = row_means(positive_part_rows, raised)
    # z − γ* is a rounded difference; the mean of the hinge is bPOE
    mean = float(np.average(by_pos, weights=errors.weight_pos if errors.weight_pos.size else None))
    return 1.0 - by_pos * (solution.share / mean), 1.0 - by_neg * (solution.share / mean)


def _exceedance_rows(errors: PairErrors, level: float) -> Rows:
    """Share of the opposite class with ``ξ ≤ level``."""
    count = rank_counts_above(errors.pos, errors.neg, level)  # ascends: the count smallest positives are above
    weight = errors.weight_pos if errors.weight_pos.size else np.ones(errors.pos.size)
    mass = np.concatenate(([0.0], np.cumsum(weight)))
    rank = np.arange(errors.pos.size, dtype=np.float64)
    below = weight_below(rank, count.astype(np.float64), errors.weight_neg, "right")
    return below / total_weight(errors.weight_neg, errors.neg.size), 1.0 - mass[count] / mass[-1]


def partial_rows(
    scores: ClassScores,
    *,
    min_fpr: float = 0.0,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    max_tpr: float = 1.0,
    standardized: object = False,
) -> Rows:
    """V10 and V01 of the partial AUC on its scale, over a band of the FPR or of the TPR, O(m log m).

    With the classes exchanged and the scores negated, a band ``[t, u]`` of the TPR is the band ``[1 − u, 1 − t]`` of
    the FPR.

    Examples
    --------
    One positive above both negatives, one below, band [0, ½]: the first fills the band, the second adds nothing; no
    positive has its rate inside the band, so the negatives do not matter.

    >>> empty = np.empty(0)
    >>> rows = partial_rows(ClassScores(np.array([1.0, 4.0]), np.array([2.0, 3.0]), empty, empty), max_fpr=0.5)
    >>> [r.tolist() for r in rows]
    [[0.0, 0.5], [0.25, 0.25]]
    """
    if (min_tpr, max_tpr) != (0.0, 1.0):
        u, v = scores.weight_pos[::-1], scores.weight_neg[::-1]
        exchanged = ClassScores(-scores.neg[::-1], -scores.pos[::-1], v, u)
        band = {"min_fpr": 1.0 - max_tpr, "max_fpr": 1.0 - min_tpr}
        of_neg, of_pos = partial_rows(exchanged, **band, standardized=standardized)
        return of_pos[::-1], of_neg[::-1]
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
