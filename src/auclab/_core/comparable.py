"""Loops over comparable pairs, their classes and differences.

Scores come sorted in ascending order, each class with its weights in the same order; an empty array of weights stands
for ones. Running sums have terms ≥ 0 only and collect their rounding errors apart, so that nothing cancels and
errors do not accumulate.

Rows come group by group, each group by ascending level. An upper row is compared with the rows of its group that have a
smaller level, its lower rows. The error of such a pair is ``ξ_ij = s_j − s_i``, compared as the rounded difference:
rounding is monotone, so the lower rows with ``ξ_ij > γ`` are those among the ``reach_i`` largest scores of the group.
While rows are added by ascending level, a Fenwick tree over the positions of the scores (Fenwick 1994) has the sum over
any number of largest scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab._core.accurate import add, multiply, two_product, two_sum
from auclab._core.base import Array
from auclab._core.loop import loop


@loop()
def separate(scores: Array, positive: NDArray[np.bool_], n_pos: int) -> tuple[Array, Array]:
    """Scores of the positives, shape (n_pos,), and of the negatives, in the order of the sample; O(m).

    `n_pos`: number of positives.

    Notes
    -----
    Every score is written to both lists and only one of them advances: labels in random order would make a
    branch fail every other time.
    """
    pos, neg = np.empty(n_pos + 1), np.empty(scores.size - n_pos + 1)
    i = j = 0
    for k in range(scores.size):
        pos[i] = neg[j] = scores[k]
        i += positive[k]
        j += 1 - positive[k]
    return pos[:-1], neg[:-1]


@loop()
def positive_part_sum(pos: Array, neg: Array, weight_pos: Array, weight_neg: Array) -> float:
    """``Σ_ij u_i v_j (p_i − n_j)₊``; O(n_pos + n_neg).

    `pos`, `neg` (n_pos,) and (n_neg,), ascending. `weight_pos`, `weight_neg`: u and v.

    Notes
    -----
    ``S(p) = Σ_j v_j (p − n_j)₊`` grows from one positive to the next by the gap times the weight below, and by
    the negatives in the gap.
    """
    total = lost_total = below = lost_below = area = lost_area = 0.0
    j = 0
    for i in range(pos.size):
        if i > 0 and below > 0.0:
            area, rounding = two_sum(area, (pos[i] - pos[i - 1]) * (below + lost_below))
            lost_area += rounding
        while j < neg.size and neg[j] < pos[i]:
            weight = weight_neg[j] if weight_neg.size else 1.0
            area, rounding = two_sum(area, (pos[i] - neg[j]) * weight)
            lost_area += rounding
            below, rounding = two_sum(below, weight)
            lost_below += rounding
            j += 1
        total, rounding = two_sum(total, (weight_pos[i] if weight_pos.size else 1.0) * (area + lost_area))
        lost_total += rounding
    return total + lost_total


@loop(error_model="numpy")
def quadratic_window_sum(
    pos: Array,
    neg: Array,
    weight_pos: Array,
    weight_neg: Array,
    half_width: float,
    reach: float,
    linear: float,
    square: float,
) -> float:
    """``Σ_ij u_i v_j w(p_i − n_j)`` for a modifier w that is quadratic in ``s = t/(2h)`` on two windows; O(m).

    ``w(t)`` is 1 for ``t ≥ reach``, ``½ + linear·s + square·s²`` for ``0 ≤ t < reach``, ``½ + s + ½ s²`` for
    ``−reach < t < 0`` and 0 below.

    `pos`, `neg` (n_pos,) and (n_neg,), ascending. `weight_pos`, `weight_neg`: u and v. `half_width` > 0: h. `reach` in
    (0, 2h]. `linear`, `square`: coefficients of the upper window.

    Notes
    -----
    Moments of the negatives are kept in cells of length
    2h and relative to the start of the cell: moments about a common origin would lose ``(range/h)²`` digits.
    """
    start, mass, moment, second = cell_moments(neg, weight_neg, half_width)
    total = lost = below = lost_below = 0.0
    one = mid = end = 0  # weight 1 before `one`, upper window [one, mid), lower window [mid, end)
    for i in range(pos.size):
        while one < neg.size and pos[i] - neg[one] >= reach:
            below, rounding = two_sum(below, weight_neg[one] if weight_neg.size else 1.0)
            lost_below += rounding
            one += 1
        while mid < neg.size and neg[mid] <= pos[i]:
            mid += 1
        while end < neg.size and pos[i] - neg[end] > -reach:
            end += 1
        m0, m1, m2 = window_moments(pos[i], neg, start, mass, moment, second, half_width, one, mid)
        value = below + lost_below + 0.5 * m0 + linear * m1 + square * m2
        m0, m1, m2 = window_moments(pos[i], neg, start, mass, moment, second, half_width, mid, end)
        value += 0.5 * m0 + m1 + 0.5 * m2
        total, rounding = two_sum(total, (weight_pos[i] if weight_pos.size else 1.0) * value)
        lost += rounding
    return total + lost


@loop(error_model="numpy")
def cell_moments(scores: Array, weight: Array, half_width: float) -> tuple[np.ndarray, Array, Array, Array]:
    """Moments of ascending scores in cells of length 2h, for `window_moments`; O(m).

    Returned `start`: index of the first score of the cell of each score. `mass`, `moment`, `second`: sums of w, w·x and
    w·x² from the start of the cell to the score itself, ``x = (n − n_start)/(2h)``.
    """
    start = np.empty(scores.size, np.int64)
    mass, moment, second = np.empty(scores.size), np.empty(scores.size), np.empty(scores.size)
    first = 0
    m0 = m1 = m2 = lost0 = lost1 = lost2 = 0.0
    for j in range(scores.size):
        x = (scores[j] - scores[first]) / half_width * 0.5
        if x > 1.0:
            first, x = j, 0.0
            m0 = m1 = m2 = lost0 = lost1 = lost2 = 0.0
        w = weight[j] if weight.size else 1.0
        m0, rounding = two_sum(m0, w)
        lost0 += rounding
        m1, rounding = two_sum(m1, w * x)
        lost1 += rounding
        m2, rounding = two_sum(m2, w * x * x)
        lost2 += rounding
        start[j], mass[j], moment[j], second[j] = first, m0 + lost0, m1 + lost1, m2 + lost2
    return start, mass, moment, second


@loop(error_model="numpy")
def window_moments(
    centre: float,
    scores: Array,
    start: np.ndarray,
    mass: Array,
    moment: Array,
    second: Array,
    half_width: float,
    low: int,
    high: int,
) -> tuple[float, float, float]:
    """Weighted sums of 1, s, s² over ``scores[low:high]``, ``s = (centre − n)/(2h)``; O(cells in the window).

    `start`, `mass`, `moment` and `second` are those of `cell_moments`.
    """
    sum0 = sum1 = sum2 = 0.0
    while low < high:
        first = start[high - 1]
        m0, m1, m2 = mass[high - 1], moment[high - 1], second[high - 1]
        if low > first:
            m0 -= mass[low - 1]
            m1 -= moment[low - 1]
            m2 -= second[low - 1]
        s = (centre - scores[first]) / half_width * 0.5
        sum0 += m0
        sum1 += s * m0 - m1
        sum2 += s * (s * m0 - 2.0 * m1) + m2
        high = first
    return sum0, sum1, sum2


Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


@loop(nogil=True)
def positions(scores: Array, order: Index, groups: Index) -> Index:
    """Position of every row among the scores of its group, the largest first; O(m).

    `order` (m,): rows group by group, each group by descending score. `groups` (n_groups + 1,): first row of every
    group, and m.
    """
    place = np.empty(scores.size, np.int64)
    for g in range(groups.size - 1):
        for k in range(groups[g], groups[g + 1]):
            place[order[k]] = k - groups[g]
    return place


@loop(nogil=True)
def reaches(scores: Array, order: Index, groups: Index, level: float) -> Index:
    """For every row i, how many scores of its group have ``fl(s − s_i) > level``, shape (m,); O(m).

    `scores`, `order`, `groups`: as in `positions`; of ±∞ one of the same sign is 0 away.
    """
    reach = np.empty(scores.size, np.int64)
    for g in range(groups.size - 1):
        k, start, end = groups[g], groups[g], groups[g + 1]
        for place in range(start, end):
            own = scores[order[place]]
            while k < end:
                other = scores[order[k]]
                if not (level < 0.0 if other == own else other - own > level):
                    break
                k += 1
            reach[order[place]] = k - start
    return reach


@loop(nogil=True)
def upper_sums(
    groups: Index, levels: Index, upper: Mask, place: Index, reach: Index, terms: Array, low: Array
) -> tuple[Array, Array]:
    """For every upper row, the sum of the terms of its lower rows among the `reach` largest scores; O(m log m).

    `levels` (m,): first row of the same group with the same level. `place`, `reach` (m,): as of `positions` and
    `reaches`. `terms`, `low` (m,): double-doubles; plain doubles, with plain sums, where `low` is empty. Returned: the
    same of the sums, 0 for the other rows.
    """
    sums, low_sums = np.zeros(terms.size), np.zeros(low.size)
    tree, low_tree = np.zeros(terms.size), np.zeros(low.size)
    for g in range(groups.size - 1):
        start, end = groups[g], groups[g + 1]
        size, added = end - start, start
        for i in range(start, end):
            while added < levels[i]:
                _add(tree, low_tree, start, size, place[added], terms, low, added)
                added += 1
            if upper[i] and added > start:
                _first(tree, low_tree, start, reach[i], sums, low_sums, i)
    return sums, low_sums


@loop(nogil=True)
def lower_sums(
    groups: Index, levels: Index, upper: Mask, place: Index, reach: Index, terms: Array, low: Array
) -> tuple[Array, Array]:
    """For every row, the sum of the terms of the upper rows that have it as a lower row with a small score.

    Small are all but the `reach` largest scores; the parameters are those of `upper_sums`. O(m log m).
    """
    sums, low_sums = np.zeros(terms.size), np.zeros(low.size)
    tree, low_tree = np.zeros(terms.size), np.zeros(low.size)
    for g in range(groups.size - 1):
        start, end = groups[g], groups[g + 1]
        size, stop = end - start, end
        while stop > start:
            first = levels[stop - 1]
            for j in range(first, stop):
                _first(tree, low_tree, start, size - reach[j], sums, low_sums, j)
            for i in range(first, stop):
                if upper[i]:  # the smallest scores first
                    _add(tree, low_tree, start, size, size - 1 - place[i], terms, low, i)
            stop = first
    return sums, low_sums


@loop(nogil=True)
def products(first: Array, second: Array) -> tuple[Array, Array]:
    """Products as double-doubles; O(m)."""
    high, low = np.empty(first.size), np.empty(first.size)
    for i in range(first.size):
        high[i], low[i] = two_product(first[i], second[i])
    return high, low


@loop(nogil=True)
def excesses(
    scores: Array, level: float, masses: Array, low_masses: Array, moments: Array, low_moments: Array
) -> Array:
    """``Σ_j w_j (s_j − s_i − level)`` of every row i, from double-doubles of ``Σ_j w_j`` and ``Σ_j w_j s_j``; O(m)."""
    out = np.empty(scores.size)
    for i in range(scores.size):
        shift, lost = two_sum(scores[i], level)
        high, low = multiply(masses[i], low_masses[i], -shift, -lost)
        out[i] = add(moments[i], low_moments[i], high, low)[0]
    return out


@loop(nogil=True)
def pair_masses(groups: Index, levels: Index, upper: Mask, weight: Array, upper_weight: Array) -> tuple[Array, Array]:
    """For every upper row the weight of its lower rows, and for every row that of the upper rows above it; O(m)."""
    below, above = np.zeros(weight.size), np.zeros(weight.size)
    for g in range(groups.size - 1):
        start, stop = groups[g], groups[g + 1]
        total, added = 0.0, start
        for i in range(start, stop):
            while added < levels[i]:
                total += weight[added]
                added += 1
            if upper[i]:
                below[i] = total
        total = 0.0
        while stop > start:
            first = levels[stop - 1]
            above[first:stop] = total
            for i in range(first, stop):
                if upper[i]:
                    total += upper_weight[i]
            stop = first
    return below, above


@loop(nogil=True)
def largest_error(groups: Index, levels: Index, upper: Mask, scores: Array) -> float:
    """The largest ``s_j − s_i`` of a comparable pair; −∞ without pairs; O(m)."""
    error = -np.inf
    for g in range(groups.size - 1):
        top, added = -np.inf, groups[g]
        for i in range(groups[g], groups[g + 1]):
            while added < levels[i]:
                top = max(top, scores[added])
                added += 1
            if upper[i]:
                error = max(error, top - scores[i])
    return error


@loop(nogil=True)
def weighted_sum(weight: Array, values: Array) -> float:
    """``Σ w_i v_i`` with the rounding errors of the additions collected apart."""
    total = lost = 0.0
    for i in range(values.size):
        total, rounding = two_sum(total, weight[i] * values[i])
        lost += rounding
    return total + lost


@loop(nogil=True)
def _add(tree: Array, low_tree: Array, start: int, size: int, place: int, terms: Array, low: Array, row: int) -> None:
    """Add the term of a row at a position of a group's tree."""
    k = place + 1
    while k <= size:
        at = start + k - 1
        if low.size:
            tree[at], rounding = two_sum(tree[at], terms[row])
            low_tree[at] += rounding + low[row]
        else:
            tree[at] += terms[row]
        k += k & -k


@loop(nogil=True)
def _first(tree: Array, low_tree: Array, start: int, count: int, sums: Array, low_sums: Array, row: int) -> None:
    """Store the sum of the first `count` positions of a group's tree as that of a row."""
    total = rest = 0.0
    k = count
    while k > 0:
        at = start + k - 1
        if low_tree.size:
            total, rounding = two_sum(total, tree[at])
            rest += rounding + low_tree[at]
        else:
            total += tree[at]
        k -= k & -k
    if low_tree.size:
        total, low_sums[row] = two_sum(total, rest)
    sums[row] = total
