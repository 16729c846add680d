"""A file as a data set, and new rows for a stored model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auclab._core.base import AuclabError, GroupWeights
from auclab._core.words import counted, did_you_mean
from auclab.datasets.bad_cells import (
    USUAL_MARKS,
    NumberForm,
    Refusals,
    bad_columns,
    numbers_in_text,
    read_as_numbers,
    refuse_bad_cells,
    tidy_texts,
)
from auclab.datasets.cache import unpacked
from auclab.datasets.columns import Encoding, sort_columns
from auclab.datasets.csv_format import CsvFormat, csv_format, leading_zeros
from auclab.datasets.formats import ALL, format_of, make_dataset, read_format, read_text, reading
from auclab.datasets.labels import as_labels, refuse_missing
from auclab.datasets.records import Dataset, verified_sha256
from auclab.datasets.target import Roles

if TYPE_CHECKING:
    import pandas as pd


def read_new_rows(
    path: str | Path,
    *,
    text: Sequence[str] = (),
    missing: Sequence[str] = (),
    n_columns: int | None = None,
    numbers: Sequence[str] = (),
    expected: Mapping[str, str] | None = None,
    **written: Any,
) -> pd.DataFrame | Any:
    r"""Read a table with a header row, or an svmlight file.

    `path`: ends as `auclab.datasets.file.load_file` takes it. `text`: columns of csv and tsv files that are kept as
    text, whatever they look like, if they are there. `missing`: texts that are missing values, besides those that
    always are. `n_columns`: columns of the matrix of an svmlight file. `numbers`: columns of csv and tsv files that
    have to be numbers, if they are there. `expected`: `sep`, `decimal` and `encoding` of the training file, used where
    this one does not show them. `**written`: `sep`, `decimal` and `encoding` of csv and tsv files; found if left out.
    """
    where = Path(path).expanduser()
    if not where.is_file():
        raise AuclabError(f"{where} does not exist, or is not a file; give the path of the file with the new rows")
    kind = format_of(where)
    if kind == "svmlight":
        return read_svmlight(where, n_columns)[0]
    if kind not in ("csv", None):
        return tidy_texts(read_format(where, kind)[0], missing)[0]
    with reading(where):
        found = csv_format(where, expected=expected or {}, **written)
    named = [name for name in text if name in found.header]
    rows, _ = tidy_texts(read_text(where, found, text=named, missing=(*MISSING, *missing)), missing)
    as_text = [name for name in numbers if name in rows and str(rows[name].dtype) in ("object", "str", "string")]
    return rows.assign(**{name: read_as_numbers(rows[name], found.decimal) for name in as_text})


#: Missing values that the reader of csv files knows; `tidy_texts` finds the others.
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None")

#: Lists of columns that are read as text, whatever they look like.
_NO_NUMBERS = ("nominal", "drop", "text")
#: What to do about rows without a target.
TARGET_ADVICE = "dataset.missing_target=drop leaves those rows out"


@dataclass(frozen=True)
class FileSettings:
    """How a table in a file is to be read.

    `roles`: the target, or time and event, and the group; nothing of them has to be there. `lists`: `nominal`, `drop`,
    `missing`, `text`, as `load_file` takes them. `written`: `sep`, `decimal`, `encoding`, `header`; None where they are
    to be found. `all_nominal`: whether every column is a category.
    """

    roles: Roles
    lists: Mapping[str, tuple[str, ...]]
    written: Mapping[str, Any]
    all_nominal: bool = False

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> FileSettings:
        """The settings of ``dataset=file``, of which any may be missing."""
        nominal = settings.get("nominal")
        columns: dict[str, Any] = {
            key: None if (name := settings.get(key)) is None else str(name) for key in Roles().named
        }
        weights: Any = settings.get("group_weights") or "pairs"
        roles = Roles(**columns, graded=bool(settings.get("graded")), group_weights=weights)
        lists = {key: as_labels(settings.get(key) or ()) for key in ("nominal", "drop", "missing", "text")}
        if nominal == ALL:
            lists["nominal"] = ()
        written = {key: settings.get(key) for key in ("sep", "decimal", "encoding", "header")}
        return cls(roles, lists, written, all_nominal=nominal == ALL)


@dataclass(frozen=True)
class FileTable:
    """A table as it is in a file, before it is checked.

    `frame`: all columns. `notes`: what is worth knowing of how it is written. `written`: `sep`, `decimal` and
    `encoding` of a csv file, and `forms`, by columns of numbers with signs and units. `codes`: columns that are kept as
    text because their numbers start with zeros.
    """

    path: Path
    frame: Any
    notes: tuple[str, ...] = ()
    written: Mapping[str, Any] = field(default_factory=dict)
    codes: tuple[str, ...] = ()

    def there(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of some names that are columns."""
        return tuple(name for name in names if name in self.frame)

    def refuse_settings(self, given: FileSettings) -> None:
        """Refuse a target and lists that name columns which are not there."""
        _require_columns(self.path, [str(name) for name in self.frame], given)

    def refuse_cells(self, given: FileSettings) -> None:
        """Refuse cells that are not numbers in columns of numbers (`refuse_bad_cells`)."""
        refuse_bad_cells(self.frame, self.signs(given))

    def refuse_gaps(self, given: FileSettings) -> None:
        """Refuse rows without a target, a time or an event."""
        refusals = Refusals()
        for name in self.there(given.roles.ranking):
            with refusals.collected():
                refuse_missing(self.frame[name], f"{given.roles.role(name)} column", TARGET_ADVICE)
        refusals.raise_all()

    def with_targets(self, given: FileSettings) -> FileTable:
        """Without the rows that have no target, time or event."""
        kept = self.frame[list(self.there(given.roles.ranking))].notna().all(axis=1)
        if kept.all():
            return self
        note = f"{counted(int((~kept).sum()), 'row')} without a target left out (dataset.missing_target=drop)"
        return replace(self, frame=self.frame[kept].reset_index(drop=True), notes=(*self.notes, note))

    def with_bad_cells(self, given: FileSettings) -> dict[str, tuple[str, ...]]:
        """The columns that `refuse_cells` names, and their texts that are not numbers."""
        return bad_columns(self.frame, self.signs(given))

    def refuse_columns(self, given: FileSettings, encoding: Encoding) -> None:
        """Refuse columns that are not numbers, categories or dates, whether or not the labels are right.

        Those of which `refuse_cells` speaks are left out.
        """
        taken = {*given.roles.columns, *given.lists["drop"], *self.with_bad_cells(given)}
        frame = self.frame.drop(columns=[name for name in self.frame if name in taken])
        if frame.empty or given.all_nominal:
            return
        nominal = tuple(name for name in (*given.lists["nominal"], *self.codes) if name in frame)
        unlabelled = np.zeros(len(frame), dtype=np.int64)
        text = tuple(name for name in given.lists["text"] if name in frame)
        sort_columns(Dataset(name=self.path.name, X=frame, y=unlabelled, nominal=nominal, text=text), **encoding)

    def signs(self, given: FileSettings) -> dict[str, str]:
        """The sign before decimals of each column that may hold numbers."""
        if given.all_nominal:
            return {}
        left_out = (*given.roles.columns, *self.codes, *(x for key in _NO_NUMBERS for x in given.lists[key]))
        return {name: self.decimal for name in self.frame if name not in left_out}

    @property
    def decimal(self) -> str:
        """The sign before decimals that the file has, where a column does not show another."""
        return str(self.written.get("decimal", "."))


