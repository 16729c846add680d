"""Parquet files as blocks: one row group each, read when it is needed.

The files of a folder are a dataset of pyarrow. Other rows (a query of polars or DuckDB, a filtered dataset, a stream of
Arrow) are written to a temporary parquet file first.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab.samples.blocks.engines import LocalEngine
from auclab.samples.blocks.files import data_files, file_state, sha256_of_files
from auclab.samples.blocks.row_forms import MixedRows, distinct_codes
from auclab.samples.blocks.table import Block, BlockTable, Engine

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as ds

ENDINGS = (".parquet", ".pq")
#: Key of a field's metadata: a file, the type of the column there, and that in another file; one is text.
_MIXED = b"mixed"
#: Rows of a row group that is written.
GROUP_LENGTH = 100_000

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RowGroup:
    """A row group of a parquet file, which is sent to a worker instead of the rows.

    `place`: what pyarrow needs to open the file, pickled: path, file system, and the columns in the names of folders.
    `schema`: names and types of all columns that can be read. `columns` are read, `nominal` of them as categories.
    `version` is the checksum, at opening, of size, time of change and footer of the file: every pass has to find the
    same rows. `held`: keeps a temporary file from being removed.
    """

    path: str
    place: bytes
    number: int
    n_rows: int
    schema: pa.Schema
    version: str
    columns: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    held: Any = field(default=None, compare=False, repr=False)

    def check_file(self) -> None:
        """Raise `AuclabError` if the file has changed since it was opened."""
        self._reading(lambda _: None)

    def read(self) -> Array | MixedRows:
        """The columns as floats, shape (n_rows, n_columns), NaN where a value is missing; a column is contiguous.

        With columns of categories the rows are `MixedRows`.
        """
        table = self._reading(self._table)
        numeric = [name for name in self.columns if name not in self.nominal]
        rows = np.empty((self.n_rows, len(numeric)), order="F")
        for k, name in enumerate(numeric):
            rows[:, k] = _floats(table.column(name))
        if not self.nominal:
            return rows
        pairs = [_categories(table.column(name)) for name in self.columns if name in self.nominal]
        is_number = tuple(name not in self.nominal for name in self.columns)
        return MixedRows(rows, tuple(codes for codes, _ in pairs), tuple(values for _, values in pairs), is_number)

    def of_columns(self, columns: Sequence[str]) -> RowGroup:
        """The row group of which only these columns can be read, if it has them."""
        import pyarrow as pa

        return replace(
            self, schema=pa.schema([self.schema.field(name) for name in columns if name in self.schema.names])
        )

    def _table(self, file: ds.ParquetFileFragment) -> pa.Table:
        import pyarrow as pa

        wanted = [self.schema.field(name) for name in self.columns]
        wanted = [
            each.with_type(pa.dictionary(pa.int32(), each.type)) if each.name in self._texts() else each
            for each in wanted
        ]
        group = file.subset(row_group_ids=[self.number])
        return group.to_table(schema=pa.schema(wanted), columns=list(self.columns), batch_size=max(self.n_rows, 1))

    def _texts(self) -> tuple[str, ...]:
        """Categories that pyarrow reads as such from the pages of text."""
        import pyarrow.types as kinds

        fields = [self.schema.field(name) for name in self.nominal]
        return tuple(
            each.name
            for each in fields
            if (kinds.is_string(each.type) or kinds.is_large_string(each.type)) and not is_mixed(each)
        )

    def _reading(self, work: Callable[[ds.ParquetFileFragment], Any]) -> Any:
        """``work(file)``; errors of pyarrow and of the file system, and a file that changes, become `AuclabError`."""
        import pyarrow as pa

        path, system, _ = pickle.loads(self.place)
        try:
            state = file_state(system, path)
            file, version = _opened(self.place, state, self._texts())
            found = work(file) if version == self.version else None
            is_same = version == self.version and file_state(system, path) == state
        except (OSError, KeyError, IndexError, ValueError, pa.ArrowException) as error:
            reason = (
                f"{error}; every worker must see it at this path" if isinstance(error, FileNotFoundError) else error
            )
            raise AuclabError(f"{path} cannot be read as parquet: {reason}") from error
        if not is_same:
            raise AuclabError(f"{path} has changed since it was opened; start again with files that do not change")
        return found


@lru_cache(maxsize=64)
def _opened(place: bytes, state: tuple[Any, ...], texts: tuple[str, ...]) -> tuple[ds.ParquetFileFragment, str]:
    """The file, and the checksum of its footer and of `state`, which changes with the file."""
    # Imported when needed: pyarrow takes a tenth of a second.
    import pyarrow as pa
    import pyarrow.dataset as ds

    path, system, folders = pickle.loads(place)
    options = ds.ParquetFragmentScanOptions(
        pre_buffer=system.type_name != "local",
        page_checksum_verification=True,  # where the file has checksums
    )
    form = ds.ParquetFileFormat(dictionary_columns=list(texts), default_fragment_scan_options=options)
    file = form.make_fragment(path, system, folders)
    footer = pa.BufferOutputStream()
    file.metadata.write_metadata_file(footer)
    return file, hashlib.blake2b(repr(state).encode() + footer.getvalue().to_pybytes(), digest_size=8).hexdigest()


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
    groups = row_groups(path)
    return open_groups(groups, target, drop, nominal, engine or LocalEngine()), column_in_memory(groups, target)


def is_lazy(X: Any) -> bool:
    """Whether X is a dataset of pyarrow, a LazyFrame of polars, or another stream of Arrow that is not in memory.

    Relations of DuckDB are such streams.

    Examples
    --------
    >>> is_lazy([[1.0]])
    False
    """
    library = type(X).__module__.partition(".")[0]
    if (library, type(X).__name__) == ("polars", "LazyFrame"):
        return True
    if library == "pyarrow" and hasattr(X, "get_fragments"):
        return True
    return hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__")


def row_groups(rows: Any) -> tuple[RowGroup, ...]:
    """The row groups of a path or an address, or of what `is_lazy` tells, with all columns in their schema.

    Other rows than those of parquet files are written to a temporary file once, a part at a time; it is removed with
    the last of its row groups.
    """
    import pyarrow as pa

    if not is_lazy(rows):
        dataset = _dataset(rows)
        return _groups(list(dataset.get_fragments()), dataset.schema, str(rows))
    try:
        fragments = list(rows.get_fragments())
    except (AttributeError, ValueError):  # no dataset, or one with a filter
        fragments = []
    if fragments and all(hasattr(each, "row_groups") for each in fragments):
        return _groups(fragments, rows.schema, "the dataset")
    held = _Folder()
    log.info("the rows of a %s are written to %s, and read from there", type(rows).__name__, held.path)
    try:
        _write(rows, f"{held.path}/rows.parquet")
    except (OSError, pa.ArrowException) as error:
        raise AuclabError(f"the rows of a {type(rows).__name__} cannot be written to {held.path}: {error}") from error
    found = row_groups(f"{held.path}/rows.parquet")
    return tuple(replace(each, held=held) for each in found)


class _Folder:
    """A temporary folder that is removed with this object; pickled, it is None."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="auclab-rows-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()


