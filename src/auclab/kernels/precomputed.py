"""A kernel whose values are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.forms import as_rows
from auclab.kernels.kernel import Kernel
from auclab.types import Array


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel given by its values: a training row holds κ of an observation with every training observation.

    `X` is the symmetric positive semidefinite matrix K of shape (n_samples, n_samples); new rows have shape
    (n_new, n_samples), as for `sklearn.svm.SVC(kernel="precomputed")`. Values of K are treated as exact.

    See Also
    --------
    auclab.kernels.RBF : A kernel that is computed.

    Examples
    --------
    >>> Precomputed().diagonal(np.array([[2.0, 1.0], [1.0, 3.0]])).tolist()
    [2.0, 3.0]
    """

    name = "precomputed"
    is_given = True

    def between(self, X: Any, Y: Any) -> Array:
        """The columns of `X` whose numbers are `Y`, shape (rows of X, size of Y)."""
        return self._between(as_rows(X), np.asarray(Y, dtype=np.intp))

    def _between(self, X: Any, Y: Any) -> Array:
        """The columns of an array or a CSR matrix of float64."""
        columns = X[:, Y]
        return np.asarray(columns.toarray() if hasattr(columns, "toarray") else columns)

    def columns_of(self, X: Any, train: NDArray[np.intp]) -> Any:
        """The columns of the training rows `train`."""
        return X[:, train]

    def at_landmarks(self, X: Any, rows: Any, numbers: NDArray[np.intp]) -> Array:
        """The columns of `X` with these numbers."""
        return self.between(X, numbers)

    def _diagonal(self, X: Any) -> Array:
        """The diagonal of the training matrix."""
        return np.array(X.diagonal())

    def rounding(self, n_features: int, size: float) -> float:
        """None."""
        return 0.0
