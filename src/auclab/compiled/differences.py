"""Sums over all pairs of a function of the score difference ``t = p − n``, in O(m) on sorted scores.

Scores come sorted in ascending order, each class with its weights in the same order; an empty array of weights stands
for ones. Running sums have terms ≥ 0 only and collect their rounding errors apart, so that nothing cancels and
errors do not accumulate.
"""

from __future__ import annotations

import numpy as np

from auclab.compiled.doubledouble import two_sum
from auclab.compiled.loop import loop
from auclab.types import Array


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
