"""Components of weighted AUC in the tie-averaged convention, for any weight W on the specificity.

With ``Φ(s) = ∫₀^s W`` and the share c of a tied pair, the metric is a mean over the positives,

    A = E_p [ (1 − c) Φ(F₀(p−)) + c Φ(F₀(p)) ],

F₀ the distribution function of the negatives. V10 are its terms; F₀ enters smoothly, with ``Φ' = W``:

    V01_j = A + E_p [ (1 − c) W(F₀(p−)) (1{n_j < p} − F₀(p−)) + c W(F₀(p)) (1{n_j ≤ p} − F₀(p)) ].

Partial AUC is W = 1 on a band (`partial` has the interpolated curve). Where W jumps, W at the jump counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.ranking import total_weight
from auclab.inference.rows import Rows, weight_below
from auclab.metrics.class_scores import ClassScores
from auclab.metrics.partial import FEW_NODES, MANY_NODES, NARROW, WIDE, checked_breakpoints, weight_values
from auclab.metrics.roc import TIED_SHARE
from auclab.types import Array

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
