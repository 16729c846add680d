"""Loops over bicliques: levels are halved, and both halves keep any order of the rows; sums over their pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.accurate import DoubleDouble, add, multiply, two_product, two_sum
from auclab._core.base import Array
from auclab._core.loop import loop
from auclab._core.pieces import Starts
from auclab._core.smooth import Index


@loop(nogil=True)
def sizes_of_bicliques(
    blocks: NDArray[np.int64], ends: NDArray[np.int64], wins: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sizes of both sides of every biclique, and its group; `wins` counts the winners before each place."""
    n_levels = blocks[-1]
    sizes, owners = np.empty((n_levels, 2), np.int64), np.empty(n_levels, np.int64)  # a cut for every level but one
    stack, found = np.empty((128, 2), np.int64), 0
    for g in range(blocks.size - 1):
        stack[0, 0], stack[0, 1] = blocks[g], blocks[g + 1]
        depth = 1
        while depth:
            depth -= 1
            a, b = stack[depth, 0], stack[depth, 1]
            if b - a < 2:
                continue
            middle = (a + b) // 2
            above = wins[ends[b]] - wins[ends[middle]]
            if above:
                sizes[found, 0], sizes[found, 1], owners[found] = above, ends[middle] - ends[a], g
                found += 1
            stack[depth, 0], stack[depth, 1] = a, middle
            stack[depth + 1, 0], stack[depth + 1, 1] = middle, b
            depth += 2
    return sizes[:found].copy(), owners[:found].copy()


@loop(nogil=True)
def blocks_in_order(
    order: NDArray[np.int64], scores: Array, places: NDArray[Any], bounds: NDArray[np.int64]
) -> tuple[Index, Array]:
    """The rows of every block, from ``bounds[g]`` to ``bounds[g + 1]``, in a given order of all rows; their scores."""
    rows, values = np.empty(bounds[-1], np.int32), np.empty(bounds[-1])
    if bounds.size == 2:
        k = 0
        for r in order:
            if places[r] >= 0:
                rows[k], values[k] = r, scores[r]
                k += 1
        return rows, values
    block_of, fill = np.empty(bounds[-1], np.int32), bounds[:-1].copy()
    for g in range(bounds.size - 1):
        block_of[bounds[g] : bounds[g + 1]] = g
    for r in order:
        if places[r] >= 0:
            g = block_of[places[r]]
            rows[fill[g]], values[fill[g]] = r, scores[r]
            fill[g] += 1
    return rows, values


@loop(nogil=True)
def sorted_blocks(by_level: NDArray[np.int64], scores: Array, bounds: NDArray[np.int64]) -> tuple[Index, Array]:
    """As `blocks_in_order` in the order of the scores, where blocks are small: each is sorted by insertion."""
    rows, values = np.empty(bounds[-1], np.int32), np.empty(bounds[-1])
    for g in range(bounds.size - 1):
        for p in range(bounds[g], bounds[g + 1]):
            row = by_level[p]
            value, k = scores[row], p
            while k > bounds[g] and values[k - 1] > value:
                rows[k], values[k] = rows[k - 1], values[k - 1]
                k -= 1
            rows[k], values[k] = row, value
    return rows, values


