"""Numbers that a linear scorer can use, from dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from auclab.datasets.dates import SECONDS_A_YEAR, as_dates, check_parts
from auclab.types import Array
from auclab.wording import WEEKDAYS


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
