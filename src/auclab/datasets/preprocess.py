"""From a data set as published to a matrix of finite numbers, fitted on the training part only.

Each function takes a `Dataset`, of which it reads only the names and types of the columns, and returns an unfitted
scikit-learn transformer with float64 output: an array, or a CSR matrix where the data are sparse, and from `standard`
and `minmax` where they are large and mostly zero once encoded (`ColumnScaler`). Numeric columns are imputed by the
median; nominal ones by the most frequent value, or a category of their own where many values are missing, then one-hot
encoded, where a category that was not in the training part gives zeros, or counts as one of the rare ones where these
share a column. Dates become what the setting ``dates`` says (`auclab.datasets.columns.Encoding` has all settings), and
the words of columns of text sparse features.
Columns that are constant on the training part are dropped before scaling. Tables in blocks get the same steps as a
`auclab.datasets.block_pipeline.BlockPipeline`, without dates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from auclab.datasets.block_pipeline import BlockPipeline
from auclab.datasets.columns import (
    MAX_CATEGORIES,
    Encoding,
    block_columns,
    refuse_numbers,
    share_of_category,
    sort_columns,
)
from auclab.datasets.labels import as_labels, label_text
from auclab.datasets.records import Dataset
from auclab.datasets.steps import (
    CategoryImputer,
    ColumnScaler,
    DateFeatures,
    MedianImputer,
    MissingColumns,
    VaryingColumns,
    WordFeatures,
)
from auclab.samples.tables import in_memory

if TYPE_CHECKING:
    import pandas as pd


def standard(dataset: Dataset, **encoding: Unpack[Encoding]) -> Pipeline:
    """Zero mean and unit variance on the training part; sparse data are not centred, which would fill them.

    In a large table that is mostly zero, columns of which more than half is zero have unit variance and keep their
    zeros, and the output is a CSR matrix (`auclab.datasets.steps.ColumnScaler`). The coefficients of a linear
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
    scaler = StandardScaler(with_mean=False) if _is_sparse(dataset) else ColumnScaler("standard")
    return _pipeline(
        dataset, [*_encode(dataset, encoding, may_be_sparse=True), ("vary", VaryingColumns()), ("scale", scaler)]
    )


def minmax(dataset: Dataset, **encoding: Unpack[Encoding]) -> Pipeline:
    """Every feature to [0, 1] on the training part; new data may lie outside. Sparse data: largest modulus 1.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0]})
    >>> minmax(Dataset(name="toy", X=X, y=np.array([0, 1, 1]))).fit_transform(X).ravel().tolist()
    [0.0, 0.5, 1.0]
    """
    scaler = MaxAbsScaler() if _is_sparse(dataset) else ColumnScaler("minmax")
    return _pipeline(
        dataset, [*_encode(dataset, encoding, may_be_sparse=True), ("vary", VaryingColumns()), ("scale", scaler)]
    )


def unit_ball(dataset: Dataset, **encoding: Unpack[Encoding]) -> Pipeline:
    """As `standard`, then into the Euclidean unit ball (see `UnitBall`): ‖x‖₂ ≤ 1 for every row, old or new.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, 3.0]})
    >>> fitted = unit_ball(Dataset(name="toy", X=X, y=np.array([0, 1]))).fit(X)
    >>> fitted.transform(pd.DataFrame({"size": [2.0, 3.0, 99.0]})).round(12).ravel().tolist()
    [0.0, 1.0, 1.0]
    """
    scaler = StandardScaler(with_mean=not (_is_sparse(dataset) or dataset.text))
    steps = [*_encode(dataset, encoding), ("vary", VaryingColumns()), ("scale", scaler), ("ball", UnitBall())]
    return _pipeline(dataset, steps)


def none(dataset: Dataset, **encoding: Unpack[Encoding]) -> Pipeline:
    """Impute and encode only: constant columns stay, nothing is scaled.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, np.nan, 4.0, 4.0]})
    >>> none(Dataset(name="toy", X=X, y=np.array([0, 1, 0, 1]))).fit_transform(X).ravel().tolist()
    [1.0, 4.0, 4.0, 4.0]
    """
    return _pipeline(dataset, _encode(dataset, encoding))


