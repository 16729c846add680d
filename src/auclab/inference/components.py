"""Components of AUC and their variance: with ties, over rows, weighted.

Every metric here has, to first order, the form ``value + mean_i (V10_i − value) + mean_j (V01_j − value)`` with one
number for each positive and each negative. For a mean of a kernel over pairs they are its row and column means
(Hoeffding 1948; DeLong, DeLong & Clarke-Pearson 1988), and

    variance = S10/m₊ + S01/m₋,

S10 and S01 the sample variances of the two lists.

Each function takes sorted scores and a metric's own options, which the metric has checked, and returns V10 and V01 in
the order of the sorted scores, with the metric's convention on ties. `row(x, y, weight)` sums a function of ``x − y``
over the scores y of the opposite class; the columns are the rows of −n against −p.

With ``Φ(s) = ∫₀^s W`` and the share c of a tied pair, the metric is a mean over the positives,

    A = E_p [ (1 − c) Φ(F₀(p−)) + c Φ(F₀(p)) ],

F₀ the distribution function of the negatives. V10 are its terms; F₀ enters smoothly, with ``Φ' = W``:

    V01_j = A + E_p [ (1 − c) W(F₀(p−)) (1{n_j < p} − F₀(p−)) + c W(F₀(p)) (1{n_j ≤ p} − F₀(p)) ].

Partial AUC is W = 1 on a band (`partial` has the interpolated curve). Where W jumps, W at the jump counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.compiled.ranking import total_weight
from auclab.compiled.rows import positive_part_rows, quadratic_window_rows, sigmoid_rows
from auclab.inference.sample import Observations
from auclab.metrics.class_scores import ClassScores
from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.partial import FEW_NODES, MANY_NODES, NARROW, WIDE, checked_breakpoints, weight_values
from auclab.metrics.roc import TIED_SHARE
from auclab.sizes import AT_ONCE
from auclab.types import Array

#: Values that differ by less, relatively, are equal: the rest is rounding of sums.
FLAT = 2.0**-40


@dataclass(frozen=True)
class Components:
    """A metric's value with one component for every positive and every negative, in the caller's order.

    Attributes
    ----------
    value : float
        What the metric's own function returns.
    pos, neg : arrays of shape (n_pos,) and (n_neg,)
        V10 and V01; their (weighted) means are the value, up to rounding.
    share_pos, share_neg : arrays of the same shapes
        Weight of an observation as a share of its class.

    See Also
    --------
    estimate : Standard error and confidence interval from them.
    compare_scorers : Their differences between two scorers.

    Examples
    --------
    AUC of the positives 3 and 1 with the negatives 2 and 0: the kernel is [[1, 1], [0, 1]].

    >>> half = np.array([0.5, 0.5])
    >>> auc = Components(0.75, np.array([1.0, 0.5]), np.array([0.5, 1.0]), half, half)
    >>> round(auc.standard_error**2, 12)                  # S10 = S01 = 1/8, and (1/8)/2 + (1/8)/2
    0.125
    """

    value: float
    pos: Array
    neg: Array
    share_pos: Array
    share_neg: Array

    @cached_property
    def parts(self) -> tuple[float, float]:
        """Standard errors due to the positives and due to the negatives; NaN for a class of one observation."""
        return _error_of_mean(self.pos, self.share_pos), _error_of_mean(self.neg, self.share_neg)

    @property
    def standard_error(self) -> float:
        """``√(S10/m₊ + S01/m₋)``."""
        return math.hypot(*self.parts)

    @property
    def degrees_of_freedom(self) -> float:
        """Of the variance, after Welch and Satterthwaite; ∞ where the standard error is 0."""
        if self.standard_error == 0.0:
            return math.inf
        share = (self.parts[0] / self.standard_error) ** 2
        return 1.0 / (share**2 / max(self.pos.size - 1, 1) + (1.0 - share) ** 2 / max(self.neg.size - 1, 1))

    def __sub__(self, other: Components) -> Components:
        """Components of the difference of two metrics or scorers on the same observations."""
        return Components(
            self.value - other.value, self.pos - other.pos, self.neg - other.neg, self.share_pos, self.share_neg
        )


def arrange(value: float, rows_pos: Array, rows_neg: Array, observations: Observations) -> Components:
    """Components in the caller's order, from those of the sorted scores of either class."""
    order_pos, order_neg = observations.part.class_order
    return Components(value, _unsorted(rows_pos, order_pos), _unsorted(rows_neg, order_neg), *observations.shares)


def _unsorted(rows: Array, order: NDArray[np.intp]) -> Array:
    """Undo the sorting; equal scores have equal rows, so any order among them will do."""
    out = np.empty_like(rows)
    out[order] = rows
    return out


def _error_of_mean(components: Array, share: Array) -> float:
    """``√(n/(n−1) Σ share² (V − mean)²)``, which is S/√n for equal shares."""
    n = components.size
    if n == 1:
        return math.nan
    largest = float(np.max(np.abs(components))) or 1.0
    scaled = components / largest  # their squares stay in range
    if np.ptp(scaled) <= FLAT:
        return 0.0
    deviation = share * (scaled - np.sum(share * scaled))
    return math.sqrt(n / (n - 1) * float(np.sum(deviation**2))) * largest


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
    step = max(1, AT_ONCE // neg.size)
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
