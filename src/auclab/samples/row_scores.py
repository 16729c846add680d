"""Scores ``X w`` that are equal to the last bit for equal rows.

BLAS sums a row in an order that depends on its place and on the layout of the matrix, so that two equal rows may be
ranked. Here the terms of every row are added in the order of the columns, which is also what SciPy does with CSR
matrices. Wherever a tie decides (counts of pairs, metrics, stored scores), scores come from here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auclab._core.base import Array


def row_scores(X: Any, coef: Array) -> Array:
    """``X @ coef``, shape (n_samples,); equal rows have equal scores, whatever their place, layout or neighbours.

    `X`: rows as `auclab._core.forms.as_rows` makes them, or in blocks.
    """
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ coef, dtype=float)
    from auclab._core.scores import by_columns, by_rows  # Numba, which the catalogue of data sets does not need

    rows, weights = np.asarray(X, dtype=float), np.ascontiguousarray(coef, dtype=float)
    if rows.flags.f_contiguous and not rows.flags.c_contiguous:
        return np.asarray(by_columns(rows.T, weights))
    return np.asarray(by_rows(np.ascontiguousarray(rows), weights))
