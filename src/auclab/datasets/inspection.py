"""What a table holds: kinds of columns, likely targets and splits, and what would mislead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auclab._core.base import AuclabError
from auclab._core.words import FEW, few
from auclab.datasets.bad_cells import NumberForm, Refusals, numbers_in_text
from auclab.datasets.columns import MAX_CATEGORIES, MISSING_CATEGORY, refuse_constant, sort_columns
from auclab.datasets.dates import find_dates
from auclab.datasets.file import QUERY, FileSettings, FileTable, load_file, read_svmlight, read_table, refuse_empty
from auclab.datasets.formats import format_of
from auclab.datasets.labels import label_text, override, same_label
from auclab.datasets.leaks import leak_notes
from auclab.datasets.likely_roles import Target, choose_target, why_group, why_identifier
from auclab.datasets.records import Dataset
from auclab.datasets.splits import ByColumn, Grouped, Timed, check_rows

if TYPE_CHECKING:
    import pandas as pd

#: Times that rows in their order have at least; rows of a category that is not rare.
_ENOUGH = 10


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


def propose_split(dataset: Dataset, groups: Sequence[str], dates: Sequence[str]) -> ProposedSplit | None:
    """The split of a data set, tried on it; None where a random one is as good as any.

    Parameters
    ----------
    dataset : Dataset
        With its columns as they are read.
    groups : sequence of str
        Columns of groups, as `why_group` finds them.
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
    try:
        times = np.asarray(Timed(column).target(dataset).order)
    except AuclabError:
        return False
    steps = np.diff(times)
    return bool(times.max() + 1 >= _ENOUGH and (np.all(steps >= 0) or np.all(steps <= 0)))


def _works(split: ByColumn, dataset: Dataset) -> bool:
    """Whether both parts of the split have what they need."""
    try:
        split.splits(split.target(dataset))
    except AuclabError:
        return False
    return True


#: Kinds of columns that are not features.
_ROLES = ("target", "event", "time", "query")
#: Words of a text from which those of a column are worth features.
_WORDS = 4
#: What the features of dates are, unless the user says otherwise.
DATE_PARTS = ("year", "month", "age")
#: Share of the rows of the held-out part, of which both classes need some.
_TEST_SIZE = 0.3


