"""The span of landmarks: orthonormal functions in it, at all observations.

``K_LL = RᵀR`` and ``Φ = K_{·L} R⁻¹``: the columns of Φ are orthonormal functions e_1, …, e_L of the space at the
observations, so that ``h = Σ w_j e_j`` has ``‖h‖_H = ‖w‖₂`` and coefficients ``c = R⁻¹w`` at the landmarks. A program
with the l2 norm in the span is therefore a program for a linear scorer on the rows of Φ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab.solvers.kernel.matrix import KernelMatrix
from auclab.types import Array


@dataclass(frozen=True)
class Span:
    """Landmarks and orthonormal functions of their span.

    `landmarks` (n,): numbers of observations, in the order of the kernel matrix. `values` (n, m): Φᵀ. `triangle` (n,
    n): R, upper triangular. `left` (m,): squared distance of every φ(x_k) to the span.
    """

    landmarks: NDArray[np.intp]
    values: Array
    triangle: Array
    left: Array

    @classmethod
    def empty(cls, matrix: KernelMatrix) -> Span:
        """Without landmarks."""
        m = matrix.size
        return cls(np.empty(0, dtype=np.intp), np.empty((0, m)), np.empty((0, 0)), matrix.diagonal.copy())

    @property
    def size(self) -> int:
        """Number of landmarks."""
        return int(self.landmarks.size)

    @property
    def features(self) -> Array:
        """Φ, row by row."""
        return np.ascontiguousarray(self.values.T)

    def coefficients(self, coef: Array) -> Array:
        """``c = R⁻¹w``, the coefficients at the landmarks."""
        return np.asarray(la.solve_triangular(self.triangle, coef, check_finite=False)) if self.size else coef

    def extended(self, matrix: KernelMatrix, added: NDArray[np.intp]) -> Span:
        """The span with more landmarks, linearly independent of these and of each other."""
        values = matrix.rows_of(added)
        inner = self.values[:, added]
        values -= inner.T @ self.values
        if self.size:
            # Orthogonalised again: remove the components in the span that rounding left in the residuals.
            again = la.solve_triangular(self.triangle, values[:, self.landmarks].T, trans="T", check_finite=False)
            values -= again.T @ self.values
            inner = inner + again
        gram = values[:, added]
        corner = la.cholesky(0.5 * (gram + gram.T), check_finite=False)
        new = la.solve_triangular(corner, values, trans="T", check_finite=False, overwrite_b=True)
        triangle = np.block([[self.triangle, inner], [np.zeros((added.size, self.size)), corner]])
        landmarks = np.r_[self.landmarks, added]
        left = np.maximum(self.left - np.einsum("ij,ij->j", new, new), 0.0)
        left[landmarks] = 0.0
        return Span(landmarks, np.vstack([self.values, new]), triangle, left)

    def reduced(self, matrix: KernelMatrix, kept: NDArray[np.bool_]) -> tuple[Span, Array]:
        """The span of fewer landmarks, and Q, shape (n, kept), such that ``Qᵀw`` is the projection of h onto it."""
        factors = la.qr(self.triangle[:, kept], mode="economic", check_finite=False)
        Q, triangle = np.asarray(factors[0], dtype=float), np.asarray(factors[1], dtype=float)
        values = Q.T @ self.values
        left = np.maximum(matrix.diagonal - np.einsum("ij,ij->j", values, values), 0.0)
        landmarks = self.landmarks[kept]
        left[landmarks] = 0.0
        return Span(landmarks, values, triangle, left), Q
