"""Parts of dates as numbers and categories, of which items are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from auclab.datasets.dates import SECONDS_A_YEAR
from auclab.wording import WEEKDAYS

if TYPE_CHECKING:
    import pandas as pd


def latest_of(dates: pd.Series) -> str:
    """The latest date of a training part, as ISO text; without any date 2000-01-01."""
    latest = dates.max()
    return "2000-01-01" if latest is None or latest != latest else str(latest.isoformat()).removesuffix("T00:00:00")


def part_of_dates(dates: pd.Series, part: str, latest: str | None) -> Any:
    """A part of each date: numbers, with NaN for gaps, or text, with None for gaps.

    `latest`: the date up to which ``age`` counts the years.

    Examples
    --------
    >>> import pandas as pd
    >>> dates = pd.Series(pd.to_datetime(["2024-05-01", None, "2023-12-24"]))
    >>> part_of_dates(dates, "year", None).tolist(), part_of_dates(dates, "weekday", None).tolist()
    ([2024.0, nan, 2023.0], ['Wed', None, 'Sun'])
    """
    import numpy as np
    import pandas as pd

    if part == "year":
        return dates.dt.year.to_numpy(dtype=float)
    if part == "age":
        since = (pd.Timestamp(str(latest)) - dates).dt.total_seconds()
        return (since / SECONDS_A_YEAR).to_numpy(dtype=float)
    numbers = dates.dt.month if part == "month" else dates.dt.day_of_week
    names = {number: str(number) for number in range(1, 13)} if part == "month" else dict(enumerate(WEEKDAYS))
    return np.array([names.get(number) for number in numbers.to_numpy(dtype=float)], dtype=object)


def title_of(name: str, part: str, latest: str | None) -> str:
    """The name of a part on a card.

    Examples
    --------
    >>> title_of("since", "month", None), title_of("since", "age", "2024-12-04")
    ('month of since', 'years from since to 2024-12-04')
    """
    return f"years from {name} to {latest}" if part == "age" else f"{part} of {name}"
