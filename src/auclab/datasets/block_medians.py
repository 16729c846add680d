"""Exact medians of columns that are read block by block: the middle values are found 16 bits at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from auclab.types import Array

#: Bits that a pass finds, of 64.
_BITS = 16
_SIGN = np.uint64(1) << np.uint64(63)


def block_medians(stream: Callable[[], Iterable[Array]], n_columns: int) -> Array:
    """Medians of the values that are not NaN, one for each column, in five passes; 0 for a column without values.

    Parameters
    ----------
    stream : callable
        Returns the rows block by block, arrays of shape (n_rows, n_columns), the same ones at every call.
    n_columns : int

    Returns
    -------
    array of shape (n_columns,)
        Those of ``np.nanmedian``, to the last bit.

    See Also
    --------
    auclab.datasets.median_imputer.MedianImputer : The same of rows in memory.

    Examples
    --------
    >>> rows = np.array([[1.0, np.nan], [np.nan, np.nan], [4.0, np.nan], [9.0, np.nan]])
    >>> block_medians(lambda: [rows[:2], rows[2:]], 2).tolist()
    [4.0, 0.0]
    """
    counts = np.zeros(n_columns, np.int64)
    for rows in stream():
        counts += np.count_nonzero(~np.isnan(rows), axis=0)
    # Both middle values of each column: their first digits, and their ranks among the values that share them.
    prefixes = np.zeros((2, n_columns), np.uint64)
    ranks = np.stack((np.maximum(counts - 1, 0) // 2, counts // 2))
    for known in range(0, 64, _BITS):
        histograms = np.zeros((2, n_columns, 2**_BITS), np.int64)
        for rows in stream():
            for column in np.flatnonzero(counts):
                _count(rows[:, column], prefixes[:, column], known, histograms[:, column])
        reached = np.cumsum(histograms, axis=2)
        for side, column in np.argwhere(np.broadcast_to(counts > 0, ranks.shape)):
            digits = int(np.searchsorted(reached[side, column], ranks[side, column], side="right"))
            ranks[side, column] -= reached[side, column, digits - 1] if digits else 0
            prefixes[side, column] = (prefixes[side, column] << np.uint64(_BITS)) | np.uint64(digits)
    low, high = (_values(keys) for keys in prefixes)
    with np.errstate(over="ignore"):
        total = low + high
    middle = np.where(np.isfinite(total), 0.5 * total, 0.5 * low + 0.5 * high)
    return np.where(counts > 0, np.where(low == high, low, middle), 0.0)


def _count(values: Array, prefixes: NDArray[np.uint64], known: int, histograms: NDArray[np.int64]) -> None:
    """Add the next digits of the values whose first `known` bits are those of either prefix; in place."""
    keys = _keys(values[~np.isnan(values)])
    digits = ((keys >> np.uint64(64 - known - _BITS)) & np.uint64(2**_BITS - 1)).astype(np.int64)
    for side in (0, 1):
        if side and prefixes[0] == prefixes[1]:
            histograms[1] = histograms[0]
            return
        chosen = digits if not known else digits[keys >> np.uint64(64 - known) == prefixes[side]]
        histograms[side] += np.bincount(chosen, minlength=2**_BITS)


def _keys(values: Array) -> NDArray[np.uint64]:
    """Whole numbers in the order of the values."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(keys: NDArray[np.uint64]) -> Array:
    """The inverse of `_keys`."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
