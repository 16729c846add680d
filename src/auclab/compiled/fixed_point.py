"""Exact sums of doubles in fixed point, one for each bin, and the bin of every score.

A sum is a row of limbs of 32 bits in int64; limb L stands for ``2^(32 L − 1074)``, so that 0 … 67 hold any sum of
doubles. Nothing is rounded, hence the order of the terms does not matter: not even the last bit depends on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.loop import loop
from auclab.types import Array

Limbs = NDArray[np.int64]

#: Terms that can be added before the limbs must be normalised: each adds less than 2³³ to a limb.
MOST_TERMS = 2**29
_MASK = 0xFFFFFFFF


@loop()
def bins_of(scores: Array, edges: Array) -> NDArray[np.int32]:
    """Number of edges ≤ every score, shape (m,): ``np.searchsorted(edges, scores, side="right")``; O(m + n_edges).

    `scores` (m,): without NaN. `edges` (n_edges,), ascending, finite.

    Notes
    -----
    The range of the edges is cut into equal cells. Rounding is monotone, so that an edge in a lower cell than a score
    is below it, and one in a higher cell above: a score is compared with the edges of its own cell only.
    """
    bins = np.empty(scores.size, np.int32)
    n = edges.size
    if n == 0:
        bins[:] = 0
        return bins
    width = edges[n - 1] - edges[0]
    cells = min(4 * n, 4 * scores.size + 1)
    rate = cells / width if width > 0.0 else 0.0
    if not (0.0 < rate < np.inf) or not width < np.inf:
        cells, rate = 1, 0.0
    first = np.zeros(cells + 1, np.int32)  # of the edges in a cell
    for k in range(n):
        first[min(int((edges[k] - edges[0]) * rate), cells - 1) + 1] += 1
    for c in range(cells):
        first[c + 1] += first[c]
    for i in range(scores.size):
        s = scores[i]
        if s < edges[0]:
            bins[i] = 0
        elif s >= edges[n - 1]:
            bins[i] = n
        else:
            cell = min(int((s - edges[0]) * rate), cells - 1) if rate > 0.0 else 0
            low, high = first[cell], first[cell + 1]
            while low < high:
                middle = (low + high) >> 1
                if edges[middle] <= s:
                    low = middle + 1
                else:
                    high = middle
            bins[i] = low
    return bins


@loop()
def count_and_extremes(
    scores: Array, bins: NDArray[np.int32], count: NDArray[np.int64], low: Array, high: Array
) -> None:
    """Add to the number of scores in every bin, and lower and raise its least and largest score; in place."""
    for i in range(scores.size):
        b, s = bins[i], scores[i]
        count[b] += 1
        low[b] = min(low[b], s)
        high[b] = max(high[b], s)


@loop()
def deposit(values: Array, bits: NDArray[np.int64], bins: NDArray[np.int32], first: int, limbs: Limbs) -> None:
    """Add finite values to the sums of their bins, exactly and in place.

    `values` (m,), m ≤ `MOST_TERMS`. `bits` (m,): the same memory as integers, ``values.view(np.int64)``. `first`:
    number of the first limb; the last bit of no value lies below it. `limbs` (n_bins, n_limbs): it ends two limbs above
    the first bit of the largest value.
    """
    for i in range(values.size):
        exponent = (bits[i] >> 52) & 0x7FF
        mantissa = bits[i] & 0xFFFFFFFFFFFFF
        if exponent > 0:
            mantissa |= 0x10000000000000
            exponent -= 1
        if mantissa == 0:
            continue
        limb, shift = (exponent >> 5) - first, exponent & 31
        low = (mantissa & _MASK) << shift
        top = (mantissa >> 32) << shift
        a, b, c = low & _MASK, (low >> 32) + (top & _MASK), top >> 32
        row = limbs[bins[i]]
        if bits[i] >= 0:
            row[limb] += a
            row[limb + 1] += b
            row[limb + 2] += c
        else:
            row[limb] -= a
            row[limb + 1] -= b
            row[limb + 2] -= c


@loop()
def normalise(limbs: Limbs) -> None:
    """Carry, in place: all limbs but the last of a row in [0, 2³²), the last one signed."""
    for b in range(limbs.shape[0]):
        carry = 0
        for k in range(limbs.shape[1] - 1):
            total = limbs[b, k] + carry
            limbs[b, k] = total & _MASK
            carry = total >> 32
        limbs[b, limbs.shape[1] - 1] += carry
