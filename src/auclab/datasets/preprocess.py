"""From a data set as published to a matrix of finite numbers, fitted on the training part only.

Each function takes a `Dataset`, of which it reads only the names and types of the columns, and returns an unfitted
scikit-learn transformer with float64 output: an array, or a CSR matrix where the data are sparse, and from `standard`
and `minmax` where they are large and mostly zero once encoded (`ColumnScaler`). Numeric columns are imputed by the
median; nominal ones by the most frequent value, then one-hot encoded, where a category that was not in the training
part gives zeros. Columns that are constant on the training part are dropped before scaling. Blocks are
only scaled: their columns are numeric without missing values, and constant ones stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from auclab.datasets.block_scaler import BlockScaler
from auclab.datasets.column_scaler import ColumnScaler
from auclab.datasets.labels import label_text
from auclab.datasets.median_imputer import MedianImputer
from auclab.datasets.records import Dataset
from auclab.samples.blocks.table import BlockTable
from auclab.types import AuclabError

if TYPE_CHECKING:
    import pandas as pd

#: Values above this are refused: their squares and sums leave the range of doubles.
LARGEST_VALUE = 1e150
#: Encoded tables with a smaller share of entries are passed on as CSR matrices; what is output is decided when scaling.
MOSTLY_ZERO = 0.5
#: A column of text that is not declared nominal may have this many values, or one for every other row.
MAX_TEXT_VALUES = 50


def standard(dataset: Dataset) -> Pipeline:
    """Zero mean and unit variance on the training part; sparse data are not centred, which would fill them.

    In a large table that is mostly zero, columns of which more than half is zero have unit variance and keep their
    zeros, and the output is a CSR matrix (`auclab.datasets.column_scaler.ColumnScaler`). The coefficients of a linear
    scorer are the same either way.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, 3.0], "always": [5, 5], "colour": ["red", "blue"]})
    >>> transformer = standard(Dataset(name="toy", X=X, y=np.array([0, 1])))
    >>> transformer.fit_transform(X).tolist()
    [[-1.0, -1.0, 1.0], [1.0, 1.0, -1.0]]
    >>> transformer.get_feature_names_out().tolist()
    ['size', 'colour_blue', 'colour_red']
    """
    if isinstance(dataset.X, BlockTable):
        return Pipeline([("scale", BlockScaler(StandardScaler()))])
    scaler = StandardScaler(with_mean=False) if _is_sparse(dataset) else ColumnScaler("standard")
    return Pipeline([*_encode(dataset, may_be_sparse=True), *_vary(), ("scale", scaler)])


def minmax(dataset: Dataset) -> Pipeline:
    """Every feature to [0, 1] on the training part; new data may lie outside. Sparse data: largest modulus 1.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0]})
    >>> minmax(Dataset(name="toy", X=X, y=np.array([0, 1, 1]))).fit_transform(X).ravel().tolist()
    [0.0, 0.5, 1.0]
    """
    if isinstance(dataset.X, BlockTable):
        return Pipeline([("scale", BlockScaler(MinMaxScaler()))])
    scaler = MaxAbsScaler() if _is_sparse(dataset) else ColumnScaler("minmax")
    return Pipeline([*_encode(dataset, may_be_sparse=True), *_vary(), ("scale", scaler)])


def unit_ball(dataset: Dataset) -> Pipeline:
    """As `standard`, then into the Euclidean unit ball (see `UnitBall`): ‖x‖₂ ≤ 1 for every row, old or new.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, 3.0]})
    >>> fitted = unit_ball(Dataset(name="toy", X=X, y=np.array([0, 1]))).fit(X)
    >>> fitted.transform(pd.DataFrame({"size": [2.0, 3.0, 99.0]})).round(12).ravel().tolist()
    [0.0, 1.0, 1.0]
    """
    if isinstance(dataset.X, BlockTable):
        raise AuclabError(
            "preprocess=unit_ball needs all rows in memory; with dataset=blocks take standard, minmax or none"
        )
    scaler = StandardScaler(with_mean=not _is_sparse(dataset))
    return Pipeline([*_encode(dataset), *_vary(), ("scale", scaler), ("ball", UnitBall())])


def none(dataset: Dataset) -> Pipeline:
    """Impute and encode only: constant columns stay, nothing is scaled.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, np.nan, 4.0, 4.0]})
    >>> none(Dataset(name="toy", X=X, y=np.array([0, 1, 0, 1]))).fit_transform(X).ravel().tolist()
    [1.0, 4.0, 4.0, 4.0]
    """
    if isinstance(dataset.X, BlockTable):
        return Pipeline([("scale", BlockScaler())])
    return Pipeline(_encode(dataset))


#: Squares of shorter rows lose digits, so that their norms are not right to the last bit.
SMALLEST_NORM = 1e-140


class UnitBall(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Divide by the largest norm of the training rows, and project every row onto the Euclidean unit ball.

    ``x ↦ x / max(R, ‖x‖₂)`` with ``R = max_i ‖x_i‖₂`` over the training part. Bounds such as Proposition 8 of
    Norton & Uryasev require that *every* observation, new ones included, has a norm below the radius; the
    largest norm of a sample does not bound that of new data. With the projection the requirement holds by
    construction. What remains is that R, like everything fitted, depends on the training part, while the bounds assume
    a representation fixed beforehand; a report of a bound has to say so.

    Attributes
    ----------
    radius_ : float
        R; 1 if all training rows are zero, or shorter than 1e-140.

    Examples
    --------
    >>> ball = UnitBall().fit([[3.0, 4.0], [1.0, 0.0]])
    >>> ball.radius_
    5.0
    >>> ball.transform([[1.0, 0.0], [0.0, -50.0]]).round(12).tolist()
    [[0.2, 0.0], [0.0, -1.0]]
    """

    def fit(self, X: Any, y: Any = None) -> UnitBall:
        """Compute the largest norm of the rows."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        radius = float(row_norms(X).max())
        self.radius_ = radius if radius > SMALLEST_NORM else 1.0
        return self

    def transform(self, X: Any) -> Any:
        """Scale and project; ``‖x‖₂ ≤ 1`` holds in floating point too, however squares are summed."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        margin = 1.0 + (X.shape[1] + 4) * np.finfo(np.float64).eps
        scale = 1.0 / (np.maximum(row_norms(X), self.radius_) * margin)
        return X.multiply(scale[:, None]).tocsr() if hasattr(X, "tocsr") else X * scale[:, None]

    def __sklearn_tags__(self) -> Any:
        """Sparse matrices are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def as_text(X: pd.DataFrame) -> pd.DataFrame:
    """Categories as text, whatever they are stored as, whole numbers without decimal point; missing ones NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> as_text(pd.DataFrame({"code": [1.0, np.nan], "flag": [True, False]})).to_numpy().tolist()
    [['1', 'True'], [nan, 'False']]
    """
    import pandas as pd

    def texts(column: pd.Series) -> pd.Series:
        # Each distinct value once: columns are long and have few of them.
        names = {value: label_text(value) for value in column.dropna().unique()}
        return column.astype(object).map(names).astype(object).where(column.notna().to_numpy(), np.nan)

    return pd.DataFrame(X).apply(texts).astype(object)


def _encode(dataset: Dataset, *, may_be_sparse: bool = False) -> list[tuple[str, Any]]:
    """The steps from published columns to numbers; `may_be_sparse` if what follows takes a CSR matrix or an array."""
    if _is_sparse(dataset):
        _refuse_bad_entries(dataset)
        return [("encode", FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one"))]
    numeric, nominal = _columns(dataset)
    # A column with no value at all in the training part becomes constant instead of vanishing with a warning.
    median = MedianImputer()
    one_hot = make_pipeline(
        FunctionTransformer(as_text, feature_names_out="one-to-one"),
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        OneHotEncoder(handle_unknown="ignore", sparse_output=may_be_sparse, dtype=np.float64),
    )
    parts = [("numeric", median, numeric), ("nominal", one_hot, nominal)]
    used = [part for part in parts if part[2]]
    threshold = MOSTLY_ZERO if may_be_sparse else 0.0
    return [("encode", ColumnTransformer(used, sparse_threshold=threshold, verbose_feature_names_out=False))]


def _vary() -> list[tuple[str, Any]]:
    return [("vary", VarianceThreshold())]


def _columns(dataset: Dataset) -> tuple[list[str], list[str]]:
    """Names of the numeric and of the nominal columns."""
    from pandas import SparseDtype
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    numeric: list[str] = []
    nominal: list[str] = []
    table: Any = dataset.X
    for label, column in table.items():
        name = str(label)
        if name in dataset.nominal or is_bool_dtype(column.dtype):
            nominal.append(name)
        elif isinstance(column.dtype, SparseDtype):
            raise AuclabError(
                f"column {name!r} is stored as {column.dtype}: give all columns as one SciPy CSR matrix, or make them "
                "dense with X.sparse.to_dense()"
            )
        elif is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
            _refuse_sizes(name, column)
            numeric.append(name)
        elif str(column.dtype) in ("object", "str", "string", "category"):
            _refuse_free_text(name, column)
            nominal.append(name)
        else:
            raise AuclabError(f"column {name!r} is of type {column.dtype}; make it a number or a category, or drop it")
    return numeric, nominal


def _refuse_sizes(name: str, column: pd.Series) -> None:
    """Reject ±∞ and numbers whose squares a variance could not hold."""
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    infinite = np.isinf(values)
    if infinite.any():
        raise AuclabError(
            f"column {name!r} has {infinite.sum()} infinite values (first in row {infinite.argmax()}); "
            "only finite numbers work: replace them, or leave them empty to have them imputed"
        )
    large = np.abs(values) > LARGEST_VALUE
    if large.any():
        raise AuclabError(
            f"column {name!r} has {large.sum()} values above {LARGEST_VALUE:.0e} in size (first in row "
            f"{large.argmax()}), whose squares are too large for doubles: divide the column, or leave them empty"
        )


def _refuse_free_text(name: str, column: pd.Series) -> None:
    """Reject columns of text with very many values: identifiers and damaged numbers, not categories."""
    try:
        values = column.nunique()
    except TypeError as error:  # lists and the like
        raise AuclabError(f"column {name!r} holds values that are no categories: {error}; make it text") from error
    if values > max(MAX_TEXT_VALUES, len(column) // 2):
        raise AuclabError(
            f"column {name!r} holds text with {values} different values in {len(column)} rows, such as "
            f"{column.dropna().iloc[0]!r}: drop it (dataset.drop), repair its numbers, or name it in "
            "dataset.nominal"
        )


def _refuse_bad_entries(dataset: Dataset) -> None:
    X: Any = dataset.X
    bad = ~np.isfinite(X.data)
    if bad.any():
        column = int(X.indices[bad.argmax()])
        raise AuclabError(
            f"the sparse matrix has {bad.sum()} entries that are NaN or infinite (first in column {column}); "
            "only finite numbers work: repair them"
        )
    large = np.abs(X.data) > LARGEST_VALUE
    if large.any():
        raise AuclabError(
            f"the sparse matrix has {large.sum()} entries above {LARGEST_VALUE:.0e} in size (first in column "
            f"{int(X.indices[large.argmax()])}), whose squares are too large for doubles: divide them"
        )


def _is_sparse(dataset: Dataset) -> bool:
    return not hasattr(dataset.X, "iloc")
