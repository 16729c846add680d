"""Sums over the rows of a block by bins of their scores: counts, weights, scores, and the rows themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.loop import loop
from auclab.types import Array

Bins = NDArray[np.int32]


@loop(nogil=True)
def moved_scores(columns: Array, coef: Array, positive: NDArray[np.bool_], moves: tuple[float, float]) -> Array:
    """``x · coef`` plus ``moves[0]`` for negatives, ``moves[1]`` for positives; shape (n_rows,).

    A loop of its own: the result does not depend on the threads or the version of a library.
    """
    scores = np.empty(columns.shape[1])
    for i in range(scores.size):
        scores[i] = moves[1] if positive[i] else moves[0]
    for k in range(columns.shape[0]):
        factor = coef[k]
        if factor != 0.0:
            for i in range(scores.size):
                scores[i] += factor * columns[k, i]
    return scores


@loop(nogil=True)
def parts_of_bins(scores: Array, bins: Bins, low: Array, rate: Array, n_parts: int) -> Bins:
    """Numbers of the equal parts of the bins of scores, ``bin · n_parts + part``; the outer ones take the rest.

    `low`, `rate` (n_bins,): lower end of every bin, and `n_parts` over its width.
    """
    parts = np.empty(scores.size, np.int32)
    for i in range(scores.size):
        b = bins[i]
        part = (scores[i] - low[b]) * rate[b]
        parts[i] = b * n_parts + int(min(max(part, 0.0), n_parts - 1.0))
    return parts


@loop(nogil=True)
def add_scores(
    scores: Array,
    parts: Bins,
    positive: NDArray[np.bool_],
    weight: Array,
    mass: Array,
    total: Array,
    ends: Array,
) -> None:
    """Add weights and weighted scores to those of their parts, and widen the range of either class; in place.

    `mass`, `total` (2, n_bins · n_parts): negatives first. `ends` (2, 2): the least and the largest score of either
    class.
    """
    weighted = weight.size > 0
    for i in range(scores.size):
        side = 1 if positive[i] else 0
        w = weight[i] if weighted else 1.0
        mass[side, parts[i]] += w
        total[side, parts[i]] += w * scores[i]
        ends[side, 0] = min(ends[side, 0], scores[i])
        ends[side, 1] = max(ends[side, 1], scores[i])


@loop(nogil=True)
def add_rows(
    columns: Array,
    bins: Bins,
    positive: NDArray[np.bool_],
    weight: Array,
    high: Array,
    low: Array,
    count: NDArray[np.int64],
) -> None:
    """Add rows to the sums of their bins, column by column, and count them; in place.

    The sums are ``high + low``: what rounding takes from `high` is added to `low` (Ogita, Rump & Oishi 2005, Sum2), so
    that for c terms the error is below ``(c · 2⁻⁵³)² Σ|x|`` in addition to that of the products with weights.

    `high`, `low` (n_columns, 2 · n_bins): negatives first. `count` (2 · n_bins,).
    """
    n_bins = count.size // 2
    place = np.empty(bins.size, np.int32)
    for i in range(bins.size):
        place[i] = bins[i] + (n_bins if positive[i] else 0)
        count[place[i]] += 1
    for k in range(columns.shape[0]):
        for i in range(bins.size):
            p = place[i]
            x = columns[k, i]
            if weight.size > 0:
                x *= weight[i]
            before = high[k, p]
            after = before + x
            part = after - before
            high[k, p] = after
            low[k, p] += (before - (after - part)) + (x - part)
