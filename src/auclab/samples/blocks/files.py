"""The files of a table in blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePath, PurePosixPath
from typing import Any
from urllib.parse import unquote

from auclab._core.base import Array, AuclabError
from auclab.samples.blocks.labels import LabelledBlock, LabelledRows
from auclab.samples.blocks.table import Block

#: Results that are added in one task; a power of 2, so that the tree is the same as that of `tree_sum`.
FAN_IN = 8


def tree_sum(results: Iterable[Any]) -> Any:
    """The sum of successive results, added in a binary tree: log₂ of their number are in memory at a time.

    If groups of `FAN_IN` results are summed elsewhere, and their sums likewise, the tree is the same, so that sums of
    floats do not depend on where they are added.
    """
    held: list[tuple[int, Any]] = []
    for result in results:
        size = 1
        while held and held[-1][0] == size:
            result = held.pop()[1] + result
            size *= 2
        held.append((size, result))
    if not held:
        raise AuclabError("there are no blocks; a pass must yield at least one")
    total = held.pop()[1]
    while held:
        total = held.pop()[1] + total
    return total


#: A task of `Engine.reduce`: the summand of some blocks, which it gets one after the other; picklable.
Reduction = Callable[[Iterable[LabelledRows]], Any]

#: Rows of a group of blocks that one call of a task sums; its result is sent and added once for all of them.
GROUP_ROWS = 1_048_576


def groups(blocks: Sequence[LabelledBlock]) -> list[list[LabelledBlock]]:
    """Consecutive blocks, together about `GROUP_ROWS` rows; the same for any number of workers."""
    found: list[list[LabelledBlock]] = [[]]
    n_rows = 0
    for block in blocks:
        if n_rows >= GROUP_ROWS:
            found.append([])
            n_rows = 0
        found[-1].append(block)
        n_rows += block.block.n_rows
    return found


def ahead(blocks: Iterable[Block], read: Callable[[Block], Array]) -> Iterator[Array]:
    """The rows of the blocks in order; the next block is read while the caller computes."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="blocks") as reader:
        reads = (reader.submit(read, block) for block in blocks)
        waiting = next(reads, None)
        while waiting is not None:
            rows = waiting.result()
            waiting = next(reads, None)  # only after these are read: two blocks are in memory
            yield rows
            del rows


def rows_ahead(blocks: Sequence[LabelledBlock], read: Callable[[Block], Array]) -> Iterator[LabelledRows]:
    """The same with the labels of the rows."""
    for block, rows in zip(blocks, ahead((each.block for each in blocks), read), strict=True):
        yield LabelledRows(block.number, block.before, rows, block.positive, block.weight)


#: The folder of rows whose value is missing.
MISSING = "__HIVE_DEFAULT_PARTITION__"


def files_below(folder: Path, endings: Sequence[str]) -> list[Path]:
    """Files of a folder and of its folders ``name=value``, in the order of their paths.

    Other folders are not looked into; names that start with ``_`` or ``.`` are left out there.
    """
    inside = list(folder.iterdir())
    found = [path for path in inside if path.suffix in endings and not (path.is_dir() and looked_into(path.name))]
    for path in found:
        if not path.is_file():  # rows would be missing silently
            what = "is a folder" if path.is_dir() else "is a link to a file that does not exist"
            raise AuclabError(f"{path} {what}; move its files into {folder}, or give it as the path")
    for inner in inside:
        if inner.is_dir() and looked_into(inner.name):
            found += files_below(inner, endings)
    return sorted(found)


def looked_into(name: str) -> bool:
    """Whether a folder of this name is read: ``name=value``, without ``_`` or ``.`` as the first character."""
    return "=" in name and name[0] not in "._"


def partition_values(files: Sequence[PurePath], folder: PurePath) -> dict[str, list[int | float | str]]:
    """For every partition column the value of each file; numbers where all values are numbers, a missing one NaN.

    Examples
    --------
    >>> files = [Path("data/y=0/a.parquet"), Path("data/y=1/b.parquet")]
    >>> partition_values(files, Path("data"))
    {'y': [0, 1]}
    """
    rows = [_pairs(file, folder) for file in files]
    names = list(rows[0]) if rows else []
    for file, row in zip(files, rows, strict=True):
        if list(row) != names:
            raise AuclabError(
                f"{file} lies in folders of {', '.join(row) or 'no columns'}, and {files[0]} in those of "
                f"{', '.join(names) or 'none'}; the files of a folder make one table"
            )
    return {name: _numbers([row[name] for row in rows]) for name in names}


