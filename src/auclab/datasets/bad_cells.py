"""Cells of a table that cannot be used, all of them in one message."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auclab._core.base import AuclabError
from auclab._core.words import FEW, counted, few
from auclab.datasets.labels import label_text, override

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
#: Texts that are missing values in upper and lower case: those of pandas and a question mark. Of "None", which is
#: often a category in lower case, only pandas' spelling is one.
USUAL_MARKS = frozenset(
    {"", "?", "na", "nan", "-nan", "null", "n/a", "#n/a", "#na", "#n/a n/a", "<na>", "1.#ind", "-1.#ind", "1.#qnan"}
)
#: Texts with a unit, of which some have another or none, are categories if there are no more different ones.
_FEW_TEXTS = 20
#: Cells of which one has to be a number in a column of numbers.
_LOOKED_AT = 1_000
_CURRENCY = r"[A-Z]{0,3}[$€£¥₹₽₩₺₴₪]|EUR|USD|GBP|CHF|JPY"
#: A number with a currency before it, or a currency, a percent sign or a unit behind it.
_NUMBER = re.compile(
    rf"([-+−]?)\s*({_CURRENCY}|)\s*([-+−]?)\s*"
    r"((?:\d[\d.,'’\u00a0\u202f ]*|[.,]\d+)(?<! )(?:[eE][-+]?\d+)?)\s*"
    rf"({_CURRENCY}|[^\W\d_][^\d]{{0,19}}|[%‰°][^\d]{{0,9}}|)"
)
_THOUSANDS = ("'", "’", " ", "\u00a0", "\u202f")
#: A whole number with zeros in front, which a number does not keep.
_WITH_ZEROS = re.compile(r"[-+]?0\d+")


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column of text are written.

    `before`, `after`: a currency, a percent sign or a unit. `thousands`, `decimal`: signs inside; no sign for thousands
    where there is none.
    """

    before: str = ""
    after: str = ""
    thousands: str = ""
    decimal: str = "."

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but digits and the sign before decimals."""
        return not (self.before or self.after or self.thousands)

    def __str__(self) -> str:
        """In words, such as ``$ before, thousands with ,``."""
        parts = [f"{self.before} before"] if self.before else []
        parts += [f"{self.after} behind"] if self.after else []
        parts += [f"thousands with {self.thousands}"] if self.thousands else []
        return ", ".join([*parts, *(["decimal commas"] if self.decimal == "," else [])])


def read_numbers(counts: Mapping[str, int], decimal: str = ".") -> tuple[NumberForm, dict[str, float]]:
    """The form in which most of some texts are numbers, and the numbers of those texts.

    `counts`: how often each text occurs, without blanks around it. `decimal`: the sign before decimals where both signs
    fit, as in 1,234.

    Examples
    --------
    >>> read_numbers({"$1,250.50": 1, "-$3": 1, "free": 1})[1]
    {'$1,250.50': 1250.5, '-$3': -3.0}
    >>> form, numbers = read_numbers({"1.889,50 kg": 2, "12 kg": 1})
    >>> (form.after, form.thousands, form.decimal), list(numbers.values())
    (('kg', '.', ','), [1889.5, 12.0])
    >>> read_numbers({"1,234": 1})[1], read_numbers({"1,234": 1}, ",")[1]
    ({'1,234': 1234.0}, {'1,234': 1.234})
    """
    parts = {text: found.groups() for text in counts if (found := _NUMBER.fullmatch(text)) is not None}
    units: Counter[tuple[str, str]] = Counter()
    for text, (_, before, _, _, after) in parts.items():
        units[before, after] += counts[text]
    if not units:
        return NumberForm(decimal=decimal), {}
    unit = units.most_common(1)[0][0]
    alike = {text: part for text, part in parts.items() if (part[1], part[4]) == unit}
    other = "." if decimal == "," else ","
    forms = [(other, decimal), (decimal, other), *((sign, point) for sign in _THOUSANDS for point in (decimal, other))]
    best: tuple[int, NumberForm, dict[str, float]] = (0, NumberForm(decimal=decimal), {})
    for thousands, point in forms:
        whole = rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d*"
        pattern = re.compile(rf"(?:{whole})(?:{re.escape(point)}\d*)?(?:[eE][-+]?\d+)?")
        fitting = {text: part for text, part in alike.items() if pattern.fullmatch(part[3])}
        n_cells = sum(counts[text] for text in fitting)
        if n_cells > best[0]:
            has_thousands = any(thousands in part[3] for part in fitting.values())
            form = NumberForm(*unit, thousands if has_thousands else "", point)
            best = n_cells, form, {text: _number(part, thousands, point) for text, part in fitting.items()}
    return best[1], best[2]


def _number(part: tuple[str, ...], thousands: str, decimal: str) -> float:
    size = float(part[3].replace(thousands, "").replace(decimal, "."))
    return -size if {part[0], part[2]} & {"-", "−"} else size


def tidy_texts(frame: pd.DataFrame, missing: Sequence[str] = ()) -> tuple[pd.DataFrame, list[str]]:
    r"""Texts without blanks around them, those that mark missing values as gaps; and a note on the blanks.

    `missing`: marks besides `USUAL_MARKS`, as they are written.

    Examples
    --------
    >>> import pandas as pd
    >>> tidy_texts(pd.DataFrame({"stage": ["ckd\t", "ckd", "Null  "]}))[0]["stage"].tolist()
    ['ckd', 'ckd', nan]
    """
    blank: dict[str, int] = {}
    changed: dict[str, pd.Series] = {}
    for name, column in frame.items():
        if str(column.dtype) not in ("object", "str", "string", "category"):
            continue
        counts = column.astype(object).value_counts()
        tidy = {text: text.strip() for text in counts.index if isinstance(text, str)}
        n_blank = sum(int(counts[text]) for text, bare in tidy.items() if bare not in ("", text))
        is_gap = {text: bare.lower() in USUAL_MARKS or bare in ("None", *missing) for text, bare in tidy.items()}
        if n_blank:
            blank[str(name)] = n_blank
        if n_blank or any(is_gap.values()):
            new = {text: float("nan") if is_gap[text] else bare for text, bare in tidy.items()}
            made = column.astype(object).map(lambda value, new=new: new.get(value, value))
            changed[str(name)] = made.astype("category") if str(column.dtype) == "category" else made.infer_objects()
    notes = []
    if blank:
        cells = counted(sum(blank.values()), "cell")
        notes.append(f"blanks around the text of {cells} are left out ({few(f'{k} {n}' for k, n in blank.items())})")
    return frame.assign(**changed), notes


@dataclass(frozen=True)
class NumbersInText:
    """A table whose columns of text that are numbers throughout have become numbers.

    `forms`: how they were written. `codes`: columns that stay text, as their numbers start with zeros. `notes`: on
    columns whose cells have more than digits.
    """

    frame: pd.DataFrame
    forms: Mapping[str, NumberForm]
    codes: tuple[str, ...]
    notes: tuple[str, ...]


def numbers_in_text(frame: pd.DataFrame, signs: Mapping[str, str], *, typed: bool = False) -> NumbersInText:
    """Read the columns of text that are numbers throughout, with signs and units or without.

    `signs`: the columns that may hold numbers, and the sign before their decimals. `typed`: whether the file says that
    they are text, so that reading them as numbers is noted whatever they look like.
    """
    made, forms, notes, codes = {}, {}, [], []
    for name, sign in signs.items():
        counts = _texts(frame[name])
        form, numbers = read_numbers(counts, sign)
        if not counts or len(numbers) < len(counts):
            continue
        if any(map(_WITH_ZEROS.fullmatch, counts)):
            codes.append(name)
            continue
        made[name] = frame[name].astype(object).map(lambda cell, of=numbers: of.get(label_text(cell))).astype(float)
        forms[name] = form
        if typed or not form.is_plain or form.decimal != sign:
            example = max(counts, key=len)
            notes.append(f"column {name!r} is read as numbers: {example!r} is {numbers[example]:.15g}")
    return NumbersInText(frame.assign(**made), forms, tuple(codes), tuple(notes))


def _texts(column: pd.Series) -> dict[str, int]:
    """How often each text occurs in a column of text; empty of others, and of one that begins without numbers."""
    if str(column.dtype) not in ("object", "str", "string"):
        return {}
    first = column.dropna().iloc[:_LOOKED_AT]
    if not any(_NUMBER.fullmatch(text) for text in map(label_text, first)):
        return {}
    counts: Counter[str] = Counter()
    for value, count in column.value_counts().items():
        if not isinstance(value, str | int | float):
            return {}
        counts[label_text(value)] += int(count)
    return counts


@dataclass(frozen=True)
class _Column:
    """A column of text that looks like numbers: which values are not, the row of the first, and how others look."""

    name: str
    others: tuple[str, ...]
    row: int
    n_cells: int
    n_numbers: int
    example: str


def refuse_bad_cells(frame: pd.DataFrame, signs: Mapping[str, str]) -> None:
    """Refuse columns of text in which most cells are numbers of one form, and name the cells that are not.

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
    if found:
        raise _mixed(found)


