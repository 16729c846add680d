"""Where values are missing, as columns of zeros and ones."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from auclab.types import Array


class MissingColumns(TransformerMixin, BaseEstimator):
    """A column of zeros and ones for each column that has gaps in the training part: 1 where the value is missing.

    `sklearn.impute.MissingIndicator` does the same for tables of one type; here numbers, text and dates are side by
    side, and None, NaN and NaT are all missing.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [1.0, np.nan], "city": [None, "Rome"], "visits": [1, 2]})
    >>> made = MissingColumns().fit(X)
    >>> made.transform(X).tolist(), made.get_feature_names_out().tolist()
    ([[0.0, 1.0], [1.0, 0.0]], ['age_missing', 'city_missing'])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns with gaps."""
        self.feature_names_in_ = np.asarray(list(X.columns), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.with_gaps_ = [str(name) for name in X.columns if X[name].isna().any()]
        return self

    def transform(self, X: Any) -> Array:
        """1 where a value is missing."""
        check_is_fitted(self)
        return np.asarray(X[self.with_gaps_].isna().to_numpy(), dtype=np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names such as ``age_missing``."""
        check_is_fitted(self)
        return np.asarray([f"{name}_missing" for name in self.with_gaps_], dtype=object)
