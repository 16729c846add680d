"""The user's own file: csv, tsv, parquet or svmlight."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auclab.datasets.bad_cells import refuse_bad_cells
from auclab.datasets.checksum import verified_sha256
from auclab.datasets.csv_format import CsvFormat, csv_format
from auclab.datasets.csv_rows import leading_zeros
from auclab.datasets.labels import as_labels, binarise
from auclab.datasets.overrides import override
from auclab.datasets.records import Dataset
from auclab.datasets.table import ALL, UNREADABLE, make_dataset, read_csv, unreadable
from auclab.datasets.unpacked import unpacked
from auclab.types import AuclabError
from auclab.validation import did_you_mean, nearest

#: Missing values in csv and tsv files.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "None")

CSV, TSV, PARQUET = (".csv", ".csv.gz"), (".tsv", ".tsv.gz"), (".parquet", ".pq")
SVMLIGHT = tuple(f".{ending}{packing}" for ending in ("svmlight", "libsvm", "svm") for packing in ("", ".gz", ".bz2"))


def load_file(
    path: str | Path | None = None,
    target: str | None = None,
    positive: Any = None,
    *,
    negative: Any = None,
    nominal: Sequence[str] | str = (),
    drop: Sequence[str] | str = (),
    missing: Sequence[str] | str = (),
    sep: str | None = None,
    decimal: str | None = None,
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
        labels 0/1, −1/1 and False/True.
    nominal : list of str, or "ALL"
        Columns that are categories though they look like numbers; columns of text are categories anyway.
    drop : list of str
        Columns to leave out, such as an identifier.
    missing : list of str
        What is read as missing in csv and tsv files besides an empty field and ``? NA N/A NaN nan null None``.
    sep, decimal, encoding : str, optional
        How a csv or tsv file is written (`auclab.datasets.csv_format.csv_format`); found if left out, and noted.
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
        raise AuclabError(f"{path} is an address; files of this machine are read: download it, and give its path")
    where = Path(path).expanduser()
    digest = verified_sha256(where, sha256)
    facts: dict[str, Any] = {
        "name": name or where.name,
        "sha256": digest,
        "source": str(where),
        "citation": citation,
    }
    if where.stat().st_size == 0:
        raise AuclabError(f"{where} is empty; a header row and at least two rows of data are needed")
    if where.name.lower().endswith(SVMLIGHT):
        return _read_svmlight(where, positive, negative, facts)
    kept_as_text = () if nominal == ALL else as_labels(nominal)
    if where.name.lower().endswith((*CSV, *TSV)):
        written = _format_of(where, sep, decimal, encoding)
        _require_columns(where, written.header, target, kept_as_text, as_labels(drop))
        text = ALL if nominal == ALL else [*kept_as_text, str(target), *as_labels(drop)]
        frame, codes = _read_text(where, written, text, (*MISSING, *as_labels(missing)))
        facts["notes"] = (*(f"{where.name}: {found}" for found in written.detected), *_notes(frame, codes))
        facts["written"] = {"sep": written.sep, "decimal": written.decimal, "encoding": written.encoding}
        kept_as_text = (*kept_as_text, *codes)
    elif where.name.lower().endswith(PARQUET):
        given = {"sep": sep, "decimal": decimal, "encoding": encoding, "missing": as_labels(missing)}
        if said := [f"dataset.{key}" for key, value in given.items() if value]:
            raise AuclabError(f"{', '.join(said)} is for csv and tsv files; {where} is parquet, which says it itself")
        frame = _read_parquet(where)
        _require_columns(where, [str(label) for label in frame.columns], target, kept_as_text, as_labels(drop))
    else:
        raise AuclabError(unknown_ending(where))
    frame = frame.rename(columns=str).drop(columns=list(as_labels(drop)))
    if nominal != ALL:
        looked_at = [name for name in frame.columns if name not in (target, *kept_as_text)]
        refuse_bad_cells(frame, looked_at, decimal=facts.get("written", {}).get("decimal", "."))
    return make_dataset(frame, target=str(target), positive=positive, negative=negative, nominal=nominal, **facts)


def unknown_ending(path: Path) -> str:
    """What to do with a file whose name says none of the formats that are read."""
    ending = path.suffix.lower()
    if ending in (".xlsx", ".xls", ".xlsm", ".ods"):
        return f"{path} is a workbook; save its sheet as csv (in Excel: CSV UTF-8), and give that file"
    if ending in (".txt", ".tab", ".dat", ""):
        return f"{path} has no ending that says its format; if it is a table of text, name it {path.stem}.csv"
    return f"{path} has an unknown ending; a file ends in one of {', '.join((*CSV, *TSV, *PARQUET, *SVMLIGHT))}"


def _read_text(
    path: Path, written: CsvFormat, text: Sequence[str] | str, missing: Sequence[str]
) -> tuple[Any, list[str]]:
    """The table of a csv file, and its columns that are kept as text because their numbers start with zeros."""

    def read(kept: Sequence[str] | str) -> Any:
        return read_csv(
            path,
            text=kept, missing=missing, sep=written.sep, decimal=written.decimal, encoding=written.encoding,
            skipinitialspace=True, names=list(written.header), header=0, index_col=False,
        )  # fmt: skip

    try:
        frame = read(text)
    except AuclabError:
        leading_zeros(path, written, [])  # names the row if its length is the reason
        raise
    codes = leading_zeros(path, written, [str(name) for name in frame.columns if _is_whole(frame[name])])
    return (read([*text, *codes]), codes) if codes and text != ALL else (frame, [])


def _notes(frame: Any, codes: Sequence[str]) -> list[str]:
    """What is said of columns whose numbers start with zeros."""
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


def _format_of(path: Path, sep: str | None, decimal: str | None, encoding: str | None) -> CsvFormat:
    try:
        return csv_format(path, sep=sep, decimal=decimal, encoding=encoding)
    except AuclabError:
        raise
    except UNREADABLE as error:
        raise unreadable(path, error) from error


def _require_columns(
    path: Path, columns: Sequence[str], target: str | None, nominal: Sequence[str], dropped: Sequence[str]
) -> None:
    """Refuse settings that name columns which are not there, before the rows are read."""
    every = ", ".join(columns)
    if target is None:
        raise AuclabError(f"which column of {path} is the target? Give dataset.target; columns are {every}")
    given = {"target": [str(target)], "nominal": nominal, "drop": dropped}
    words = {"target": "target column {}", "nominal": "nominal column {}", "drop": "column {}, to be dropped,"}
    for key, names in given.items():
        for name in names:
            if name not in columns:
                role, near = words[key].format(repr(name)), did_you_mean(name, columns)
                hint = _hint(key, name, names, columns)
                raise AuclabError(f"{role} is not there{near}{hint}; columns are {every}")
    if str(target) in dropped:
        raise AuclabError(f"column {target!r} is the target and to be dropped; take it out of dataset.drop")


def _hint(key: str, name: str, names: Sequence[str], columns: Sequence[str]) -> str:
    """How a column is to be typed whose name a comma has split, or that is alike and needs quotes."""
    for column in columns:
        parts = [part.strip() for part in column.split(",")]
        for first in range(len(names) - len(parts) + 1):
            if len(parts) > 1 and list(names[first : first + len(parts)]) == parts:
                whole = [*names[:first], column, *names[first + len(parts) :]]
                return f"; a name with a comma is one value in quotes: {override(f'dataset.{key}', whole)}"
    if (near := nearest(name, columns)) is None or re.fullmatch(r"\w+", near, flags=re.ASCII):
        return ""
    whole = [near if each == name else each for each in names]
    return f"; it is typed as {override(f'dataset.{key}', whole[0] if key == 'target' else whole)}"


def _read_parquet(path: Path) -> Any:
    import pandas as pd
    import psutil
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
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
    except AuclabError:
        raise
    except UNREADABLE as error:
        raise unreadable(path, error) from error


def _read_svmlight(path: Path, positive: Any, negative: Any, facts: dict[str, Any]) -> Dataset:
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    try:
        with unpacked(path) as source:
            X, labels = load_svmlight_file(str(source) if source == path else source)
    except AuclabError:
        raise
    except UNREADABLE as error:
        raise unreadable(path, error) from error
    sides = binarise(pd.Series(labels, name="label"), positive, negative)
    return Dataset(X=X[sides.kept], y=sides.y, positive=sides.positive, negative=sides.negative, **facts)
