"""Columns that are constant on the training part are left out."""

from __future__ import annotations

from typing import Any, Self

from sklearn.feature_selection import VarianceThreshold

from auclab.types import AuclabError

_NONE_LEFT = "No feature in X meets the variance threshold"


class VaryingColumns(VarianceThreshold):
    """`VarianceThreshold` at 0, whose error says what to do if no column varies."""

    def __init__(self) -> None:
        super().__init__(threshold=0.0)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns that vary."""
        try:
            super().fit(X, y)
        except ValueError as error:
            if not str(error).startswith(_NONE_LEFT):
                raise
            raise AuclabError(
                f"every one of {self.n_features_in_} columns is constant on the training part, so that no scorer "
                "distinguishes the rows; at least one column has to vary"
            ) from error
        return self
