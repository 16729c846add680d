"""Arrays that are mostly zero, such as one-hot coded tables, become CSR matrices of the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from auclab._core.base import Array

#: Rows that are converted at a time.
_AT_ONCE = 512


def pays_as_csr(n_rows: int, n_columns: int, density: float) -> bool:
    """Whether a table of this size and share of nonzero entries is handled faster as a CSR matrix.

    Examples
    --------
    >>> pays_as_csr(50_000, 100, 0.1), pays_as_csr(50_000, 100, 0.6), pays_as_csr(50, 100, 0.1)
    (True, False, False)
    """
    # Measured: evaluations of the smoothed loss then take as long as on dense rows, Hessians a fifth or less.
    return n_columns >= 20 and n_rows * n_columns >= 200_000 and density <= 0.25


def is_mostly_zero(features: Any) -> bool:
    """Whether an array of numbers is better kept as a CSR matrix, from about a thousand of its rows."""
    n_rows, n_columns = features.shape
    if not pays_as_csr(n_rows, n_columns, 0.0):
        return False
    looked_at = features[:: max(1, n_rows // 1_000)]
    return pays_as_csr(n_rows, n_columns, np.count_nonzero(looked_at) / looked_at.size)


def compressed(features: Any, offset: Array | None = None) -> Any:
    """An array, less `offset`, as a CSR matrix of float64, some rows at a time; NaN and ±∞ are entries too.

    `offset` (n_features,): zeros if left out.
    """
    n_rows, n_columns = features.shape
    data: list[Array] = []
    columns: list[Any] = []
    counts: list[Any] = []
    for start in range(0, n_rows, _AT_ONCE):
        rows = np.ascontiguousarray(features[start : start + _AT_ONCE], dtype=np.float64)
        if offset is not None:
            rows = rows - offset
        entry = rows != 0
        places = np.flatnonzero(entry)
        data.append(rows.ravel()[places])
        columns.append((places % n_columns).astype(np.int32))
        counts.append(np.count_nonzero(entry, axis=1))
    ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    index = np.int32 if ends[-1] <= np.iinfo(np.int32).max else np.int64
    parts = np.concatenate(data), np.concatenate(columns).astype(index, copy=False), ends.astype(index)
    matrix: Any = sp.csr_array(parts, shape=(n_rows, n_columns))
    matrix.has_canonical_format = True
    return matrix


def moved_entries(matrix: Any, offset: Array, sign: float) -> Any:
    """The rows of a CSR matrix plus ``sign · offset``; columns with an offset have no implicit zeros.

    Examples
    --------
    >>> moved_entries(sp.csr_array([[5.0, 0.0], [6.0, 1.0]]), np.array([5.0, 0.0]), -1.0).toarray().tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    data = matrix.data + sign * offset[matrix.indices]
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
