"""Sums over rows, dense and sparse.

The counterparts of the pair sums in `differences` and `sigmoid`, with one number for each point instead of one in all.
`points` x, shape (m,), and `opposite` y, shape (n,), come in ascending order, `weight` v in the order of y or empty for
ones. Sums over the pairs of one negative are those of the points ``−n`` with the opposite scores ``−p``.

A row with k nonzero entries adds k² numbers to ``x xᵀ``, not n². Rows are read where they are stored: an order says
which row is which by ascending scores, so that no sorted copy is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.accurate import two_sum
from auclab._core.base import Array
from auclab._core.comparable import cell_moments, window_moments
from auclab._core.loop import loop
from auclab._core.scores import LAGRANGE, LENGTH, NODE_POSITIONS, NODES, SATURATED, score_cells
from auclab._core.smooth import Index

#: Multiplications between two checks of the time limit: less than a tenth of a second.
_AT_A_TIME = 2**28

#: Raises `OutOfTime` where a solve has to end.
Check = Callable[[], object]


def never() -> None:
    """The check of a computation without a time limit."""


@loop()
def positive_part_rows(points: Array, opposite: Array, weight: Array) -> Array:
    """``Σ_j v_j (x_i − y_j)₊`` for every point, shape (m,), by the recurrence of `positive_part_sum`; O(m + n)."""
    rows = np.empty(points.size)
    below = lost_below = area = lost_area = 0.0
    j = 0
    for i in range(points.size):
        if i > 0 and below > 0.0:
            area, rounding = two_sum(area, (points[i] - points[i - 1]) * (below + lost_below))
            lost_area += rounding
        while j < opposite.size and opposite[j] < points[i]:
            share = weight[j] if weight.size else 1.0
            area, rounding = two_sum(area, (points[i] - opposite[j]) * share)
            lost_area += rounding
            below, rounding = two_sum(below, share)
            lost_below += rounding
            j += 1
        rows[i] = area + lost_area
    return rows


@loop(error_model="numpy")
def quadratic_window_rows(
    points: Array, opposite: Array, weight: Array, half_width: float, reach: float, linear: float, square: float
) -> Array:
    """``Σ_j v_j w(x_i − y_j)`` for every point, shape (m,), w the modifier of `quadratic_window_sum`; O(m + n)."""
    start, mass, moment, second = cell_moments(opposite, weight, half_width)
    rows = np.empty(points.size)
    below = lost_below = 0.0
    one = mid = end = 0
    for i in range(points.size):
        while one < opposite.size and points[i] - opposite[one] >= reach:
            below, rounding = two_sum(below, weight[one] if weight.size else 1.0)
            lost_below += rounding
            one += 1
        while mid < opposite.size and opposite[mid] <= points[i]:
            mid += 1
        while end < opposite.size and points[i] - opposite[end] > -reach:
            end += 1
        m0, m1, m2 = window_moments(points[i], opposite, start, mass, moment, second, half_width, one, mid)
        value = below + lost_below + 0.5 * m0 + linear * m1 + square * m2
        m0, m1, m2 = window_moments(points[i], opposite, start, mass, moment, second, half_width, mid, end)
        rows[i] = value + 0.5 * m0 + m1 + 0.5 * m2
    return rows


@loop(error_model="numpy")
def sigmoid_rows(points: Array, opposite: Array, weight: Array, beta: float) -> Array:
    """``Σ_j v_j / (1 + exp(−β (x_i − y_j)))`` for every point, shape (m,), to 14 digits of the total weight, β > 0.

    The row sum is as smooth as the sigmoid: in a cell of length ``4/β`` with more points than nodes it is computed
    at the Chebyshev nodes and interpolated: O(m + n) apart from cells that are near one another.
    """
    start, first, factor, share = score_cells(opposite, weight, beta, 1.0)
    rows, at_nodes = np.empty(points.size), np.exp(-NODE_POSITIONS)
    potential, series = np.empty(NODES), np.empty(NODES)
    below = lost_below = 0.0
    low = high = begin = 0
    while begin < points.size:
        stop = begin + 1
        while stop < points.size and beta * (points[stop] - points[begin]) <= LENGTH:
            stop += 1
        while low < start.size and beta * (points[begin] - start[low]) >= SATURATED + LENGTH:
            for j in range(first[low], first[low + 1]):
                below, rounding = two_sum(below, share[j])
                lost_below += rounding
            low += 1
        while high < start.size and beta * (points[begin] - start[high]) > -SATURATED - LENGTH:
            high += 1
        gathered = stop - begin > NODES
        size = NODES if gathered else stop - begin
        for k in range(size):
            position = at_nodes[k] if gathered else np.exp(-beta * (points[begin + k] - points[begin]))
            near = 0.0
            for b in range(low, high):
                shift = np.exp(-beta * (points[begin] - start[b])) * position
                for j in range(first[b], first[b + 1]):
                    near += share[j] / (1.0 + shift * factor[j])
            potential[k] = near
        if gathered:
            for n in range(NODES):
                series[n] = 0.0
                for k in range(NODES):
                    series[n] += LAGRANGE[k, n] * potential[k]
        for i in range(begin, stop):
            if gathered:
                near = _series(series, (beta * (points[i] - points[begin])) * (2.0 / LENGTH) - 1.0)
            else:
                near = potential[i - begin]
            rows[i] = near + (below + lost_below)
        begin = stop
    return rows


@loop()
def _series(coefficients: Array, x: float) -> float:
    """``Σ_k c_k T_k(x)`` by Clenshaw's recurrence."""
    high = higher = 0.0
    for k in range(coefficients.size - 1, 0, -1):
        high, higher = 2.0 * x * high - higher + coefficients[k], high
    return x * high - higher + coefficients[0]


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


def some_at_a_time(n_rows: int, per_row: float, check: Check) -> Iterator[slice]:
    """Consecutive rows in parts that take little time each, given the number of multiplications for a row.

    Examples
    --------
    >>> list(some_at_a_time(10, 2.0**26, lambda: None))
    [slice(0, 4, None), slice(4, 8, None), slice(8, 10, None)]
    """
    size = max(1, int(_AT_A_TIME / max(per_row, 1.0)))
    for start in range(0, n_rows, size):
        check()
        yield slice(start, min(start + size, n_rows))


def row_products(rows: Array, weight: Array, check: Check) -> Array:
    """``Σ_k weight_k x_k x_kᵀ`` of dense rows, with weights ≥ 0."""
    total, root = np.zeros((rows.shape[1], rows.shape[1])), np.sqrt(weight)
    for part in some_at_a_time(rows.shape[0], total.size, check):
        scaled = rows[part] * root[part, None]
        total += np.dot(scaled.T, scaled)
    return total


def gram(X: Any, weight: Array, check: Check = never) -> Array:
    """``Xᵀ diag(q) X`` of an array or a CSR matrix, with weights q ≥ 0, of which most may be 0.

    `check`: called between parts of the rows.

    Examples
    --------
    >>> gram(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([4.0, 0.0])).tolist()
    [[4.0, 8.0], [8.0, 16.0]]
    """
    if not hasattr(X, "toarray"):
        used = np.flatnonzero(weight)
        return row_products(X[used], weight[used], check)
    total = np.zeros((X.shape[1], X.shape[1]))
    for part in some_at_a_time(X.shape[0], (X.nnz / max(X.shape[0], 1)) ** 2, check):
        total += sparse_gram(X[part], weight[part])
    return total
