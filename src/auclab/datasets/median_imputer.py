"""Missing numbers become the median of their column, computed in a fraction of scikit-learn's time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.impute import SimpleImputer

from auclab.types import Array


class MedianImputer(SimpleImputer):
    """`SimpleImputer` with the median, which it computes by sorting masked arrays.

    A column without any value becomes 0.
    """

    def __init__(self) -> None:
        super().__init__(strategy="median", keep_empty_features=True)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the medians; `X` is a DataFrame or an array of shape (n_samples, n_features)."""
        table = hasattr(X, "iloc")
        columns = (X.iloc[:, k].to_numpy() for k in range(X.shape[1])) if table else iter(np.asarray(X).T)
        medians = np.array([[_median(np.asarray(column, dtype=np.float64)) for column in columns]])
        # One row of medians has the same medians: everything else stays with scikit-learn.
        super().fit(type(X)(medians, columns=X.columns) if table else medians)
        return self


def _median(column: Array) -> float:
    missing = np.isnan(column)
    given = column[~missing] if missing.any() else column
    return float(np.median(given)) if given.size else np.nan
