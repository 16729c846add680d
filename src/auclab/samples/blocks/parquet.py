"""Parquet files as blocks: one row group each, read when it is needed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab.samples.blocks.engines import LocalEngine
from auclab.samples.blocks.files import data_files, file_state, is_address, open_file, partition_values, sha256_of_files
from auclab.samples.blocks.mixed_rows import MixedRows, distinct_codes
from auclab.samples.blocks.table import Block, BlockTable, Engine

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class RowGroup:
    """A row group of a parquet file, which is sent to a worker instead of the rows.

    `constants` are the last columns, whose values are in the names of folders; `nominal` are the categories. `version`
    is the checksum, at opening, of size, time of change and footer of the file: every pass has to find the same rows.
    """

    path: str
    number: int
    n_rows: int
    columns: tuple[str, ...]
    constants: tuple[float | str, ...] = ()
    nominal: tuple[str, ...] = ()
    version: str = ""

    def check_file(self) -> None:
        """Raise `AuclabError` if the file has changed since it was opened."""
        _reading(self.path, lambda _: None, version=self.version)

    def read(self) -> Array | MixedRows:
        """The columns as floats, shape (n_rows, n_columns), NaN where a value is missing; a column is contiguous.

        With columns of categories the rows are `MixedRows`.
        """
        stored = self.columns[: len(self.columns) - len(self.constants)]
        work = partial(_read_group, number=self.number, columns=stored)
        numeric = [name for name in self.columns if name not in self.nominal]
        table = _reading(self.path, work, tuple(name for name in stored if name in self.nominal), self.version)
        given = dict(zip(self.columns[len(stored) :], self.constants, strict=True))
        rows = np.empty((self.n_rows, len(numeric)), order="F")
        for k, name in enumerate(numeric):
            rows[:, k] = given[name] if name in given else _floats(table.column(name))
        if not self.nominal:
            return rows
        codes, values = [], []
        for name in self.columns:
            if name in self.nominal:
                found = _constant(given[name], self.n_rows) if name in given else _categories(table.column(name))
                codes.append(found[0])
                values.append(found[1])
        is_number = tuple(name not in self.nominal for name in self.columns)
        return MixedRows(rows, tuple(codes), tuple(values), is_number)


def open_parquet(
    path: str | Path,
    *,
    target: str,
    drop: Sequence[str] = (),
    nominal: Sequence[str] | Literal["ALL"] = (),
    engine: Engine | None = None,
) -> tuple[BlockTable, pd.Series]:
    """The features of a file, or of all files of a folder in the order of their paths, and the column of labels.

    Folders ``name=value`` within the folder are read as Hive and Spark write them: the name is a column, the last one
    of the features or the target. Only the labels are read. Row groups of about 10⁵ rows are best: one or two are in
    memory at a time. Columns of text are categories, which a preprocessing has to encode before a solve.

    Parameters
    ----------
    path : path
        A .parquet file, or a folder with such files of the same columns. Columns are taken by name, in the order of
        the first file. Addresses such as ``s3://bucket/folder`` are read by fsspec, if it is installed, with the
        credentials that it finds.
    target : str
        Column with the labels.
    drop : sequence of str
        Columns to leave out.
    nominal : sequence of str, or "ALL"
        Columns that are categories though they are stored as numbers or booleans.
    engine : Engine, optional
        Reads the blocks and computes; `LocalEngine` by default.

    Returns
    -------
    table : BlockTable of shape (n_rows, n_features)
    labels : Series of shape (n_rows,)
        A categorical of the distinct labels; one or two bytes per row if they are few.

    Raises
    ------
    AuclabError
        No such file or folder, files that cannot be read or have different columns, columns that are missing or
        neither numbers nor text.

    See Also
    --------
    auclab.datasets.blocks.load_blocks : The same as a data set with binary labels.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"age": [30.0, 40.0], "y": [0, 1]}).to_parquet(f"{folder}/rows.parquet")
    ...     table, labels = open_parquet(folder, target="y")
    ...     print(table.shape, labels.tolist())
    (2, 1) [0, 1]
    """
    files, place = data_files(path, ENDINGS)
    folders = partition_values([PurePath(file) for file in files], place)
    columns, categories = _feature_columns(files, target, drop, folders, nominal)
    constant = [name for name in folders if name in columns]
    blocks = []
    for at, file in enumerate(files):
        metadata, version = _open(file).metadata, _version(file)
        values = [folders[name][at] for name in constant]
        constants = tuple(
            _text(value) if name in categories else float(value) for name, value in zip(constant, values, strict=True)
        )
        for number in range(metadata.num_row_groups):
            n_rows = metadata.row_group(number).num_rows
            if n_rows:
                blocks.append(Block(RowGroup(file, number, n_rows, columns, constants, categories, version)))
    if not blocks:
        raise AuclabError(f"{path} has no rows")
    return BlockTable(tuple(blocks), columns, engine or LocalEngine()), column_in_memory(path, target)


def column_in_memory(path: str | Path, name: str) -> pd.Series:
    """A column of a file, or of all files of a folder, as categories; it may be in the names of folders."""
    files, place = data_files(path, ENDINGS)
    folders = partition_values([PurePath(file) for file in files], place)
    return _repeated(files, name, folders[name]) if name in folders else _labels(files, name)


def boolean_columns(path: str | Path) -> tuple[str, ...]:
    """Names of the columns of booleans in a file, or in the first file of a folder."""
    import pyarrow.types as kinds

    schema = _open(data_files(path, ENDINGS)[0][0]).schema_arrow
    return tuple(field.name for field in schema if kinds.is_boolean(field.type))


def _feature_columns(
    files: Sequence[str],
    target: str,
    drop: Sequence[str],
    folders: Mapping[str, Sequence[Any]],
    nominal: Sequence[str] | Literal["ALL"],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns without target and those to be dropped, in the order of the first file; and which are categories."""
    first = _open(files[0]).schema_arrow
    if both := [name for name in folders if name in first.names]:
        raise AuclabError(f"column {both[0]!r} is in {files[0]} and in the name of its folder; rename one")
    named = () if nominal == "ALL" else nominal
    for name in (target, *drop, *named):
        if name not in first.names and name not in folders:
            raise AuclabError(f"column {name!r} does not exist; columns are {', '.join([*first.names, *folders])}")
    columns = [name for name in first.names if name != target and name not in drop]
    partitions = [name for name in folders if name != target and name not in drop]
    if not columns and not partitions:
        raise AuclabError(f"no features: {target!r} is the only column that is left")
    # A column without values in a file has no type there: it is text if it is text in any file.
    of_text = _text_columns(files)
    categories = [name for name in columns if nominal == "ALL" or name in named or name in of_text]
    for file in files:
        schema = _open(file).schema_arrow
        if twice := [name for name, count in Counter(schema.names).items() if count > 1]:
            raise AuclabError(f"{file} has two columns named {twice[0]!r}; columns are taken by name: rename one")
        if different := sorted(set(schema.names) ^ set(first.names)):
            raise AuclabError(
                f"{file} has other columns than {files[0]} ({', '.join(different[:6])}); "
                "the files of a folder make one table"
            )
        for name in columns:
            _check_kind(name, file, schema.field(name).type, first.field(name).type, name in categories)
    of_text = {name for name in partitions if any(isinstance(value, str) for value in folders[name])}
    categories += [name for name in partitions if nominal == "ALL" or name in named or name in of_text]
    return (*columns, *partitions), tuple(categories)