def _write(rows: Any, path: str) -> None:
    """Write a stream to a parquet file, a part at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if hasattr(rows, "sink_parquet"):
        rows.sink_parquet(path, row_group_size=GROUP_LENGTH)
        return
    reader = rows.scanner().to_reader() if hasattr(rows, "scanner") else pa.RecordBatchReader.from_stream(rows)
    with pq.ParquetWriter(path, reader.schema) as writer:
        part: list[pa.RecordBatch] = []
        for batch in reader:
            part.append(batch)
            if sum(each.num_rows for each in part) >= GROUP_LENGTH:
                writer.write_table(pa.Table.from_batches(part), row_group_size=GROUP_LENGTH)
                part = []
        writer.write_table(pa.Table.from_batches(part, reader.schema))


def _groups(fragments: Sequence[ds.ParquetFileFragment], schema: pa.Schema, name: str) -> tuple[RowGroup, ...]:
    """The row groups with rows, each with the version of its file; `name` is for the message."""
    import pyarrow as pa

    found = []
    for fragment in fragments:
        # Workers, and this process later, may run in another folder.
        path = str(Path(fragment.path).absolute()) if fragment.filesystem.type_name == "local" else fragment.path
        place = pickle.dumps((path, fragment.filesystem, fragment.partition_expression))
        try:
            numbers = [(group.id, group.num_rows) for group in fragment.row_groups]
            version = _opened(place, file_state(fragment.filesystem, fragment.path), ())[1]
        except (OSError, pa.ArrowException) as error:
            raise AuclabError(f"{fragment.path} cannot be read as parquet: {error}") from error
        found += [RowGroup(fragment.path, place, k, n_rows, schema, version) for k, n_rows in numbers if n_rows]
    if not found:
        raise AuclabError(f"{name} has no rows")
    return tuple(found)


def _dataset(path: str | Path) -> ds.Dataset:
    """The files of a folder as one table; what their folders are named is its last columns."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    system, files, folder = data_files(path, ENDINGS)
    inner = [tuple(part.partition("=")[0] for part in _below(file, folder)) for file in files]
    for file, names in zip(files, inner, strict=True):
        if names != inner[0]:
            raise AuclabError(
                f"{file} lies in folders of {', '.join(names) or 'no columns'}, and {files[0]} in those of "
                f"{', '.join(inner[0]) or 'none'}; the files of a folder make one table"
            )
    own = [_schema(ds.ParquetFileFormat().make_fragment(file, system)) for file in files]
    for file, schema in zip(files, own, strict=True):
        if twice := [name for name, count in Counter(schema.names).items() if count > 1]:
            raise AuclabError(f"{file} has two columns named {twice[0]!r}; columns are taken by name: rename one")
        if both := [name for name in inner[0] if name in schema.names]:
            raise AuclabError(f"column {both[0]!r} is in {file} and in the name of its folder; rename one")
        if different := sorted(set(schema.names) ^ set(own[0].names)):
            raise AuclabError(
                f"{file} has other columns than {files[0]} ({', '.join(different[:6])}); "
                "the files of a folder make one table"
            )
    kinds = {
        name: {file: each.field(name).type for file, each in zip(files, own, strict=True)} for name in own[0].names
    }
    fields = [_common(name, of_files) for name, of_files in kinds.items()]
    options: Any = {"format": "parquet", "filesystem": system, "partition_base_dir": folder}
    found = ds.dataset(files, partitioning=ds.partitioning(flavor="hive"), **options)
    keys = [ds.get_partition_keys(each.partition_expression) for each in found.get_fragments()]
    constants = [(name, _constant([each[name] for each in keys], found.schema.field(name).type)) for name in inner[0]]
    partitioning = ds.partitioning(pa.schema(constants), flavor="hive")
    return ds.dataset(files, partitioning=partitioning, schema=pa.schema([*fields, *constants]), **options)


