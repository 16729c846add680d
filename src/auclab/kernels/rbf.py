"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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

    def between(self, X: Any, Y: Any) -> Array:
        """``exp(−γ ‖x_i − y_j‖₂²)``, shape (rows of X, rows of Y)."""
        from sklearn.metrics.pairwise import rbf_kernel

        return np.asarray(rbf_kernel(X, Y, gamma=self.width))

    def diagonal(self, X: Any) -> Array:
        """Ones."""
        return np.ones(X.shape[0])

    def rounding(self, n_features: int, size: float) -> float:
        """From the distances, which are computed as ``‖x‖² + ‖y‖² − 2 x·y``, and from the exponential."""
        distance = (n_features + 6) * 1.01 * ROUNDING * (2.0 * size) ** 2
        return self.width * distance + 10.0 * ROUNDING
