"""A file as a data set, and new rows for a stored model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auclab._core.base import AuclabError, GroupWeights
from auclab._core.words import did_you_mean
from auclab.datasets.bad_cells import Refusals, bad_columns, numbers_in, read_as_numbers, refuse_bad_cells
from auclab.datasets.cache import unpacked
from auclab.datasets.columns import Encoding, sort_columns
from auclab.datasets.csv_format import CsvFormat, csv_format, leading_zeros
from auclab.datasets.labels import as_labels, binarise
from auclab.datasets.records import Dataset, verified_sha256
from auclab.datasets.table import ALL, make_dataset, read_text, reading
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
    decimal_comma: Sequence[str] = (),
    expected: Mapping[str, str] | None = None,
    **written: Any,
) -> pd.DataFrame | Any:
    r"""Read a table with a header row, or an svmlight file.

    `path`: ends as `auclab.datasets.file.load_file` takes it. `text`: columns of csv and tsv files that are kept as
    text, whatever they look like, if they are there. `missing`: texts that are missing values, besides those that
    always are. `n_columns`: columns of the matrix of an svmlight file. `numbers`: columns of csv and tsv files that
    have to be numbers, if they are there. `decimal_comma`: those of `numbers` that have decimal commas where they are
    not plain numbers. `expected`: `sep`, `decimal` and `encoding` of the training file, used where this one does not
    show them. `**written`: `sep`, `decimal` and `encoding` of csv and tsv files; found if left out.
    """
    where = Path(path).expanduser()
    if not where.is_file():
        raise AuclabError(f"{where} does not exist, or is not a file; give the path of the file with the new rows")
    ending = where.name.lower()
    if ending.endswith((*CSV, *TSV)):
        with reading(where):
            found = csv_format(where, expected=expected, **written)
        return _read_table(where, text, missing, numbers, decimal_comma, found)
    if ending.endswith(PARQUET):
        return read_parquet(where)
    if ending.endswith(SVMLIGHT):
        return read_svmlight(where, n_columns)[0]
    raise AuclabError(unknown_ending(where))


def _read_table(
    where: Path,
    text: Sequence[str],
    missing: Sequence[str],
    numbers: Sequence[str],
    decimal_comma: Sequence[str],
    found: CsvFormat,
) -> pd.DataFrame:
    named = [name for name in text if name in found.header]
    rows = read_text(where, found, text=named, missing=(*MISSING, *missing))
    as_text = [name for name in numbers if name in rows and str(rows[name].dtype) in ("object", "str", "string")]
    signs = {name: "," if name in decimal_comma else found.decimal for name in as_text}
    return rows.assign(**{name: read_as_numbers(rows[name], sign) for name, sign in signs.items()})


#: Missing values in csv and tsv files.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "None")

CSV, TSV, PARQUET = (".csv", ".csv.gz"), (".tsv", ".tsv.gz"), (".parquet", ".pq")
TABLES = (*CSV, *TSV, *PARQUET)
SVMLIGHT = tuple(f".{ending}{packing}" for ending in ("svmlight", "libsvm", "svm") for packing in ("", ".gz", ".bz2"))


@dataclass(frozen=True)
class FileSettings:
    """How a table in a file is to be read.

    `roles`: the target, or time and event, and the group; nothing of them has to be there. `lists`: `nominal`, `drop`,
    `missing`, `decimal_comma`, as `load_file` takes them. `written`: `sep`, `decimal`, `encoding`; None where they are
    to be found. `all_nominal`: whether every column is a category.
    """

    roles: Roles
    lists: Mapping[str, tuple[str, ...]]
    written: Mapping[str, str | None]
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
        lists = {key: as_labels(settings.get(key) or ()) for key in ("nominal", "drop", "missing", "decimal_comma")}
        if nominal == ALL:
            lists["nominal"] = ()
        written = {key: settings.get(key) for key in ("sep", "decimal", "encoding")}
        return cls(roles, lists, written, all_nominal=nominal == ALL)


@dataclass(frozen=True)
class FileTable:
    """A table as it is in a file, before it is checked.

    `frame`: all columns, those of text as they are. `notes`: what is worth knowing of how it is written. `written`:
    `sep`, `decimal`, `encoding` and `decimal_comma` of a csv file. `codes`: columns that are kept as text because their
    numbers start with zeros.
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
        refuse_bad_cells(self.frame, self._signs(given))

    def with_bad_cells(self, given: FileSettings) -> list[str]:
        """The columns that `refuse_cells` names."""
        return bad_columns(self.frame, self._signs(given))

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
        sort_columns(Dataset(name=self.path.name, X=frame, y=unlabelled, nominal=nominal), **encoding)

    def _signs(self, given: FileSettings) -> dict[str, str]:
        """The sign before decimals of each column that may hold numbers."""
        if given.all_nominal:
            return {}
        left_out = (*given.roles.columns, *given.lists["nominal"], *given.lists["drop"], *self.codes)
        usual, commas = str(self.written.get("decimal", ".")), given.lists["decimal_comma"]
        return {name: "," if name in commas else usual for name in self.frame if name not in left_out}


