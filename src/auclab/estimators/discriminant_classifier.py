"""Linear discriminant analysis that takes sparse rows too, as prepared tables may be."""

from __future__ import annotations

from typing import Any, Self

import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from auclab.types import AuclabError

#: Entries of a sparse table up to which all of them are written out, as the method needs them.
MOST_ENTRIES = 200_000_000


class DiscriminantClassifier(LinearDiscriminantAnalysis):
    """scikit-learn's `LinearDiscriminantAnalysis`, fitted to arrays or CSR matrices.

    Raises
    ------
    AuclabError
        A sparse table that is too large to be written out.
    """

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit to X of shape (n_samples, n_features) and the labels y."""
        super().fit(_written_out(X) if sp.issparse(X) else X, y)
        return self


def _written_out(X: Any) -> Any:
    n_rows, n_columns = X.shape
    if n_rows * n_columns > MOST_ENTRIES:
        raise AuclabError(
            f"linear discriminant analysis needs every entry of a table, and this one is sparse with {n_rows:,} × "
            f"{n_columns:,} of them; take formulation=logistic"
        )
    return X.toarray()
