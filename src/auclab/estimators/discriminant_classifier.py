"""Linear discriminant analysis that takes sparse rows too, as prepared tables may be."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from auclab.estimators.class_weights import ClassWeight, class_weights
from auclab.types import AuclabError

#: Entries of a sparse table up to which all of them are written out, as the method needs them.
MOST_ENTRIES = 200_000_000


class DiscriminantClassifier(LinearDiscriminantAnalysis):
    """scikit-learn's `LinearDiscriminantAnalysis`, fitted to arrays or CSR matrices, with weights of the classes.

    `class_weight`: weights by label. They multiply the shares of the classes in the covariance and in the intercept, as
    rows that are repeated would.
    """

    def __init__(self, *, class_weight: ClassWeight = None):
        super().__init__()
        self.class_weight = class_weight

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit to X of shape (n_samples, n_features) and the labels y."""
        if self.class_weight is not None:
            labels, positive = np.unique(y, return_inverse=True)
            weights = class_weights(self.class_weight, labels.tolist(), positive == 1, None)
            shares = np.bincount(positive) * np.array(weights)
            self.solver, self.priors = "lsqr", shares / shares.sum()  # whose covariance has the shares as factors
        super().fit(_written_out(X) if sp.issparse(X) else X, y)
        return self


def _written_out(X: Any) -> Any:
    n_rows, n_columns = X.shape
    if n_rows * n_columns > MOST_ENTRIES:
        raise AuclabError(
            f"linear discriminant analysis needs a dense table, but this one is sparse with {n_rows:,} × "
            f"{n_columns:,} entries; use formulation=logistic"
        )
    return X.toarray()
