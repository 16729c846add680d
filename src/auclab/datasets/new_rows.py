"""Rows without labels, read as the rows of a training file were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab.datasets.bad_cells import read_as_numbers
from auclab.datasets.csv_format import CsvFormat, csv_format
from auclab.datasets.file import CSV, MISSING, PARQUET, SVMLIGHT, TSV, read_parquet, read_svmlight, unknown_ending
from auclab.datasets.table import read_text, reading
from auclab.types import AuclabError

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