def _text_columns(files: Sequence[str]) -> set[str]:
    """Columns that are text in the first file in which their type is known."""
    import pyarrow.types as kinds

    found: dict[str, bool] = {}
    for file in files:
        for field in _open(file).schema_arrow:
            if not kinds.is_null(field.type):
                found.setdefault(field.name, _is_text(field.type))
    return {name for name, is_text in found.items() if is_text}


def _check_kind(name: str, file: str, kind: pa.DataType, of_first: pa.DataType, is_category: bool) -> None:
    """Refuse a column that is neither number nor category, or that has another kind than in the first file."""
    import pyarrow.types as kinds

    if _is_number(kind) and (is_category or not _is_text(of_first)):
        return
    if is_category and _is_text(kind):
        return
    if _is_text(kind):
        raise AuclabError(
            f"column {name!r} of {file} is of type {kind}, and of type {of_first} in the first file; the files of a "
            "folder make one table"
        )
    advice = "make features of it, or drop it"
    if kinds.is_temporal(kind):
        advice = "make columns of it in the files, such as the year and the days since a date, or drop it"
    raise AuclabError(f"column {name!r} of {file} is of type {kind}; blocks take numbers and text: {advice}")


def _is_number(kind: pa.DataType) -> bool:
    """Whether a type is integer, float, decimal, boolean, or that of a column whose values are all missing."""
    import pyarrow.types as kinds

    is_known = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind) or kinds.is_boolean(kind)
    return bool(is_known or kinds.is_null(kind))


