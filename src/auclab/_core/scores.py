"""Scores of rows: sums, bins, sigmoid, ROC points.

Each class is divided into cells of length ``LENGTH/β``. Where a cell holds more scores than `NODES`, their
weights are moved to the Chebyshev nodes of the cell: ``Σ_i u_i ℓ_k(x_i)`` at node k. The sigmoid has its poles
at ±iπ, so interpolation in either variable errs by ``1.5 ρ^{−NODES}`` with ``ρ = π/2 + √(π²/4 + 1) = 3.4``, which
is 2·10⁻¹⁵. Pairs of cells that are far apart count 1 or 0, the others through the products of their nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab._core.accurate import CHUNK, chebyshev_sums, two_sum
from auclab._core.base import Array
from auclab._core.loop import loop


@loop()
def by_rows(X: Array, coef: Array) -> Array:
    """Eight rows at once: a sum alone would wait for each of its additions."""
    m, n = X.shape
    scores = np.empty(m)
    whole = m - m % 8
    for i in range(0, whole, 8):
        a = b = c = d = e = f = g = h = 0.0
        for j in range(n):
            w = coef[j]
            a += X[i, j] * w
            b += X[i + 1, j] * w
            c += X[i + 2, j] * w
            d += X[i + 3, j] * w
            e += X[i + 4, j] * w
            f += X[i + 5, j] * w
            g += X[i + 6, j] * w
            h += X[i + 7, j] * w
        scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = a, b, c, d
        scores[i + 4], scores[i + 5], scores[i + 6], scores[i + 7] = e, f, g, h
    for i in range(whole, m):
        total = 0.0
        for j in range(n):
            total += X[i, j] * coef[j]
        scores[i] = total
    return scores


@loop()
def by_columns(columns: Array, coef: Array) -> Array:
    """The same from columns of shape (n_features, n_samples)."""
    n, m = columns.shape
    scores = np.zeros(m)
    for begin in range(0, m, CHUNK):
        end = min(begin + CHUNK, m)
        for j in range(n):
            for i in range(begin, end):
                scores[i] += columns[j, i] * coef[j]
    return scores


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


LENGTH = 4.0
NODES = 28
#: 1/(1 + e^38) = 3·10⁻¹⁷
SATURATED = 38.0

_ANGLES = (np.arange(NODES) + 0.5) * (np.pi / NODES)
NODE_POSITIONS = 0.5 * LENGTH * (1.0 + np.cos(_ANGLES))
# Lagrange weights from Chebyshev sums: ℓ_k(x) = (1/q) (1 + 2 Σ_n T_n(x_k) T_n(x))
LAGRANGE = np.cos(np.outer(_ANGLES, np.arange(NODES))) * np.where(np.arange(NODES) == 0, 1.0, 2.0) / NODES


@loop(error_model="numpy")
def sigmoid_sum(pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, beta: float) -> float:
    """``Σ_ij u_i v_j / (1 + exp(−β (p_i − n_j)))``; O(m) and, for pairs of near cells, at most NODES² each.

    `pos`, `neg` (n_pos,) and (n_neg,), ascending. `weight_pos`, `weight_neg`: u and v. `beta` > 0: β.
    """
    start_pos, first_pos, factor_pos, share_pos = score_cells(pos, weight_pos, beta, -1.0)
    start_neg, first_neg, factor_neg, share_neg = score_cells(neg, weight_neg, beta, 1.0)
    total = lost = below = lost_below = 0.0
    potential = np.empty(NODES)
    low = high = 0  # cells before `low` lie so far below that their pairs count 1, from `high` on they count 0
    for a in range(start_pos.size):
        while low < start_neg.size and beta * (start_pos[a] - start_neg[low]) >= SATURATED + LENGTH:
            for j in range(first_neg[low], first_neg[low + 1]):
                below, rounding = two_sum(below, share_neg[j])
                lost_below += rounding
            low += 1
        while high < start_neg.size and beta * (start_pos[a] - start_neg[high]) > -SATURATED - LENGTH:
            high += 1
        factor, share = factor_pos[first_pos[a] : first_pos[a + 1]], share_pos[first_pos[a] : first_pos[a + 1]]
        near = potential[: factor.size]
        near[:] = 0.0
        for b in range(low, high):
            shift = np.exp(-beta * (start_pos[a] - start_neg[b]))
            for j in range(first_neg[b], first_neg[b + 1]):
                scale, weight = shift * factor_neg[j], share_neg[j]
                for i in range(near.size):
                    near[i] += weight / (1.0 + scale * factor[i])
        value = 0.0
        for i in range(near.size):
            value += share[i] * (near[i] + (below + lost_below))
        total, rounding = two_sum(total, value)
        lost += rounding
    return total + lost


@loop(error_model="numpy")
def score_cells(scores: Array, weight: Array, beta: float, sign: float) -> tuple[Array, np.ndarray, Array, Array]:
    """Divide the ascending scores of one class into cells of length ``LENGTH/β``; O(m · NODES).

    Returned `start`: the smallest score of every cell. `first`: cell c has the nodes ``first[c] ≤ k < first[c + 1]``:
    its scores, or `NODES` Chebyshev nodes if these are fewer. `factor`, `share`: ``exp(sign·β·(node − start))`` and the
    weight of every node.
    """
    start, first = np.empty(scores.size), np.zeros(scores.size + 1, np.int64)
    factor, share = np.empty(scores.size), np.empty(scores.size)
    at_nodes = np.exp(sign * NODE_POSITIONS)
    cells = nodes = low = 0
    while low < scores.size:
        high = low + 1
        while high < scores.size and beta * (scores[high] - scores[low]) <= LENGTH:
            high += 1
        if high - low <= NODES:
            for i in range(low, high):
                factor[nodes] = np.exp(sign * (beta * (scores[i] - scores[low])))
                share[nodes] = weight[i] if weight.size else 1.0
                nodes += 1
        else:
            x = (beta * (scores[low:high] - scores[low])) * (2.0 / LENGTH) - 1.0
            sums = chebyshev_sums(x, weight[low:high] if weight.size else weight, NODES - 1)
            for k in range(NODES):
                factor[nodes] = at_nodes[k]
                value = 0.0
                for n in range(NODES):
                    value += LAGRANGE[k, n] * sums[n]
                share[nodes] = value
                nodes += 1
        start[cells] = scores[low]
        cells += 1
        first[cells] = nodes
        low = high
    return start[:cells], first[: cells + 1], factor[:nodes], share[:nodes]


@loop()
def roc_polygon(pos: Array, neg: Array, weight_pos: Array, weight_neg: Array, merge: bool) -> tuple[Array, Array]:
    """Vertices of the ROC polygon: the weight of negatives and of positives with a score ≥ s, s descending; O(m).

    `pos`, `neg` (n_pos,) and (n_neg,), ascending: ±∞ is allowed. `merge`: whether consecutive vertical or horizontal
    edges become one. Returned `false`, `true`: from (0, 0) to the total weights. Tied scores of both classes give one
    slanted edge.
    """
    false, true = np.zeros(pos.size + neg.size + 1), np.zeros(pos.size + neg.size + 1)
    x = y = lost_x = lost_y = 0.0
    i, j = pos.size - 1, neg.size - 1
    last = 0
    direction = 0  # of the last edge: 1 up, 2 right, 3 slanted
    while i >= 0 or j >= 0:
        score = neg[j] if i < 0 or (j >= 0 and neg[j] > pos[i]) else pos[i]
        now = 0
        while i >= 0 and pos[i] == score:
            y, rounding = two_sum(y, weight_pos[i] if weight_pos.size else 1.0)
            lost_y += rounding
            now |= 1
            i -= 1
        while j >= 0 and neg[j] == score:
            x, rounding = two_sum(x, weight_neg[j] if weight_neg.size else 1.0)
            lost_x += rounding
            now |= 2
            j -= 1
        if not merge or now == 3 or now != direction:
            last += 1
        false[last], true[last] = x + lost_x, y + lost_y
        direction = now
    return false[: last + 1], true[: last + 1]


@loop(error_model="numpy")
def band_area(fpr: Array, tpr: Array, low: float, high: float, floor: float) -> float:
    """``∫_low^high (y(u) − floor)₊ du`` below the polygon y through (fpr_k, tpr_k); O(n_vertices).

    `fpr`, `tpr` (n_vertices,), ascending.
    """
    total = lost = 0.0
    for k in range(1, fpr.size):
        left, right = max(fpr[k - 1], low), min(fpr[k], high)
        if not left < right:
            continue
        slope = (tpr[k] - tpr[k - 1]) / (fpr[k] - fpr[k - 1])
        bottom = tpr[k - 1] + slope * (left - fpr[k - 1])
        top = tpr[k] - slope * (fpr[k] - right)
        if top <= floor:
            continue
        if bottom < floor:  # the edge enters the band at its floor
            area = 0.5 * (right - left) * (top - floor) * ((top - floor) / (top - bottom))
        else:
            area = (right - left) * (0.5 * ((bottom - floor) + (top - floor)))
        total, rounding = two_sum(total, area)
        lost += rounding
    return total + lost


@loop()
def upper_hull(x: Array, y: Array) -> np.ndarray:
    """Indices of the vertices of the upper convex hull, by Andrew's monotone chain; O(m).

    `x`, `y` (m,): ascending in x and, where x is equal, in y; the last point is the highest. Returns: from the first
    point to the last. Points on an edge and points that another one dominates are left out.
    """
    chain = np.empty(x.size, np.int64)
    size = 0
    for k in range(x.size):
        if size > 0 and y[k] <= y[chain[size - 1]] and k < x.size - 1:
            continue
        while size >= 2:
            a, b = chain[size - 2], chain[size - 1]
            if (x[b] - x[a]) * (y[k] - y[b]) < (y[b] - y[a]) * (x[k] - x[b]):
                break
            size -= 1
        chain[size] = k
        size += 1
    return chain[:size]
