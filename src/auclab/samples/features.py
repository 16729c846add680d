"""The features of a sample: checked, centred, and as CSR matrices of the same numbers where they are mostly zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_matrix, as_rows
from auclab._core.threads import LARGE, in_parallel
from auclab._core.validation import LARGEST_SQUARED

#: Rows that are converted at a time.
_AT_ONCE = 512
#: Rows that are joined into one when a table is reduced.
_WIDE = 64


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


def column_range(features: Any) -> tuple[Array, Array]:
    """The least and the largest value of every column of an array or a CSR matrix; NaN where a column has one.

    Examples
    --------
    >>> low, high = column_range(np.array([[1.0, 5.0], [2.0, -3.0]]))
    >>> low.tolist(), high.tolist()
    ([1.0, -3.0], [2.0, 5.0])
    """
    if sp.issparse(features):
        matrix: Any = features
        return matrix.min(axis=0).toarray().ravel(), matrix.max(axis=0).toarray().ravel()
    n_rows, n_columns = features.shape
    if not features.flags.c_contiguous or n_rows < 2 * _WIDE:
        return features.min(axis=0), features.max(axis=0)
    # Many short rows are reduced several times faster when joined into longer ones.
    whole = n_rows - n_rows % _WIDE
    wide = features[:whole].reshape(-1, _WIDE * n_columns)
    reduced = in_parallel(lambda reduce: reduce(wide, axis=0), (np.min,), (np.max,), threads=features.size >= 2 * LARGE)
    ends = [end.reshape(_WIDE, n_columns) for end in reduced]
    return np.vstack([ends[0], features[whole:]]).min(axis=0), np.vstack([ends[1], features[whole:]]).max(axis=0)


def column_offsets(low: Array, high: Array) -> Array | None:
    """The c of every column, shape (n_features,): its middle if it lies in [c/2, 2c], else 0; None if all are 0.

    `low`, `high` (n_features,): the least and the largest value of every column.

    Examples
    --------
    A column near 1e8, one around 0, a constant one:

    >>> column_offsets(np.array([1e8 - 1, -1.0, -3.0]), np.array([1e8 + 1, 2.0, -3.0])).tolist()
    [100000000.0, 0.0, -3.0]
    """
    nearest, farthest = np.minimum(abs(low), abs(high)), np.maximum(abs(low), abs(high))
    # The middle of [low, high] is within a factor of 2 of both ends iff they differ by a factor of at most 3. Just
    # below 3, its rounding could put an end outside.
    one_sided = (low > 0) == (high > 0)
    offset = np.where(one_sided & (farthest <= 2.9 * nearest), 0.5 * low + 0.5 * high, 0.0)
    # The middle of two neighbouring values may be neither; of a constant column it must be the value itself.
    offset = np.where(low == high, low, offset)
    return offset if offset.any() else None


def moved_intercept(intercept: float, coef: Array, offset: Array | None, sign: float) -> float:
    """``b + sign · w·c``, rounded once: the intercept for centred rows (sign 1), or back for the data's (sign −1).

    `offset` (n_features,), or None: c of every column; None stands for zeros.

    Examples
    --------
    >>> moved_intercept(-1e16, np.array([1.0, 1.0]), np.array([1e16, 0.5]), 1.0)
    0.5
    """
    return moved_intercept_parts(intercept, coef, offset, sign)[0]


def moved_intercept_parts(intercept: float, coef: Array, offset: Array | None, sign: float) -> tuple[float, float]:
    """`moved_intercept` and its rounding error."""
    if offset is None:
        return intercept, 0.0
    product, error = exact_products(sign * coef, offset)
    parts = (intercept, *product.tolist(), *error.tolist())
    if not all(map(math.isfinite, parts)):
        return float(intercept + sign * (coef @ offset)), 0.0
    total = math.fsum(parts)
    return total, math.fsum((*parts, -total))


def exact_products(a: Array, b: Array) -> tuple[Array, Array]:
    """``a · b`` entry by entry as the rounded product and its error, exactly unless it under- or overflows (Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, error


def _halves(a: Array) -> tuple[Array, Array]:
    """``a`` as a sum of two numbers of 26 bits (Veltkamp)."""
    shifted = 134217729.0 * a
    high = shifted - (shifted - a)
    return high, a - high


def check_range(low: Array, high: Array, features: Any) -> None:
    """Refuse NaN, infinite values, values beyond ±1e150, and columns that vary by less than 1e-150.

    `low`, `high` (n_features,): the least and the largest value of every column; NaN if the column has one. `features`
    (n_samples, n_features): searched for the first such value, for the message.
    """
    largest = np.maximum(high, -low)
    if bool((largest <= LARGEST_SQUARED).all()):
        check_variation(low, high)
        return
    matrix: Any = features
    values = matrix.data if sp.issparse(features) else features
    if np.isfinite(largest).all():
        row, column, value = _first(features, abs(values) > LARGEST_SQUARED)
        raise AuclabError(
            f"X contains {value:g} at row {row}, column {column}, beyond ±{LARGEST_SQUARED:g}, where squares "
            "overflow; change the unit of the column (preprocess=standard divides by its spread)"
        )
    row, column, _ = _first(features, ~np.isfinite(values))
    bad = "NaN" if np.isnan(values).any() else "an infinite value"
    raise AuclabError(
        f"X contains {bad}, first at row {row}, column {column}; "
        "impute or drop it (every preprocess choice imputes missing values)"
    )


def _first(features: Any, found: NDArray[np.bool_]) -> tuple[int, int, float]:
    """Row, column and value of the first entry that was found, among those stored of a CSR matrix."""
    if not sp.issparse(features):
        row, column = np.argwhere(found)[0]
        return int(row), int(column), float(features[row, column])
    matrix: Any = features
    place = int(found.argmax())
    row = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
    return row, int(matrix.indices[place]), float(matrix.data[place])


def check_variation(low: Array, high: Array) -> None:
    """Refuse columns that are not constant and vary by less than 1e-150.

    `low`, `high` (n_features,): the least and the largest value of every column.
    """
    width = high - low
    tiny = np.flatnonzero((width > 0) & (width < 1.0 / LARGEST_SQUARED))
    if tiny.size:
        column = int(tiny[0])
        raise AuclabError(
            f"column {column} of X varies by {width[column]:g} only, less than {1.0 / LARGEST_SQUARED:g}, where "
            "products underflow; change the unit of the column (preprocess=standard divides by its spread), or drop it"
        )


def moved_rows(rows: Any, offset: Array | None, sign: float) -> Any:
    """Rows plus ``sign · offset``."""
    if offset is None:
        return rows
    return moved_entries(rows, offset, sign) if sp.issparse(rows) else rows + sign * offset


def checked_features(X: Any) -> tuple[Any, Array | None, Array]:
    """`X` as a finite float64 array or CSR matrix, the offset of its rows, and the largest moduli without it."""
    features, low, high = _features(X)
    offset = column_offsets(low, high)
    moved = 0.0 if offset is None else offset
    return features, offset, np.maximum(high - moved, moved - low)


def _features(X: Any) -> tuple[Any, Array, Array]:
    """`X` as a finite float64 array or CSR matrix, and the least and the largest value of every column."""
    matrix = as_matrix(X)
    is_numeric = matrix.ndim == 2 and matrix.size > 0 and matrix.dtype.kind in "biuf"
    if is_numeric and isinstance(matrix, np.ndarray) and is_mostly_zero(matrix):
        features = compressed(matrix)
    else:
        features = as_rows(matrix)
    low, high = column_range(features)
    check_range(low, high, features)
    return features, low, high
