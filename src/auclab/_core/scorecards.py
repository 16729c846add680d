"""Local search over scorecards: integer points of items that are 0 or 1, on counts of total scores.

With whole totals the mean hinge of all pairs is a sum over the distinct totals: O(m + range) for a scorecard, and so
small a loop that all changes of one or two points can be tried.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.loop import loop

#: Changes of a point that are tried together with one of another point; a point may also become 0.
_NEAR = 2


@loop()
def total_hinges(
    totals_pos: NDArray[np.int64],
    totals_neg: NDArray[np.int64],
    share_pos: Array,
    share_neg: Array,
    margins: NDArray[np.int64],
) -> Array:
    """``Σ_ij u_i v_j [γ − (t_i − t_j)]₊ / γ`` for each margin γ, shape (n_margins,).

    `totals_pos`, `totals_neg`: total scores of the positives and the negatives. `share_pos`, `share_neg`: u and v, each
    with sum 1. `margins`: γ ≥ 1.
    """
    low = min(totals_pos.min(), totals_neg.min())
    size = max(totals_pos.max(), totals_neg.max()) - low + 1
    of_pos, of_neg = np.zeros(size), np.zeros(size)
    for i in range(totals_pos.size):
        of_pos[totals_pos[i] - low] += share_pos[i]
    for j in range(totals_neg.size):
        of_neg[totals_neg[j] - low] += share_neg[j]
    hinges = np.empty(margins.size)
    for at in range(margins.size):
        below = lost = total = 0.0
        level = 0
        for neg in range(size):
            while level <= neg + margins[at]:
                # Of the positives below `level`: their share, and the sum of their distances.
                lost += below
                if level < size:
                    below += of_pos[level]
                level += 1
            total += of_neg[neg] * lost
        hinges[at] = total / margins[at]
    return hinges


@loop()
def improved_points(
    items_pos: NDArray[np.int64],
    items_neg: NDArray[np.int64],
    share_pos: Array,
    share_neg: Array,
    margins: NDArray[np.int64],
    points: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    group: NDArray[np.int64],
    most_items: int,
    most_groups: int,
    pairs: bool,
) -> float:
    """Lower the least hinge over the margins by changes of one point, then of two, until none lowers it; in place.

    `share_pos`, `share_neg`, `margins`: as in `total_hinges`. `points`: where to start, and the result. `group`: the
    feature of each item, from 0 on. `most_items`, `most_groups`: how many items and features have points at most.
    `pairs`: whether two points are changed together, too. Returns: the value of `points`; a start that has too many
    items is left as it is, with the value ∞.
    """
    n = points.size
    totals_pos, totals_neg = np.zeros(items_pos.shape[1], np.int64), np.zeros(items_neg.shape[1], np.int64)
    of_group = np.zeros(group.max() + 1, np.int64)
    n_items = 0
    for k in range(n):
        if points[k] != 0:
            totals_pos += points[k] * items_pos[k]
            totals_neg += points[k] * items_neg[k]
            of_group[group[k]] += 1
            n_items += 1
    if n_items > most_items or (of_group > 0).sum() > most_groups:
        return np.inf
    best = total_hinges(totals_pos, totals_neg, share_pos, share_neg, margins).min()
    while True:
        found, item, value, other, other_value = best - 1e-13, -1, 0, -1, 0
        n_groups = (of_group > 0).sum()
        for k in range(n):
            if points[k] == 0 and (n_items >= most_items or (of_group[group[k]] == 0 and n_groups >= most_groups)):
                continue
            for new in range(lower[k], upper[k] + 1):
                if new == points[k]:
                    continue
                step = new - points[k]
                hinge = total_hinges(
                    totals_pos + step * items_pos[k], totals_neg + step * items_neg[k], share_pos, share_neg, margins
                ).min()
                if hinge < found:
                    found, item, value, other = hinge, k, new, -1
        if item < 0 and pairs:
            for k in range(n):
                if points[k] == 0:
                    continue
                for new in range(lower[k], upper[k] + 1):
                    step = new - points[k]
                    if step == 0 or (abs(step) > _NEAR and new != 0):
                        continue
                    moved_pos, moved_neg = totals_pos + step * items_pos[k], totals_neg + step * items_neg[k]
                    left = n_items - (new == 0)
                    groups_left = n_groups - (new == 0 and of_group[group[k]] == 1)
                    for j in range(n):
                        if j == k:
                            continue
                        others = of_group[group[j]] - (new == 0 and group[j] == group[k])
                        if points[j] == 0 and (left >= most_items or (others == 0 and groups_left >= most_groups)):
                            continue
                        for second in range(lower[j], upper[j] + 1):
                            away = second - points[j]
                            if away == 0 or (points[j] != 0 and abs(away) > _NEAR and second != 0):
                                continue
                            hinge = total_hinges(
                                moved_pos + away * items_pos[j],
                                moved_neg + away * items_neg[j],
                                share_pos,
                                share_neg,
                                margins,
                            ).min()
                            if hinge < found:
                                found, item, value, other, other_value = hinge, k, new, j, second
        if item < 0:
            return best
        for k, new in ((item, value), (other, other_value)):
            if k < 0:
                continue
            totals_pos += (new - points[k]) * items_pos[k]
            totals_neg += (new - points[k]) * items_neg[k]
            change = (new != 0) * 1 - (points[k] != 0) * 1
            n_items += change
            of_group[group[k]] += change
            points[k] = new
        best = found
