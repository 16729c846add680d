"""What a table holds: kinds of columns, likely targets and splits, and what would mislead."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import AuclabError
from auclab._core.words import FEW, LINES, did_you_mean, few
from auclab.datasets.bad_cells import NumberForm, Refusals, numbers_in_text
from auclab.datasets.columns import MAX_CATEGORIES
from auclab.datasets.dates import find_dates
from auclab.datasets.file import (
    QUERY,
    FileSettings,
    FileTable,
    load_file,
    read_svmlight,
    read_table,
    refuse_empty,
)
from auclab.datasets.formats import format_of
from auclab.datasets.labels import event_label, label_text, override, same_label, usual_positive
from auclab.datasets.leaks import leak_notes
from auclab.datasets.records import Dataset
from auclab.datasets.splits import ByColumn, Grouped, Timed, check_rows

if TYPE_CHECKING:
    import pandas as pd

#: Values that a statement on a column needs; fewer rows of a class are named.
_ENOUGH = 10
#: Rows from which a column that differs in nearly all of them is an identifier, and the share of those values.
_LEAST_ROWS, _NEARLY_ALL = 25, 0.98
#: Share of the values of an identifier that have as many digits as most.
_ONE_LENGTH = 0.85
#: Mean number of rows of each value of a column of groups, at least and at most, and the largest share of one of them.
_LEAST_REPEATS, _MOST_REPEATS, _LARGEST_GROUP = 1.2, 50, 0.1
#: Standard errors by which the rows of one group are more alike than neighbours by chance.
_ALIKE = 4.0
#: Share of pairs by which they are, at least.
_EXCESS = 0.1
#: What those are called whose rows a column of groups keeps together.
_OWNERS = frozenset(
    {
        *("account", "client", "company", "customer", "driver", "family", "hospital", "household", "member", "patient"),
        *("person", "school", "session", "subject", "user", "visitor"),
    }
)


def words_of(name: str) -> list[str]:
    """The words of a column's name.

    Examples
    --------
    >>> words_of("FraudFound_P"), words_of("is_canceled"), words_of("CLIENT ID"), words_of("ph.ecog")
    (['fraud', 'found', 'p'], ['is', 'canceled'], ['client', 'id'], ['ph', 'ecog'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+", name)]


def _called_identifier(name: str) -> bool:
    """Whether a name says so: where the content of a column leaves it open, this decides."""
    words = words_of(name)
    return bool(words) and (words[-1] in ("id", "ids", "key", "uuid") or (len(words) == 1 and words[0] in _OWNERS))


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


def why_group(name: str, column: pd.Series, y: NDArray[Any] | None = None) -> str:
    """Why a column has groups of rows, such as the visits of one patient; empty if it has none.

    It has several rows of many values and few of each, and rows of one value are alike in the target: more so than rows
    next to each other in the order of the column, as a measurement makes these alike too. Where that is open, its name
    decides. `y` (n_rows,): labels.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> k = np.arange(120)
    >>> visits = pd.Series(7001 + k % 30)
    >>> why_group("v", visits, k % 3), why_group("patient_id", visits), why_group("inpatients", visits)
    ('rows of one value are alike', 'several rows of each, and its name says so', '')
    """
    values = column.value_counts()
    repeats = len(column) / max(1, len(values))
    if len(values) < _ENOUGH or column.isna().any() or not _LEAST_REPEATS <= repeats <= _MOST_REPEATS:
        return ""
    if values.iloc[0] > max(_ENOUGH, _LARGEST_GROUP * len(column)) or (
        column.dtype.kind == "f" and (column % 1 != 0).any()
    ):
        return ""
    if y is not None and _is_alike(column.factorize(sort=column.dtype.kind in "iuf")[0], y):
        return "rows of one value are alike"
    return "several rows of each, and its name says so" if _called_identifier(name) else ""


def _is_alike(codes: NDArray[Any], y: NDArray[Any]) -> bool:
    """Whether pairs of rows of one code agree more often in `y` than pairs with rows of the codes next to theirs."""
    every = np.bincount(codes).astype(float)
    positive = np.bincount(codes, y, every.size)
    negative = every - positive
    inside = (positive * (positive - 1) + negative * (negative - 1)) / np.maximum(every * (every - 1), 1)
    next_one = (positive[1:] * positive[:-1] + negative[1:] * negative[:-1]) / (every[1:] * every[:-1])
    both_sides = (np.r_[next_one[:1], next_one] + np.r_[next_one, next_one[-1:]]) / 2
    more = (inside - both_sides)[every > 1]
    return bool(more.size >= _ENOUGH and more.mean() > max(_EXCESS, _ALIKE * more.std() / np.sqrt(more.size)))


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


#: Words in the names of columns that usually have the labels.
_USUAL = frozenset(
    {
        *("target", "label", "labels", "class", "y", "outcome", "response", "event", "positive", "left", "churn"),
        *("churned", "default", "defaulted", "converted", "bought", "fraud", "survived", "diagnosis", "attrition"),
        *("canceled", "cancelled", "readmitted", "exited", "subscribed", "purchased", "approved", "died", "dead"),
    }
)
#: In the names of columns with events, and with their times, some of which are censored.
_EVENT_WORDS = frozenset({"status", "event", "dead", "died", "death", "fustat", "relapse", "recurrence", "failed"})
_TIME_WORDS = frozenset({"time", "times", "days", "months", "years", "futime", "survival", "duration", "tte"})
#: In those of queries, whose rows are compared with each other, and of the grades of these rows.
_QUERY_WORDS = frozenset({"qid", "query", "queries", "srch"})
_GRADE_WORDS = frozenset({"grade", "grades", "relevance", "rel", "rating", "label", "target", "y"})
_GRADES = 11
#: Values of a column with a usual name, up to which one is positive and the others are negative.
_FEW_CLASSES = 5


@dataclass(frozen=True)
class Target:
    """The column with the labels.

    `named`: whether the positive label has to be given: those of 0/1, −1/1 and False/True are known. `counts`: rows of
    each label, the most frequent first. `why`: why this column and this label were chosen; empty where both were given.
    `time`: times of which this is the event. `query`: rows of one value of it are compared. `graded`: whether labels
    are grades.
    """

    name: str
    positive: str
    named: bool
    counts: dict[str, int]
    why: str = ""
    time: str | None = None
    query: str | None = None
    graded: bool = False

    @property
    def role(self) -> str:
        """The setting that names the column."""
        return "target" if self.time is None else "event"

    @property
    def census(self) -> str:
        """The labels with their rows, and the share of the positive one."""
        total = sum(self.counts.values())
        listed = few((f"{label} ({count:,})" for label, count in self.counts.items()), LINES)
        if self.graded or self.positive not in self.counts:
            return listed
        share = self.counts[self.positive] / total
        return f"{listed}; share of {self.positive} {f'{share:.3g}'.removeprefix('0')}" if total else ""


def choose_target(frame: pd.DataFrame, name: str | None = None, positive: str | None = None) -> Target | None:
    """The column with the labels, and the positive label.

    `name`, `positive`: as `auclab.datasets.inspection.inspect_file` takes them. Returns: None if no column was named
    and none has two values.

    Examples
    --------
    >>> import pandas as pd
    >>> found = choose_target(pd.DataFrame({"plan": ["a", "b", "a"], "churn": ["no", "no", "yes"], "age": [1, 2, 3]}))
    >>> found.name, found.positive, found.named
    ('churn', 'yes', True)
    """
    names = [str(label) for label in frame]
    if name is not None and name not in names:
        raise AuclabError(f"--target {name}: no such column{did_you_mean(name, names)}; columns are {', '.join(names)}")
    reasons: list[str] = []
    time = query = None
    if name is None:
        query = next((each for each in names if _is_query(each, frame[each])), None)
        if query is not None and (grades := [each for each in names if _is_graded(each, frame[each])]):
            why = f"{grades[-1]} has grades, and {query} says which rows are compared"
            return Target(grades[-1], "", False, _label_counts(frame[grades[-1]]), why, query=query, graded=True)
        name, time, why = _guessed(frame, names)
        if name is None:
            return None
        reasons.append(why)
    counts = _label_counts(frame[name])
    if not counts:
        raise AuclabError(f"--target {name}: the column is empty; columns are {', '.join(names)}")
    usual_label = usual_positive(counts) if time is None else event_label(counts)
    if positive is None:
        positive = usual_label or min(counts, key=lambda key: counts[key])
        reasons.append(f"{positive} is {'positive by convention' if usual_label else 'its rarest label'}")
    elif positive not in counts:
        near = did_you_mean(positive, counts)
        raise AuclabError(f"--positive {positive}: no such label in {name}{near}; labels are {', '.join(counts)}")
    is_known = positive == usual_label and positive in ("1", "True")
    return Target(name, positive, not is_known, counts, "; ".join(reasons), time, query)


def _label_counts(column: pd.Series) -> dict[str, int]:
    """Rows of each label, the most frequent first."""
    counts: Counter[str] = Counter()
    for value, count in column.value_counts().items():
        counts[same_label(value)] += int(count)
    return dict(counts.most_common())


def _guessed(frame: pd.DataFrame, names: Sequence[str]) -> tuple[str | None, str | None, str]:
    """The column with the labels, that of censored times if there is one, and why; the first is None if there is none.

    Of the columns with two values those with a usual name come first, then the last column, the first one, the last of
    two values.
    """
    two_valued = [each for each in names if frame[each].nunique() == 2]
    times = [each for each in names if _TIME_WORDS & set(words_of(each)) and _is_time(frame[each])]
    events = [each for each in names if _EVENT_WORDS & set(words_of(each)) and frame[each].nunique() <= 2]
    known = [each for each in events if event_label(_label_counts(frame[each])) is not None]
    if times and known:
        return known[-1], times[0], f"{times[0]} and {known[-1]} look like times of an event or of censoring"
    usual = [each for each in two_valued if _USUAL & set(words_of(each))]
    few = [each for each in names if _USUAL & set(words_of(each)) and 2 < frame[each].nunique() <= _FEW_CLASSES]
    if usual:
        return usual[-1], None, f"{usual[-1]} has a usual name and two values"
    if few:
        return few[-1], None, f"{few[-1]} has a usual name and {frame[few[-1]].nunique()} values"
    if not two_valued:
        return None, None, ""
    name = next((each for each in (names[-1], names[0]) if each in two_valued), two_valued[-1])
    others = [each for each in two_valued if each != name]
    return name, None, f"{name} has two values" + (f", like {', '.join(others)}" if others else "")


def _is_time(column: pd.Series) -> bool:
    """Whether these are numbers that are not negative, with many values."""
    return column.dtype.kind in "iuf" and bool(column.min() >= 0) and column.nunique() >= min(_ENOUGH, len(column) // 2)


def _is_query(name: str, column: pd.Series) -> bool:
    """Whether a column is called a query, and has several rows of several values."""
    values = column.nunique()
    return bool(_QUERY_WORDS & set(words_of(name))) and 2 <= values <= len(column) / 2 and not column.isna().any()


def _is_graded(name: str, column: pd.Series) -> bool:
    """Whether a column is called a grade, and has a few whole numbers from 0 on."""
    if not _GRADE_WORDS & set(words_of(name)) or column.dtype.kind not in "iuf" or column.isna().any():
        return False
    return 2 < column.nunique() <= _GRADES and bool((column % 1 == 0).all() and 0 <= column.min() <= column.max() <= 10)


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
    that it needs, or what happens without one. `settings`: values of `drop`, `missing`, `text` and of ``dates`` and
    ``date_format`` of the preparation.
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
    with refusals.collected():
        dataset = load_file(**found.settings)
        _check(dataset)
    return replace(found, problems=tuple(refusals.reasons))


def _tried(found: Inspection) -> Inspection:
    """With what a run with the proposed settings would refuse, the split that the rows call for, and leaks."""
    if found.target is None:
        no_target = (
            "no column has two values, so that the target is unknown: name it with --target COLUMN, and its positive "
            "label with --positive LABEL"
        )
        return replace(found, problems=(no_target,))
    from auclab.datasets.columns import refuse_constant, sort_columns

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
            made = InspectedColumn(name, target.role, int(column.isna().sum()), int(column.nunique()), target.census)
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
    settings = {"drop": [column.name]}
    return InspectedColumn(
        column.name, kind or column.kind, column.missing, column.values, column.shown, f"{reason}: left out", settings
    )


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
    if whole and missing == 0 and (why := _why_identifier(name, numbers)):
        return _left_out(made, why, "identifier")
    return made


def _why_identifier(name: str, numbers: pd.Series) -> str:
    """Why whole numbers identify rows; empty if they do not.

    They differ in nearly every row, and are either as close together as numbers of rows, or far apart and of one
    length, as amounts and counts are not; where that is open, the name decides.
    """
    values, low, high = int(numbers.nunique()), float(numbers.min()), float(numbers.max())
    if len(numbers) < _LEAST_ROWS or values * _LEAST_REPEATS < len(numbers):
        return ""
    every = "different in every row" if values == len(numbers) else "different in nearly every row"
    if values == len(numbers) and high - low < 2 * len(numbers):
        return f"{every}, like an identifier"
    digits = np.floor(np.log10(np.maximum(np.abs(numbers.to_numpy(dtype=float)), 1.0)))
    is_long = low > 0 and np.median(digits) >= 5 and high - low > 100 * values
    is_long &= values >= _NEARLY_ALL * len(numbers)
    if is_long and np.mean(digits == np.median(digits)) >= _ONE_LENGTH and (numbers % 10).nunique() > 5:
        return f"{every} and far apart, like an identifier"
    return f"{every}, and its name says so" if _called_identifier(name) else ""


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
    action = [_gaps(missing, "the most frequent")] if missing else []
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
