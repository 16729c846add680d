"""The ROC polygon of sorted scores, the area below it within a range of FPR, and its upper convex hull, in O(m)."""

from __future__ import annotations

import numpy as np

from auclab.compiled.doubledouble import two_sum
from auclab.compiled.loop import loop
from auclab.types import Array


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