def read_table(where: Path, given: FileSettings) -> FileTable:
    """Read a csv, tsv or parquet file; settings that name columns which are not there are left for later."""
    if where.name.lower().endswith((*CSV, *TSV)):
        with reading(where):
            written = csv_format(where, expected=None, **given.written)
        kept = (*given.lists["nominal"], *given.lists["drop"], *given.roles.texts)
        commas = [name for name in given.lists["decimal_comma"] if name in written.header]
        text = ALL if given.all_nominal else [name for name in (*kept, *commas) if name in written.header]
        frame, codes = _read_text(where, written, text, (*MISSING, *given.lists["missing"]))
        numbers = [] if given.all_nominal else [name for name in commas if name not in kept]
        frame = with_decimal_commas(frame.rename(columns=str), numbers)
        notes = (*(f"{where.name}: {found}" for found in written.detected), *_notes(frame, codes))
        how: dict[str, Any] = {"sep": written.sep, "decimal": written.decimal, "encoding": written.encoding}
        how |= {"decimal_comma": commas} if commas else {}
        return FileTable(where, frame, notes, how, tuple(codes))
    if where.name.lower().endswith(PARQUET):
        named = {**given.written, "missing": given.lists["missing"], "decimal_comma": given.lists["decimal_comma"]}
        if said := [f"dataset.{key}" for key, value in named.items() if value]:
            raise AuclabError(f"{', '.join(said)} describes csv and tsv files, and {where} is parquet; leave it out")
        return FileTable(where, read_parquet(where).rename(columns=str))
    raise AuclabError(unknown_ending(where))


def with_decimal_commas(frame: Any, names: Sequence[str]) -> Any:
    """Columns of text with decimal commas as numbers, where all of their cells are; the others stay as they are."""
    made = {name: numbers_in(frame[name], ",") for name in names}
    whole = {name: numbers for name, numbers in made.items() if (numbers.notna() | frame[name].isna()).all()}
    return frame.assign(**whole)


def refuse_empty(path: Path) -> None:
    """Refuse a file without a byte."""
    if path.stat().st_size == 0:
        raise AuclabError(f"{path} is empty; a header row and at least two rows of data are needed")


def unknown_ending(path: Path) -> str:
    """What to do with a file whose name says none of the formats that are read."""
    return f"{path} has an unknown ending; a file ends in one of {', '.join((*CSV, *TSV, *PARQUET, *SVMLIGHT))}"


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
        "nominal": "nominal column {}", "drop": "column {}, to be dropped,",
        "decimal_comma": "column {} of decimal commas",
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


