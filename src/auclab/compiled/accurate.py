"""Sums whose rounding error is bounded and tiny: as if computed in twice the working precision.

The sums of products follow Ogita, Rump & Oishi (2005, SIAM J. Sci. Comput. 26, algorithm Dot2) over chunks of rows, the
chunks are added as double-doubles. The result is an unevaluated sum ``high + low``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from auclab.compiled.doubledouble import add, two_product, two_sum
from auclab.compiled.loop import loop
from auclab.types import Array

#: Rows of a chunk: within it the error grows with the square of their number; few for few rows.
CHUNK, SHORT_CHUNK, MANY_ROWS = 1024, 64, 100_000
#: Entries of column-major rows that are copied into rows at a time.
_AT_A_TIME = 2**16


def relative_error(n_terms: int) -> float:
    """Bound on the error of these sums, relative to the sum of the moduli of their terms.

    ``2 (c · 2⁻⁵³)²`` for chunks of c (Ogita, Rump & Oishi 2005, proposition 5.5), and 2⁻¹⁰³ for an addition.
    """
    return 2.0 * (_chunk(n_terms) * 2.0**-53) ** 2 + n_terms * 2.0**-103


def _chunk(n_terms: int) -> int:
    return CHUNK if n_terms > MANY_ROWS else SHORT_CHUNK


def weighted_column_sums(X: Any, weights: Array) -> tuple[Array, Array, Array]:
    """``Σ_i w_i x_i`` as ``high + low``, and a bound of its error; each of shape (n_features,)."""
    n_features = X.shape[1]
    high, low, size = np.zeros(n_features), np.zeros(n_features), np.zeros(n_features)
    if sp.issparse(X):
        rows: Any = X
        _sum_sparse(rows.data, rows.indices, rows.indptr, weights, high, low, size)
    else:
        whole = isinstance(X, np.ndarray) and X.flags.c_contiguous
        step = max(weights.size, 1) if whole else max(CHUNK, _AT_A_TIME // max(n_features, 1))
        for start in range(0, weights.size, step):  # a copy of some rows stays in the cache
            part = slice(start, start + step)
            _sum_dense(np.ascontiguousarray(X[part]), weights[part], _chunk(weights.size), high, low, size)
    # Products below 2⁻⁹⁶⁹ lose their errors to underflow, and those below 2⁻¹⁰⁷⁵ are rounded to 0.
    inexact, vanished = size > 0, np.flatnonzero(size == 0)
    if vanished.size:
        entries = X[np.flatnonzero(weights)][:, vanished] != 0
        inexact[vanished] = np.asarray(entries.sum(axis=0)).ravel() > 0
    return high, low, relative_error(weights.size) * size + np.where(inexact, weights.size * 2.0**-1070, 0.0)


def accurate_scores(X: Any, coef: Array) -> tuple[Array, Array]:
    """``X @ coef`` as ``high + low``, each of shape (n_samples,), off by at most ``2 (n · 2⁻⁵³)² Σ|x_k w_k|``."""
    if sp.issparse(X):
        rows: Any = X
        return _sparse_scores(rows.data, rows.indices, rows.indptr, coef)
    return _scores(np.ascontiguousarray(X), coef)


def accurate_sum(values: Array) -> tuple[float, float]:
    """The sum of `values`, shape (n,), as ``high + low``; the error is below ``relative_error(n) · Σ|values|``."""
    return _sum(values, _chunk(values.size))


def two_sums(a: Any, b: Any) -> tuple[Any, Any]:
    """``a + b`` entry by entry as the rounded sum and its error, exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def accurate_norm(vector: Array, order: float) -> tuple[float, float]:
    """‖vector‖ of order 1, 2 or ∞ as ``high + low``."""
    largest = float(abs(vector).max(initial=0.0))
    if largest == 0.0 or order == np.inf:
        return largest, 0.0
    if order == 1:
        return accurate_sum(abs(vector))
    unit = 2.0 ** np.floor(np.log2(largest))
    high, low, _ = weighted_column_sums((vector / unit)[:, None], vector / unit)
    root, rest = _square_root(float(high[0]), float(low[0]))
    return float(root * unit), float(rest * unit)


def accurate_pair_hinge(
    pos: tuple[Array, Array],
    neg: tuple[Array, Array],
    shift: tuple[float, float],
    weight_pos: Array | None = None,
    weight_neg: Array | None = None,
) -> float:
    """`auclab.compiled.hinge.pair_hinge_value` of scores and a shift that are ``high + low``."""
    order_pos, order_neg = np.lexsort(pos[::-1]), np.lexsort(neg[::-1])
    mass_pos = np.r_[0.0, np.cumsum(_sorted(weight_pos, order_pos))]
    above_neg = np.r_[np.cumsum(_sorted(weight_neg, order_neg)[::-1])[::-1], 0.0]
    total = _gap_sum(
        pos[0][order_pos], pos[1][order_pos], neg[0][order_neg], neg[1][order_neg], mass_pos, above_neg, *shift
    )
    return float(total / (mass_pos[-1] * above_neg[0]))


