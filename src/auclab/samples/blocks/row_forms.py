"""The operations of tasks on the rows of a block: functions for arrays, which other forms implement as methods.

Rows are an array, `auclab.samples.blocks.mixed_rows.MixedRows` before and
`auclab.samples.blocks.mixed_rows.EncodedRows` after categories have been encoded. A further form registers its
methods below; no other code tests the form of rows.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab.samples.blocks.mixed_rows import EncodedRows, MixedRows


@singledispatch
def selected(rows: Any, mask: NDArray[np.bool_]) -> Any:
    """Some of the rows, in the same form; the columns of an array are contiguous."""
    return np.asfortranarray(rows[mask])


@singledispatch
def less(rows: Any, offset: Array) -> Any:
    """Every row minus an offset; an array is changed in place."""
    rows -= offset
    return rows


@singledispatch
def times(rows: Any, row_factor: Array) -> Any:
    """Every row times a number; an array is changed in place."""
    rows *= row_factor[:, None]
    return rows


@singledispatch
def norms(rows: Any) -> Array:
    """The Euclidean norm of every row, shape (n_rows,)."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


@singledispatch
def gram(rows: Any, weights: Array) -> Array:
    """``Xᵀ diag(q) X`` for weights q of shape (n_rows,), of which most may be 0."""
    nonzero = np.flatnonzero(weights)
    used = rows if nonzero.size == weights.size else rows[nonzero]
    return np.asarray((used * weights[nonzero][:, None]).T @ used)


@singledispatch
def sparse_sums(rows: Any, left: Any) -> Array:
    """``left @ rows`` for a CSR matrix of shape (k, n_rows)."""
    return np.asarray(left @ np.ascontiguousarray(rows))


@singledispatch
def numbers_of(rows: Any) -> Array:
    """The columns that are not categories, NaN where a value is missing."""
    return np.asarray(rows)


@singledispatch
def categories_of(rows: Any) -> tuple[tuple[NDArray[np.int32], tuple[Any, ...]], ...]:
    """Codes and values of every column of categories, as `MixedRows` has them."""
    return ()


selected.register(MixedRows, MixedRows.__getitem__)
numbers_of.register(MixedRows, lambda rows: rows.numbers)
categories_of.register(MixedRows, lambda rows: tuple(zip(rows.codes, rows.values, strict=True)))

less.register(EncodedRows, EncodedRows.less)
times.register(EncodedRows, EncodedRows.times)
norms.register(EncodedRows, EncodedRows.norms)
gram.register(EncodedRows, EncodedRows.gram)
sparse_sums.register(EncodedRows, EncodedRows.__rmatmul__)