def _below(file: str, folder: str) -> tuple[str, ...]:
    """The folders between a folder and a file in it."""
    return PurePath(file).relative_to(folder).parts[:-1]


def _schema(file: ds.ParquetFileFragment) -> pa.Schema:
    import pyarrow as pa

    try:
        return file.physical_schema
    except (OSError, pa.ArrowException) as error:
        raise AuclabError(f"{file.path} cannot be read as parquet: {error}") from error


def _common(name: str, kinds: dict[str, pa.DataType]) -> pa.Field:
    """A column whose type in every file is given; text if it is text in one and numbers in another."""
    import pyarrow as pa

    known = {kind: file for file, kind in reversed(kinds.items()) if not pa.types.is_null(kind)} or {pa.null(): ""}
    if odd := [kind for kind in known if not _is_number(kind) and not _is_text(kind)]:
        return pa.field(name, odd[0])
    if all(_is_number(kind) for kind in known):
        return pa.field(name, next(iter(known)) if len(known) == 1 else pa.float64())
    if all(_is_text(kind) for kind in known):
        return pa.field(name, next(iter(known)) if len(known) == 1 else pa.string())
    first, other = next((a, b) for b, a in pairwise(known) if _is_text(a) != _is_text(b))
    return pa.field(name, pa.string(), metadata={_MIXED: f"{known[other]}\n{other}\n{first}"})


