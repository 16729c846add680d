"""Products with rows, and secant steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from auclab.compiled.sparse_rows import sparse_gram
from auclab.samples.memory import Sample
from auclab.types import Array

#: The curvature along a step that an update may introduce, relative to that of the matrix: beyond, it is rounding or a
#: kink.
_LARGEST_RATIO = 10.0


def with_secant(hessian: Array, step: Array, change: Array) -> Array:
    """The matrix nearest to `hessian` that maps a step to the change of the gradient, by the BFGS formula.

    It stays positive definite. The matrix itself is returned where the change contradicts it by a factor of ten.

    `hessian` (size, size), positive semidefinite; `step`, `change` (size,). Nocedal & Wright, Numerical Optimization,
    2nd ed., equation 6.19.

    Examples
    --------
    >>> with_secant(np.eye(2), np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    mapped = hessian @ step
    before, after = float(step @ mapped), float(step @ change)
    if not before <= _LARGEST_RATIO * after <= _LARGEST_RATIO**2 * before or before <= 0.0:
        return hessian
    return hessian + np.outer(change / after, change) - np.outer(mapped / before, mapped)


#: Multiplications between two checks of the time limit: less than a tenth of a second.
_AT_A_TIME = 2**28

#: Raises `OutOfTime` where a solve has to end.
Check = Callable[[], object]


def never() -> None:
    """The check of a computation without a time limit."""


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


def row_products(rows: Array, weight: Array, check: Check, others: Array | None = None) -> Array:
    """``Σ_k weight_k x_k y_kᵀ`` of dense rows x and others y, or x again with weights ≥ 0, which takes half as long."""
    total = np.zeros((rows.shape[1], (rows if others is None else others).shape[1]))
    factor = np.sqrt(weight) if others is None else weight
    for part in some_at_a_time(rows.shape[0], total.size, check):
        scaled = rows[part] * factor[part, None]
        total += np.dot(scaled.T, scaled if others is None else others[part])
    return total


def gram(sample: Sample, weight_pos: Array, weight_neg: Array, check: Check) -> Array:
    """`Sample.gram`, with checks of the time limit if the rows are in memory."""
    if sample.in_blocks:
        return sample.gram(weight_pos, weight_neg)
    total = np.zeros((sample.n_features, sample.n_features))
    for X, weight in ((sample.X_pos, weight_pos), (sample.X_neg, weight_neg)):
        if sample.is_sparse:
            for part in some_at_a_time(X.shape[0], (X.nnz / X.shape[0]) ** 2, check):
                total += sparse_gram(X[part], weight[part])
        elif (used := np.flatnonzero(weight)).size:
            total += row_products(X[used], weight[used], check)
    return total