def _pairs(file: PurePath, folder: PurePath) -> Mapping[str, str]:
    """Names and values of the folders between `folder` and a file."""
    if folder not in file.parents:
        return {}
    parts = [unquote(part).partition("=") for part in file.relative_to(folder).parts[:-1]]
    return {name: value for name, _, value in parts}


def _numbers(values: list[str]) -> list[int | float | str]:
    """Values as whole numbers, or as numbers, or as they are."""
    for kind in (int, float):
        try:
            return [float("nan") if value == MISSING else kind(value) for value in values]
        except ValueError:
            continue
    return list(values)


#: Attributes of a remote file that change with it, if the store provides them; otherwise only its size is used.
_STATE = (
    *("size", "ETag", "etag", "mtime", "LastModified", "Last-Modified", "last_modified", "created"),
    *("Content-MD5", "Digest"),
)


def is_address(path: str | PurePath) -> bool:
    """Whether a path is for fsspec.

    Examples
    --------
    >>> is_address("s3://bucket/folder"), is_address("data/folder")
    (True, False)
    """
    return "://" in str(path)


def data_files(path: str | PurePath, endings: Sequence[str]) -> tuple[list[str], PurePath]:
    """The files of a folder and its folders ``name=value`` in the order of their paths, or one file; and the folder."""
    if is_address(path):
        found, folder = _at_address(str(path), endings), PurePath(PurePosixPath(str(path)))
    else:
        place = Path(path).expanduser()
        if not place.exists():
            raise AuclabError(f"{path} does not exist; give a folder of {endings[0]} files, or one such file")
        found, folder = [str(file) for file in (files_below(place, endings) if place.is_dir() else [place])], place
    if not found:
        raise AuclabError(f"{path} holds no file that ends in {' or '.join(endings)}")
    return found, folder


def _at_address(address: str, endings: Sequence[str]) -> list[str]:
    system, root = _file_system(address)
    try:
        if not system.exists(root):
            raise AuclabError(f"{address} does not exist; give a folder of {endings[0]} files, or one such file")
        if system.isfile(root):
            return [address]
        listed = system.find(root)
    except OSError as error:
        raise AuclabError(f"{address} cannot be read ({error or type(error).__name__}); check the address") from error
    inner = [str(file)[len(root.rstrip("/")) + 1 :] for file in listed]
    kept = [
        file
        for file in inner
        if file.endswith(tuple(endings)) and all(looked_into(name) for name in PurePosixPath(file).parts[:-1])
    ]
    return [f"{address.rstrip('/')}/{file}" for file in sorted(kept, key=PurePosixPath)]


def open_file(path: str) -> Any:
    """The source from which pyarrow reads a file: its path, or a stream of fsspec."""
    if not is_address(path):
        return path
    system, inner = _file_system(path)
    return system.open(inner, "rb")


def file_state(path: str) -> tuple[Any, ...]:
    """Values that change with the file: its size and the time of its last change, or attributes from the store."""
    if not is_address(path):
        found = Path(path).stat()
        return found.st_size, found.st_mtime_ns
    system, inner = _file_system(path)
    system.invalidate_cache(inner)  # a listing of the folder would be that of its first look
    facts = system.info(inner)
    return tuple(str(facts[key]) for key in _STATE if key in facts)


def sha256_of_files(path: str | PurePath, endings: Sequence[str]) -> str:
    """SHA-256 of the contents of a file, or of all files of a folder one after the other.

    At an address it is that of names, sizes and attributes from the store; nothing is read.
    """
    files, _ = data_files(path, endings)
    digest: Any = hashlib.sha256()
    for file in files:
        if is_address(file):
            digest.update(repr((file, *file_state(file))).encode())
            continue
        with Path(file).open("rb") as stream:
            while chunk := stream.read(1 << 24):
                digest.update(chunk)
    return str(digest.hexdigest())


def _file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path within it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise AuclabError(
            f"{address} is read by fsspec, which is not installed: pip install 'auclab[remote]', and for S3 s3fs"
        ) from error
    try:
        system, inner = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise AuclabError(f"{address} cannot be read: {error}") from error
    return system, str(inner)
