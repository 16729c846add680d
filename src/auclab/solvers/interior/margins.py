"""The margins of an interior-point method: every pair, every point, or the rows of a hard-margin separator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg as la

from auclab.precision import ROUNDING
from auclab.types import Array

#: From a vector, or several, over rows to one: ``(I + B G)⁻¹``, and B.
RowSystem = tuple[Callable[[Array], Array], Callable[[Array], Array]]


class PointMargins:
    """``side_k (s_k + b)``, at least `least`, with at most `capacity` charged for each; infinite for a hard margin."""

    has_intercept = True

    def __init__(self, sides: Array, capacity: Array, least: float = 1.0):
        self.sides, self.capacity, self.least = sides, capacity, least

    def lacking(self, scores: Array, intercept: float) -> Array:
        """The shortfalls of the margins."""
        return self.least - self.sides * (scores + intercept)

    def change(self, scores: Array, intercept: float) -> Array:
        """By how much they lack more where scores and intercept change by this."""
        return -self.sides * (scores + intercept)

    def over_rows(self, multipliers: Array) -> Array:
        """``Σ_k q_k ∂m_k/∂s``, shape (n_rows,)."""
        return self.sides * multipliers

    def marginals(self, multipliers: Array) -> tuple[Array, Array]:
        """The multipliers of positives and negatives."""
        return multipliers[self.sides > 0], multipliers[self.sides < 0]

    def system(self, weight: Array, gram: Array) -> RowSystem:
        """For ``B = diag(weight)``."""
        factor = la.cho_factor(gram + np.diag(1.0 / weight), lower=True, overwrite_a=True, check_finite=False)

        def product(v: Array) -> Array:
            return np.asarray((weight * v.T).T)

        def solve(v: Array) -> Array:
            return np.asarray(la.cho_solve(factor, (v.T / weight).T, check_finite=False))

        return solve, product


class PairMargins:
    """``s_i − s_j`` of every positive i and negative j, at least 1."""

    has_intercept = False

    def __init__(self, share_pos: Array, share_neg: Array):
        self.capacity = np.outer(share_pos, share_neg)
        self.n_pos, self.sides = share_pos.size, np.ones((1, 1))

    def lacking(self, scores: Array, intercept: float) -> Array:
        """What the margins lack."""
        return 1.0 - scores[: self.n_pos, None] + scores[None, self.n_pos :]

    def change(self, scores: Array, intercept: float) -> Array:
        """By how much they lack more where scores change by this."""
        return scores[None, self.n_pos :] - scores[: self.n_pos, None]

    def over_rows(self, multipliers: Array) -> Array:
        """``Σ_k q_k ∂m_k/∂s``, shape (n_rows,)."""
        return np.r_[multipliers.sum(axis=1), -multipliers.sum(axis=0)]

    def marginals(self, multipliers: Array) -> tuple[Array, Array]:
        """The sums of the multipliers of every row."""
        return multipliers.sum(axis=1), multipliers.sum(axis=0)

    def system(self, weight: Array, gram: Array) -> RowSystem:
        """For the Laplacian B of the pairs, by its Cholesky factor: ``(I + BG)⁻¹ = C (I + CᵀGC)⁻¹ C⁻¹``."""
        laplacian = np.zeros_like(gram)
        laplacian[: self.n_pos, self.n_pos :] = -weight
        laplacian[self.n_pos :, : self.n_pos] = -weight.T
        diagonal = np.diag_indices_from(laplacian)
        laplacian[diagonal] = np.r_[weight.sum(axis=1), weight.sum(axis=0)]
        ridged = laplacian.copy()
        ridged[diagonal] *= 1.0 + ROUNDING
        lower = la.cholesky(ridged, lower=True, overwrite_a=True, check_finite=False)
        inner = la.blas.dtrmm(1.0, lower, gram, side=1, lower=1)
        inner = la.blas.dtrmm(1.0, lower, inner, lower=1, trans_a=1, overwrite_b=1)
        inner[diagonal] += 1.0
        factor = la.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

        def product(v: Array) -> Array:
            return np.asarray(laplacian @ v)

        def solve(v: Array) -> Array:
            first = la.solve_triangular(lower, v, lower=True, check_finite=False)
            return np.asarray(lower @ la.cho_solve(factor, first, check_finite=False))

        return solve, product


Margins = PointMargins | PairMargins
