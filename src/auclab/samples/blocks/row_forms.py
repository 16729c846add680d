"""Rows of a block, and the operations of tasks on them: functions for arrays, which other forms implement as methods.

Rows are an array, `MixedRows` of numbers and categories before and `EncodedRows` after categories have been encoded. A
further form registers its methods below; no other code tests the form of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.forms import row_scores

if TYPE_CHECKING:
    import pandas as pd
    import scipy.sparse as sp


@dataclass(frozen=True)
class MixedRows:
    """Rows of a block whose columns are numbers and categories.

    `numbers` (n_rows, n_numeric): NaN where a value is missing. `codes` (n_rows,): for every column of categories the
    place of each row's value in `values`, −1 where it is missing. `values`: for every column of categories the values
    that the codes stand for, none of them missing, none twice. `is_number`: for every column of the table whether it is
    one of `numbers` or of `codes`, either in their order.

    Examples
    --------
    >>> rows = MixedRows(np.array([[1.0], [2.0]]), (np.array([0, -1], np.int32),), (("red",),), (False, True))
    >>> rows[np.array([True, False])].to_frame(["colour", "size"]).to_numpy().tolist()
    [['red', 1.0]]
    """

    numbers: Array
    codes: tuple[NDArray[np.int32], ...]
    values: tuple[tuple[Any, ...], ...]
    is_number: tuple[bool, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.numbers), len(self.is_number)

    @property
    def nbytes(self) -> int:
        """Memory of the rows."""
        return self.numbers.nbytes + sum(codes.nbytes for codes in self.codes)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> MixedRows:
        """Some of the rows: a mask, a slice, or row numbers."""
        numbers = np.asfortranarray(self.numbers[rows])
        return MixedRows(numbers, tuple(codes[rows] for codes in self.codes), self.values, self.is_number)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise not_numbers()

    def to_frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """The rows with the names of the columns; missing categories are NaN."""
        import pandas as pd

        numbers = iter(self.numbers.T)
        texts = iter(
            np.array([*values, np.nan], dtype=object)[codes]
            for codes, values in zip(self.codes, self.values, strict=True)
        )
        found = {
            name: next(numbers) if number else next(texts) for name, number in zip(columns, self.is_number, strict=True)
        }
        return pd.DataFrame(found, columns=list(columns))


def not_numbers(names: Sequence[str] = ()) -> AuclabError:
    """The error for categories where numbers are needed."""
    named = f" ({', '.join(map(repr, names[:5]))}{', …' if len(names) > 5 else ''})" if names else ""
    return AuclabError(
        f"the table has columns of categories{named}, which are not numbers yet: encode it with a preprocessing of "
        "auclab.datasets.preprocess, such as standard(dataset).fit_transform(dataset.X), or drop these columns"
    )


def distinct_codes(codes: NDArray[np.integer], values: Sequence[Any]) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    """Codes and values in the form of `MixedRows`, from values of which some are missing or equal.

    Examples
    --------
    >>> codes, values = distinct_codes(np.array([0, 1, 2, 3, -1]), ["a", None, "b", "a"])
    >>> codes.tolist(), values
    ([0, -1, 1, 0, -1], ('a', 'b'))
    """
    found: dict[Any, int] = {}
    moved = np.empty(len(values) + 1, dtype=np.int32)
    moved[-1] = -1
    for place, value in enumerate(values):
        moved[place] = -1 if _is_missing(value) else found.setdefault(value, len(found))
    return moved[codes], tuple(found)


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas.NA."""
    if value is None:
        return True
    same = value == value
    return not (same if isinstance(same, bool | np.bool_) else False)


