"""Steps of a preprocessing pipeline: columns that vary or are missing, medians, scales, parts of dates."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from auclab._core.base import Array, AuclabError
from auclab._core.words import WEEKDAYS
from auclab.datasets.dates import SECONDS_A_YEAR, as_dates, check_parts
from auclab.samples.features import column_range, pays_as_csr


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


class CategoryImputer(SimpleImputer):
    """The most frequent category for gaps; a category of their own where they are many in the training part.

    `missing_category`: the share of gaps above which they are a category, called ``missing``; None: they never are. A
    column without any value has no category.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"cabin": ["B96", "B98", np.nan], "port": ["S", "S", "C"]}, dtype=object)
    >>> CategoryImputer(0.1).fit(X).statistics_.tolist(), CategoryImputer(0.5).fit(X).statistics_.tolist()
    (['missing', 'S'], ['B96', 'S'])
    """

    def __init__(self, missing_category: float | None = None) -> None:
        super().__init__(strategy="most_frequent", keep_empty_features=True)
        self.missing_category = missing_category

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the most frequent category of each column, and which columns have many gaps."""
        super().fit(X, y)
        for k, column in enumerate(np.asarray(X, dtype=object).T):
            given = set(column[column == column])  # not NaN
            if self.has_category(float(np.mean(column != column))):
                self.statistics_[k] = category_of_gaps(given)
        return self

    def has_category(self, share: float) -> bool:
        """Whether this share of gaps makes a category."""
        return self.missing_category is not None and self.missing_category < share < 1.0


def category_of_gaps(categories: Container[str]) -> str:
    """The name of the category of gaps, which no other has."""
    return "missing" if "missing" not in categories else "(missing)"


class WordFeatures(TfidfVectorizer):
    """The words of a column of text that two rows have at least, weighted by TF-IDF: log(1 + count) · log(1/share) + 1.

    The rows are sparse, and of length 1. A gap has no words, and the row 0.

    Examples
    --------
    >>> import pandas as pd
    >>> made = WordFeatures().fit(pd.Series(["win a prize", "see you", None, "win, see"], name="message"))
    >>> made.get_feature_names_out(["message"]).tolist()
    ['message: see', 'message: win']
    """

    def __init__(self) -> None:
        super().__init__(sublinear_tf=True, min_df=2)

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Find the words, and in how many rows they are."""
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """`fit`, then `transform`."""
        try:
            return super().fit_transform(_texts(raw_documents))
        except ValueError as error:
            name = getattr(raw_documents, "name", "text")
            raise AuclabError(
                f"column {name!r} has no word that two rows have ({error}): leave it out of dataset.text"
            ) from error

    def transform(self, raw_documents: Any) -> Any:
        """A CSR matrix with a column for each word."""
        return super().transform(_texts(raw_documents))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names such as ``message: prize``."""
        column = "text" if input_features is None else input_features[0]
        return np.asarray([f"{column}: {word}" for word in super().get_feature_names_out()], dtype=object)


def _texts(column: Any) -> list[str]:
    return ["" if text != text or text is None else str(text) for text in column]


def _median(column: Array) -> float:
    missing = np.isnan(column)
    given = column[~missing] if missing.any() else column
    return float(np.median(given)) if given.size else np.nan


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


#: A column with more entries than this share of the rows is centred.
_MOSTLY_ZERO = 0.5


class ColumnScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """`StandardScaler` or `MinMaxScaler` for large tables that are mostly zero.

    There the output is a CSR matrix. With ``to="standard"`` columns of which more than half is zero are divided by
    their standard deviation and not centred; the others are centred too. With ``to="minmax"`` all columns are as
    `MinMaxScaler` leaves them, which keeps the zeros of columns whose least value is 0. A linear scorer has the same
    coefficients either way: pairs do not know an offset, and an intercept absorbs it.

    `sparse_`: whether the output is a CSR matrix: decided when fitting, from the size and the share of nonzero entries
    that the output would have (`auclab.samples.features.pays_as_csr`). `shift_`, `scale_` (n_features,): the output
    is ``(x − shift_) / scale_``.
    """

    def __init__(self, to: str = "standard"):
        self.to = to

    def fit(self, X: Any, y: Any = None) -> Self:
        """Decide on the form of the output, and compute what to subtract and to divide by."""
        if self.to not in ("standard", "minmax"):
            raise AuclabError(f"to must be standard or minmax, got {self.to!r}")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        low, high = column_range(X)
        filled = self._decide(X.shape[0], _entries(X) / X.shape[0], low)
        if not self.sparse_:
            scaler = StandardScaler() if self.to == "standard" else MinMaxScaler()
            self.scaler_ = scaler.fit(_dense(X))
            self.shift_ = scaler.mean_ if self.to == "standard" else scaler.data_min_
            self.scale_ = scaler.scale_ if self.to == "standard" else 1.0 / scaler.scale_
        elif self.to == "standard":
            self.shift_ = np.where(filled, np.asarray(X.mean(axis=0)).ravel(), 0.0)
            self.scale_ = StandardScaler(with_mean=False).fit(X).scale_
        else:
            self.shift_, self.scale_ = low, np.where(high > low, high - low, 1.0)
        return self

    def fit_moments(self, n_rows: int, entries: Array, low: Array, high: Array, mean: Array, variance: Array) -> Self:
        """The same as `fit` from what is known of every column, without the rows.

        `entries` (n_features,): share of the rows whose value is not 0. `low`, `high`, `mean`, `variance`
        (n_features,): the variance is that of the rows, divided by their number.
        """
        self.n_features_in_ = low.size
        filled = self._decide(n_rows, entries, low)
        standard = fitted_standard_scaler(n_rows, mean, variance)
        if not self.sparse_:
            self.scaler_ = standard if self.to == "standard" else MinMaxScaler().fit(np.stack([low, high]))
            self.shift_ = mean if self.to == "standard" else low
            self.scale_ = standard.scale_ if self.to == "standard" else 1.0 / self.scaler_.scale_
        elif self.to == "standard":
            self.shift_, self.scale_ = np.where(filled, mean, 0.0), standard.scale_
        else:
            self.shift_, self.scale_ = low, np.where(high > low, high - low, 1.0)
        return self

    def _decide(self, n_rows: int, entries: Array, low: Array) -> NDArray[np.bool_]:
        """Set `sparse_`; which columns are centred though the output be sparse."""
        filled = entries > _MOSTLY_ZERO
        if self.to == "minmax":
            filled |= low != 0
        self.sparse_ = pays_as_csr(n_rows, low.size, float(np.where(filled, 1.0, entries).mean()))
        return filled

    def transform(self, X: Any) -> Any:
        """The scaled columns, as an array or a CSR matrix."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if not self.sparse_:
            return self.scaler_.transform(_dense(X))
        moved = _less(sp.csr_array(X), self.shift_)
        moved.data /= self.scale_[moved.indices]
        return moved

    def inverse_transform(self, X: Any) -> Any:
        """The columns as they were, as an array or a CSR matrix."""
        check_is_fitted(self)
        if not self.sparse_:
            return self.scaler_.inverse_transform(_dense(X))
        columns = sp.csr_array(X, copy=True)
        columns.data *= self.scale_[columns.indices]
        return _less(columns, -self.shift_)

    def __sklearn_tags__(self) -> Any:
        """Sparse matrices are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def fitted_standard_scaler(n_rows: int, mean: Array, variance: Array) -> StandardScaler:
    """A `StandardScaler` fitted to `n_rows` rows of which only mean and variance of every column are known.

    Examples
    --------
    >>> fitted_standard_scaler(2, np.array([2.0, 5.0]), np.array([1.0, 0.0])).transform([[3.0, 6.0]]).tolist()
    [[1.0, 1.0]]
    """
    scaler = StandardScaler()
    eps = np.finfo(np.float64).eps
    # scikit-learn's rule for columns whose variance is rounding alone: they are not divided.
    constant = variance <= n_rows * eps * variance + (n_rows * mean * eps) ** 2
    scaler.mean_, scaler.var_ = mean.copy(), variance.copy()
    scaler.scale_ = np.where(constant | (variance == 0), 1.0, np.sqrt(variance))
    scaler.n_features_in_, scaler.n_samples_seen_ = mean.size, n_rows
    return scaler


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if sp.issparse(X) else X)  # type: ignore[attr-defined]


