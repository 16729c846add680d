"""Sums of outer products of sparse rows, at the cost of their nonzero entries: what a Hessian needs of a CSR matrix.

A row with k nonzero entries adds k² numbers to ``x xᵀ``, not n². Rows are read where they are stored: an order says
which row is which by ascending scores, so that no sorted copy is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.loop import loop
from auclab.compiled.smooth import Index
from auclab.types import Array


def sparse_gram(X: Any, weight: Array) -> Array:
    """``Σ_k weight_k x_k x_kᵀ``, shape (n_columns, n_columns); O(Σ nnz_k² + n_columns²).

    `X` (m, n_columns): in canonical format: no entry is stored twice. `weight` (m,): rows of weight 0 are not read.
    """
    half = np.zeros((X.shape[1], X.shape[1]))
    _add_half_squares(X.data, X.indices, X.indptr, weight, half)
    return np.asarray(half + half.T)


def sparse_window_products(
    outer: Any,
    inner: Any,
    orders: tuple[Index, Index],
    shares: tuple[Array, Array],
    first: Index,
    last: Index,
) -> Array:
    """``Σ_i s_i x_i (Σ_{first_i ≤ k < last_i} t_k y_k)ᵀ``, shape (n_columns, n_columns); O(nnz_inner + nnz_outer · n).

    `outer`, `inner` (m, n_columns) and (l, n_columns): the rows x and y, unsorted. `orders` (m,) and (l,): which row is
    the i-th of `outer`, and which the k-th of `inner`. `shares` (m,) and (l,): s and t, in this order. `first`, `last`
    (m,), both ascending: the windows slide: a row of `inner` enters and leaves the running sum once.

    Notes
    -----
    The rows of consecutive i with the same window are added before they are multiplied: tied scores cost one product.
    """
    total = np.zeros((outer.shape[1], outer.shape[1]))
    _add_window_products(
        outer.data,
        outer.indices,
        outer.indptr,
        inner.data,
        inner.indices,
        inner.indptr,
        *orders,
        *shares,
        first,
        last,
        total,
    )
    return total


@loop(nogil=True)
def _add_half_squares(data: Array, indices: NDArray[Any], indptr: NDArray[Any], weight: Array, half: Array) -> None:
    """Add half of the diagonal of the squares, and of every other pair of entries one of its two places."""
    for row in range(weight.size):
        if weight[row] == 0.0:
            continue
        end = indptr[row + 1]
        for a in range(indptr[row], end):
            scaled, k = weight[row] * data[a], indices[a]
            half[k, k] += 0.5 * scaled * data[a]
            for b in range(a + 1, end):
                half[k, indices[b]] += scaled * data[b]


@loop(nogil=True)
def _add_window_products(
    outer_data: Array,
    outer_indices: NDArray[Any],
    outer_indptr: NDArray[Any],
    inner_data: Array,
    inner_indices: NDArray[Any],
    inner_indptr: NDArray[Any],
    order_outer: Index,
    order_inner: Index,
    share_outer: Array,
    share_inner: Array,
    first: Index,
    last: Index,
    total: Array,
) -> None:
    n_columns = total.shape[1]
    running, gathered = np.zeros(n_columns), np.zeros(n_columns)
    touched = np.empty(n_columns, np.int64)  # the columns in which `gathered` was written to
    is_touched = np.zeros(n_columns, np.bool_)
    n_touched = low = high = 0
    for i in range(first.size):
        while high < last[i]:
            row = order_inner[high]
            for a in range(inner_indptr[row], inner_indptr[row + 1]):
                running[inner_indices[a]] += share_inner[high] * inner_data[a]
            high += 1
        while low < first[i]:
            row = order_inner[low]
            for a in range(inner_indptr[row], inner_indptr[row + 1]):
                running[inner_indices[a]] -= share_inner[low] * inner_data[a]
            low += 1
        if low == high:  # restart without the rounding errors of earlier windows
            for c in range(n_columns):
                running[c] = 0.0
            continue
        row = order_outer[i]
        for a in range(outer_indptr[row], outer_indptr[row + 1]):
            k = outer_indices[a]
            if not is_touched[k]:
                is_touched[k] = True
                touched[n_touched] = k
                n_touched += 1
            gathered[k] += share_outer[i] * outer_data[a]
        if i + 1 < first.size and first[i + 1] == low and last[i + 1] == high:
            continue
        for position in range(n_touched):
            k = touched[position]
            factor = gathered[k]
            for c in range(n_columns):
                total[k, c] += factor * running[c]
            gathered[k] = 0.0
            is_touched[k] = False
        n_touched = 0
