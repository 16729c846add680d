"""Cells of a table that cannot be used, all of them in one message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auclab._core.base import AuclabError
from auclab._core.words import FEW, counted, few
from auclab.datasets.dates import find_dates
from auclab.datasets.labels import override

if TYPE_CHECKING:
    import pandas as pd


class Refusals:
    """Collects the errors of several checks and raises them as one, so that a table is repaired once.

    Examples
    --------
    >>> refusals = Refusals()
    >>> for word in ("first", "second"):
    ...     with refusals.collected():
    ...         raise AuclabError(f"the {word} reason")
    >>> refusals.raise_all()
    Traceback (most recent call last):
        ...
    auclab.datasets.bad_cells.SeveralError: 2 problems: (1) the first reason (2) the second reason
    """

    def __init__(self) -> None:
        self.reasons: list[str] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep an `AuclabError` of the body, or the several ones that it stands for."""
        try:
            yield
        except AuclabError as error:
            several = getattr(error, "reasons", (str(error),))
            self.reasons += [reason for reason in several if reason not in self.reasons]

    def raise_all(self) -> None:
        """Raise what was collected, if anything was."""
        if len(self.reasons) == 1:
            raise AuclabError(self.reasons[0])
        if self.reasons:
            raise SeveralError(self.reasons)


