"""Cells that turn a column of numbers into text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auclab.datasets.dates import find_dates
from auclab.datasets.overrides import override
from auclab.types import AuclabError

if TYPE_CHECKING:
    import pandas as pd

#: A column of text of which this share is numbers was meant to be one of numbers.
_MOST = 0.5
#: Cells and columns that a message lists.
_LISTED = 4
#: Numbers that pandas does not read: thousands separators, another decimal sign, a percent or currency sign, a unit.
_NUMBER_LIKE = re.compile(r"[€$£¥]?\s*[-+−]?\s*\d[\d.,'’\u00a0\u202f ]*(\s*[%€$£¥]|\s+[A-Za-z]{1,4})?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


@dataclass(frozen=True)
class _Column:
    """A column of text that looks like numbers: which values are none, and the row of the first."""

    name: str
    others: tuple[str, ...]
    row: int
    n_cells: int
    n_numbers: int


def refuse_bad_cells(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse columns of text in which most cells are numbers, and name the cells that are none.

    Parameters
    ----------
    frame : DataFrame
    names : sequence of str
        The columns that are looked at: those that are not declared as categories.

    Raises
    ------
    AuclabError
        At least half of the cells of a column are numbers, or look like numbers that cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> refuse_bad_cells(pd.DataFrame({"age": ["31", "unknown", "45"]}), ["age"])
    Traceback (most recent call last):
        ...
    auclab.types.AuclabError: column 'age' has 1 cell that is no number among 2 that are: 'unknown' (row 2); ...
    """
    found = [column for name in names if (column := _look(name, frame[name])) is not None]
    unread = [column for column in found if not column.n_numbers]
    if unread:
        raise _unread(unread)
    if found:
        raise _mixed(found)


def _look(name: str, column: pd.Series) -> _Column | None:
    import pandas as pd

    if str(column.dtype) not in ("object", "str", "string"):
        return None
    counts = column.dropna().value_counts()
    if counts.empty or not all(isinstance(value, str) for value in counts.index):
        return None
    is_number = pd.to_numeric(pd.Series(counts.index.astype(object)), errors="coerce").notna().to_numpy()
    n_cells, n_numbers = int(counts.sum()), int(counts[is_number].sum())
    others = counts.index[~is_number]
    if n_numbers < _MOST * n_cells:
        like = [bool(_NUMBER_LIKE.fullmatch(value.strip())) for value in others]
        if int(counts[~is_number][like].sum()) < _MOST * n_cells or find_dates(column) is not None:
            return None
        n_numbers, others = 0, others[like]
    row = int(column.isin(list(others)).to_numpy().argmax()) + 1
    first = str(column.iloc[row - 1])
    return _Column(name, (first, *(str(value) for value in others if value != first)), row, n_cells, n_numbers)


def _mixed(columns: Sequence[_Column]) -> AuclabError:
    parts = []
    for column in columns[:_LISTED]:
        count = column.n_cells - column.n_numbers
        verb = "cell that is no number" if count == 1 else "cells that are no numbers"
        cells = ", ".join(map(repr, column.others[:_LISTED])) + (", …" if len(column.others) > _LISTED else "")
        where = f"row {column.row}" if count == 1 else f"first in row {column.row}"
        parts.append(f"column {column.name!r} has {count} {verb} among {column.n_numbers} that are: {cells} ({where})")
    if len(columns) > _LISTED:
        parts.append(f"and {len(columns) - _LISTED} more columns")
    values = list(dict.fromkeys(value for column in columns for value in column.others))
    missing = override("dataset.missing", values)
    nominal = override("dataset.nominal", [column.name for column in columns])
    which = "it" if len(values) == 1 else "them"
    takes = "column" if len(columns) == 1 else "columns"
    return AuclabError(
        f"{'; '.join(parts)}; {missing} reads {which} as missing, {nominal} takes the {takes} as categories"
    )


def _unread(columns: Sequence[_Column]) -> AuclabError:
    first = columns[0]
    several = f" (and {len(columns) - 1} more)" if len(columns) > 1 else ""
    ways = [override("dataset.nominal", [column.name for column in columns]) + " takes it as categories"]
    if _DECIMAL_COMMA.fullmatch(first.others[0].strip()):
        ways.insert(0, override("dataset.decimal", ",") + " reads decimal commas")
    return AuclabError(
        f"column {first.name!r}{several} looks like numbers that cannot be read, such as {first.others[0]!r} in row "
        f"{first.row}; write them without thousands separators, signs and units, or {', or '.join(ways)}"
    )
