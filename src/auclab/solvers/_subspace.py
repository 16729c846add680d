"""Many features, few cuts: the small subspaces in which the programs of a bundle method have their solutions.

* Without a norm, or with the l2 norm and features of one unit, master and projection have their solutions in the span
  of the cuts' slopes and the centre. An orthonormal basis keeps lengths, and the programs stay the same.
* With the l1 norm the minimum of the master is sparse. Centre and minimum, and so all between them, live on the
  features where either is not 0, and the level can be reached there.

Points are θ = (x, b, t); b and t are left as they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab.types import Array

#: What is left of a vector outside a span, relative to its length, if it belongs to it.
_DEPENDENT = 1e-12


class Span:
    """The span of some vectors, by an orthonormal basis of shape (n_dimensions, n_features)."""

    def __init__(self, n_features: int):
        self._basis = np.zeros((0, n_features))

    def include(self, vector: Array) -> None:
        """Add a dimension for `vector` unless it has one."""
        rest = vector
        for _ in range(2):  # once more, for the digits that the first round loses
            rest = rest - (self._basis @ rest) @ self._basis
        length = float(np.linalg.norm(rest))
        if length > _DEPENDENT * float(np.linalg.norm(vector)):
            self._basis = np.vstack([self._basis, rest / length])

    @property
    def size(self) -> int:
        """Number of dimensions."""
        return len(self._basis)

    def narrow(self, theta: Array) -> Array:
        """The coordinates of points or slopes, one in a row."""
        return np.concatenate([theta[..., :-2] @ self._basis.T, theta[..., -2:]], axis=-1)

    def widen(self, theta: Array) -> Array:
        """The point that has these coordinates."""
        return np.r_[theta[:-2] @ self._basis, theta[-2:]]


class Support:
    """The points that are 0 outside some features."""

    def __init__(self, *points: Array):
        self._n_features = points[0].size - 2
        self.features: NDArray[np.intp] = np.flatnonzero(np.any([p[:-2] != 0 for p in points], axis=0))

    @property
    def size(self) -> int:
        """Number of dimensions."""
        return self.features.size

    def narrow(self, theta: Array) -> Array:
        """The coordinates of points or slopes, one in a row."""
        return np.concatenate([theta[..., self.features], theta[..., -2:]], axis=-1)

    def widen(self, theta: Array) -> Array:
        """The point that has these coordinates."""
        x = np.zeros(self._n_features)
        x[self.features] = theta[:-2]
        return np.r_[x, theta[-2:]]


Subspace = Span | Support
