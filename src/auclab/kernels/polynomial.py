"""The polynomial kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab.kernels.kernel import ROUNDING, Gamma, WidthKernel
from auclab.types import Array, AuclabError


@dataclass(frozen=True)
class Polynomial(WidthKernel):
    """``κ(x, y) = (γ x·y + c₀)^degree``, as `sklearn.metrics.pairwise.polynomial_kernel`.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float, "scale" or "auto"
        γ > 0; "scale" is ``1/(n_features · Var(X))`` of the training rows, "auto" ``1/n_features``.
    coef0 : float
        c₀ ≥ 0; below 0 the function would not be a kernel.

    See Also
    --------
    auclab.kernels.RBF : A bounded kernel.

    Examples
    --------
    >>> Polynomial(2, gamma=1.0).between(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]])).tolist()   # (3 + 1)²
    [[16.0]]
    """

    degree: int = 3
    gamma: Gamma = "scale"
    coef0: float = 1.0

    name = "polynomial"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree < 1:
            raise AuclabError(f"degree must be a whole number ≥ 1, got {self.degree!r}")
        if not 0 <= self.coef0 < math.inf:
            raise AuclabError(f"coef0 must be a finite number ≥ 0, got {self.coef0!r}: below 0 it is not a kernel")

    def _between(self, X: Any, Y: Any) -> Array:
        """``(γ x_i·y_j + c₀)^degree``, shape (rows of X, rows of Y)."""
        from sklearn.metrics.pairwise import polynomial_kernel

        return np.asarray(polynomial_kernel(X, Y, degree=self.degree, gamma=self.width, coef0=self.coef0))

    def _diagonal(self, X: Any) -> Array:
        """``(γ ‖x_i‖² + c₀)^degree``."""
        squares = np.einsum("ij,ij->i", X, X) if isinstance(X, np.ndarray) else X.multiply(X).sum(axis=1)
        return np.asarray((self.width * np.ravel(squares) + self.coef0) ** self.degree)

    def rounding(self, n_features: int, size: float) -> float:
        """``degree · base^(degree − 1)`` times the rounding of the base, and that of the power."""
        base = (self.width * size * size + self.coef0) * (1.0 + 1e-9)
        return float((n_features + 8) * self.degree * base**self.degree * ROUNDING)
