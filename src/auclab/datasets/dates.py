"""Dates in columns of text: in which form they are written, and the text as dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auclab._core.base import AuclabError
from auclab._core.words import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

#: What can be made of a date.
PARTS = ("year", "month", "weekday", "age")
#: Of the years of `age`, 365.25 days each.
SECONDS_A_YEAR = 31_557_600

#: The shapes of days, and the formats that each may have; where both of two fit, only the user can tell them apart.
_FORMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\d{4}-\d{1,2}-\d{1,2}", ("%Y-%m-%d",)),
    (r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",)),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", ("%d.%m.%y",)),
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%d/%m/%Y", "%m/%d/%Y")),
    (r"\d{1,2}/\d{1,2}/\d{2}", ("%d/%m/%y", "%m/%d/%y")),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%d-%m-%Y", "%m-%d-%Y")),
    (r"\d{1,2} [A-Za-z]{3} \d{4}", ("%d %b %Y",)),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", ("%d-%b-%Y",)),
    (r"[A-Za-z]{3} \d{1,2}, \d{4}", ("%b %d, %Y",)),
)
#: A time of the day behind the date, and its format.
_TIMES = (
    (r"", ""),
    (r"[ T]\d{1,2}:\d{2}", "%H:%M"),
    (r"[ T]\d{1,2}:\d{2}:\d{2}", "%H:%M:%S"),
    (r"[ T]\d{1,2}:\d{2}:\d{2}\.\d{1,9}", "%H:%M:%S.%f"),
    (r"[ T]\d{1,2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})", "ISO8601"),
)


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
    for shape, formats in _FORMS:
        if not any(re.match(shape, text) for text in texts[:20]):
            continue
        for time, time_format in _TIMES:
            whole = re.compile(shape + time)
            fitting = [text for text in texts if whole.fullmatch(text)]
            # Of a column of dates, this share of the values is dates; the others are named.
            if len(fitting) < 0.9 * len(texts) or not fitting:
                continue
            written = [_with_time(format_, time_format, fitting[0]) for format_ in formats]
            good = [format_ for format_ in written if _all_parse(fitting, format_)]
            if good:
                return DateText(tuple(good), tuple(sorted(set(texts) - set(fitting))))
    return None


def _with_time(format_: str, time_format: str, example: str) -> str:
    if time_format == "ISO8601" or not time_format:
        return time_format or format_
    return f"{format_}{'T' if 'T' in example else ' '}{time_format}"


def _all_parse(texts: list[str], format_: str) -> bool:
    import pandas as pd

    return bool(pd.to_datetime(pd.Series(texts), format=format_, errors="coerce", utc=True).notna().all())


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
