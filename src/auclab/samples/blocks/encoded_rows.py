"""Rows whose columns of zeros and ones are kept as their entries, centred and scaled without filling them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab.samples.row_scores import row_scores
from auclab.types import Array

if TYPE_CHECKING:
    import scipy.sparse as sp


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
