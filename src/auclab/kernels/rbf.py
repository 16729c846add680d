"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from auclab.kernels.kernel import ROUNDING, Gamma, WidthKernel
from auclab.types import Array


@dataclass(frozen=True)
class RBF(WidthKernel):
    """``κ(x, y) = exp(−γ ‖x − y‖₂²)``, as `sklearn.metrics.pairwise.rbf_kernel`.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        γ > 0; "scale" is ``1/(n_features · Var(X))`` of the training rows, "auto" ``1/n_features``.

    See Also
    --------
    auclab.kernels.Laplacian : With the distance itself.

    Examples
    --------
    >>> RBF(0.5).between(np.array([[0.0], [2.0]]), np.array([[0.0]])).ravel().round(6).tolist()   # 1 and exp(−2)
    [1.0, 0.135335]
    """

    gamma: Gamma = "scale"

    name = "rbf"
    is_shift_invariant = True
    largest = 1.0

    def _between(self, X: Any, Y: Any) -> Array:
        """``exp(−γ ‖x_i − y_j‖₂²)``, shape (rows of X, rows of Y)."""
        if sp.issparse(X) or sp.issparse(Y):
            from sklearn.metrics.pairwise import rbf_kernel

            return np.asarray(rbf_kernel(X, Y, gamma=self.width))
        # The exponent 2γ x·y − γ‖x‖² − γ‖y‖² is one product of rows with two more columns,
        # which takes two thirds of the time of rbf_kernel.
        ones = np.ones((len(X), 1)), np.ones((len(Y), 1))
        left = np.hstack([2.0 * self.width * X, -self.width * _squares(X), ones[0]])
        right = np.hstack([Y, ones[1], -self.width * _squares(Y)])
        values = left @ right.T
        np.minimum(values, 0.0, out=values)
        return np.asarray(np.exp(values, out=values))

    def _diagonal(self, X: Any) -> Array:
        """Ones."""
        return np.ones(X.shape[0])

    def rounding(self, n_features: int, size: float) -> float:
        """From the exponent and the exponential.

        In ``2γ x·y − γ‖x‖² − γ‖y‖²`` the squares have n + 1 roundings each, and every term n + 2 more in the sum: at
        most ``(6n + 12) γ size²`` halves of a unit.
        """
        return (6 * n_features + 16) * 1.01 * ROUNDING * self.width * size**2 + 10.0 * ROUNDING


def _squares(rows: Array) -> Array:
    """``‖x‖²`` of every row, as a column."""
    return np.einsum("ij,ij->i", rows, rows)[:, None]
