"""Sums of piecewise losses over pairs and points, and over the hardest negatives.

With ``a_ij = shift − p_i + n_j`` the negatives in one piece of a positive are consecutive in sorted order, so running
sums of 1, n and n² give the sum of any quadratic function over them in O(n_pos + n_neg) for each piece. Pairs are those
of one or more bicliques, each with its own rows of both sides.

With hinge arguments ``a_ij = shift − p_i + n_j`` and φ the smoothed hinge of `auclab._core.smooth`, the loss of
negative j is ``ℓ_j = Σ_i u_i φ(a_ij)``. It rises with the score n_j, so the negatives with the largest losses are the
last in ascending order, and those whose loss is within k of a level are consecutive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.loop import loop
from auclab._core.smooth import Index
from auclab._core.tolerances import ROUNDING

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


@loop(nogil=True)
def sweep_losses(
    neg: Array, pos: Array, share_pos: Array, shift: float, half_width: float
) -> tuple[Index, Index, Array, Array]:
    """Loss and slope of every negative; O(n_pos + n_neg).

    `neg`, `pos` (n_neg,) and (n_pos,), ascending. `share_pos` (n_pos,): u, weights in the same order. `shift`,
    `half_width`: as in `auclab._core.smooth.sweep_pos`. Returned `first`, `last`: the band: φ' is 1 for the
    positives before ``first`` and 0 from ``last`` on. `slope`, `loss`: ``Σ_i u_i φ'(a_ij)`` and ``Σ_i u_i φ(a_ij)``.
    """
    first, last = np.empty(neg.size, np.int32), np.empty(neg.size, np.int32)
    slope, loss = np.empty(neg.size), np.empty(neg.size)
    low = high = 0
    # Σ u and Σ u·p below the band; Σ u, Σ u (p − e) and Σ u (p − e)² within it. Differences of Σ u p² would leave its
    # rounding, ε, where h² counts.
    low_mass = low_moment = mass = moment = square = previous = 0.0
    for j in range(neg.size):
        e = neg[j] + shift
        while low < pos.size and pos[low] <= e - half_width:
            u, p = share_pos[low], pos[low]
            low_mass += u
            low_moment += u * p
            if low < high:
                mass -= u
                moment -= u * (p - previous)
                square -= u * (p - previous) ** 2
            low += 1
        if low >= high:
            high = low
            mass = moment = square = 0.0
        rise = e - previous
        square += rise * (rise * mass - 2.0 * moment)
        moment -= rise * mass
        previous = e
        while high < pos.size and pos[high] < e + half_width:
            u, p = share_pos[high], pos[high]
            mass += u
            moment += u * (p - e)
            square += u * (p - e) ** 2
            high += 1
        within = (half_width**2 * mass - 2.0 * half_width * moment + square) / (4.0 * half_width)
        slope[j] = low_mass + (half_width * mass - moment) / (2.0 * half_width)
        loss[j] = e * low_mass - low_moment + within
        first[j], last[j] = low, high
    return first, last, slope, loss


@loop(nogil=True)
def smoothed_level(loss: Array, share: Array, part: float, half_width: float) -> tuple[float, int, int]:
    """The level τ with ``Σ_j v_j φ'(ℓ_j − τ) = part``, and which losses are within the band around it; O(m).

    It minimises ``τ + Σ_j v_j φ(ℓ_j − τ) / part``, a smoothed superquantile; φ has the half-width k here.

    `loss` (m,), ascending: ℓ. `share` (m,): v, weights with sum 1 in the same order. `part` in (0, 1]. `half_width` >
    0: k. Returned `level`: τ; in the middle where an interval of levels will do. `first`, `last`: ``ℓ_j ≤ τ − k``
    before ``first``, ``ℓ_j ≥ τ + k`` from ``last`` on.
    """
    first = last = loss.size  # of the losses above the band, and in it or above
    above = 0.0  # their weights
    mass = moment = 0.0  # Σ v and Σ v (ℓ − reference) of those in the band
    reference = loss[loss.size - 1]
    while True:
        # τ falls: the next loss enters the band or leaves it upwards.
        enters = loss[first - 1] + half_width if first > 0 else -np.inf
        leaves = loss[last - 1] - half_width if last > first else -np.inf
        event = max(enters, leaves)
        if event == -np.inf:
            return loss[0] - half_width, 0, 0
        reached = above + (moment + mass * (half_width - (event - reference))) / (2.0 * half_width)
        if reached >= part - ROUNDING:
            break
        if enters >= leaves:
            first -= 1
            mass += share[first]
            moment += share[first] * (loss[first] - reference)
        else:
            last -= 1
            above += share[last]
            mass -= share[last]
            moment -= share[last] * (loss[last] - reference)
            if first == last:
                mass = moment = 0.0
                reference = loss[max(first - 1, 0)]
    # The sums again, without the rounding of what has left the band.
    above = mass = moment = 0.0
    for j in range(loss.size - 1, last - 1, -1):
        above += share[j]
    for j in range(last - 1, first - 1, -1):
        mass += share[j]
        moment += share[j] * (loss[j] - loss[first])
    if mass <= 0.0:
        upper = loss[last] - half_width if last < loss.size else event
        return 0.5 * (event + max(upper, event)), first, last
    return loss[first] + half_width + (moment - 2.0 * half_width * (part - above)) / mass, first, last


@loop(nogil=True)
def slope_row_sums(
    rows: Array, pos: Array, share_pos: Array, neg: Array, first: Index, last: Index, shift: float, half_width: float
) -> Array:
    """``Σ_i u_i φ'(a_ij) x_i`` for some consecutive negatives, shape (m, n_columns); O((n_pos + m) · n_columns).

    `rows` (n_pos, n_columns): x, in ascending order of the scores. `pos`, `share_pos` (n_pos,): scores and u in this
    order. `neg` (m,), ascending. `first`, `last` (m,): their bands, as `sweep_losses` returns them.
    """
    columns = rows.shape[1]
    sums = np.empty((neg.size, columns))
    # Σ u x below the band, and Σ u x, Σ u p x within it.
    below, mass, moment = np.zeros(columns), np.zeros(columns), np.zeros(columns)
    low = high = 0
    for j in range(neg.size):
        e = neg[j] + shift
        while high < last[j]:
            u, p = share_pos[high], pos[high]
            for c in range(columns):
                mass[c] += u * rows[high, c]
                moment[c] += u * p * rows[high, c]
            high += 1
        while low < first[j]:
            u, p = share_pos[low], pos[low]
            for c in range(columns):
                below[c] += u * rows[low, c]
                mass[c] -= u * rows[low, c]
                moment[c] -= u * p * rows[low, c]
            low += 1
        for c in range(columns):
            if low == high:
                mass[c] = moment[c] = 0.0  # restart without the rounding errors of earlier bands
            sums[j, c] = below[c] + ((e + half_width) * mass[c] - moment[c]) / (2.0 * half_width)
    return sums


@loop(nogil=True)
def sparse_slope_row_sums(
    data: Array,
    indices: Index,
    indptr: Index,
    order: Index,
    pos: Array,
    share_pos: Array,
    neg: Array,
    first: Index,
    last: Index,
    shift: float,
    half_width: float,
    columns: int,
) -> Array:
    """`slope_row_sums` for rows in CSR form, read where they are; O(nnz + m · n_columns).

    `data`, `indices`, `indptr`: the CSR matrix of the positives, unsorted. `order` (n_pos,): sorts its rows by
    ascending scores. `columns`: of the matrix; the other parameters are those of `slope_row_sums`.
    """
    sums = np.empty((neg.size, columns))
    below, mass, moment = np.zeros(columns), np.zeros(columns), np.zeros(columns)
    low = high = 0
    for j in range(neg.size):
        e = neg[j] + shift
        while high < last[j]:
            u, p = share_pos[high], pos[high]
            for k in range(indptr[order[high]], indptr[order[high] + 1]):
                mass[indices[k]] += u * data[k]
                moment[indices[k]] += u * p * data[k]
            high += 1
        while low < first[j]:
            u, p = share_pos[low], pos[low]
            for k in range(indptr[order[low]], indptr[order[low] + 1]):
                below[indices[k]] += u * data[k]
                mass[indices[k]] -= u * data[k]
                moment[indices[k]] -= u * p * data[k]
            low += 1
        for c in range(columns):
            if low == high:
                mass[c] = moment[c] = 0.0
            sums[j, c] = below[c] + ((e + half_width) * mass[c] - moment[c]) / (2.0 * half_width)
    return sums