def read_table(where: Path, given: FileSettings) -> FileTable:
    """Read a table in a file; settings that name columns which are not there are left for later."""
    kind = format_of(where)
    if kind not in ("csv", None):
        if said := [f"dataset.{key}" for key, value in given.written.items() if value is not None]:
            raise AuclabError(f"{', '.join(said)} describes csv and tsv files, and {where} is {kind}; leave it out")
        frame, notes = read_format(where, kind)
        return _tidied(FileTable(where, frame, tuple(notes)), given)
    with reading(where):
        written = csv_format(where, **given.written)
    kept = (*(name for key in _NO_NUMBERS for name in given.lists[key]), *given.roles.texts)
    text = ALL if given.all_nominal else [name for name in kept if name in written.header]
    frame, codes = _read_text(where, written, text, (*MISSING, *given.lists["missing"]))
    notes = [] if kind else [f"{where.name}: read as csv, which its ending does not say"]
    notes += [f"{where.name}: {found}" for found in written.detected]
    how: dict[str, Any] = {"sep": written.sep, "decimal": written.decimal, "encoding": written.encoding}
    how |= {} if written.has_names else {"header": False}
    return _tidied(FileTable(where, frame.rename(columns=str), tuple(notes), how, tuple(codes)), given)


def _tidied(table: FileTable, given: FileSettings) -> FileTable:
    """Blanks around texts left out, marks of missing values as gaps, and numbers with signs and units as numbers."""
    frame, blanks = tidy_texts(table.frame, given.lists["missing"])
    read = numbers_in_text(frame, table.signs(given), typed=not table.written)
    codes = (*table.codes, *read.codes)
    plain = NumberForm(decimal=table.decimal)
    forms = {name: asdict(form) for name, form in read.forms.items() if form != plain}
    marks = {"missing": [*given.lists["missing"], "None"], "usual_missing": sorted(USUAL_MARKS)}
    written = {**table.written, **marks, **({"forms": forms} if forms else {})}
    notes = (*table.notes, *blanks, *_notes(read.frame, codes), *read.notes)
    return replace(table, frame=read.frame, notes=notes, written=written, codes=codes)


