"""Symmetric positive (semi)definite linear systems with a matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

from auclab.types import Array


def solve_positive_definite(matrix: Array, right: Array) -> Array:
    """The solution, by Cholesky or else least squares; NaN where the numbers are not finite.

    `matrix` (size, size): symmetric, positive definite or nearly so.

    Examples
    --------
    >>> solve_positive_definite(np.array([[4.0, 0.0], [0.0, 1.0]]), np.array([2.0, 3.0])).tolist()
    [0.5, 3.0]
    """
    # Scaled to unit diagonal: features may differ in scale by many orders.
    unit = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    scaled, scaled_right = matrix * unit[:, None] * unit[None, :], unit * right
    if not (np.isfinite(scaled).all() and np.isfinite(scaled_right).all()):
        return np.full(right.size, np.nan)
    try:
        return np.asarray(unit * cho_solve(cho_factor(scaled, check_finite=False), scaled_right, check_finite=False))
    except LinAlgError:
        return np.asarray(unit * lstsq(scaled, scaled_right, lapack_driver="gelsy", check_finite=False)[0])
