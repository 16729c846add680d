"""The columns of a table by kind: numbers, categories, dates; what is left out or filled, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import AuclabError
from auclab._core.validation import LARGEST_SQUARED
from auclab._core.words import FEW, counted, few
from auclab.datasets.bad_cells import Refusals
from auclab.datasets.dates import PARTS, DateText, check_parts, find_dates
from auclab.datasets.labels import as_labels, override
from auclab.datasets.likely_roles import why_identifier
from auclab.datasets.records import Dataset
from auclab.samples.blocks.table import BlockTable

if TYPE_CHECKING:
    import pandas as pd

#: Columns of a category, unless another number is given (conf/dataset has none with more), and values of a column of
#: text that is not declared nominal, which may also have one for every other row.
MAX_CATEGORIES = 50
#: Share of gaps above which they are a category of their own.
MISSING_CATEGORY = 0.1
#: Columns that a part of a date becomes.
_WIDTH = {"year": 1, "month": 12, "weekday": 7, "age": 1}


class Encoding(TypedDict, total=False):
    """How columns become numbers, besides the scale: settings that all functions of `preprocess` take.

    `max_categories` ≥ 2 or None: columns that one category may become: the most frequent values, and one for all
    others, values that were not in the training part among them. None: a column for each value. 50 if left out.
    `missing_category`: the share of gaps of the training part above which the gaps of a column of categories are a
    category of their own; below it they become the most frequent one. None, and with `missing_indicators`: they always
    do. 0.1 if left out.
    `missing_indicators`: add a column of zeros and ones for each column that has gaps in the training part. `dates`:
    what becomes of dates: any of year, month, weekday, age (`auclab.datasets.steps.DateFeatures`). None refuses
    tables with dates. `date_format`: of dates in text, such as ``%d/%m/%Y``; found if None.
    """

    max_categories: int | None
    missing_category: float | None
    missing_indicators: bool
    dates: str | Sequence[str] | None
    date_format: str | None


def share_of_category(encoding: Encoding) -> float | None:
    """The share of gaps above which they are a category of their own; None where they never are."""
    if encoding.get("missing_indicators"):  # which say it already
        return None
    return encoding.get("missing_category", MISSING_CATEGORY)


@dataclass(frozen=True)
class Columns:
    """The columns of a table by what becomes of them.

    `text`: those whose words become features. `dates`: of each column of dates the format; None if it is stored as
    dates. `widths`: into how many features each column is encoded, constant ones included; of words that is not known.
    `notes`: what is worth knowing before a solve.
    """

    numeric: tuple[str, ...]
    nominal: tuple[str, ...]
    text: tuple[str, ...] = ()
    dates: Mapping[str, str | None] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def sort_columns(dataset: Dataset, **encoding: Unpack[Encoding]) -> Columns:
    """Tell numbers, categories and dates apart, and refuse any other column.

    `dataset`: its `X` is a DataFrame. The settings: see `Encoding`.
    """
    parts = _checked(encoding)
    numeric: list[str] = []
    nominal: list[str] = []
    found: dict[str, DateText | None] = {}
    free_text: list[str] = []
    table: Any = dataset.X
    refusals = Refusals()
    for label, column in table.items():
        name = str(label)
        if name in dataset.text:
            continue
        kind = _kind(name, column, dataset)
        if kind == "numeric":
            with refusals.collected():
                values = column.to_numpy(dtype=np.float64, na_value=np.nan)
                refuse_numbers(values, f"column {name!r}", lambda at: f"row {at + 1}")
            numeric.append(name)
        elif kind == "date":
            found[name] = None
        elif kind == "text":
            is_free = _is_free_text(name, column)
            if (written := find_dates(column)) is not None:
                found[name] = written
            else:
                (free_text if is_free else nominal).append(name)
        else:
            nominal.append(name)
    with refusals.collected():
        if free_text:
            raise AuclabError(_free_text(free_text, table))
    with refusals.collected():
        if found and not parts:
            raise AuclabError(_dates_without_setting(list(found), table))
    formats: dict[str, str | None] = {}
    for name, how in found.items() if parts else ():
        with refusals.collected():
            formats[name] = _format(name, how, table, encoding.get("date_format"))
    refusals.raise_all()
    share = share_of_category(encoding)
    own = [name for name in nominal if share is not None and table[name].isna().mean() > share]
    widths, notes = _widths(table, numeric, nominal, own, formats, parts, encoding)
    notes += [f"words of column {name!r} are features (dataset.text)" for name in dataset.text]
    all_notes = (*notes, *_identifiers(table, numeric))
    return Columns(tuple(numeric), tuple(nominal), dataset.text, formats, widths, all_notes)


def block_columns(table: BlockTable, **encoding: Unpack[Encoding]) -> Columns:
    """The columns of a table in blocks, as its files say what they are; nothing is read."""
    _checked(encoding)
    numeric = tuple(name for name in table.columns if name not in table.nominal)
    return Columns(numeric, table.nominal)


def _checked(encoding: Encoding) -> tuple[str, ...]:
    """The parts of dates; refuses settings out of range."""
    max_categories, missing_category = encoding.get("max_categories"), encoding.get("missing_category")
    if max_categories is not None and (
        isinstance(max_categories, bool) or not isinstance(max_categories, int | np.integer) or max_categories < 2
    ):
        raise AuclabError(
            f"preprocess.max_categories is {max_categories!r}; it is a whole number ≥ 2, or null for no limit"
        )
    if missing_category is not None and not 0 <= missing_category <= 1:
        raise AuclabError(
            f"preprocess.missing_category is {missing_category!r}; it is a share from 0 to 1, or null for no category"
        )
    parts = as_labels(encoding.get("dates"))
    if encoding.get("dates") is not None:
        check_parts(parts)
    return parts


def _kind(name: str, column: pd.Series, dataset: Dataset) -> str:
    """``numeric``, ``nominal``, ``date`` or ``text``."""
    from pandas import SparseDtype
    from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

    if name in dataset.nominal or is_bool_dtype(column.dtype):
        return "nominal"
    if isinstance(column.dtype, SparseDtype):
        raise AuclabError(
            f"column {name!r} is stored as {column.dtype}: give all columns as one SciPy CSR matrix, or make them "
            "dense with X.sparse.to_dense()"
        )
    if is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
        return "numeric"
    if is_datetime64_any_dtype(column.dtype):
        return "date"
    if str(column.dtype) in ("object", "str", "string", "category"):
        return "text"
    raise AuclabError(f"column {name!r} is of type {column.dtype}; make it a number or a category, or drop it")


def refuse_numbers(values: NDArray[np.float64], of: str, place: Callable[[int], str], *, gaps: bool = True) -> None:
    """Reject ±∞ and numbers whose squares a variance could not hold, and NaN where there may be no `gaps`.

    `of`: what the values are of. `place`: of the one with this number, in words.
    """
    bad = np.isinf(values) if gaps else ~np.isfinite(values)
    if bad.any():
        what = counted(bad.sum(), "infinite value" if gaps else "infinite or missing value")
        fill = ", or leave them empty to have them imputed" if gaps else ""
        first = f"first in {place(int(bad.argmax()))}"
        raise AuclabError(f"{of} has {what} ({first}); only finite numbers work: replace them{fill}")
    large = np.abs(values) > LARGEST_SQUARED
    if large.any():
        raise AuclabError(
            f"{of} has {counted(large.sum(), 'value')} above {LARGEST_SQUARED:.0e} in size (first in "
            f"{place(int(large.argmax()))}), whose squares are too large for doubles: divide the column, or drop it"
        )


def _is_free_text(name: str, column: pd.Series) -> bool:
    """Whether text is different in most rows, as names and identifiers are."""
    try:
        values = column.nunique()
    except TypeError as error:  # lists and the like
        raise AuclabError(
            f"column {name!r} holds values that cannot be categories ({error}); make them text"
        ) from error
    return bool(values > max(MAX_CATEGORIES, len(column) // 2))


def _described(names: Sequence[str], table: Any, what: str) -> tuple[str, str]:
    """What some columns hold, with an example each; and a pronoun for them."""
    parts = [
        f"column {name!r} holds {what.format(table[name].nunique())} such as {str(table[name].dropna().iloc[0])!r}"
        for name in names[:FEW]
    ]
    parts += [f"and {len(names) - FEW} more columns"] if len(names) > FEW else []
    return "; ".join(parts), "it" if len(names) == 1 else "them"


def _free_text(names: Sequence[str], table: Any) -> str:
    kinds, which = _described(names, table, f"text with {{}} different values in {len(table)} rows,")
    return (
        f"{kinds}: identifiers, names and damaged numbers are not categories. Drop {which} with "
        f"{override('dataset.drop', names)}, take {which} as categories with {override('dataset.nominal', names)}, or "
        f"make features of the words with {override('dataset.text', names)}"
    )


def _dates_without_setting(names: Sequence[str], table: Any) -> str:
    kinds, which = _described(names, table, "dates, {} different ones")
    return (
        f"{kinds}: make features of {which} with 'preprocess.dates=[year,month,age]' (any of {', '.join(PARTS)}), drop "
        f"{which} with {override('dataset.drop', names)}, or take {which} as categories with "
        f"{override('dataset.nominal', names)}"
    )


def _format(name: str, written: DateText | None, table: Any, date_format: str | None) -> str | None:
    if written is None or date_format is not None:
        return None if written is None else date_format
    if len(written.formats) > 1:
        choices = " or ".join(override("preprocess.date_format", each) for each in written.formats)
        raise AuclabError(
            f"column {name!r} holds dates such as {table[name].dropna().iloc[0]!r}, of which day and month cannot "
            f"be distinguished; give {choices}"
        )
    if written.other:
        row = int((table[name].astype(object) == written.other[0]).to_numpy().argmax()) + 1
        raise AuclabError(
            f"column {name!r} holds dates, but {written.other[0]!r} in row {row} is not a date; repair it, or read it "
            f"as missing with {override('dataset.missing', written.other[:3])}"
        )
    return written.formats[0]


def refuse_constant(dataset: Dataset) -> None:
    """Refuse a table of which no column varies."""
    table: Any = dataset.X
    if all(column.nunique() <= 1 for _, column in table.items()):
        names = [str(name) for name in table.columns]
        raise AuclabError(
            f"every column of {dataset.name!r} has one value only ({few(map(repr, names))}), so that no scorer "
            "distinguishes the rows; at least one column has to vary"
        )


def _widths(
    table: Any,
    numeric: Sequence[str],
    nominal: Sequence[str],
    own: Sequence[str],
    dates: Mapping[str, str | None],
    parts: Sequence[str],
    encoding: Encoding,
) -> tuple[dict[str, int], list[str]]:
    """Features of each column, and notes on those that are pooled; `own`: columns whose gaps are a category."""
    widths: dict[str, int] = {}
    notes: list[str] = []
    limit = encoding.get("max_categories", MAX_CATEGORIES)
    for name in map(str, table.columns):
        if name in nominal:
            values = int(table[name].nunique()) + (name in own)
            widths[name] = values if values > 1 else 0  # a constant column is dropped
            if limit is not None and values > limit:
                widths[name] = limit
                notes.append(
                    f"column {name!r} has {values} categories: the {limit - 1} most frequent have a feature "
                    f"each, the rest share one; preprocess.max_categories={values} keeps all"
                )
        elif name in (*numeric, *dates):
            widths[name] = int(_varies(table[name])) if name in numeric else sum(_WIDTH[part] for part in parts)
        widths[name] = widths.get(name, 0) + int(
            bool(encoding.get("missing_indicators")) and bool(table[name].isna().any())
        )
    widths = {name: width for name, width in widths.items() if width}
    if own:
        shares = few(f"{name} {table[name].isna().mean():.0%}" for name in own)
        notes.append(f"gaps are a category of their own in {counted(len(own), 'column')} ({shares})")
    for name in dates:
        notes.append(f"column {name!r} holds dates; made of it: {', '.join(parts)}")
    return widths, notes


def _varies(column: Any) -> bool:
    """Whether numbers have two values or more."""
    return bool(column.min() < column.max())


def _identifiers(table: Any, numeric: Sequence[str]) -> list[str]:
    """A note on columns of numbers that identify rows."""
    reasons = {name: why for name in numeric if (why := why_identifier(name, table[name]))}
    if not reasons:
        return []
    named = few(f"{name!r} ({why})" for name, why in reasons.items())
    which, form = ("them", "identifiers? Columns") if len(reasons) > 1 else ("it", "an identifier? Column")
    return [f"{form} {named}; {override('dataset.drop', list(reasons))} leaves {which} out"]


def gap_notes(table: pd.DataFrame, *, drops_constant: bool = True, share: float | None = None) -> tuple[str, ...]:
    """One sentence on the gaps of a table and on its columns without any difference; none where there is neither.

    `drops_constant`: whether the preparation leaves out columns that are constant. `share`: of gaps, above which those
    of categories are a category of their own, and are not filled.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 40, None], "city": ["Rome", "Rome", None], "remark": [None, None, None]})
    >>> print(*gap_notes(table))  # doctest: +NORMALIZE_WHITESPACE
    filled 1 gap in 1 column (age 1) with the median or the most frequent value of the training part; dropped columns
    'city' (one value), 'remark' (empty)
    """
    gaps = {str(name): int(column.isna().sum()) for name, column in table.items()}
    constant = {str(name): gaps[str(name)] == len(table) for name, column in table.items() if _is_constant(column)}
    own = [str(name) for name, column in table.items() if share is not None and column.dtype.kind not in "biufM"]
    own = [name for name in own if share is not None and share < gaps[name] / len(table) < 1]
    filled = {name: n for name, n in gaps.items() if n and name not in own}
    filled = {name: n for name, n in filled.items() if not (name in constant and drops_constant)}
    parts = []
    if filled:
        most = sorted(filled.items(), key=lambda item: -item[1])
        named = [f"{name} {count:,}" for name, count in most]
        parts.append(
            f"filled {counted(sum(filled.values()), 'gap')} in {counted(len(filled), 'column')} ({few(named)}) with "
            "the median or the most frequent value of the training part"
        )
    if constant and drops_constant:
        named = [f"{name!r} ({'empty' if is_empty else 'one value'})" for name, is_empty in constant.items()]
        parts.append(f"dropped column{'s' if len(named) > 1 else ''} {few(named)}")
    return ("; ".join(parts),) if parts else ()


def _is_constant(column: pd.Series) -> bool:
    # Rows that tell most columns that vary.
    return bool(column.iloc[:1_000].nunique() <= 1 and column.nunique() <= 1)
