"""Sums ``Σ_j X_ij w_j`` with the terms of every row in the order of the columns (`auclab.samples.row_scores`)."""

from __future__ import annotations

import numpy as np

from auclab.compiled.accurate import CHUNK
from auclab.compiled.loop import loop
from auclab.types import Array


@loop()
def by_rows(X: Array, coef: Array) -> Array:
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


@loop()
def by_columns(columns: Array, coef: Array) -> Array:
    """The same from columns of shape (n_features, n_samples)."""
    n, m = columns.shape
    scores = np.zeros(m)
    for begin in range(0, m, CHUNK):
        end = min(begin + CHUNK, m)
        for j in range(n):
            for i in range(begin, end):
                scores[i] += columns[j, i] * coef[j]
    return scores