@loop(nogil=True)
def halved_sides(
    rows: Index,
    values: Array,
    places: NDArray[Any],
    blocks: NDArray[np.int64],
    ends: NDArray[np.int64],
    winners: NDArray[np.bool_],
    n_upper: int,
    n_lower: int,
) -> tuple[Index, Array, Index, Array]:
    """The sides from the rows of every block in some order, which every half keeps, as in a merge sort."""
    rows_upper, upper = np.empty(n_upper, np.int32), np.empty(n_upper)
    rows_lower, lower = np.empty(n_lower, np.int32), np.empty(n_lower)
    spare_rows, spare_values = np.empty(ends[-1], np.int32), np.empty(ends[-1])
    stack, at_upper, at_lower = np.empty((128, 2), np.int64), 0, 0
    for g in range(blocks.size - 1):
        stack[0, 0], stack[0, 1] = blocks[g], blocks[g + 1]
        depth = 1
        while depth:
            depth -= 1
            a, b = stack[depth, 0], stack[depth, 1]
            if b - a < 2:
                continue
            middle = (a + b) // 2
            cut, low, high, before = ends[middle], ends[a], 0, at_upper
            for p in range(ends[a], ends[b]):
                row, value = rows[p], values[p]
                if places[row] < cut:
                    rows[low], values[low] = row, value
                    low += 1
                else:
                    spare_rows[high], spare_values[high] = row, value
                    high += 1
                    if winners[row]:
                        rows_upper[at_upper], upper[at_upper] = row, value
                        at_upper += 1
            for p in range(high):
                rows[low + p], values[low + p] = spare_rows[p], spare_values[p]
            if at_upper > before:
                centre = 0.5 * (values[ends[a]] + values[cut - 1])  # without it sums over a biclique would lose digits
                for p in range(before, at_upper):
                    upper[p] -= centre
                for p in range(ends[a], cut):
                    rows_lower[at_lower], lower[at_lower] = rows[p], values[p] - centre
                    at_lower += 1
            stack[depth, 0], stack[depth, 1] = a, middle
            stack[depth + 1, 0], stack[depth + 1, 1] = middle, b
            depth += 2
    return rows_upper, upper, rows_lower, lower