def is_mixed(column: pa.Field) -> bool:
    """Whether a column is text in one file and a number in another."""
    return column.metadata is not None and _MIXED in column.metadata


def _constant(values: Sequence[Any], kind: pa.DataType) -> pa.DataType:
    """The type of a column in the names of folders; pyarrow knows whole numbers and text."""
    import pyarrow as pa

    if not pa.types.is_string(kind):
        return kind
    try:
        np.array([value for value in values if value is not None], dtype=np.float64)
    except ValueError:
        return kind
    return pa.float64()


def open_groups(
    groups: Sequence[RowGroup],
    target: str | None,
    drop: Sequence[str] = (),
    nominal: Sequence[str] | Literal["ALL"] = (),
    engine: Engine | None = None,
) -> BlockTable:
    """Row groups as a table of the columns without `target` and those of `drop`."""
    schema = groups[0].schema
    named = schema.names if nominal == "ALL" else nominal
    for name in (*([] if target is None else [target]), *drop, *named):
        if name not in schema.names:
            raise AuclabError(f"column {name!r} does not exist; columns are {', '.join(schema.names)}")
    columns = tuple(name for name in schema.names if name != target and name not in drop)
    if not columns:
        raise AuclabError(f"no features: {target!r} is the only column that is left")
    for name in columns:
        _check_kind(schema.field(name), name in named, groups[0].path)
    categories = tuple(name for name in columns if name in named or _is_text(schema.field(name).type))
    blocks = [Block(replace(each.of_columns(columns), columns=columns, nominal=categories)) for each in groups]
    return BlockTable(blocks, columns, engine or LocalEngine())


def column_in_memory(groups: Sequence[RowGroup], name: str) -> pd.Series:
    """A column as categories, one row group read at a time; one or two bytes a row if they are few."""
    import pandas as pd
    import pyarrow as pa

    column = groups[0].schema.field(name)
    if pa.types.is_decimal(column.type):
        column = column.with_type(pa.float64())
    parts: list[NDArray[Any]] = []
    places: dict[Any, int] = {}
    for group in groups:
        rows: Any = replace(group, schema=pa.schema([column]), columns=(name,), nominal=(name,)).read()
        moved = [places.setdefault(value, len(places)) for value in rows.values[0]]
        kind: Any = np.int8 if len(places) < 2**7 else np.int32
        parts.append(np.array([*moved, -1], dtype=kind)[rows.codes[0]])
    values: Any = pd.Index(list(places))
    return pd.Series(pd.Categorical.from_codes(np.concatenate(parts), categories=values), name=name)


def boolean_columns(groups: Sequence[RowGroup]) -> tuple[str, ...]:
    """Names of the columns of booleans."""
    import pyarrow.types as kinds

    return tuple(column.name for column in groups[0].schema if kinds.is_boolean(column.type))


def _check_kind(column: pa.Field, is_named: bool, file: str) -> None:
    """Refuse a feature that is neither number nor category, or text in some files only."""
    import pyarrow.types as kinds

    kind = column.type
    if not is_named and is_mixed(column):
        where, its_kind, other = column.metadata[_MIXED].decode().split("\n")
        raise AuclabError(
            f"column {column.name!r} of {where} is of type {its_kind}, and of type {other} in another file; the files "
            "of a folder make one table"
        )
    if _is_number(kind) or _is_text(kind):
        return
    advice = "make features of it, or drop it"
    if kinds.is_temporal(kind):
        advice = "make columns of it in the files, such as the year and the days since a date, or drop it"
    raise AuclabError(f"column {column.name!r} of {file} is of type {kind}; blocks take numbers and text: {advice}")


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


def _categories(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    """Codes and values of a column."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return distinct_codes(codes, array.dictionary.to_pandas().to_list())


def sha256_of(path: str | Path) -> str:
    """SHA-256 of the contents of a file, or of all files of a folder; at an address, of attributes from the store."""
    return sha256_of_files(path, ENDINGS)
