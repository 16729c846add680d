"""Gaps filled with medians and scikit-learn's scalers, fitted block by block and applied when a block is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from auclab.datasets.block_medians import block_medians
from auclab.samples.blocks.block import Scaling
from auclab.samples.blocks.table import BlockTable
from auclab.types import Array, AuclabError


class _ValueMissingError(Exception):
    """A gap in blocks that were read without medians."""


class BlockScaler(TransformerMixin, BaseEstimator):
    """Medians for missing values and a scaler with ``partial_fit`` on a table in blocks; `transform` reads nothing.

    The medians are exact, those of `MedianImputer` in memory. They take five passes, and only where a value is missing
    in `fit`; otherwise a missing value stays one.

    Parameters
    ----------
    scaler : StandardScaler, MinMaxScaler or None
        None leaves the values as they are.

    Attributes
    ----------
    scaling_ : Scaling or None
    feature_names_in_ : array of str

    Raises
    ------
    AuclabError
        In `fit`: an infinite value; another scaler.
    """

    def __init__(self, scaler: Any = None):
        self.scaler = scaler

    def fit(self, X: BlockTable, y: Any = None) -> Self:
        """One pass over the blocks; six more where values are missing."""
        self.feature_names_in_ = np.array(X.columns, dtype=object)
        self.n_features_in_ = len(X.columns)
        self.scaling_ = None
        fill = None
        try:
            fitted = self._fitted(X, None)
        except _ValueMissingError:
            medians = block_medians(X.stream, len(X.columns))
            fill, fitted = tuple(map(float, medians)), self._fitted(X, medians)
        if fitted is not None:
            self.scaling_ = replace(_scaling_of(fitted), fill=fill)
        elif fill is not None:
            self.scaling_ = Scaling((0.0,) * len(fill), (1.0,) * len(fill), fill)
        return self

    def _fitted(self, X: BlockTable, medians: Array | None) -> Any:
        """The scaler fitted to the blocks, in one pass; `_ValueMissingError` at the first gap without medians."""
        scaler = None if self.scaler is None else clone(self.scaler)
        for rows in X.stream():
            if not np.isfinite(rows.sum()):
                missing = np.isnan(rows)
                if np.isinf(rows).any():
                    raise AuclabError("the blocks contain an infinite value: repair the files, or drop the column")
                if missing.any() and medians is None:
                    raise _ValueMissingError
                rows = rows if medians is None else np.where(missing, medians, rows)
            if scaler is not None:
                scaler.partial_fit(rows)
        return scaler

    def transform(self, X: Any) -> Any:
        """The table, to be scaled when it is read; rows in memory are scaled now."""
        check_is_fitted(self, "feature_names_in_")
        if isinstance(X, BlockTable):
            return X if self.scaling_ is None else X.scaled(self.scaling_)
        rows = np.array(X, dtype=np.float64)
        if self.scaling_ is not None:
            self.scaling_.apply(rows)
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns."""
        return self.feature_names_in_


def _scaling_of(scaler: Any) -> Scaling:
    """The affine map of a fitted scaler."""
    if isinstance(scaler, StandardScaler):
        shift, factor = scaler.mean_, 1.0 / scaler.scale_
    elif isinstance(scaler, MinMaxScaler):
        shift, factor = scaler.data_min_, scaler.scale_  # to [0, 1]
    else:
        raise AuclabError(f"a block scaler takes StandardScaler or MinMaxScaler, got {type(scaler).__name__}")
    return Scaling(tuple(map(float, shift)), tuple(map(float, factor)))