def refuse_empty(path: Path) -> None:
    """Refuse a file without a byte."""
    if path.stat().st_size == 0:
        raise AuclabError(f"{path} is empty; a header row and at least two rows of data are needed")


def _read_text(
    path: Path, written: CsvFormat, text: Sequence[str] | str, missing: Sequence[str]
) -> tuple[Any, list[str]]:
    """The table of a csv file, and its columns that are kept as text because their numbers start with zeros."""
    try:
        frame = read_text(path, written, text=text, missing=missing)
    except AuclabError:
        leading_zeros(path, written, [])  # names the row if its length is the reason
        raise
    codes = leading_zeros(path, written, [str(name) for name in frame.columns if _is_whole(frame[name])])
    if not codes or text == ALL:
        return frame, []
    return read_text(path, written, text=[*text, *codes], missing=missing), codes


def _notes(frame: Any, codes: Sequence[str]) -> list[str]:
    """The note on columns whose numbers start with zeros."""
    notes = []
    for name in codes:
        example = next(value for value in frame[name].dropna() if len(value) > 1 and value.startswith("0"))
        notes.append(
            f"column {name!r} has numbers that start with 0, such as {example!r}, and is taken as categories, as "
            "postal codes are; without the zeros it is taken as numbers"
        )
    return notes


def _is_whole(column: Any) -> bool:
    """Whether a column holds whole numbers, or gaps."""
    if column.dtype.kind in "iu":
        return True
    return bool(column.dtype.kind == "f" and (column.isna() | (column % 1 == 0)).all())