@dataclass(frozen=True)
class EncodedRows:
    """A matrix with dense columns, and others ``row_i · (h_ij − shift_j) · factor_j`` with h in {0, 1}.

    It has the products, sums and rows that tasks on a block need, computed from the entries of h; anything else that
    NumPy does takes ``np.asarray``, which fills the zeros.

    `onehot` (n_rows, n_onehot): h. `at_dense`, `at_onehot`: numbers of their columns in the matrix, together 0 …
    n_columns − 1. `row_factor` (n_rows,), or None: None for ones; `dense` has been multiplied by it.
    """

    dense: Array
    onehot: sp.csr_array
    at_dense: NDArray[np.intp]
    at_onehot: NDArray[np.intp]
    shift: Array
    factor: Array
    row_factor: Array | None = None

    #: ``array @ rows`` is `__rmatmul__`.
    __array_priority__ = 1000
    ndim = 2
    dtype = np.dtype(np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.dense.shape[0], self.at_dense.size + self.at_onehot.size

    @property
    def nbytes(self) -> int:
        """Memory of the rows."""
        held = self.dense, self.onehot.data, self.onehot.indices, self.onehot.indptr
        return sum(array.nbytes for array in held) + (0 if self.row_factor is None else self.row_factor.nbytes)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        rows = np.empty(self.shape, order="F")
        rows[:, self.at_dense] = self.dense
        filled = (self.onehot.toarray() - self.shift) * self.factor
        rows[:, self.at_onehot] = filled if self.row_factor is None else filled * self.row_factor[:, None]
        return rows if dtype is None else rows.astype(dtype)

    def __getitem__(self, rows: Any) -> Array:
        """Some of the rows, filled."""
        return np.asarray(self.some(rows))

    def some(self, rows: Any) -> EncodedRows:
        """Some of the rows, in the same form: a mask, a slice, or row numbers."""
        factor = None if self.row_factor is None else self.row_factor[rows]
        return replace(self, dense=self.dense[rows], onehot=self.onehot[rows], row_factor=factor)

    def __matmul__(self, vector: Any) -> Array:
        """The product with a vector of shape (n_columns,), or a matrix of shape (n_columns, k)."""
        right = np.asarray(vector, dtype=np.float64)
        scaled = (right[self.at_onehot].T * self.factor).T
        product = self.onehot @ scaled - self.shift @ scaled
        if self.row_factor is not None:
            product = (product.T * self.row_factor).T
        dense = right[self.at_dense]
        if right.ndim != 1:
            return np.asarray(self.dense @ dense + product)
        return np.asarray(row_scores(self.dense, dense) + product)

    def __rmatmul__(self, left: Any) -> Array:
        """``left @ rows`` with a vector of shape (n_rows,), or a dense or sparse matrix of shape (k, n_rows)."""
        sums = np.empty((*left.shape[:-1], self.shape[1]))
        sums[..., self.at_dense] = left @ self.dense
        if self.row_factor is not None:
            sparse = hasattr(left, "multiply")
            left = left.multiply(self.row_factor[None, :]).tocsr() if sparse else left * self.row_factor
        entries: Any = left @ self.onehot
        entries = entries.toarray() if hasattr(entries, "toarray") else np.asarray(entries)
        total = np.asarray(left.sum(axis=-1))
        sums[..., self.at_onehot] = (entries - total[..., None] * self.shift) * self.factor
        return sums

    def gram(self, weights: Array) -> Array:
        """``Xᵀ diag(q) X`` for weights q of shape (n_rows,)."""
        used = np.flatnonzero(weights)
        rows, weights = (self, weights) if used.size == weights.size else (self.some(used), weights[used])
        product = np.empty((self.shape[1], self.shape[1]))
        weighted = rows.dense * weights[:, None]
        product[np.ix_(self.at_dense, self.at_dense)] = weighted.T @ rows.dense
        if rows.row_factor is not None:
            weighted = weighted * rows.row_factor[:, None]
            weights = weights * rows.row_factor**2
        # (h − s)ᵀ q X_dense and (h − s)ᵀ q (h − s)
        mixed = rows.onehot.T @ weighted - np.outer(self.shift, weighted.sum(axis=0))
        mixed = np.asarray(mixed) * self.factor[:, None]
        product[np.ix_(self.at_onehot, self.at_dense)] = mixed
        product[np.ix_(self.at_dense, self.at_onehot)] = mixed.T
        counts = (rows.onehot.T @ rows.onehot.multiply(weights[:, None]).tocsr()).toarray()
        share = np.asarray(rows.onehot.T @ weights)
        both = counts - np.outer(share, self.shift) - np.outer(self.shift, share)
        both += weights.sum() * np.outer(self.shift, self.shift)
        product[np.ix_(self.at_onehot, self.at_onehot)] = both * np.outer(self.factor, self.factor)
        return product

    def sum(self) -> float:
        """The sum of all entries; NaN or infinite if one is."""
        return float((self @ np.ones(self.shape[1])).sum())

    def min(self, axis: int = 0) -> Array:
        """The least value of every column (`axis` is 0)."""
        return self._extreme(np.minimum)

    def max(self, axis: int = 0) -> Array:
        """The largest value of every column (`axis` is 0)."""
        return self._extreme(np.maximum)

    def _extreme(self, extreme: np.ufunc) -> Array:
        found = np.empty(self.shape[1])
        found[self.at_dense] = extreme.reduce(self.dense, axis=0)
        if self.row_factor is not None:
            found[self.at_onehot] = extreme.reduce(np.asarray(self)[:, self.at_onehot], axis=0)
            return found
        count = np.bincount(self.onehot.indices, minlength=self.at_onehot.size)
        ends = np.stack([(count == len(self)) * 1.0, (count > 0) * 1.0])
        found[self.at_onehot] = extreme.reduce((ends - self.shift) * self.factor, axis=0)
        return found

    def norms(self) -> Array:
        """The Euclidean norm of every row, shape (n_rows,)."""
        squares = np.einsum("ij,ij->i", self.dense, self.dense)
        # Σ ((h − s) f)² = Σ s² f² + Σ_entries (1 − 2 s) f²
        change = (1.0 - 2.0 * self.shift) * self.factor**2
        part = np.sum((self.shift * self.factor) ** 2) + self.onehot @ change
        if self.row_factor is not None:
            part = part * self.row_factor**2
        return np.asarray(np.sqrt(squares + np.maximum(part, 0.0)))

    def times(self, row_factor: Array) -> EncodedRows:
        """The matrix with every row times a number."""
        before = 1.0 if self.row_factor is None else self.row_factor
        return replace(self, dense=self.dense * row_factor[:, None], row_factor=before * row_factor)

    def less(self, offset: Array) -> EncodedRows | Array:
        """Every row minus an offset; a dense array if this form does not allow it."""
        if self.row_factor is not None and offset[self.at_onehot].any():
            return np.asarray(self) - offset
        moved = self.shift + offset[self.at_onehot] / self.factor
        return replace(self, dense=self.dense - offset[self.at_dense], shift=moved)


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
