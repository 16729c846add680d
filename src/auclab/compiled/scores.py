"""Scores ``X w`` of which equal rows have equal ones, to the last bit.

BLAS sums a row in an order that depends on its place and on the layout of the matrix, so that two equal rows may be
ranked. Here the terms of every row are added in the order of the columns, which is also what SciPy does with CSR
matrices. Wherever a tie decides (counts of pairs, metrics, stored scores), scores come from here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from auclab.types import Array

#: Rows of which the sums stay in the cache while the columns of a block are read.
_BLOCK = 1024


def row_scores(X: Any, coef: Array) -> Array:
    """``X @ coef``, shape (n_samples,); equal rows have equal scores, whatever their place, layout or neighbours.

    Parameters
    ----------
    X : array, DataFrame, CSR matrix or table in blocks of shape (n_samples, n_features)
    coef : array of shape (n_features,)

    Examples
    --------
    >>> row_scores(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0])).tolist()
    [21.0, 43.0]
    """
    if isinstance(X, list | tuple) or hasattr(X, "to_numpy"):
        X = np.asarray(X, dtype=float)
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ coef, dtype=float)
    rows, weights = np.asarray(X, dtype=float), np.ascontiguousarray(coef, dtype=float)
    if rows.flags.f_contiguous and not rows.flags.c_contiguous:
        return np.asarray(_by_columns(rows.T, weights))
    return np.asarray(_by_rows(np.ascontiguousarray(rows), weights))


@njit(cache=True)
def _by_rows(X: Array, coef: Array) -> Array:
    """Eight rows at once: a sum alone would wait for each of its additions."""
    m, n = X.shape
    scores = np.empty(m)
    whole = m - m % 8
    for i in range(0, whole, 8):
        a = b = c = d = e = f = g = h = 0.0
        for j in range(n):
            w = coef[j]
            a += X[i, j] * w
            b += X[i + 1, j] * w
            c += X[i + 2, j] * w
            d += X[i + 3, j] * w
            e += X[i + 4, j] * w
            f += X[i + 5, j] * w
            g += X[i + 6, j] * w
            h += X[i + 7, j] * w
        scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = a, b, c, d
        scores[i + 4], scores[i + 5], scores[i + 6], scores[i + 7] = e, f, g, h
    for i in range(whole, m):
        total = 0.0
        for j in range(n):
            total += X[i, j] * coef[j]
        scores[i] = total
    return scores


@njit(cache=True)
def _by_columns(columns: Array, coef: Array) -> Array:
    """The same from columns of shape (n_features, n_samples)."""
    n, m = columns.shape
    scores = np.zeros(m)
    for begin in range(0, m, _BLOCK):
        end = min(begin + _BLOCK, m)
        for j in range(n):
            for i in range(begin, end):
                scores[i] += columns[j, i] * coef[j]
    return scores