def read_parquet(path: Path) -> Any:
    """A parquet file as a DataFrame, decimals and days as numbers and dates."""
    import pandas as pd
    import psutil
    import pyarrow as pa
    import pyarrow.parquet as pq

    with reading(path):
        with pq.ParquetFile(path) as file:
            n_rows, n_columns = file.metadata.num_rows, file.metadata.num_columns
            schema = file.schema_arrow
        needed, present = 8 * n_rows * n_columns, psutil.virtual_memory().total
        if needed > present:  # a few bytes may describe any number of equal rows
            raise AuclabError(
                f"{path} has {n_rows:,} rows and {n_columns:,} columns, which take {needed / 1e9:,.0f} GB of memory, "
                f"and this machine has {present / 1e9:,.0f}; dataset=blocks reads files larger than memory"
            )
        frame = pd.read_parquet(path)
        for field in schema:  # of decimals and days pandas makes Python's objects, which would be taken for categories
            kind = field.type
            if pa.types.is_decimal(kind) or pa.types.is_date(kind):
                column = pq.read_table(path, columns=[field.name]).column(field.name)
                frame[field.name] = column.cast(
                    pa.float64() if pa.types.is_decimal(kind) else pa.timestamp("s")
                ).to_numpy()
        return frame


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
    drop: Sequence[str] | str = (),
    missing: Sequence[str] | str = (),
    sep: str | None = None,
    decimal: str | None = None,
    decimal_comma: Sequence[str] | str = (),
    encoding: str | None = None,
    name: str | None = None,
    sha256: str | None = None,
    citation: str = "",
) -> Dataset:
    r"""Load a table with a header row, or an svmlight file.

    Parameters
    ----------
    path : path
        Ends in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, or .svmlight, .libsvm, .svm (also .gz, .bz2).
    target : str
        Column with the labels; svmlight files need none.
    positive, negative : label or list of labels
        Compared as text. Without `negative` it is one side against the rest; `positive` may be left out for
        labels 0/1, −1/1 and False/True. Of times, the labels of an event.
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
    drop : list of str
        Columns to leave out, such as an identifier.
    missing : list of str
        What is read as missing in csv and tsv files besides an empty field and ``? NA N/A NaN nan null None``.
    sep, decimal, encoding : str, optional
        How a csv or tsv file is written (`auclab.datasets.csv_format.csv_format`); found if left out, and noted.
    decimal_comma : list of str
        Columns with decimal commas in a file whose others have decimal points.
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
    if where.name.lower().endswith(SVMLIGHT):
        if said := [key for key, value in {"group": group, "time": time, "graded": graded}.items() if value]:
            raise AuclabError(
                f"dataset.{said[0]} names a column, and svmlight files have no names; give a csv or parquet file"
            )
        return _read_svmlight(where, positive, negative, facts)
    given = FileSettings.of(
        {
            **{"target": target, "nominal": nominal, "drop": drop, "missing": missing, "decimal_comma": decimal_comma},
            **{"sep": sep, "decimal": decimal, "encoding": encoding},
            **{"group": group, "time": time, "event": event, "graded": graded, "group_weights": group_weights},
        }
    )
    table = read_table(where, given)
    facts |= {"notes": table.notes, "written": table.written}
    refusals = Refusals()
    for check in (table.refuse_settings, table.refuse_cells):
        with refusals.collected():
            check(given)
    if given.roles.ranking and set(given.roles.ranking) <= set(table.frame) - set(given.lists["drop"]):
        with refusals.collected():
            roles = replace(given.roles, drop=table.there(given.lists["drop"]))
            categories = ALL if given.all_nominal else [*table.there(given.lists["nominal"]), *table.codes]
            sides = {"positive": positive, "negative": negative}
            dataset = make_dataset(table.frame, target=roles, nominal=categories, **sides, **facts)
    refusals.raise_all()
    return dataset


def _read_svmlight(path: Path, positive: Any, negative: Any, facts: dict[str, Any]) -> Dataset:
    import pandas as pd

    X, labels = read_svmlight(path)
    sides = binarise(pd.Series(labels, name="label"), positive, negative)
    return Dataset(X=X[sides.kept], y=sides.y, positive=sides.positive, negative=sides.negative, **facts)


def read_svmlight(path: Path, n_features: int | None = None) -> tuple[Any, Any]:
    """The CSR matrix and the labels of an svmlight file.

    Raises
    ------
    AuclabError
        Anything else.
    """
    from sklearn.datasets import load_svmlight_file

    with reading(path), unpacked(path) as source:
        X, labels = load_svmlight_file(str(source) if source == path else source, n_features=n_features)
    return X, labels
