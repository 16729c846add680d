"""Sort scores together with their row numbers: twice as fast as an argsort, with ties in the order of the rows.

A score is rounded down to one of 2^k equal cells of the range, and cell and row number are packed into one integer of
62 bits: sorting integers takes a quarter of the time of an argsort. A pass of insertions then orders the few scores
that share a cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.loop import loop
from auclab.types import Array

#: Fewer scores are sorted faster by `numpy.argsort`.
FEW = 1024
#: Bits of a cell and a row number together: the sign and a last cell that rounding may add are left out.
_BITS = 62
#: Insertions for each score beyond which the scores are too uneven for equal cells.
_MOST_MOVES = 4


def ascending(values: Array) -> tuple[NDArray[np.int32], Array]:
    """The row numbers in ascending order of `values` (m,), without NaN, and the sorted values; O(m log m).

    Examples
    --------
    >>> order, values = ascending(np.array([0.5, -1.0, 2.0]))
    >>> order.tolist(), values.tolist()
    ([1, 0, 2], [-1.0, 0.5, 2.0])
    """
    if values.size >= FEW:
        bits = int(values.size - 1).bit_length()
        keys = _packed(values, bits)
        keys.sort()
        order, found = _unpacked(keys, values, bits)
        if order.size:
            return order, found
    order = np.argsort(values, kind="stable").astype(np.int32)
    return order, values[order]


@loop(nogil=True)
def _packed(values: Array, bits: int) -> NDArray[np.int64]:
    """Cell and row number of every value; one cell alone if the range has no usable width."""
    low = high = values[0]
    for value in values:
        low = min(low, value)
        high = max(high, value)
    rate = 2.0 ** (_BITS - bits) / (high - low) if high > low else 0.0
    if not (0.0 < rate < np.inf):
        rate = 0.0
    keys = np.empty(values.size, np.int64)
    for i in range(values.size):
        keys[i] = (np.int64((values[i] - low) * rate) << bits) | i
    return keys


@loop(nogil=True)
def _unpacked(keys: NDArray[np.int64], values: Array, bits: int) -> tuple[NDArray[np.int32], Array]:
    """Row numbers and values in order; empty where too many values share a cell."""
    mask = (1 << bits) - 1
    order, found = np.empty(keys.size, np.int32), np.empty(keys.size)
    left = _MOST_MOVES * keys.size
    for k in range(keys.size):
        row = keys[k] & mask
        value, place = values[row], k
        while place > 0 and found[place - 1] > value:
            found[place], order[place] = found[place - 1], order[place - 1]
            place -= 1
        left -= k - place
        if left < 0:
            return order[:0], found[:0]
        found[place], order[place] = value, row
    return order, found
