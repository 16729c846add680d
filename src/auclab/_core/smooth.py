"""The pairwise hinge smoothed over a band, in sliding windows over sorted scores.

With hinge arguments ``a_ij = shift − p_i + n_j`` and half-width h, the Huber-smoothed hinge and its slope are

    φ(a) = 0, (a + h)²/(4h), a        φ'(a) = 0, (a + h)/(2h), 1        for a ≤ −h, |a| < h, a ≥ h,

so ``[a]₊ ≤ φ(a) ≤ [a]₊ + h/4`` and φ' is an admissible pair weight. In sorted order the negatives in the band of a
positive are consecutive, and so are those above it (φ' = 1); running sums of 1, n and n² give every sum in O(m).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.loop import loop

#: Half the memory of the platform's own integers: at 10⁷ observations a class index arrays dominate it.
Index = NDArray[np.int32]


@loop(nogil=True)
def sweep_pos(
    pos: Array, neg: Array, share_pos: Array, share_neg: Array, shift: float, half_width: float
) -> tuple[Index, Index, Array, float, float]:
    """Sums over the negatives for every positive, with ``a = n_j − (p_i − shift)``; O(n_pos + n_neg).

    `pos`, `neg` (n_pos,) and (n_neg,), ascending. `share_pos`, `share_neg`: weights in the same order, each with sum 1.
    `shift`: ``1 − z‖w‖``. `half_width` > 0: h. Returned `first`, `last`: the band: ``first`` is the first negative
    above ``p_i − shift − h``, ``last`` the first at or above ``p_i − shift + h``. `slope`: ``Σ_j share_j φ'(a_ij)``.
    `total`, `band`: over all pairs, the mean of φ and the share in the band.

    Notes
    -----
    Sums run from the largest negative down, so that a positive with few active pairs does not lose digits to the
    negatives below its band.
    """
    first, last = np.empty(pos.size, np.int32), np.empty(pos.size, np.int32)
    slope = np.empty(pos.size)
    low = high = neg.size
    # Sums of share, share·n and share·n² from `low` and from `high` on.
    low_mass = low_moment = low_square = high_mass = high_moment = high_square = total = band = 0.0
    for i in range(pos.size - 1, -1, -1):
        c = pos[i] - shift
        while high > 0 and neg[high - 1] >= c + half_width:
            high -= 1
            v, n = share_neg[high], neg[high]
            high_mass += v
            high_moment += v * n
            high_square += v * n * n
        while low > 0 and neg[low - 1] > c - half_width:
            low -= 1
            v, n = share_neg[low], neg[low]
            low_mass += v
            low_moment += v * n
            low_square += v * n * n
        b0 = low_mass - high_mass
        b1 = low_moment - high_moment - c * b0
        b2 = low_square - high_square - 2.0 * c * (low_moment - high_moment) + c * c * b0
        within = (b2 + 2.0 * half_width * b1 + half_width**2 * b0) / (4.0 * half_width)
        total += share_pos[i] * (high_moment - c * high_mass + within)
        slope[i] = high_mass + (b1 + half_width * b0) / (2.0 * half_width)
        band += share_pos[i] * b0
        first[i], last[i] = low, high
    return first, last, slope, total, band


@loop(nogil=True)
def sweep_neg(neg: Array, pos: Array, share_pos: Array, shift: float, half_width: float) -> tuple[Index, Index, Array]:
    """Sums over the positives for every negative, with ``a = (n_j + shift) − p_i``; O(n_pos + n_neg).

    `neg`, `pos` (n_neg,) and (n_pos,), ascending. `share_pos` (n_pos,): weights in the same order, with sum 1. `shift`,
    `half_width`: as in `sweep_pos`. Returned `first`, `last`: the band: φ' is 1 for the positives before ``first`` and
    0 from ``last`` on. `slope`: ``Σ_i share_i φ'(a_ij)``.
    """
    first, last = np.empty(neg.size, np.int32), np.empty(neg.size, np.int32)
    slope = np.empty(neg.size)
    low = high = 0
    low_mass = low_moment = high_mass = high_moment = 0.0  # sums of share and share·p below `low` and below `high`
    for j in range(neg.size):
        e = neg[j] + shift
        while low < pos.size and pos[low] <= e - half_width:
            low_mass += share_pos[low]
            low_moment += share_pos[low] * pos[low]
            low += 1
        while high < pos.size and pos[high] < e + half_width:
            high_mass += share_pos[high]
            high_moment += share_pos[high] * pos[high]
            high += 1
        b0 = high_mass - low_mass
        b1 = e * b0 - (high_moment - low_moment)
        slope[j] = low_mass + (b1 + half_width * b0) / (2.0 * half_width)
        first[j], last[j] = low, high
    return first, last, slope


@loop(nogil=True)
def window_sums(values: Array, first: Index, last: Index) -> Array:
    """``Σ_{first_i ≤ k < last_i} values[k]`` for every i; O(m + n)."""
    prefix = np.zeros(values.size + 1)
    for k in range(values.size):
        prefix[k + 1] = prefix[k] + values[k]
    sums = np.empty(first.size)
    for i in range(first.size):
        sums[i] = prefix[last[i]] - prefix[first[i]]
    return sums


@loop(nogil=True)
def add_window_rows(
    X: Array,
    rows: Index,
    share: Array,
    opposite_rows: Index,
    opposite_share: Array,
    first: Index,
    last: Index,
    factor: float,
    places: Index,
    sums: Array,
) -> None:
    """Add ``factor · share_i Σ_{first_i ≤ k < last_i} opposite_share_k x_k`` to `sums`, for every entry i.

    `first`, `last` (n_entries,), both ascending: windows of the opposite entries: an entry enters and leaves the
    running sum once. `places` (n_rows,): where in `sums` the row of an entry is, if its window is not empty.
    """
    columns = X.shape[1]
    running = np.zeros(columns)
    low = high = 0
    for i in range(first.size):
        if first[i] >= high:  # restart without the rounding errors of earlier windows
            low = high = first[i]
            running[:] = 0.0
        while high < last[i]:
            row, weight = opposite_rows[high], opposite_share[high]
            for c in range(columns):
                running[c] += weight * X[row, c]
            high += 1
        while low < first[i]:
            row, weight = opposite_rows[low], opposite_share[low]
            for c in range(columns):
                running[c] -= weight * X[row, c]
            low += 1
        if low < high:
            row, weight = places[rows[i]], factor * share[i]
            for c in range(columns):
                sums[row, c] += weight * running[c]


@loop(nogil=True)
def sums_of_entries(values: Array, share: Array, rows: Index, size: int) -> Array:
    """``Σ share · values`` of the sorted entries of every row, shape (size,); O(size + entries)."""
    sums = np.zeros(size)
    for k in range(rows.size):
        sums[rows[k]] += share[k] * values[k]
    return sums


@loop(nogil=True)
def sorted_with_prefix(values: Array, share: Array, rows: Index) -> tuple[Array, Array, Array]:
    """Values of rows in sorted order, and the sums of `share` and of ``share · values`` before each entry."""
    ordered, mass, moment = np.empty(rows.size), np.empty(rows.size + 1), np.empty(rows.size + 1)
    mass[0] = moment[0] = 0.0
    for k in range(rows.size):
        ordered[k] = values[rows[k]]
        mass[k + 1] = mass[k] + share[k]
        moment[k + 1] = moment[k] + share[k] * ordered[k]
    return ordered, mass, moment


@loop(nogil=True)
def add_window_differences(
    sums: Array,
    values: Array,
    share: Array,
    rows: Index,
    first: Index,
    last: Index,
    mass: Array,
    moment: Array,
    shift: float,
    factor: float,
) -> None:
    """Add ``factor · share_i Σ_j s_j (values_i + shift − v_j)`` over the window of every entry to its row, in place.

    `mass`, `moment`: the prefix sums of s and s·v of the opposite class (`sorted_with_prefix`).
    """
    for k in range(rows.size):
        low, high = first[k], last[k]
        difference = (values[k] + shift) * (mass[high] - mass[low]) - (moment[high] - moment[low])
        sums[rows[k]] += factor * share[k] * difference