def _floats(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of numbers; NaN where a value is missing."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy())


def _is_text(kind: pa.DataType) -> bool:
    """Whether a type is text, or categories of text or numbers."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(kind):
        return _is_text(kind.value_type) or _is_number(kind.value_type)
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind))


def _read_group(file: pq.ParquetFile, number: int, columns: Sequence[str]) -> pa.Table:
    return file.read_row_group(number, columns=list(columns))


def _categories(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    """Codes and values of a column."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return distinct_codes(codes, array.dictionary.to_pandas().to_list())


def _constant(value: float | str, n_rows: int) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    """A category that the name of a folder holds, for all rows of a file."""
    missing = value == ""
    return np.full(n_rows, -1 if missing else 0, dtype=np.int32), () if missing else (value,)


def _text(value: Any) -> str:
    """The value of a folder as text; a missing one is empty."""
    return "" if value != value else str(value)


def _labels(files: Sequence[str], target: str) -> pd.Series:
    """The column of labels as categories, file after file."""
    import pandas as pd

    parts = []
    for file in files:
        found, values = _categories_of(file, target)
        # One byte per row while the other files are read, which matters at 10⁸ rows.
        parts.append((found.astype(np.int8) if len(values) < 2**7 else found, values))
    places: dict[Any, int] = {}
    for _, values in parts:
        for value in values:
            places.setdefault(value, len(places))
    small: Any = np.int8 if len(places) < 2**7 else np.int32
    codes: NDArray[np.integer] = np.empty(sum(part.size for part, _ in parts), dtype=small)
    start = 0
    for part, values in parts:
        moved = np.array([*(places[value] for value in values), -1], dtype=small)
        codes[start : start + part.size] = moved[part]
        start += part.size
    kinds = pd.Index(list(places))
    return pd.Series(pd.Categorical.from_codes(codes, categories=kinds), name=target)


def _categories_of(path: str, target: str) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    """Codes and values of the labels of a file, read one row group at a time."""

    def work(file: pq.ParquetFile) -> Any:
        import pyarrow as pa

        kind = file.schema_arrow.field(target).type
        groups = [pa.nulls(0, kind)]  # a file may have none
        for number in range(file.metadata.num_row_groups):
            groups.append(file.read_row_group(number, columns=[target]).column(target).combine_chunks())
        if pa.types.is_decimal(kind):
            groups = [column.cast(pa.float64()) for column in groups]
        return pa.chunked_array([column.dictionary_encode() for column in groups])

    return _categories(_reading(path, work))


def _repeated(files: Sequence[str], target: str, values: Sequence[Any]) -> pd.Series:
    """The label that the folder of a file holds, for each of its rows."""
    import pandas as pd

    rows = [_open(file).metadata.num_rows for file in files]
    distinct = list(dict.fromkeys(values))
    codes = np.repeat(np.array([distinct.index(value) for value in values], dtype=np.int32), rows)
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(distinct)), name=target)


def _open(path: str) -> pq.ParquetFile:
    return _reading(path, lambda file: file)


def _version(path: str) -> str:
    """The checksum of a file that has been opened, as `RowGroup` has it."""
    return _opened(path, (), file_state(path))[1]


def _reading(
    path: str, work: Callable[[pq.ParquetFile], Any], categories: tuple[str, ...] = (), version: str = ""
) -> Any:
    """``work(file)``; errors of pyarrow and of the file system, and a file that changes, become an `AuclabError`."""
    # Imported when needed: pyarrow takes a tenth of a second.
    import pyarrow as pa

    try:
        state = file_state(path)
        file, now = _opened(path, categories, state)
        found = work(file) if not version or now == version else None
        if (version and now != version) or file_state(path) != state:
            raise AuclabError(f"{path} has changed since it was opened; start again with files that do not change")
        return found
    except (OSError, KeyError, IndexError, pa.ArrowException) as error:
        raise AuclabError(f"{path} cannot be read as parquet: {error}") from error


@lru_cache(maxsize=64)
def _opened(path: str, categories: tuple[str, ...], state: tuple[Any, ...]) -> tuple[pq.ParquetFile, str]:
    """The file, and the checksum of its footer and of `state`, which changes with the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(
        open_file(path),
        read_dictionary=list(categories),
        pre_buffer=is_address(path),
        page_checksum_verification=True,  # where the file has checksums
    )
    footer = pa.BufferOutputStream()
    file.metadata.write_metadata_file(footer)
    return file, hashlib.blake2b(repr(state).encode() + footer.getvalue().to_pybytes(), digest_size=8).hexdigest()


def sha256_of(path: str | Path) -> str:
    """SHA-256 of the contents of a file, or of all files of a folder; at an address, of attributes from the store."""
    return sha256_of_files(path, ENDINGS)
