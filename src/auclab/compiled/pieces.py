"""Sums of piecewise quadratic functions over all pairs, by prefix moments of sorted scores.

With ``a_ij = shift − p_i + n_j`` the negatives in one piece of a positive are consecutive in sorted order, so running
sums of 1, n and n² give the sum of any quadratic function over them in O(n_pos + n_neg) for each piece. Pairs are those
of one or more bicliques, each with its own rows of both sides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.loop import loop
from auclab.compiled.smooth import Index
from auclab.types import Array

#: Where the bicliques of a side begin, and where the last one ends.
Starts = NDArray[np.int64]


@loop(nogil=True)
def pair_piece_sums(
    pos: Array,
    neg: Array,
    share_pos: Array,
    share_neg: Array,
    starts_pos: Starts,
    starts_neg: Starts,
    shift: float,
    breakpoints: Array,
    values: Array,
    slopes: Array,
    others: Array,
    curved: Array,
) -> tuple[Index, Array, Array]:
    """Sums over the negatives for every positive, with ``a = n_j − (p_i − shift)``.

    `pos`, `neg` (n_pos,) and (n_neg,), ascending in every biclique. `share_pos`, `share_neg`: weights in the same
    order. `starts_pos`, `starts_neg` (n_bicliques + 1,): where the bicliques begin; ``[0, n_pos]`` and ``[0, n_neg]``
    for all pairs. `values`, `others` (n_pieces, 3): polynomials to sum over all pairs. `slopes` (n_pieces, 2): those to
    sum for every positive. `curved` (n_pieces,): 1 for the pieces whose weight is wanted, else 0. Returned `first`: the
    first negative in each piece or above it. `totals`: the sums of `values` and `others`, and the weight of the pairs
    in curved pieces.

    Notes
    -----
    Sums run from the largest negative down, so that a positive with few pairs in its pieces does not lose digits to
    the negatives below them.
    """
    n_pieces = breakpoints.size
    first = np.empty((n_pieces, pos.size), np.int32)
    slope = np.empty(pos.size)
    start = np.empty(n_pieces, np.int64)
    mass, moment, square = np.zeros(n_pieces + 1), np.zeros(n_pieces + 1), np.zeros(n_pieces + 1)
    totals = np.empty(3)  # filled at the end: an array made of a list takes longer to compile
    value = other = weight = 0.0
    for b in range(starts_pos.size - 1):
        begin = starts_neg[b]
        for s in range(n_pieces):
            start[s] = starts_neg[b + 1]
            mass[s] = moment[s] = square[s] = 0.0
        for i in range(starts_pos[b + 1] - 1, starts_pos[b] - 1, -1):
            c = pos[i] - shift
            steepness = here = there = band = 0.0
            for s in range(n_pieces):
                k = start[s]
                while k > begin and neg[k - 1] > c + breakpoints[s]:
                    k -= 1
                    v, n = share_neg[k], neg[k]
                    mass[s] += v
                    moment[s] += v * n
                    square[s] += v * n * n
                start[s] = k
                first[s, i] = k
            for s in range(n_pieces):
                b0, m1 = mass[s] - mass[s + 1], moment[s] - moment[s + 1]
                b1 = m1 - c * b0
                b2 = square[s] - square[s + 1] - 2.0 * c * m1 + c * c * b0
                here += values[s, 0] * b0 + values[s, 1] * b1 + values[s, 2] * b2
                there += others[s, 0] * b0 + others[s, 1] * b1 + others[s, 2] * b2
                steepness += slopes[s, 0] * b0 + slopes[s, 1] * b1
                band += curved[s] * b0
            value += share_pos[i] * here
            other += share_pos[i] * there
            weight += share_pos[i] * band
            slope[i] = steepness
    totals[0], totals[1], totals[2] = value, other, weight
    return first, slope, totals


@loop(nogil=True)
def opposite_piece_slopes(
    neg: Array,
    pos: Array,
    share_pos: Array,
    starts_neg: Starts,
    starts_pos: Starts,
    shift: float,
    breakpoints: Array,
    slopes: Array,
) -> tuple[Index, Array]:
    """Sums over the positives for every negative, with ``a = (n_j + shift) − p_i``.

    Returned `first`: one past the last positive in each piece or above it: those before it have ``a > breakpoint``.
    """
    n_pieces = breakpoints.size
    first = np.empty((n_pieces, neg.size), np.int32)
    slope = np.empty(neg.size)
    end = np.empty(n_pieces, np.int64)
    mass, moment = np.zeros(n_pieces + 1), np.zeros(n_pieces + 1)
    for b in range(starts_neg.size - 1):
        last = starts_pos[b + 1]
        for s in range(n_pieces):
            end[s] = starts_pos[b]
            mass[s] = moment[s] = 0.0
        for j in range(starts_neg[b], starts_neg[b + 1]):
            e = neg[j] + shift
            total = 0.0
            for s in range(n_pieces):
                k = end[s]
                while k < last and pos[k] < e - breakpoints[s]:
                    mass[s] += share_pos[k]
                    moment[s] += share_pos[k] * pos[k]
                    k += 1
                end[s] = k
                first[s, j] = k
            for s in range(n_pieces):
                b0 = mass[s] - mass[s + 1]
                total += slopes[s, 0] * b0 + slopes[s, 1] * (e * b0 - (moment[s] - moment[s + 1]))
            slope[j] = total
    return first, slope


@loop(nogil=True)
def point_piece_sums(
    a: Array, weight: Array, breakpoints: Array, values: Array, slopes: Array, others: Array
) -> tuple[Array, Array, Array]:
    """The slope and its derivative at every a, and weighted sums over all of them.

    `breakpoints`, `values`, `slopes`, `others`: as in `pair_piece_sums`. Returned `totals`: the sums of `values` and
    `others`, and the weight in pieces with a curvature.
    """
    slope, curvature = np.zeros(a.size), np.zeros(a.size)
    totals = np.empty(3)
    value = other = curved = 0.0
    for k in range(a.size):
        s = breakpoints.size - 1
        while s >= 0 and a[k] <= breakpoints[s]:
            s -= 1
        if s >= 0:
            x, w = a[k], weight[k]
            value += w * (values[s, 0] + x * (values[s, 1] + x * values[s, 2]))
            other += w * (others[s, 0] + x * (others[s, 1] + x * others[s, 2]))
            slope[k] = slopes[s, 0] + slopes[s, 1] * x
            curvature[k] = slopes[s, 1]
            if slopes[s, 1] > 0.0:
                curved += w
    totals[0], totals[1], totals[2] = value, other, curved
    return slope, curvature, totals
