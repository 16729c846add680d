"""Tables in files other than csv, each read by the library that knows its format."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab._core.base import AuclabError
from auclab._core.words import few
from auclab.datasets.cache import PACKINGS, needs_library
from auclab.datasets.csv_format import opened, refuse_same_names
from auclab.datasets.table import reading

if TYPE_CHECKING:
    import pandas as pd

#: Formats by the endings of files. Behind those of csv, ARFF and svmlight may stand .gz, .bz2, .zip, .xz, .zst.
ENDINGS = {
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow"),
    "orc": (".orc",),
    "excel": (".xlsx", ".xlsm", ".xls", ".ods"),
    "stata": (".dta",),
    "spss": (".sav", ".zsav", ".por"),
    "sas": (".sas7bdat", ".xpt"),
    "arff": (".arff",),
    "svmlight": (".svmlight", ".libsvm", ".svm"),
}


def format_of(path: str | Path) -> str | None:
    """The format that the name of a file says, one of `ENDINGS`; None for another ending, such as .txt or .data.

    Examples
    --------
    >>> format_of("my.csv.gz"), format_of("my.SAV"), format_of("iris.data")
    ('csv', 'spss', None)
    """
    name = str(path).lower()
    for packing in PACKINGS:
        name = name.removesuffix(packing)
    return next((kind for kind, endings in ENDINGS.items() if name.endswith(endings)), None)


def read_format(path: Path, kind: str) -> tuple[pd.DataFrame, list[str]]:
    """The table of a file in one of the `ENDINGS` but csv and svmlight, and notes on it."""
    import pandas as pd

    notes: list[str] = []
    with reading(path):
        try:
            if kind in ("parquet", "feather", "orc"):
                frame = _of_arrow(path, kind)
            elif kind == "excel":
                with pd.ExcelFile(path) as book:
                    frame = pd.read_excel(book, sheet_name=0)
                    if len(book.sheet_names) > 1:
                        notes.append(f"{path.name}: the first of {len(book.sheet_names)} sheets is read")
            elif kind == "arff":
                frame = _of_arff(path)
            else:
                read: dict[str, Any] = {"stata": pd.read_stata, "spss": pd.read_spss, "sas": pd.read_sas}
                options = {"encoding": "infer" if path.suffix.lower() == ".sas7bdat" else "utf-8"}
                frame = read[kind](path, **(options if kind == "sas" else {}))
        except ImportError as error:
            raise needs_library(path, error) from error
        except NotImplementedError as error:
            raise AuclabError(f"{path} cannot be read as a table: {error}; save it as csv or parquet") from error
    labelled = [str(name) for name in frame if str(frame[name].dtype) == "category"]
    if labelled and kind in ("stata", "spss"):
        notes.append(f"{path.name}: value labels stand for the numbers of {', '.join(labelled)}")
    names = [str(name).strip() for name in frame]
    refuse_same_names(path, names)
    if padded := [str(name) for name in frame if str(name).strip() != str(name)]:
        notes.append(f"{path.name}: blanks around names of columns are left out ({few(map(repr, padded))})")
    return frame.set_axis(names, axis=1), notes


def _of_arrow(path: Path, kind: str) -> pd.DataFrame:
    """A file of Arrow's formats; decimals and days as numbers and dates, of which pandas makes Python's objects."""
    import psutil
    import pyarrow as pa
    import pyarrow.parquet as pq

    if kind == "parquet":
        with pq.ParquetFile(path) as file:
            n_rows, n_columns = file.metadata.num_rows, file.metadata.num_columns
        needed, present = 8 * n_rows * n_columns, psutil.virtual_memory().total
        if needed > present:  # a few bytes may describe any number of equal rows
            raise AuclabError(
                f"{path} has {n_rows:,} rows and {n_columns:,} columns, which take {needed / 1e9:,.0f} GB of memory, "
                f"and this machine has {present / 1e9:,.0f}; dataset=blocks reads files larger than memory"
            )
        table = pq.read_table(path)
    elif kind == "feather":
        from pyarrow import feather

        table = feather.read_table(path)
    else:
        from pyarrow import orc

        table = orc.read_table(path)
    for at, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type) or pa.types.is_date(field.type):
            kind_of_numbers = pa.float64() if pa.types.is_decimal(field.type) else pa.timestamp("s")
            table = table.set_column(at, field.name, table.column(at).cast(kind_of_numbers))
    return table.to_pandas()


def _of_arff(path: Path) -> pd.DataFrame:
    """Numbers, and nominal attributes as categories."""
    import pandas as pd
    from scipy.io import arff

    with opened(path) as stream, io.TextIOWrapper(stream, encoding="utf-8") as text:
        data, meta = arff.loadarff(text)
    frame = pd.DataFrame(data)
    texts = [name for name in meta.names() if meta[name][0] == "nominal"]
    return frame.assign(**{name: frame[name].str.decode("utf-8").astype("category") for name in texts})