class UnitBall(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Divide by the largest norm of the training rows, and project every row onto the Euclidean unit ball.

    ``x ↦ x / max(R, ‖x‖₂)`` with ``R = max_i ‖x_i‖₂`` over the training part. Bounds such as Proposition 8 of
    Norton & Uryasev require that *every* observation, new ones included, has a norm below the radius; the
    largest norm of a sample does not bound that of new data. With the projection the requirement holds by
    construction. What remains is that R, like everything fitted, depends on the training part, while the bounds assume
    a representation fixed beforehand; a report of a bound has to say so.

    `radius_`: R; 1 if all training rows are zero, or shorter than 1e-140.
    """

    #: Length of no row, seen or not, is larger.
    longest = 1.0

    def fit(self, X: Any, y: Any = None) -> UnitBall:
        """Compute the largest norm of the rows."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        radius = float(row_norms(X).max())
        # Squares of shorter rows lose digits, so that their norms are not right to the last bit.
        self.radius_ = radius if radius > 1e-140 else 1.0
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


def _pipeline(dataset: Dataset, steps: list[tuple[str, Any]]) -> Pipeline:
    """The steps as a pipeline for the rows of a data set."""
    return Pipeline(steps) if in_memory(dataset.X) else BlockPipeline(steps, nominal=dataset.nominal)


def _encode(dataset: Dataset, encoding: Encoding, *, may_be_sparse: bool = False) -> list[tuple[str, Any]]:
    """The steps from published columns to numbers; `may_be_sparse` if what follows takes a CSR matrix or an array."""
    if _is_sparse(dataset):
        X: Any = dataset.X
        refuse_numbers(X.data, "the sparse matrix", lambda at: f"column {X.indices[at]}", gaps=False)
        return [("encode", FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one"))]
    table: Any = dataset.X
    held = in_memory(table)
    columns = sort_columns(dataset, **encoding) if held else block_columns(table, **encoding)
    limit = encoding.get("max_categories", MAX_CATEGORIES)
    # A column with no value at all in the training part becomes constant instead of vanishing with a warning.
    median = MedianImputer()
    one_hot = make_pipeline(
        FunctionTransformer(as_text, feature_names_out="one-to-one"),
        CategoryImputer(share_of_category(encoding)),
        OneHotEncoder(
            max_categories=limit,
            handle_unknown="ignore" if limit is None else "infrequent_if_exist",
            feature_name_combiner=category_name,
            sparse_output=may_be_sparse,
            dtype=np.float64,
        ),
    )
    parts: list[tuple[str, Any, list[str] | str]] = [
        ("numeric", median, list(columns.numeric)),
        ("nominal", one_hot, list(columns.nominal)),
    ]
    if columns.dates:
        features = DateFeatures(list(as_labels(encoding.get("dates"))), dict(columns.dates))
        parts.append(("dates", features, list(columns.dates)))
    parts += [(f"words of {name}", WordFeatures(), name) for name in columns.text]  # a name: one column, not a table
    if encoding.get("missing_indicators"):
        parts.append(("missing", MissingColumns(), [str(name) for name in table.columns]))
    used = [part for part in parts if part[2]]
    # Encoded tables with a smaller share of entries are passed on as CSR matrices; what is output is decided when
    # scaling.
    threshold = 1.0 if columns.text else 0.5 if may_be_sparse and held else 0.0
    return [("encode", ColumnTransformer(used, sparse_threshold=threshold, verbose_feature_names_out=False))]


def category_name(column: Any, category: Any) -> str:
    """The name of a column of zeros and ones.

    Examples
    --------
    >>> category_name("city", "Rome"), category_name("city", "infrequent_sklearn")
    ('city_Rome', 'city_(other)')
    """
    return f"{column}_{'(other)' if category == 'infrequent_sklearn' else category}"


def _is_sparse(dataset: Dataset) -> bool:
    return sp.issparse(dataset.X)
