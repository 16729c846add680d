"""scikit-learn's scalers, fitted block by block and applied when a block is read."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from auclab.samples.blocks.block import Scaling
from auclab.samples.blocks.table import BlockTable
from auclab.types import AuclabError


class BlockScaler(TransformerMixin, BaseEstimator):
    """A scaler with ``partial_fit`` on a table in blocks; `transform` reads nothing.

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
        In `fit`: a value that is missing or infinite; another scaler.
    """

    def __init__(self, scaler: Any = None):
        self.scaler = scaler

    def fit(self, X: BlockTable, y: Any = None) -> Self:
        """One pass over the blocks."""
        self.feature_names_in_ = np.array(X.columns, dtype=object)
        self.n_features_in_ = len(X.columns)
        self.scaling_ = None
        if self.scaler is not None:
            for rows in X.stream():
                if not np.isfinite(rows.sum()):
                    raise AuclabError(
                        "the blocks contain a missing or infinite value, and blocks are not imputed: "
                        "repair the files, or drop the column"
                    )
                self.scaler.partial_fit(rows)
            self.scaling_ = _scaling_of(self.scaler)
        return self

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
