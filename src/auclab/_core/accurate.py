"""Sums in twice the working precision, and in fixed point.

Error-free transformations after Knuth (sum) and Dekker and Veltkamp (product). All of them need ordinary IEEE
rounding: no fastmath here, and scores between 2⁻⁴⁰⁰ and 2⁴⁰⁰ (the callers scale).

The sums of products follow Ogita, Rump & Oishi (2005, SIAM J. Sci. Comput. 26, algorithm Dot2) over chunks of rows, the
chunks are added as double-doubles. The result is an unevaluated sum ``high + low``.

A sum is a row of limbs of 32 bits in int64; limb L stands for ``2^(32 L − 1074)``, so that 0 … 67 hold any sum of
doubles. Nothing is rounded, hence the order of the terms does not matter: not even the last bit depends on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.loop import loop

DoubleDouble = tuple[float, float]

# The relative error of one operation is under 8·2⁻¹⁰⁶.
UNIT = 2.0**-103
_SPLITTER = 134217729.0  # 2²⁷ + 1 splits a double into two halves of 26 bits


@loop()
def two_sum(a: float, b: float) -> tuple[float, float]:
    """``a + b`` exactly, as the rounded sum and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@loop()
def two_product(a: float, b: float) -> tuple[float, float]:
    """``a · b`` exactly, as the rounded product and its error."""
    product = a * b
    shifted = _SPLITTER * a
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    shifted = _SPLITTER * b
    b_high = shifted - (shifted - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@loop()
def add(a_hi: float, a_lo: float, b_hi: float, b_lo: float) -> tuple[float, float]:
    """Sum of two double-doubles."""
    high, error = two_sum(a_hi, b_hi)
    low, rest = two_sum(a_lo, b_lo)
    high, error = two_sum(high, error + low)
    return two_sum(high, error + rest)


@loop()
def multiply(a_hi: float, a_lo: float, b_hi: float, b_lo: float) -> tuple[float, float]:
    """Product of two double-doubles."""
    high, error = two_product(a_hi, b_hi)
    return two_sum(high, error + (a_hi * b_lo + a_lo * b_hi))


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
    """`auclab._core.hinge.pair_hinge_value` of scores and a shift that are ``high + low``."""
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


_LANES = 8


@loop()
def chebyshev_sums(x: Array, weight: Array, degree: int) -> Array:
    """``Σ_i w_i T_k(x_i)`` for k = 0 … degree; O(m · degree).

    `x` (m,): in [−1, 1], in any order. `weight` (m,), or (0,): empty for ones. `degree` ≥ 0.

    Notes
    -----
    The recurrence ``T_{k+1} = 2x T_k − T_{k−1}`` runs in eight points at once, which the compiler turns into
    vector instructions.
    """
    total = np.zeros(degree + 1)
    partial = np.empty((degree + 1, _LANES))
    points, low, high = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    for chunk in range(0, x.size, CHUNK):
        partial[:] = 0.0
        stop = min(chunk + CHUNK, x.size)
        for base in range(chunk, stop, _LANES):
            for lane in range(_LANES):
                present = base + lane < stop
                i = base + lane if present else base
                w = (weight[i] if weight.size else 1.0) if present else 0.0
                # w·T_k satisfies the recurrence of T_k
                points[lane], low[lane], high[lane] = 2.0 * x[i], w * x[i], w
            for k in range(degree + 1):
                row = partial[k]
                for lane in range(_LANES):
                    value = high[lane]
                    row[lane] += value
                    high[lane] = points[lane] * value - low[lane]
                    low[lane] = value
        for k in range(degree + 1):
            total[k] += partial[k].sum()
    return total


Limbs = NDArray[np.int64]

#: Terms that can be added before the limbs must be normalised: each adds less than 2³³ to a limb.
MOST_TERMS = 2**29
_MASK = 0xFFFFFFFF


@loop()
def bins_of(scores: Array, edges: Array) -> NDArray[np.int32]:
    """Number of edges ≤ every score, shape (m,): ``np.searchsorted(edges, scores, side="right")``; O(m + n_edges).

    `scores` (m,): without NaN. `edges` (n_edges,), ascending, finite.

    Notes
    -----
    The range of the edges is cut into equal cells. Rounding is monotone, so that an edge in a lower cell than a score
    is below it, and one in a higher cell above: a score is compared with the edges of its own cell only.
    """
    bins = np.empty(scores.size, np.int32)
    n = edges.size
    if n == 0:
        bins[:] = 0
        return bins
    width = edges[n - 1] - edges[0]
    cells = min(4 * n, 4 * scores.size + 1)
    rate = cells / width if width > 0.0 else 0.0
    if not (0.0 < rate < np.inf) or not width < np.inf:
        cells, rate = 1, 0.0
    first = np.zeros(cells + 1, np.int32)  # of the edges in a cell
    for k in range(n):
        first[min(int((edges[k] - edges[0]) * rate), cells - 1) + 1] += 1
    for c in range(cells):
        first[c + 1] += first[c]
    for i in range(scores.size):
        s = scores[i]
        if s < edges[0]:
            bins[i] = 0
        elif s >= edges[n - 1]:
            bins[i] = n
        else:
            cell = min(int((s - edges[0]) * rate), cells - 1) if rate > 0.0 else 0
            low, high = first[cell], first[cell + 1]
            while low < high:
                middle = (low + high) >> 1
                if edges[middle] <= s:
                    low = middle + 1
                else:
                    high = middle
            bins[i] = low
    return bins


@loop()
def count_and_extremes(
    scores: Array, bins: NDArray[np.int32], count: NDArray[np.int64], low: Array, high: Array
) -> None:
    """Add to the number of scores in every bin, and lower and raise its least and largest score; in place."""
    for i in range(scores.size):
        b, s = bins[i], scores[i]
        count[b] += 1
        low[b] = min(low[b], s)
        high[b] = max(high[b], s)


@loop()
def deposit(values: Array, bits: NDArray[np.int64], bins: NDArray[np.int32], first: int, limbs: Limbs) -> None:
    """Add finite values to the sums of their bins, exactly and in place.

    `values` (m,), m ≤ `MOST_TERMS`. `bits` (m,): the same memory as integers, ``values.view(np.int64)``. `first`:
    number of the first limb; the last bit of no value lies below it. `limbs` (n_bins, n_limbs): it ends two limbs above
    the first bit of the largest value.
    """
    for i in range(values.size):
        exponent = (bits[i] >> 52) & 0x7FF
        mantissa = bits[i] & 0xFFFFFFFFFFFFF
        if exponent > 0:
            mantissa |= 0x10000000000000
            exponent -= 1
        if mantissa == 0:
            continue
        limb, shift = (exponent >> 5) - first, exponent & 31
        low = (mantissa & _MASK) << shift
        top = (mantissa >> 32) << shift
        a, b, c = low & _MASK, (low >> 32) + (top & _MASK), top >> 32
        row = limbs[bins[i]]
        if bits[i] >= 0:
            row[limb] += a
            row[limb + 1] += b
            row[limb + 2] += c
        else:
            row[limb] -= a
            row[limb + 1] -= b
            row[limb + 2] -= c


@loop()
def normalise(limbs: Limbs) -> None:
    """Carry, in place: all limbs but the last of a row in [0, 2³²), the last one signed."""
    for b in range(limbs.shape[0]):
        carry = 0
        for k in range(limbs.shape[1] - 1):
            total = limbs[b, k] + carry
            limbs[b, k] = total & _MASK
            carry = total >> 32
        limbs[b, limbs.shape[1] - 1] += carry