def _require_columns(path: Path, columns: Sequence[str], given: FileSettings) -> None:
    """Refuse settings that name columns which are not there, all at once."""
    every, refusals = ", ".join(columns), Refusals()
    if not given.roles.ranking:
        refusals.reasons.append(f"which column of {path} is the target? Give dataset.target; columns are {every}")
    lists = {
        "nominal": "nominal column {}", "drop": "column {}, to be dropped,", "text": "column {} of text",
    }  # fmt: skip
    named = [(f"{key} column {{}}", name) for key, name in given.roles.named.items() if name is not None]
    named += [(words, name) for key, words in lists.items() for name in given.lists[key]]
    for words, name in named:
        if name not in columns:
            near, listed = did_you_mean(name, columns), "" if refusals.reasons else f"; columns are {every}"
            refusals.reasons.append(f"{words.format(repr(name))} does not exist{near}{listed}")
    for key, column in given.roles.named.items():
        if column is not None and column in given.lists["drop"]:
            refusals.reasons.append(f"column {column!r} is the {key} and to be dropped; take it out of dataset.drop")
    refusals.raise_all()


def load_file(
    path: str | Path | None = None,
    target: str | None = None,
    positive: Any = None,
    *,
    negative: Any = None,
    group: str | None = None,
    time: str | None = None,
    event: str | None = None,
    graded: bool = False,
    group_weights: GroupWeights = "pairs",
    nominal: Sequence[str] | str = (),
    text: Sequence[str] | str = (),
    drop: Sequence[str] | str = (),
    missing: Sequence[str] | str = (),
    missing_target: str = "refuse",
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    name: str | None = None,
    sha256: str | None = None,
    citation: str = "",
) -> Dataset:
    r"""Load a table with a header row, or an svmlight file.

    Parameters
    ----------
    path : path
        The ending says the format (`auclab.datasets.formats.ENDINGS`): csv, parquet, feather, ORC, Excel, Stata, SPSS,
        SAS, ARFF, svmlight; a file with another ending is read as csv. Files of text may be packed (.gz, .bz2, .zip,
        .xz, .zst).
    target : str
        Column with the labels; svmlight files need none.
    positive, negative : label or list of labels
        Compared as text. Without `negative` it is one side against the rest; `positive` may be left out for
        labels 0/1, −1/1, False/True and no/yes. Of times, the labels of an event.
    group : str, optional
        Column with the group of every row, such as its query: rows of one group are compared, and no others.
    time, event : str, optional
        Columns, in place of `target`, with times and whether they are those of an event or of censoring.
    graded : bool
        Whether the target are grades, numbers of which a larger one is better, and not two classes.
    group_weights : {"pairs", "groups"}
        Whether every pair counts the same, or every group that has a pair.
    nominal : list of str, or "ALL"
        Columns that are categories though they look like numbers; columns of text are categories anyway.
    text : list of str
        Columns of text whose words become features (`auclab.datasets.steps.WordFeatures`).
    drop : list of str
        Columns to leave out, such as an identifier.
    missing : list of str
        Texts that are missing values besides an empty field, ``?``, ``None``, and in upper and lower case ``NA``,
        ``N/A``, ``NaN``, ``NULL`` and the other marks of pandas.
    missing_target : {"refuse", "drop"}
        Whether rows without a target (or time or event) are refused or left out, which is noted.
    sep, decimal, encoding : str, optional
        How a csv or tsv file is written (`auclab.datasets.csv_format.csv_format`); found if left out, and noted.
    header : bool, optional
        Whether the first row of a csv or tsv file has the names of the columns, which are x0, x1, … if not. A first row
        that looks like data is refused if left out.
    name : str, optional
        Name of the data set; the file's name if left out.
    sha256 : str, optional
        The file must have this checksum.
    citation : str
        Source of the data set.

    Returns
    -------
    Dataset
        `X` is a CSR matrix for svmlight files, a DataFrame for all others. Its `notes` say how a csv file is written,
        where that is not usual.

    Raises
    ------
    AuclabError
        No path, a file that is missing, empty or unreadable, an unknown ending, two columns of one name, a column or
        label that does not occur, missing labels, one class only, or a column of numbers with cells that are none.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "my.csv"
    >>> _ = path.write_text("size,y\n1.5,no\n2.5,yes\n", encoding="utf-8")
    >>> dataset = load_file(path, target="y", positive="yes")
    >>> dataset.name, dataset.X["size"].tolist(), dataset.y.tolist()
    ('my.csv', [1.5, 2.5], [0, 1])
    """
    if path is None:
        raise AuclabError("which file? Give dataset.path=my.csv dataset.target=COLUMN dataset.positive=LABEL")
    if "://" in str(path):
        raise AuclabError(f"{path} is an address, but only local files are read: download it, and give its path")
    where = Path(path).expanduser()
    digest = verified_sha256(where, sha256)
    facts: dict[str, Any] = {
        "name": name or where.name,
        "sha256": digest,
        "source": str(where),
        "citation": citation,
    }
    refuse_empty(where)
    if format_of(where) == "svmlight":
        if said := [key for key, value in {"group": group, "time": time}.items() if value]:
            raise AuclabError(
                f"dataset.{said[0]} names a column, and svmlight files have no names; give a csv or parquet file"
            )
        settings = {"graded": graded, "group_weights": group_weights}
        return _load_svmlight(where, positive, negative, as_labels(drop), settings, facts)
    given = FileSettings.of(
        {
            **{"target": target, "nominal": nominal, "drop": drop, "missing": missing, "text": text},
            **{"sep": sep, "decimal": decimal, "encoding": encoding, "header": header},
            **{"group": group, "time": time, "event": event, "graded": graded, "group_weights": group_weights},
        }
    )
    table = read_table(where, given)
    refusals = Refusals()
    for check in (table.refuse_settings, table.refuse_cells):
        with refusals.collected():
            check(given)
    if missing_target not in ("refuse", "drop"):
        raise AuclabError(f"dataset.missing_target is {missing_target!r}; choose refuse or drop")
    if missing_target == "refuse":
        with refusals.collected():
            table.refuse_gaps(given)
    table = table.with_targets(given)
    facts |= {"notes": table.notes, "written": table.written}
    if given.roles.ranking and set(given.roles.ranking) <= set(table.frame) - set(given.lists["drop"]):
        with refusals.collected():
            roles = replace(given.roles, drop=table.there(given.lists["drop"]))
            categories = ALL if given.all_nominal else [*table.there(given.lists["nominal"]), *table.codes]
            sides = {"positive": positive, "negative": negative, "text": table.there(given.lists["text"])}
            dataset = make_dataset(table.frame, target=roles, nominal=categories, **sides, **facts)
    refusals.raise_all()
    return dataset


