"""The pairwise hinge smoothed over a band, in sliding windows over sorted scores.

With hinge arguments ``a_ij = shift − p_i + n_j`` and half-width h, the Huber-smoothed hinge and its slope are

    φ(a) = 0, (a + h)²/(4h), a        φ'(a) = 0, (a + h)/(2h), 1        for a ≤ −h, |a| < h, a ≥ h,

so ``[a]₊ ≤ φ(a) ≤ [a]₊ + h/4`` and φ' is an admissible pair weight. For every positive the negatives of its band are
consecutive, and so are those that are on; prefix sums of 1, n and n² give every sum in O(m).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auclab.types import Array

Index = NDArray[np.int64]


@njit(cache=True, nogil=True)
def band_edges(kinks: Array, partners: Array, half_width: float) -> tuple[Index, Index]:
    """First partner above ``kink − h`` and first at or above ``kink + h``, both arrays ascending."""
    first, last = np.empty(kinks.size, np.int64), np.empty(kinks.size, np.int64)
    low = high = 0
    for i in range(kinks.size):
        while low < partners.size and partners[low] <= kinks[i] - half_width:
            low += 1
        while high < partners.size and partners[high] < kinks[i] + half_width:
            high += 1
        first[i], last[i] = low, high
    return first, last


@njit(cache=True, nogil=True)
def smooth_pos(
    kinks: Array, neg: Array, share_neg: Array, first: Index, last: Index, half_width: float
) -> tuple[Array, Array, Array]:
    """For every positive, with ``a = n_j − kink_i``: sums of share·φ(a), of share·φ'(a), and of share over its band.

    `kinks` are the sorted positive scores less the shift. Sums run from the largest negative down, so that a
    positive with few active partners does not lose digits to those it has nothing to do with.
    """
    size = neg.size
    mass, moment, square = np.zeros(size + 1), np.zeros(size + 1), np.zeros(size + 1)
    for j in range(size - 1, -1, -1):
        v, n = share_neg[j], neg[j]
        mass[j] = mass[j + 1] + v
        moment[j] = moment[j + 1] + v * n
        square[j] = square[j + 1] + v * n * n
    value, slope, band = np.empty(kinks.size), np.empty(kinks.size), np.empty(kinks.size)
    for i in range(kinks.size):
        c, low, high = kinks[i], first[i], last[i]
        b0 = mass[low] - mass[high]
        b1 = moment[low] - moment[high] - c * b0
        b2 = square[low] - square[high] - 2.0 * c * (moment[low] - moment[high]) + c * c * b0
        value[i] = (
            moment[high] - c * mass[high] + (b2 + 2.0 * half_width * b1 + half_width**2 * b0) / (4.0 * half_width)
        )
        slope[i] = mass[high] + (b1 + half_width * b0) / (2.0 * half_width)
        band[i] = b0
    return value, slope, band


@njit(cache=True, nogil=True)
def smooth_neg(
    edges: Array, pos: Array, share_pos: Array, first: Index, last: Index, half_width: float
) -> tuple[Array, Array]:
    """For every negative, with ``a = edge_j − p_i``: sums of share·φ'(a), and of share over its band.

    `edges` are the sorted negative scores plus the shift; `first` and `last` are `band_edges` of them among the
    positives: positives up to the first are on, from the last on they are off.
    """
    size = pos.size
    mass, moment = np.zeros(size + 1), np.zeros(size + 1)
    for i in range(size):
        mass[i + 1] = mass[i] + share_pos[i]
        moment[i + 1] = moment[i] + share_pos[i] * pos[i]
    slope, band = np.empty(edges.size), np.empty(edges.size)
    for j in range(edges.size):
        e, low, high = edges[j], first[j], last[j]
        b0 = mass[high] - mass[low]
        b1 = e * b0 - (moment[high] - moment[low])
        slope[j] = mass[low] + (b1 + half_width * b0) / (2.0 * half_width)
        band[j] = b0
    return slope, band


@njit(cache=True, nogil=True)
def window_sums(values: Array, first: Index, last: Index) -> Array:
    """``Σ values[first_i : last_i]`` for every i."""
    prefix = np.zeros(values.size + 1)
    for k in range(values.size):
        prefix[k + 1] = prefix[k] + values[k]
    sums = np.empty(first.size)
    for i in range(first.size):
        sums[i] = prefix[last[i]] - prefix[first[i]]
    return sums


@njit(cache=True, nogil=True)
def window_row_sums(rows: Array, share: Array, first: Index, last: Index) -> Array:
    """``Σ share_k rows[k]`` over ``first_i ≤ k < last_i`` for every i, by sliding: O((m + n) · columns)."""
    columns = rows.shape[1]
    sums = np.empty((first.size, columns))
    running = np.zeros(columns)
    low = high = 0
    for i in range(first.size):
        while high < last[i]:
            for c in range(columns):
                running[c] += share[high] * rows[high, c]
            high += 1
        while low < first[i]:
            for c in range(columns):
                running[c] -= share[low] * rows[low, c]
            low += 1
        for c in range(columns):  # scalars: assignments of arrays take seconds to compile
            if low == high:
                running[c] = 0.0  # an empty window forgets the rounding of those before it
            sums[i, c] = running[c]
    return sums
