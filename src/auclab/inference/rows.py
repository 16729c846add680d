"""Row and column means of the pair kernels: AUC, sAUC, Ferri's AUC, softAUC, probAUC, any modifier.

Each function takes sorted scores and a metric's own options, which the metric has checked, and returns V10 and V01 in
the order of the sorted scores, with the metric's convention on ties. `row(x, y, weight)` sums a function of ``x − y``
over the scores y of the opposite class; the columns are the rows of −n against −p.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.ranking import total_weight
from auclab.compiled.rows import positive_part_rows, quadratic_window_rows, sigmoid_rows
from auclab.metrics.class_scores import ClassScores
from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.roc import TIED_SHARE
from auclab.sizes import AT_ONCE
from auclab.types import Array

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
