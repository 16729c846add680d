"""The Laplacian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab.kernels.kernel import ROUNDING, Gamma, WidthKernel
from auclab.types import Array


@dataclass(frozen=True)
class Laplacian(WidthKernel):
    """``κ(x, y) = exp(−γ ‖x − y‖₁)``, as `sklearn.metrics.pairwise.laplacian_kernel`.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        γ > 0; "scale" is ``1/(n_features · Var(X))`` of the training rows, "auto" ``1/n_features``.

    See Also
    --------
    auclab.kernels.RBF : With the squared Euclidean distance.

    Examples
    --------
    >>> Laplacian(0.5).between(np.array([[0.0, 0.0]]), np.array([[1.0, -1.0]])).round(6).tolist()   # exp(−1)
    [[0.367879]]
    """

    gamma: Gamma = "scale"

    name = "laplacian"
    is_shift_invariant = True
    largest = 1.0

    def _between(self, X: Any, Y: Any) -> Array:
        """``exp(−γ ‖x_i − y_j‖₁)``, shape (rows of X, rows of Y)."""
        from sklearn.metrics.pairwise import laplacian_kernel

        return np.asarray(laplacian_kernel(X, Y, gamma=self.width))

    def _diagonal(self, X: Any) -> Array:
        """Ones."""
        return np.ones(X.shape[0])

    def rounding(self, n_features: int, size: float) -> float:
        """The relative error of n + 3 roundings in ``t = γ‖x − y‖₁``, times ``t exp(−t)``."""
        return (n_features + 3) * ROUNDING + 10.0 * ROUNDING