def _entries(X: Any) -> NDArray[np.intp]:
    """How many entries of every column are not zero."""
    if not sp.issparse(X):
        return np.asarray(np.count_nonzero(X, axis=0))
    matrix: Any = X
    return np.bincount(matrix.indices[matrix.data != 0], minlength=matrix.shape[1])


def _less(X: sp.csr_array, shift: Array) -> sp.csr_array:
    """A new CSR matrix ``X − shift``; only columns with a shift are filled."""
    with_shift = np.flatnonzero(shift)
    if not with_shift.size:
        return X.copy()
    kept = np.flatnonzero(shift == 0)
    moved = X[:, with_shift].toarray() - shift[with_shift]
    both = sp.hstack([X[:, kept], sp.csr_array(moved)], format="csr")
    place = np.concatenate([kept, with_shift])
    both.indices = place[both.indices].astype(both.indices.dtype)
    both.has_sorted_indices = False
    both.sort_indices()
    return sp.csr_array(both)


class DateFeatures(TransformerMixin, BaseEstimator):
    """Columns of dates as numbers; a missing date becomes the median date of the training part (of two, the earlier).

    `parts`: ``year`` is a number; ``month`` and ``weekday`` are a column of zeros and ones for each of the 12 or 7,
    since December is as near to January as to November; ``age`` is in years before the latest date of the training
    part, negative after it. `formats`: of each column of text the format, as `pandas.to_datetime` takes it; columns
    stored as dates need none. `latest_`, `median_`: of each column, in the training part.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"since": ["2023-01-01", "2024-01-01", None]})
    >>> made = DateFeatures(["year", "age"], {"since": "%Y-%m-%d"}).fit(X)
    >>> made.transform(X).round(3).tolist()
    [[2023.0, 0.999], [2024.0, 0.0], [2023.0, 0.999]]
    >>> made.get_feature_names_out().tolist()
    ['since_year', 'since_age']
    """

    def __init__(self, parts: Sequence[str] = ("year",), formats: Mapping[str, str | None] | None = None) -> None:
        self.parts = parts
        self.formats = formats

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the latest and the median date of each column."""
        check_parts(self.parts)
        self.feature_names_in_ = np.asarray(list(X.columns), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.latest_: list[str] = []
        self.median_: list[str] = []
        for name in self.feature_names_in_:
            dates = self._dates(X, name).dropna().sort_values()
            if dates.empty:  # of a training part: everything is missing, and constant
                self.latest_.append("2000-01-01")
                self.median_.append("2000-01-01")
            else:
                self.latest_.append(dates.iloc[-1].isoformat())
                self.median_.append(dates.iloc[(len(dates) - 1) // 2].isoformat())
        return self

    def transform(self, X: Any) -> Array:
        """The numbers, column after column."""
        check_is_fitted(self)
        import pandas as pd

        columns: list[Any] = []
        for name, latest, median in zip(self.feature_names_in_, self.latest_, self.median_, strict=True):
            dates = self._dates(X, name).fillna(pd.Timestamp(median))
            for part in self.parts:
                if part == "year":
                    columns.append(dates.dt.year)
                elif part == "age":
                    columns.append((pd.Timestamp(latest) - dates).dt.total_seconds() / SECONDS_A_YEAR)
                elif part == "month":
                    columns += [dates.dt.month == month for month in range(1, 13)]
                else:
                    columns += [dates.dt.day_of_week == day for day in range(7)]
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names such as ``since_year``, ``since_month_12``, ``since_weekday_Mon``."""
        check_is_fitted(self)
        ends: list[str] = []
        for part in self.parts:
            values = {"month": range(1, 13), "weekday": WEEKDAYS}.get(part)
            ends += [part] if values is None else [f"{part}_{value}" for value in values]
        return np.asarray([f"{name}_{end}" for name in self.feature_names_in_ for end in ends], dtype=object)

    def _dates(self, X: Any, name: str) -> Any:
        return as_dates(X[name], (self.formats or {}).get(name))