def bad_columns(frame: pd.DataFrame, signs: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The columns that `refuse_bad_cells` refuses, and their texts that are not numbers."""
    found = {name: _look(name, frame[name], sign) for name, sign in signs.items()}
    return {name: column.others for name, column in found.items() if column is not None}


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
    counts = _texts(column)
    form, numbers = read_numbers(counts, decimal)
    n_cells, n_numbers = sum(counts.values()), sum(counts[text] for text in numbers)
    if n_numbers in (0, n_cells) or n_numbers < _MOST * n_cells:
        return None
    if form.after[:1].isalpha() and len(counts) <= _FEW_TEXTS:
        return None
    others = [text for text in counts if text not in numbers]
    row = int(column.map(label_text, na_action="ignore").isin(others).to_numpy().argmax()) + 1
    first = label_text(column.iloc[row - 1])
    example = "" if form.is_plain else max(numbers, key=len)
    return _Column(name, (first, *(text for text in others if text != first)), row, n_cells, n_numbers, example)


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
    advice, other = "correct them, or leave them empty", "." if decimal == "," else ","
    if numbers_in(cells, other).notna().all() and (other == "," or not n_numbers):
        advice = f"dataset.decimal {other} reads decimal {'commas' if other == ',' else 'points'}"
    raise AuclabError(
        f"column {column.name!r} needs numbers, and has {cells.iloc[0]!r} in row {int(bad.argmax()) + 1} ({counts}): "
        f"{advice}"
    )


def _mixed(columns: Sequence[_Column]) -> AuclabError:
    parts = []
    for column in columns[:FEW]:
        count = column.n_cells - column.n_numbers
        verb = "cell that is not a number" if count == 1 else "cells that are not numbers"
        cells = few(map(repr, column.others))
        where = f"row {column.row}" if count == 1 else f"first in row {column.row}"
        such = f" such as {column.example!r}" if column.example else ""
        numbers = f"{column.n_numbers} that are{such}"
        parts.append(f"column {column.name!r} has {count} {verb} among {numbers}: {cells} ({where})")
    if len(columns) > FEW:
        parts.append(f"and {len(columns) - FEW} more columns")
    values = list(dict.fromkeys(value for column in columns for value in column.others))
    missing = override("dataset.missing", values)
    nominal = override("dataset.nominal", [column.name for column in columns])
    which = "it" if len(values) == 1 else "them"
    takes = "column" if len(columns) == 1 else "columns"
    return AuclabError(
        f"{'; '.join(parts)}; {missing} reads {which} as missing, {nominal} takes the {takes} as categories"
    )
