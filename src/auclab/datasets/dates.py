"""Dates in columns of text: in which form they are written, and the text as dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import AuclabError
from auclab._core.words import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

#: What can be made of a date.
PARTS = ("year", "month", "weekday", "age")
#: Of the years of `age`, 365.25 days each.
SECONDS_A_YEAR = 31_557_600

#: How days are written, and the times of the day behind them; where two fit, only the user can tell them apart.
_DAYS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y"),
    *("%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y"),
)
_TIMES = ("", " %H:%M", "T%H:%M", " %H:%M:%S", "T%H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S.%f")
#: ISO8601 comes last: with zones, and where some days have a time and others do not.
_FORMATS = (*(day + time for time in _TIMES for day in _DAYS), "ISO8601")
#: What all of these begin with: other texts are not tried.
_BEGINNING = re.compile(r"\d{1,4}([-/. ])(\d{1,2}|[A-Za-z]{3})\1\d{2,4}|[A-Za-z]{3} \d{1,2}, \d{4}")
#: Share of the values that are dates of one format in a column of dates; the others are named.
_MOST = 0.9


@dataclass(frozen=True)
class DateText:
    """How the dates of a column are written.

    `formats`: as `pandas.to_datetime` takes them; several if days and months cannot be distinguished. `other`: values
    that are not dates of that format.
    """

    formats: tuple[str, ...]
    other: tuple[str, ...] = ()


def find_dates(column: pd.Series) -> DateText | None:
    """How the dates of a column of text are written; None if they are not dates.

    Examples
    --------
    >>> import pandas as pd
    >>> find_dates(pd.Series(["2024-05-01", None, "2023-12-24"])).formats
    ('%Y-%m-%d',)
    >>> find_dates(pd.Series(["1/2/2024", "3/4/2024"])).formats
    ('%d/%m/%Y', '%m/%d/%Y')
    >>> find_dates(pd.Series(["1/2/2024", "3/14/2024"])).formats
    ('%m/%d/%Y',)
    >>> find_dates(pd.Series(["red", "blue"])) is None
    True
    """
    values = column.dropna().unique()
    texts = [value.strip() for value in values if isinstance(value, str)]
    if not texts or len(texts) < len(values):
        return None
    if not any(map(_BEGINNING.match, texts[:20])):
        return None
    first = [format_ for format_ in _FORMATS if _are_dates(texts[:20], format_).any()]
    dates = {format_: _are_dates(texts, format_) for format_ in first}
    most = max((each.sum() for each in dates.values()), default=0)
    if most < _MOST * len(texts):
        return None
    best = [format_ for format_, each in dates.items() if each.sum() == most]
    best = [format_ for format_ in best if format_ != "ISO8601"] or best
    others = [text for text, is_date in zip(texts, dates[best[0]], strict=True) if not is_date]
    return DateText(tuple(best), tuple(sorted(set(others))))


def _are_dates(texts: list[str], format_: str) -> NDArray[np.bool_]:
    import pandas as pd

    return np.asarray(pd.to_datetime(pd.Series(texts), format=format_, errors="coerce", utc=True).notna())


def as_dates(column: pd.Series, format_: str | None) -> pd.Series:
    """A column of dates, text or not, as days and times without a zone (that of UTC); missing values stay missing.

    `format_`: of text; None for columns that are stored as dates.
    """
    import pandas as pd

    text = column.astype(object).map(lambda value: value.strip() if isinstance(value, str) else value)
    dates = pd.to_datetime(text, format=format_, errors="coerce", utc=True)
    bad = dates.isna() & column.notna()
    if bad.any():
        row = int(bad.to_numpy().argmax())
        form = f" of the format {format_}" if format_ else ""
        where = f"{column.iloc[row]!r} in row {row + 1}"
        raise AuclabError(f"column {column.name!r} has {where}, which is not a date{form}")
    return dates.dt.tz_localize(None)


def check_parts(parts: Sequence[str]) -> None:
    """Refuse what cannot be made of a date."""
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        what = f"{unknown[0]!r}{did_you_mean(str(unknown[0]), PARTS)}" if unknown else "empty"
        raise AuclabError(f"preprocess.dates has {what}; choose from {', '.join(PARTS)}")