def _load_svmlight(
    path: Path, positive: Any, negative: Any, drop: Sequence[str], settings: Mapping[str, Any], facts: dict[str, Any]
) -> Dataset:
    """Rows that are compared within the queries of the file, if it has any and they are not to be dropped."""
    import pandas as pd

    X, labels, queries = read_svmlight(path)
    columns = pd.DataFrame({"label": labels} | ({} if queries is None else {QUERY: queries}))
    group = QUERY if queries is not None and QUERY not in drop else None
    roles = Roles("label", group=group, drop=tuple(drop), **settings)
    found = roles.ranked(columns, positive, negative)
    if group:
        facts["notes"] = (
            f"{path.name}: rows are compared within its queries ({QUERY}); dataset.drop={QUERY} ignores them",
        )
    return Dataset(
        X=X[found.kept], y=found.target.y, positive=found.positive, negative=found.negative,
        ranked=None if found.target.is_of_classes else found.target, aside=roles.aside(columns, found.kept), **facts,
    )  # fmt: skip


#: The numbers of queries in svmlight files.
QUERY = "qid"


def read_svmlight(path: Path, n_features: int | None = None) -> tuple[Any, Any, Any]:
    """The CSR matrix, the labels and the queries of an svmlight file, None if it has none.

    Raises
    ------
    AuclabError
        Anything else.
    """
    from sklearn.datasets import load_svmlight_file

    with reading(path), unpacked(path) as source:
        X, labels, queries = load_svmlight_file(
            str(source) if source == path else source, n_features=n_features, query_id=True
        )
    return X, labels, queries if len(queries) else None