class SeveralError(AuclabError):
    """Two reasons or more, in the order in which they were found."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = tuple(reasons)
        numbered = " ".join(f"({k}) {reason}" for k, reason in enumerate(reasons, start=1))
        super().__init__(f"{len(reasons)} problems: {numbered}")


#: A column of text of which this share is numbers was meant to be one of numbers.
_MOST = 0.5
#: Numbers that pandas does not read: thousands separators, another decimal sign, a percent or currency sign, a unit.
_NUMBER_LIKE = re.compile(r"[€$£¥]?\s*[-+−]?\s*\d[\d.,'’\u00a0\u202f ]*(\s*[%€$£¥]|\s+[A-Za-z]{1,4})?")
_DECIMAL_POINT = re.compile(r"[-+]?\d+\.\d+")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
#: Of which all may be thousands: 1,234 read with a decimal comma is a thousandth of what it says.
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")


@dataclass(frozen=True)
class _Column:
    """A column of text that looks like numbers: which values are none, and the row of the first."""

    name: str
    others: tuple[str, ...]
    row: int
    n_cells: int
    n_numbers: int


def refuse_bad_cells(frame: pd.DataFrame, signs: Mapping[str, str]) -> None:
    """Refuse columns of text in which most cells are numbers, and name the cells that are none.

    `signs`: the columns that are looked at, those that are not declared as categories, and the sign before their
    decimals.

    Examples
    --------
    >>> import pandas as pd
    >>> refuse_bad_cells(pd.DataFrame({"age": ["31", "unknown", "45"]}), {"age": "."})
    Traceback (most recent call last):
        ...
    auclab.AuclabError: column 'age' has 1 cell that is not a number among 2 that are: 'unknown' (row 2); ...
    """
    found = [column for name, sign in signs.items() if (column := _look(name, frame[name], sign)) is not None]
    refusals = Refusals()
    for columns in _alike(found, signs):
        sign = signs[columns[0].name]
        is_mixed = columns[0].n_numbers > 0
        error = _mixed(columns, sign) if is_mixed else _unread(columns, sign, points=_has_points(frame))
        refusals.reasons.append(str(error))
    refusals.raise_all()


def bad_columns(frame: pd.DataFrame, signs: Mapping[str, str]) -> list[str]:
    """The columns that `refuse_bad_cells` refuses."""
    return [name for name, sign in signs.items() if _look(name, frame[name], sign) is not None]


def _alike(found: Sequence[_Column], signs: Mapping[str, str]) -> list[list[_Column]]:
    """Columns that one sentence is about: read with the same sign, with some numbers or none, with commas or not."""
    kinds: dict[tuple[str, bool, bool], list[_Column]] = {}
    for column in found:
        commas = not column.n_numbers and _have_decimal_commas(column.others)
        kinds.setdefault((signs[column.name], bool(column.n_numbers), commas), []).append(column)
    return list(kinds.values())


def numbers_in(text: pd.Series, decimal: str = ".") -> pd.Series:
    """Texts as numbers, NaN for other texts; with decimal commas, a text with a point is not a number.

    Examples
    --------
    >>> import pandas as pd
    >>> numbers_in(pd.Series(["1,5", "1.5", "2"]), ",").tolist()
    [1.5, nan, 2.0]
    """
    import pandas as pd

    texts = text.astype(object)
    if decimal == ",":
        plain = texts.astype("string")
        texts = plain.mask(plain.str.contains(".", regex=False)).str.replace(",", ".", regex=False).astype(object)
    return pd.to_numeric(texts, errors="coerce").astype(float)


def _look(name: str, column: pd.Series, decimal: str) -> _Column | None:
    import pandas as pd

    if str(column.dtype) not in ("object", "str", "string"):
        return None
    counts = column.dropna().value_counts()
    if counts.empty or not all(isinstance(value, str) for value in counts.index):
        return None
    is_number = numbers_in(pd.Series(counts.index.astype(object)), decimal).notna().to_numpy()
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


def read_as_numbers(column: pd.Series, decimal: str) -> pd.Series:
    """A column of text of new rows as numbers, where a model needs them.

    Examples
    --------
    >>> import pandas as pd
    >>> read_as_numbers(pd.Series(["1,5", "n/a"], name="age"), ",")
    Traceback (most recent call last):
        ...
    auclab.AuclabError: column 'age' needs numbers, and has 'n/a' in row 2 (1 such cell, ...
    """
    numbers = numbers_in(column, decimal)
    bad = (numbers.isna() & column.notna()).to_numpy()
    if not bad.any():
        return numbers
    cells, n_numbers = column[bad], int(numbers.notna().sum())
    counts = f"{counted(len(cells), 'such cell')}, {counted(n_numbers, 'number')}"
    counts += " with decimal commas" if decimal == "," else ""
    advice = "correct them, or leave them empty"
    if decimal != "," and _have_decimal_commas(cells.astype(str)):
        advice = "dataset.decimal , reads decimal commas"
    elif decimal == "," and not n_numbers and numbers_in(cells).notna().all():
        advice = "dataset.decimal . reads decimal points"
    raise AuclabError(
        f"column {column.name!r} needs numbers, and has {cells.iloc[0]!r} in row {int(bad.argmax()) + 1} ({counts}): "
        f"{advice}"
    )


def _have_decimal_commas(cells: Iterable[str]) -> bool:
    """Whether all cells may be numbers with decimal commas, and not all of them thousands."""
    texts = [cell.strip() for cell in cells]
    return all(map(_DECIMAL_COMMA.fullmatch, texts)) and not all(map(_THOUSANDS.fullmatch, texts))


def _mixed(columns: Sequence[_Column], decimal: str) -> AuclabError:
    parts = []
    for column in columns[:FEW]:
        count = column.n_cells - column.n_numbers
        verb = "cell that is not a number" if count == 1 else "cells that are not numbers"
        cells = few(map(repr, column.others))
        where = f"row {column.row}" if count == 1 else f"first in row {column.row}"
        parts.append(f"column {column.name!r} has {count} {verb} among {column.n_numbers} that are: {cells} ({where})")
    if len(columns) > FEW:
        parts.append(f"and {len(columns) - FEW} more columns")
    values = list(dict.fromkeys(value for column in columns for value in column.others))
    missing = override("dataset.missing", values)
    nominal = override("dataset.nominal", [column.name for column in columns])
    which = "it" if len(values) == 1 else "them"
    takes = "column" if len(columns) == 1 else "columns"
    if decimal == ",":
        parts[-1] += " (numbers of this file have decimal commas)"
    return AuclabError(
        f"{'; '.join(parts)}; {missing} reads {which} as missing, {nominal} takes the {takes} as categories"
    )


def _unread(columns: Sequence[_Column], decimal: str, *, points: bool) -> AuclabError:
    """`points`: whether other columns of the table have decimal points."""
    first, names = columns[0], [column.name for column in columns]
    several = f" (and {len(columns) - 1} more)" if len(columns) > 1 else ""
    ways = [override("dataset.nominal", names) + " takes it as categories"]
    if decimal != "," and _have_decimal_commas(first.others):
        setting = override("dataset.decimal_comma", names) if points else override("dataset.decimal", ",")
        ways.insert(0, f"{setting} reads decimal commas")
    elif decimal == "," and all(map(_DECIMAL_POINT.fullmatch, first.others)):
        ways.insert(0, "leave out dataset.decimal and name the columns with commas in dataset.decimal_comma")
    return AuclabError(
        f"column {first.name!r}{several} looks like numbers that cannot be read, such as {first.others[0]!r} in row "
        f"{first.row}; write them without thousands separators, signs and units, or {', or '.join(ways)}"
    )


def _has_points(frame: pd.DataFrame) -> bool:
    """Whether some column was read as numbers with decimals."""
    floats = [column for _, column in frame.items() if column.dtype.kind == "f"]
    return any(bool((column.dropna() % 1 != 0).any()) for column in floats)
