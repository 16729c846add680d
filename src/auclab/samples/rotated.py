"""Samples with more columns than rows, by their Gram matrix or in a basis of the span of the rows.

A scorer of least l2 norm is in the span of the differences of the rows, on which alone scores depend. With the
Gram matrix ``K = (X − 1cᵀ)(X − 1cᵀ)ᵀ = LLᵀ``, c the mean of the rows, the rows of L have the same differences of
scores, the same lengths and at most m − 1 columns:

    w = X_Bᵀ v − (Σ v) c,     v = L_B^{-T} u,     ‖w‖₂ = ‖u‖₂,     w·(x_i − c) = u·l_i,

with B the rows that a Cholesky decomposition with pivots takes as a basis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg as la
from scipy.linalg import lapack

from auclab._core.base import Array
from auclab._core.forms import dense
from auclab._core.tolerances import ROUNDING
from auclab.samples.memory import Sample

#: The Gram matrix of more rows is not formed: 130 MB, and half a second for a decomposition.
MAX_ROWS = 4_000


@dataclass(frozen=True)
class RotatedRows:
    """A sample in an orthonormal basis of the differences of its rows.

    `sample`: the rows in this basis, shape (n_rows, rank). `basis` (rank, n_features): X_B. `centre` (n_features,): c,
    the mean of all rows. `triangle` (rank, rank): L_B, lower triangular.
    """

    sample: Sample
    basis: Any
    centre: Array
    triangle: Array

    def original(self, coef: Array) -> Array:
        """The w of a u, shape (n_features,)."""
        solved = np.asarray(la.solve_triangular(self.triangle, coef, lower=True, trans="T", check_finite=False))
        return np.asarray(self.basis.T @ solved) - float(solved.sum()) * self.centre

    def coordinates(self, coef: Array) -> Array:
        """The u of the part of a w that is in the span, shape (rank,)."""
        scores = np.asarray(self.basis @ coef) - float(self.centre @ coef)
        return np.asarray(la.solve_triangular(self.triangle, scores, lower=True, check_finite=False))


def is_wide(sample: Sample) -> bool:
    """Whether a sample in memory has more columns than rows, and a small enough Gram matrix."""
    return not sample.in_blocks and sample.n_pos + sample.n_neg <= min(sample.n_features, MAX_ROWS)


def centred_gram(rows: Any) -> Array:
    """``K_ij = (x_i − c)·(x_j − c)`` with c the mean of the rows, shape (n_rows, n_rows).

    Examples
    --------
    >>> centred_gram(np.array([[0.0, 3.0], [0.0, 1.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    gram = rows @ rows.T
    gram = dense(gram)
    means = gram.mean(axis=0)
    gram -= means
    gram -= means[:, None] - means.mean()
    return gram


def rotated(sample: Sample) -> RotatedRows | None:
    """The sample in a basis of the differences of its rows; None where all rows are the same.

    `sample`: in memory.
    """
    X = sample.stack([sample.X_pos, sample.X_neg])
    gram = centred_gram(X)
    largest = float(gram.diagonal().max())
    if not largest > 0:
        return None
    factor, pivots, rank, _ = lapack.dpstrf(gram, tol=ROUNDING * largest, lower=1, overwrite_a=1)
    order = pivots - 1
    rows = np.zeros((order.size, rank))
    rows[order] = np.tril(factor[:, :rank])
    X_pos, X_neg = rows[: sample.n_pos], rows[sample.n_pos :]
    turned = replace(sample, X_pos=X_pos, X_neg=X_neg, offset=None, rounding=None, columns=None)
    centre = np.ravel(X.sum(axis=0)) / order.size
    return RotatedRows(turned, X[order[:rank]], centre, np.tril(factor[:rank, :rank]))
