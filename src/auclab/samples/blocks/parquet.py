"""Parquet files as blocks: one row group each, read when it is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auclab.samples.blocks.block import Block, Engine
from auclab.samples.blocks.engines import LocalEngine
from auclab.samples.blocks.partitions import files_below, partition_values
from auclab.samples.blocks.table import BlockTable
from auclab.types import Array, AuclabError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class RowGroup:
    """A row group of a parquet file; what is sent to a worker in place of the rows.

    `constants` are the last columns, which the names of folders hold.
    """

    path: str
    number: int
    n_rows: int
    columns: tuple[str, ...]
    constants: tuple[float, ...] = ()

    def read(self) -> Array:
        """The columns as floats, shape (n_rows, n_columns), NaN where a value is missing; a column is contiguous."""
        stored = self.columns[: len(self.columns) - len(self.constants)]
        table = _reading(self.path, lambda file: file.read_row_group(self.number, columns=list(stored)))
        # Text would be taken for the numbers that it spells, and a single row for any number of them.
        if table.num_rows != self.n_rows or not all(_is_number(field.type) for field in table.schema):
            raise AuclabError(f"{self.path} has changed since it was opened; start again with files that stay")
        rows = np.empty((self.n_rows, len(self.columns)), order="F")
        for k, name in enumerate(stored):
            rows[:, k] = table.column(name).to_numpy()
        rows[:, len(stored) :] = self.constants
        return rows


def open_parquet(
    path: str | Path, *, target: str, drop: Sequence[str] = (), engine: Engine | None = None
) -> tuple[BlockTable, pd.Series]:
    """The features of a file, or of all files of a folder in the order of their paths, and the column of labels.

    Folders ``name=value`` within the folder are read as Hive and Spark write them: the name is a column, the last one
    of the features or the target. Only the labels are read. Row groups of about 10⁵ rows are best: one or two are in
    memory at a time.

    Parameters
    ----------
    path : path
        A .parquet file, or a folder with such files of the same columns. Columns are taken by name, in the order of
        the first file.
    target : str
        Column with the labels.
    drop : sequence of str
        Columns to leave out.
    engine : Engine, optional
        What reads the blocks and computes; `LocalEngine` if left out.

    Returns
    -------
    table : BlockTable of shape (n_rows, n_features)
    labels : Series of shape (n_rows,)

    Raises
    ------
    AuclabError
        No such file or folder, files that cannot be read or have different columns, columns that are missing or not
        numeric.

    See Also
    --------
    auclab.datasets.parquet_blocks.load_blocks : The same as a data set with binary labels.
    """
    place = Path(path).expanduser()
    files = _files(place)
    folders = partition_values(files, place)
    columns = _feature_columns(files, target, drop, folders)
    constant = [name for name in folders if name in columns]
    blocks = []
    for at, file in enumerate(files):
        metadata = _open(str(file)).metadata
        constants = tuple(float(folders[name][at]) for name in constant)
        for number in range(metadata.num_row_groups):
            n_rows = metadata.row_group(number).num_rows
            if n_rows:
                blocks.append(Block(RowGroup(str(file), number, n_rows, columns, constants)))
    if not blocks:
        raise AuclabError(f"{path} has no rows")
    labels = _repeated(files, folders[target]) if target in folders else _labels(files, target)
    return BlockTable(tuple(blocks), columns, engine or LocalEngine()), labels


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise AuclabError(f"{path} is not there; give a folder of .parquet files, or one such file")
    files = files_below(path, ENDINGS) if path.is_dir() else [path]
    if not files:
        raise AuclabError(f"{path} holds no file that ends in {' or '.join(ENDINGS)}")
    return files


def _feature_columns(
    files: Sequence[Path], target: str, drop: Sequence[str], folders: Mapping[str, Sequence[Any]]
) -> tuple[str, ...]:
    """The columns without target and those to be dropped, in the order of the first file; numeric in every file."""
    first = _open(str(files[0])).schema_arrow
    if both := [name for name in folders if name in first.names]:
        raise AuclabError(f"column {both[0]!r} is in {files[0]} and in the name of its folder; rename one")
    for name in (target, *drop):
        if name not in first.names and name not in folders:
            raise AuclabError(f"column {name!r} is not there; columns are {', '.join([*first.names, *folders])}")
    columns = [name for name in first.names if name != target and name not in drop]
    partitions = [name for name in folders if name != target and name not in drop]
    for name in partitions:
        if any(isinstance(value, str) for value in folders[name]):
            raise AuclabError(
                f"the folders {name}=… hold text; blocks take numbers alone: rename them, or drop {name!r}"
            )
    if not columns:
        raise AuclabError(f"no features: {target!r} is the only column that is left")
    for file in files:
        schema = _open(str(file)).schema_arrow
        if twice := [name for name, count in Counter(schema.names).items() if count > 1]:
            raise AuclabError(f"{file} has two columns named {twice[0]!r}; columns are taken by name: rename one")
        if different := sorted(set(schema.names) ^ set(first.names)):
            raise AuclabError(
                f"{file} has other columns than {files[0]} ({', '.join(different[:6])}); "
                "the files of a folder make one table"
            )
        for name in columns:
            if not _is_number(kind := schema.field(name).type):
                raise AuclabError(
                    f"column {name!r} of {file} is of type {kind}; blocks take numbers alone: encode it, or drop it"
                )
    return (*columns, *partitions)


def _is_number(kind: pa.DataType) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind))


def _labels(files: Sequence[Path], target: str) -> pd.Series:
    import pandas as pd

    columns = [_reading(str(path), lambda file: file.read(columns=[target])).column(target) for path in files]
    return pd.concat([column.to_pandas() for column in columns], ignore_index=True)


def _repeated(files: Sequence[Path], values: Sequence[Any]) -> pd.Series:
    """The label that the folder of a file holds, for each of its rows."""
    import pandas as pd

    return pd.Series(np.repeat(np.asarray(values), [_open(str(file)).metadata.num_rows for file in files]))


def _open(path: str) -> pq.ParquetFile:
    return _reading(path, lambda file: file)


def _reading(path: str, work: Callable[[pq.ParquetFile], Any]) -> Any:
    """``work(file)``; errors of pyarrow and of the file system become an `AuclabError`."""
    # Imported when needed: pyarrow takes a tenth of a second.
    import pyarrow as pa

    try:
        return work(_opened(path, Path(path).stat().st_mtime_ns))
    except (OSError, KeyError, IndexError, pa.ArrowException) as error:
        raise AuclabError(f"{path} cannot be read as parquet: {error}") from error


@lru_cache(maxsize=64)
def _opened(path: str, changed: int) -> pq.ParquetFile:
    """The file with its footer; `changed`, the time of its last change, is part of the cache's key."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(path)


def sha256_of(path: str | Path) -> str:
    """SHA-256 of the contents of a file, or of all files of a folder one after the other."""
    import hashlib

    digest: Any = hashlib.sha256()
    for file in _files(Path(path).expanduser()):
        with file.open("rb") as stream:
            while chunk := stream.read(1 << 24):
                digest.update(chunk)
    return str(digest.hexdigest())
