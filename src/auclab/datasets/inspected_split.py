"""Which split the rows of a table call for: groups that stay whole, or later rows tested, where a column says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auclab.datasets.overrides import override
from auclab.datasets.records import Dataset
from auclab.datasets.split_by_column import ByColumn, Grouped, Timed
from auclab.sizes import ENOUGH
from auclab.types import AuclabError

if TYPE_CHECKING:
    import pandas as pd

#: Words in the names of columns that say whose row it is.
_OWNERS = frozenset(
    {
        *("account", "client", "company", "customer", "driver", "family", "hospital", "household", "member", "patient"),
        *("person", "school", "session", "subject", "user", "visitor", "id", "nr", "no", "number"),
    }
)
#: Mean number of rows of each value of a column of groups, at least.
_LEAST_REPEATS = 1.2


@dataclass(frozen=True)
class ProposedSplit:
    """A split by a column.

    Attributes
    ----------
    name : {"grouped", "time"}
    column : str
    why : str
    """

    name: str
    column: str
    why: str

    @property
    def words(self) -> list[str]:
        """The settings, as they are typed."""
        return [f"split={self.name}", override("split.column", self.column)]


def is_group(name: str, column: pd.Series) -> bool:
    """Whether a column is named after those whose rows these are, and has several rows of many of them.

    Examples
    --------
    >>> import pandas as pd
    >>> visits = pd.Series([k % 12 for k in range(40)])
    >>> is_group("customer_id", visits), is_group("size", visits), is_group("customer_id", pd.Series(range(40)))
    (True, False, False)
    """
    words = set(name.lower().replace("-", "_").replace(" ", "_").split("_"))
    named = bool(words & _OWNERS) or name.endswith(("Id", "ID"))
    values = int(column.nunique())
    if not named or values < ENOUGH or column.isna().any() or len(column) < _LEAST_REPEATS * values:
        return False
    return column.dtype.kind != "f" or bool((column % 1 == 0).all())


def propose_split(dataset: Dataset, groups: Sequence[str], dates: Sequence[str]) -> ProposedSplit | None:
    """The split of a data set, tried on it; None where a random one is as good as any.

    Parameters
    ----------
    dataset : Dataset
        With its columns as they are read.
    groups : sequence of str
        Columns of groups, as `is_group` finds them.
    dates : sequence of str
        Columns of dates. Rows in the order of one, from the first to the last or back, are a record of what happened.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> table = pd.DataFrame({"day": [f"2024-01-{k:02d}" for k in range(1, 21)]})
    >>> dataset = Dataset("log", table, np.arange(20) % 2)
    >>> propose_split(dataset, [], ["day"]).words
    ['split=time', 'split.column=day']
    """
    for column in groups:
        values = len(set(dataset.column(column)))
        why = f"{values:,} values in {len(dataset.y):,} rows: those of one {column} stay in one part"
        if _works(Grouped(column), dataset):
            return ProposedSplit("grouped", column, why)
    for column in dates:
        if _in_order(dataset, column) and _works(Timed(column), dataset):
            return ProposedSplit("time", column, f"the rows are in the order of {column}: later ones are tested")
    return None


def _in_order(dataset: Dataset, column: str) -> bool:
    """Whether the rows are in the order of a column of dates without gaps, or in the opposite one."""
    import pandas as pd

    from auclab.datasets.dates import as_dates, find_dates

    values = pd.Series(dataset.column(column))
    written = find_dates(values)
    if values.isna().any() or values.nunique() < ENOUGH or (written is not None and written.other):
        return False
    if written is None and not str(values.dtype).startswith("datetime"):
        return False
    days = as_dates(values, None if written is None else written.formats[0])
    return bool(days.is_monotonic_increasing or days.is_monotonic_decreasing)


def _works(split: ByColumn, dataset: Dataset) -> bool:
    """Whether both parts of the split have what they need."""
    try:
        split.splits(split.target(dataset))
    except AuclabError:
        return False
    return True
