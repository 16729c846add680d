"""Tables in files: csv and other formats, each read by the library that knows it; features and target."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab._core.base import AuclabError
from auclab._core.words import did_you_mean, few
from auclab.datasets.cache import PACKINGS, needs_library, unpacked
from auclab.datasets.csv_format import CsvFormat, opened, refuse_same_names
from auclab.datasets.labels import as_labels
from auclab.datasets.records import Dataset
from auclab.datasets.target import Roles

if TYPE_CHECKING:
    import pandas as pd


#: What reading a damaged file or one of another format raises; errors of pandas and pyarrow are ValueErrors.
UNREADABLE = (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)

ALL = "ALL"


def read_csv(
    path: Path, *, text: Sequence[str] | str = (), missing: Sequence[str] = ("",), **options: Any
) -> pd.DataFrame:
    """A csv file, plain or gzipped, in UTF-8 unless `options` say otherwise; columns `text` (or ALL) stay text."""
    import pandas as pd

    kinds: Any = str if text == ALL else dict.fromkeys(text, str)
    settings: Mapping[str, Any] = {"encoding": "utf-8", "low_memory": False, **options}
    options = {"dtype": kinds, "keep_default_na": False, "na_values": list(missing), "compression": None, **settings}
    with reading(path), unpacked(path) as source:
        return pd.read_csv(source, **options)


def read_text(path: Path, written: CsvFormat, *, text: Sequence[str] | str, missing: Sequence[str]) -> pd.DataFrame:
    """A csv file that is written in some way."""
    return read_csv(
        path,
        text=text, missing=missing, sep=written.sep, decimal=written.decimal, encoding=written.encoding,
        skipinitialspace=True, names=list(written.header), header=0 if written.has_names else None, index_col=False,
    )  # fmt: skip


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what damaged files raise into an `AuclabError` with the reason."""
    try:
        yield
    except AuclabError:
        raise
    except UNREADABLE as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).strip()
        raise AuclabError(
            f"{path} cannot be read as a table: {reason or type(error).__name__}; check the path and the format"
        ) from error


def make_dataset(
    frame: pd.DataFrame,
    *,
    target: str | Roles,
    positive: Any,
    negative: Any = None,
    nominal: Sequence[str] | str | None = None,
    columns: Sequence[str] | None = None,
    **facts: Any,
) -> Dataset:
    """Split `frame` into features and what its rows are ranked by.

    `target`: column with the labels of two classes, or the columns that are not features. `positive`, `negative`: see
    `auclab.datasets.labels.binarise`; rows of neither class are left out. Of times, the labels of an event. `nominal`:
    columns that are categories. `columns`: features to keep; all but the target if left out. `**facts`: the other
    fields of `Dataset`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"], "y": ["no", "yes"]})
    >>> dataset = make_dataset(table, target="y", positive="yes", nominal=["colour"], name="toy")
    >>> dataset.y.tolist(), dataset.nominal, dataset.negative
    ([0, 1], ('colour',), 'no')
    """
    if frame.empty:
        raise AuclabError(f"data set {facts.get('name', '')!r} has no rows; at least one of each class is needed")
    frame = frame.rename(columns=str)
    roles = target if isinstance(target, Roles) else Roles(target)
    for key, column in roles.named.items():
        _require([] if column is None else [column], frame, f"{key} column")
    others = roles.columns
    features = [name for name in frame.columns if name not in others] if columns is None else list(as_labels(columns))
    _require(features, frame, "feature")
    if not features:
        only = " and ".join(map(repr, others))
        raise AuclabError(
            f"no features: {only} is the only column; columns are separated by commas, or by tabs in .tsv"
            if len(others) == 1
            else f"no features: {only} are the only columns"
        )
    categories = features if nominal == ALL else list(as_labels(nominal))
    _require(categories, frame, "nominal column")
    categories = [name for name in categories if name in features]
    ranked = roles.ranked(frame, positive, negative)
    # One representation of text whatever reader made it: str objects, NaN where missing.
    X = frame.loc[ranked.kept, features].astype(dict.fromkeys(categories, object)).reset_index(drop=True)
    y = ranked.target
    return Dataset(
        X=X, y=y.y, nominal=tuple(categories), positive=ranked.positive, negative=ranked.negative,
        ranked=None if y.is_of_classes else y, aside=roles.aside(frame, ranked.kept), **facts,
    )  # fmt: skip


def _require(required: Sequence[str], frame: pd.DataFrame, role: str) -> None:
    for name in required:
        if name not in frame.columns:
            columns = [str(column) for column in frame.columns]
            raise AuclabError(
                f"{role} {name!r} does not exist{did_you_mean(name, columns)}; columns are {', '.join(columns)}"
            )


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