@loop(nogil=True)
def accurate_pair_slopes(
    pos: Array,
    neg: Array,
    share_pos: Array,
    share_neg: Array,
    starts_pos: Starts,
    starts_neg: Starts,
    shift: float,
    breakpoints: Array,
    slopes: Array,
    others: Array,
    near: float,
) -> tuple[Array, Array, float, Array]:
    """Sums over pairs in twice the working precision: both sides of a pair see it on the same piece.

    `pos`, `neg`, `share_pos`, `share_neg`, `starts_pos`, `starts_neg`, `shift`, `breakpoints`, `slopes`, `others`: as
    in `auclab._core.pieces.pair_piece_sums`. Returned `of_pos`, `of_neg`: the weighted sums of `slopes` of every
    observation. `total`: the weighted sum of `others` over all pairs. `nearby`: the weight of the pairs nearer than
    `near` to each breakpoint.

    Notes
    -----
    Prefix sums are double-doubles, off by ``n · 2⁻¹⁰³`` of the sum of their terms.
    """
    n_pieces = breakpoints.size
    longest_pos = longest_neg = 0
    for b in range(starts_pos.size - 1):
        longest_pos = max(longest_pos, starts_pos[b + 1] - starts_pos[b])
        longest_neg = max(longest_neg, starts_neg[b + 1] - starts_neg[b])
    of_neg_side, of_pos_side = np.zeros((longest_neg + 1, 6)), np.zeros((longest_pos + 1, 6))
    first = np.empty((n_pieces + 1, longest_pos), np.int64)
    of_pos, of_neg, nearby = np.empty(pos.size), np.empty(neg.size), np.zeros(n_pieces)
    begin, at = np.empty(n_pieces, np.int64), np.empty(n_pieces + 1, np.int64)
    low, high = np.empty(n_pieces, np.int64), np.empty(n_pieces, np.int64)
    total_hi = total_lo = 0.0
    for b in range(starts_pos.size - 1):
        p0, p1, n0, n1 = starts_pos[b], starts_pos[b + 1], starts_neg[b], starts_neg[b + 1]
        _prefix_moments(neg[n0:n1], share_neg[n0:n1], of_neg_side)
        _prefix_moments(pos[p0:p1], share_pos[p0:p1], of_pos_side)
        begin[:] = 0
        low[:] = 0
        high[:] = 0
        for i in range(p0, p1):
            c_hi, c_lo = two_sum(pos[i], -shift)
            first[n_pieces, i - p0] = n1 - n0
            for s in range(n_pieces):
                level, k = c_hi + breakpoints[s], begin[s]
                while k < n1 - n0 and neg[n0 + k] <= level:
                    k += 1
                begin[s] = first[s, i - p0] = k
                k = low[s]
                while k < n1 - n0 and neg[n0 + k] < level - near:
                    k += 1
                low[s] = k
                k = max(high[s], k)
                while k < n1 - n0 and neg[n0 + k] <= level + near:
                    k += 1
                high[s] = k
                if k > low[s]:
                    weight = of_neg_side[k, 0] - of_neg_side[low[s], 0]
                    weight += of_neg_side[k, 1] - of_neg_side[low[s], 1]
                    nearby[s] += share_pos[i] * weight
            slope_hi = slope_lo = other_hi = other_lo = 0.0
            for s in range(n_pieces):
                k, end = first[s, i - p0], first[s + 1, i - p0]
                if k == end:
                    continue
                b0 = add(of_neg_side[end, 0], of_neg_side[end, 1], -of_neg_side[k, 0], -of_neg_side[k, 1])
                m1 = add(of_neg_side[end, 2], of_neg_side[end, 3], -of_neg_side[k, 2], -of_neg_side[k, 3])
                m2 = add(of_neg_side[end, 4], of_neg_side[end, 5], -of_neg_side[k, 4], -of_neg_side[k, 5])
                moved = multiply(c_hi, c_lo, b0[0], b0[1])
                b1 = add(m1[0], m1[1], -moved[0], -moved[1])
                # Σ v (n − c)² = Σ v n² − c (Σ v n + Σ v (n − c))
                both = add(m1[0], m1[1], b1[0], b1[1])
                moved = multiply(c_hi, c_lo, both[0], both[1])
                b2 = add(m2[0], m2[1], -moved[0], -moved[1])
                slope_hi, slope_lo = _plus(slope_hi, slope_lo, slopes[s, 0], b0)
                slope_hi, slope_lo = _plus(slope_hi, slope_lo, slopes[s, 1], b1)
                other_hi, other_lo = _plus(other_hi, other_lo, others[s, 0], b0)
                other_hi, other_lo = _plus(other_hi, other_lo, others[s, 1], b1)
                other_hi, other_lo = _plus(other_hi, other_lo, others[s, 2], b2)
            of_pos[i] = share_pos[i] * (slope_hi + slope_lo)
            total_hi, total_lo = _plus(total_hi, total_lo, share_pos[i], (other_hi, other_lo))
        at[:] = 0
        for j in range(n0, n1):
            e_hi, e_lo = two_sum(neg[j], shift)
            for s in range(n_pieces):  # the positives whose piece s begins at or before this negative
                k = at[s]
                while k < p1 - p0 and first[s, k] <= j - n0:
                    k += 1
                at[s] = k
            slope_hi = slope_lo = 0.0
            for s in range(n_pieces):
                k, end = at[s + 1], at[s]
                if k == end:
                    continue
                b0 = add(of_pos_side[end, 0], of_pos_side[end, 1], -of_pos_side[k, 0], -of_pos_side[k, 1])
                m1 = add(of_pos_side[end, 2], of_pos_side[end, 3], -of_pos_side[k, 2], -of_pos_side[k, 3])
                moved = multiply(e_hi, e_lo, b0[0], b0[1])
                b1 = add(moved[0], moved[1], -m1[0], -m1[1])
                slope_hi, slope_lo = _plus(slope_hi, slope_lo, slopes[s, 0], b0)
                slope_hi, slope_lo = _plus(slope_hi, slope_lo, slopes[s, 1], b1)
            of_neg[j] = share_neg[j] * (slope_hi + slope_lo)
    return of_pos, of_neg, total_hi + total_lo, nearby


@loop(nogil=True)
def _plus(hi: float, lo: float, factor: float, term: DoubleDouble) -> DoubleDouble:
    """``(hi + lo) + factor · term``."""
    product = multiply(factor, 0.0, term[0], term[1])
    return add(hi, lo, product[0], product[1])


@loop(nogil=True)
def _prefix_moments(scores: Array, share: Array, sums: Array) -> None:
    """Running sums of v, v·s and v·s² as double-doubles, in the six columns of `sums`."""
    for k in range(scores.size):
        v, s = share[k], scores[k]
        moment = two_product(v, s)
        square = multiply(moment[0], moment[1], s, 0.0)
        sums[k + 1, 0], sums[k + 1, 1] = add(sums[k, 0], sums[k, 1], v, 0.0)
        sums[k + 1, 2], sums[k + 1, 3] = add(sums[k, 2], sums[k, 3], moment[0], moment[1])
        sums[k + 1, 4], sums[k + 1, 5] = add(sums[k, 4], sums[k, 5], square[0], square[1])