def _sorted(weight: Array | None, order: Any) -> Array:
    return np.ones(order.size) if weight is None else weight[order]


@loop()
def _square_root(high: float, low: float) -> tuple[float, float]:
    root = np.sqrt(high)
    square, error = two_product(root, root)
    return two_sum(root, (((high - square) - error) + low) / (2.0 * root))


@loop()
def _difference(a_hi: float, a_lo: float, b_hi: float, b_lo: float) -> float:
    high, low = add(a_hi, a_lo, -b_hi, -b_lo)
    return high + low


@loop()
def _gap_sum(
    pos: Array,
    pos_lo: Array,
    neg: Array,
    neg_lo: Array,
    mass_pos: Array,
    above_neg: Array,
    shift: float,
    shift_lo: float,
) -> float:
    """``Σ_ij u_i v_j [n_j + shift − p_i]₊`` by one merge of the positives with the moved negatives, both ascending."""
    total = 0.0
    before = 0.0, 0.0  # the last merged value
    i = j = 0
    while j < neg.size:
        moved = add(neg[j], neg_lo[j], shift, shift_lo)
        take_pos = i < pos.size and _difference(moved[0], moved[1], pos[i], pos_lo[i]) > 0.0
        value = (pos[i], pos_lo[i]) if take_pos else moved
        if i > 0:
            gap = _difference(value[0], value[1], before[0], before[1])
            total += gap * mass_pos[i] * above_neg[j]
        before = value
        if take_pos:
            i += 1
        else:
            j += 1
    return total


@loop()
def _sum(values: Array, chunk: int) -> tuple[float, float]:
    high, low, total, error = 0.0, 0.0, 0.0, 0.0
    taken = 0
    for value in values:
        total, rest = two_sum(total, value)
        error += rest
        taken += 1
        if taken == chunk:
            high, low = add(high, low, total, error)
            total, error, taken = 0.0, 0.0, 0
    return add(high, low, total, error)


@loop(nogil=True)
def _sum_dense(X: Array, weights: Array, chunk: int, high: Array, low: Array, size: Array) -> None:
    n_rows, n_columns = X.shape
    total, error = np.zeros(n_columns), np.zeros(n_columns)
    taken = 0
    for i in range(n_rows):
        weight = weights[i]
        if weight == 0.0:
            continue
        for k in range(n_columns):
            product, rest = two_product(weight, X[i, k])
            size[k] += abs(product)
            summed, lost = two_sum(total[k], product)
            total[k] = summed
            error[k] += lost + rest
        taken += 1
        if taken == chunk:
            taken = 0
            for k in range(n_columns):
                high[k], low[k] = add(high[k], low[k], total[k], error[k])
            total[:] = 0.0
            error[:] = 0.0
    for k in range(n_columns):
        high[k], low[k] = add(high[k], low[k], total[k], error[k])


@loop(nogil=True)
def _sum_sparse(
    data: Array, indices: Array, indptr: Array, weights: Array, high: Array, low: Array, size: Array
) -> None:
    for i in range(weights.size):
        if weights[i] == 0.0:
            continue
        for position in range(indptr[i], indptr[i + 1]):
            k = indices[position]
            product, rest = two_product(weights[i], data[position])
            size[k] += abs(product)
            high[k], low[k] = add(high[k], low[k], product, rest)


@loop()
def _scores(X: Array, coef: Array) -> tuple[Array, Array]:
    n_rows, n_columns = X.shape
    high, low = np.zeros(n_rows), np.zeros(n_rows)
    for i in range(n_rows):
        total, error = 0.0, 0.0
        for k in range(n_columns):
            product, rest = two_product(X[i, k], coef[k])
            total, lost = two_sum(total, product)
            error += lost + rest
        high[i], low[i] = two_sum(total, error)
    return high, low


@loop()
def _sparse_scores(data: Array, indices: Array, indptr: Array, coef: Array) -> tuple[Array, Array]:
    n_rows = indptr.size - 1
    high, low = np.zeros(n_rows), np.zeros(n_rows)
    for i in range(n_rows):
        total, error = 0.0, 0.0
        for position in range(indptr[i], indptr[i + 1]):
            product, rest = two_product(data[position], coef[indices[position]])
            total, lost = two_sum(total, product)
            error += lost + rest
        high[i], low[i] = two_sum(total, error)
    return high, low