@dataclass(frozen=True)
class InspectedColumn:
    """A column of a table.

    `name`, `kind`: ``number``, ``category``, ``date``, ``identifier``, ``group`` (an identifier of several rows),
    ``text``, ``codes`` (numbers that start with 0), ``constant``, ``empty``, or a role: ``target``,
    ``event``, ``time``, ``query``. `missing`, `values`: rows without a value, and different values. `shown`: the range
    of numbers, the most frequent categories, an example of anything else. `action`: what a run makes of it: a setting
    that it needs, or what happens without one. `settings`: values of `drop`, `missing`, `text`, `missing_target`,
    and of ``dates`` and ``date_format`` of the preparation.
    """

    name: str
    kind: str
    missing: int
    values: int
    shown: str = ""
    action: str = ""
    settings: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Inspection:
    """Description of a table, column by column, with the command that runs on it.

    Attributes
    ----------
    path : Path
    rows, repeated : int
        Number of rows, and of rows that repeat an earlier one.
    written : tuple of str
        How a csv file is written.
    columns : tuple of InspectedColumn
        In the order of the file; none of an svmlight file, whose columns have no names.
    target : Target or None
        None if no column has two values and none was named.
    problems : tuple of str
        Problems that the command does not solve.
    leaks : tuple of str
        Columns that tell the target alone, in words; the command does not leave them out.
    split : ProposedSplit, optional
        A split by a column whose values stay together, or by a date column in whose order the rows are.

    See Also
    --------
    inspect_file : Creates it.

    Examples
    --------
    >>> column = InspectedColumn("id", "identifier", 0, 9, settings={"drop": ["id"]})
    >>> target = Target("left", "yes", True, {"no": 6, "yes": 3})
    >>> print(Inspection(Path("my.csv"), 9, 0, (), (column,), target).command)
    auclab run dataset=file dataset.path=my.csv dataset.target=left dataset.positive=yes 'dataset.drop=[id]'
    """

    path: Path
    rows: int
    repeated: int
    written: tuple[str, ...]
    columns: tuple[InspectedColumn, ...]
    target: Target | None
    problems: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    split: ProposedSplit | None = None

    def gathered(self, key: str) -> list[str]:
        """The values of a setting over all columns."""
        return list(dict.fromkeys(value for column in self.columns for value in column.settings.get(key, ())))

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of `auclab.datasets.file.load_file` for this file."""
        found: dict[str, Any] = {"path": str(self.path)}
        if self.target is not None:
            found |= {self.target.role: self.target.name} if self.target.name else {}
            roles = {"time": self.target.time, "group": self.target.query, "graded": self.target.graded}
            found |= {role: value for role, value in roles.items() if value}
            found |= {"positive": self.target.positive} if self.target.named else {}
        found |= {"missing_target": "drop"} if self.gathered("missing_target") else {}
        return found | {key: each for key in ("drop", "missing", "text") if (each := self.gathered(key))}

    @property
    def encoding(self) -> dict[str, Any]:
        """The settings of the preparation (`auclab.datasets.columns.Encoding`)."""
        dates, formats = self.gathered("dates"), self.gathered("date_format")
        return ({"dates": dates} if dates else {}) | ({"date_format": formats[0]} if formats else {})

    @property
    def command(self) -> str:
        """The command that runs on this table, as it is typed; empty without a target."""
        if self.target is None:
            return ""
        words = [override(f"dataset.{key}", value) for key, value in self.settings.items()]
        words += [override(f"preprocess.{key}", value) for key, value in self.encoding.items()]
        words += [] if self.split is None else self.split.words
        return " ".join(["auclab run dataset=file", *words])


def inspect_file(path: str | Path, *, target: str | None = None, positive: str | None = None) -> Inspection:
    r"""Look at a csv, tsv, parquet or svmlight file, and find the settings that a run on it needs.

    Parameters
    ----------
    path : path
    target : str, optional
        Column with the labels. By default a column with two values: one with a usual name, otherwise the last.
    positive : str, optional
        Label of the positive class. By default the conventional one of 0/1, −1/1 and False/True, otherwise the rarest
        label.

    Returns
    -------
    Inspection
        Its `command` has been tried on the table; whatever would still be refused is in `problems`.

    Raises
    ------
    AuclabError
        A file that cannot be read as a table, or no such column or label.

    See Also
    --------
    auclab.datasets.file.load_file : Takes `Inspection.settings`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "my.csv"
    >>> rows = [f"K-{k},{k};{k % 5},{'yes' if k % 4 == 0 else 'no'}".replace(";", ".") for k in range(60)]
    >>> _ = path.write_text("\n".join(["id,size,left", *rows]), encoding="utf-8")
    >>> found = inspect_file(path)
    >>> [(column.name, column.kind) for column in found.columns]
    [('id', 'identifier'), ('size', 'number'), ('left', 'target')]
    >>> found.settings["drop"], found.settings["positive"], found.problems
    (['id'], 'yes', ())
    """
    where = Path(path).expanduser()
    if not where.is_file():
        raise AuclabError(
            f"{where} does not exist, or is not a file; auclab inspect takes a csv, tsv, parquet or svmlight file"
        )
    refuse_empty(where)
    if format_of(where) == "svmlight":
        return _of_svmlight(where, target, positive)
    table = read_table(where, FileSettings.of({}))
    if table.frame.empty:
        raise AuclabError(f"{where} has no rows below its header; at least two are needed")
    chosen = choose_target(table.frame, target, positive)
    columns = _columns(table, chosen)
    names = {"sep": "separator", "decimal": "decimals", "encoding": "encoding"}
    signs = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", ".": "point"}
    written = tuple(f"{names[key]} {signs.get(sign, sign)}" for key, sign in table.written.items() if key in names)
    found = Inspection(where, len(table.frame), int(table.frame.duplicated().sum()), written, columns, chosen)
    return _tried(found)


def _of_svmlight(where: Path, target: str | None, positive: str | None) -> Inspection:
    """Rows, columns and labels of a file whose columns have no names."""
    import pandas as pd

    if target is not None:
        raise AuclabError(
            f"--target {target}: the columns of an svmlight file have no names, and its labels come first"
        )
    X, labels, queries = read_svmlight(where)
    chosen = choose_target(pd.DataFrame({"": labels}), "", positive)
    if queries is not None and positive is None and chosen is not None and len(chosen.counts) > 2:
        chosen = Target("", "", False, chosen.counts, "they are grades", graded=True)
    filled = f"{X.nnz / max(1, X.shape[0] * X.shape[1]):.2g} of the entries are not 0".replace("0.", ".", 1)
    written = [f"{X.shape[1]:,} columns without names", filled]
    if queries is not None:
        written.append(f"{len(set(queries)):,} queries ({QUERY}), within which rows are compared")
    found = Inspection(where, X.shape[0], 0, tuple(written), (), chosen)
    refusals = Refusals()
    leaks: tuple[str, ...] = ()
    with refusals.collected():
        dataset = load_file(**found.settings)
        leaks = leak_notes(dataset)
        _check(dataset)
    return replace(found, problems=tuple(refusals.reasons), leaks=leaks)


def _tried(found: Inspection) -> Inspection:
    """With what a run with the proposed settings would refuse, the split that the rows call for, and leaks."""
    if found.target is None:
        no_target = (
            "no column has two values, so that the target is unknown: name it with --target COLUMN, and its positive "
            "label with --positive LABEL"
        )
        return replace(found, problems=(no_target,))
    refusals, split = Refusals(), None
    leaks: tuple[str, ...] = ()
    with refusals.collected():
        dataset = load_file(**found.settings)
        groups, dates = ([each.name for each in found.columns if each.kind == kind] for kind in ("group", "date"))
        split = propose_split(dataset, groups, dates)
        with refusals.collected():
            _check(dataset)
        with refusals.collected():
            formats = sort_columns(dataset, **found.encoding).dates
            leaks = leak_notes(dataset, dates=formats, dropped=found.gathered("drop"))
        with refusals.collected():
            refuse_constant(dataset)
    return replace(found, problems=tuple(refusals.reasons), leaks=leaks, split=split)


def _check(dataset: Dataset) -> None:
    """Refuse rows of which none can be compared, or too few to hold some out."""
    if dataset.target.is_of_classes:
        check_rows(dataset.y, test_size=_TEST_SIZE)
    else:
        _ = dataset.target.pairs


def _columns(table: FileTable, target: Target | None) -> tuple[InspectedColumn, ...]:
    """Each column by itself, then those that repeat another."""
    found: list[InspectedColumn] = []
    unique = ~table.frame.duplicated()  # copies of rows are alike in all columns
    y = None if target is None else (table.frame[target.name].map(same_label) == target.positive)[unique].to_numpy()
    firsts: dict[tuple[int, int], list[str]] = {}
    for label, column in table.frame.items():
        name = str(label)
        if target is not None and name == target.name:
            missing = int(column.isna().sum())
            made = InspectedColumn(name, target.role, missing, int(column.nunique()), target.census)
            if missing:
                settings = {"missing_target": ["drop"]}
                made = replace(made, action="rows without it are left out", settings=settings)
        elif target is not None and name in (target.time, target.query):
            role = "time" if name == target.time else "query"
            made = replace(_column(name, column, table), kind=role, action="", settings={})
        else:
            made = _column(name, column, table)
            why = why_group(name, column[unique], y) if made.kind in ("number", "category", "text", "codes") else ""
            made = _left_out(made, why, "group") if why else made
        key = made.values, made.missing
        twin = next((each for each in firsts.get(key, ()) if column.equals(table.frame[each])), None)
        if twin is not None and made.kind not in (*_ROLES, "empty", "constant"):
            made = _left_out(made, f"the same as {twin}")
        elif made.values > 1:
            firsts.setdefault(key, []).append(name)
        found.append(made)
    return tuple(found)


def _left_out(column: InspectedColumn, reason: str, kind: str | None = None) -> InspectedColumn:
    action, settings = f"{reason}: left out", {"drop": [column.name]}
    return replace(column, kind=kind or column.kind, action=action, settings=settings)


def _column(name: str, column: pd.Series, table: FileTable) -> InspectedColumn:
    missing, values = int(column.isna().sum()), int(column.nunique())
    if values < 2:
        kind, shown = ("empty", "") if values == 0 else ("constant", label_text(column.dropna().iloc[0]))
        return InspectedColumn(name, kind, missing, values, shown, "says nothing: left out by the preparation")
    if str(column.dtype).startswith("datetime"):
        return _dates(name, column, missing, values, None)
    if column.dtype.kind in "iuf":
        return _numbers(name, column, missing, table)
    if column.dtype.kind == "b":
        return InspectedColumn(name, "category", missing, values, _frequent(column))
    if name in table.codes:
        return InspectedColumn(
            name, "codes", missing, values, f"{column.dropna().iloc[0]}, …", "numbers that start with 0: categories"
        )
    return _text(name, column, missing, values, table)


def _numbers(name: str, column: pd.Series, missing: int, table: FileTable) -> InspectedColumn:
    numbers = column.dropna()
    whole = bool((numbers % 1 == 0).all())
    form = (lambda value: f"{value:.0f}") if whole else (lambda value: f"{value:.6g}")
    shown = f"{form(numbers.min())} to {form(numbers.max())}, median {form(numbers.median())}"
    written = [str(NumberForm(**form))] if (form := table.written.get("forms", {}).get(name)) else []
    action = "; ".join([*written, *([_gaps(missing, "the median")] if missing else [])])
    made = InspectedColumn(name, "number", missing, int(column.nunique()), shown, action)
    why = why_identifier(name, column)
    return _left_out(made, why, "identifier") if why else made


def _text(name: str, column: pd.Series, missing: int, values: int, table: FileTable) -> InspectedColumn:
    texts = column.dropna().map(str)
    example = f"{texts.iloc[0]}, …"
    others = table.with_bad_cells(FileSettings.of({})).get(name)
    if others is not None and len(others) <= FEW:
        marks = list(others)
        numbers = numbers_in_text(column.mask(column.isin(marks)).to_frame(), {name: table.decimal}).frame[name]
        made = _numbers(name, numbers, missing, table)
        read = "; ".join(filter(None, (made.action, f"{', '.join(map(repr, marks))} read as missing")))
        return replace(made, values=values, action=read, settings={"missing": marks})
    if (written := find_dates(column)) is not None:
        marks = list(written.other)
        made = _dates(name, column, missing, values, written.formats)
        if not marks:
            return made
        if len(marks) > FEW:
            return _left_out(made, f"dates, and {len(marks)} other texts such as {marks[0]!r}", "text")
        read = f"{made.action}; {', '.join(map(repr, marks))} read as missing"
        return InspectedColumn(name, "date", missing, values, made.shown, read, {**made.settings, "missing": marks})
    if values > max(MAX_CATEGORIES, len(column) // 2):
        made = InspectedColumn(name, "text", missing, values, example)
        if texts.map(lambda text: len(text.split())).median() >= _WORDS:
            return replace(made, action="words become features", settings={"text": [name]})
        every = values == len(texts)
        reason = "different in every row" if every else f"{values} different texts"
        return _left_out(made, reason, "identifier" if every else "text")
    if others is not None:
        made = InspectedColumn(name, "text", missing, values, example)
        return _left_out(made, f"numbers, and {len(others)} other texts such as {others[0]!r}")
    counts = column.value_counts()
    rare = counts[counts < _ENOUGH]
    fill = "a category of their own" if missing > MISSING_CATEGORY * len(column) else "the most frequent"
    action = [_gaps(missing, fill)] if missing else []
    if len(rare):
        action.append(f"rare: {few(f'{value} ({count})' for value, count in rare.items())}")
    return InspectedColumn(name, "category", missing, values, _frequent(column), "; ".join(action))


def _dates(name: str, column: pd.Series, missing: int, values: int, formats: Sequence[str] | None) -> InspectedColumn:
    import pandas as pd

    days = pd.to_datetime(column, format=None if formats is None else formats[0], errors="coerce", utc=True).dropna()
    shown = f"{days.min():%Y-%m-%d} to {days.max():%Y-%m-%d}"
    settings: dict[str, Sequence[str]] = {"dates": DATE_PARTS}
    action = f"becomes {', '.join(DATE_PARTS)}" + (f"; {_gaps(missing, 'the median')}" if missing else "")
    if formats is not None and len(formats) > 1:
        settings["date_format"] = [formats[0]]
        action += f"; read as {formats[0]}, and could be {' or '.join(formats[1:])}"
    elif formats is not None:
        action += f" (written {formats[0]})"
    return InspectedColumn(name, "date", missing, values, shown, action, settings)


def _gaps(missing: int, fill: str) -> str:
    return f"gaps become {fill}" if missing else ""


def _frequent(column: pd.Series) -> str:
    """The most frequent values with their rows."""
    counts = column.value_counts()
    few = ", ".join(f"{label_text(value)} ({count:,})" for value, count in counts.iloc[:3].items())
    return few + (f", … {len(counts)} in all" if len(counts) > 3 else "")
