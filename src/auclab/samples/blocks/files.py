"""The files of a table in blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any

from auclab._core.base import Array, AuclabError
from auclab.samples.blocks.labels import BlockLabels, LabelledBlock, LabelledRows
from auclab.samples.blocks.table import Block, BlockTable

if TYPE_CHECKING:
    import pyarrow.fs as fs

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


def rows_ahead(blocks: Sequence[LabelledBlock]) -> Iterator[LabelledRows]:
    """The same with the labels of the rows."""
    for block, rows in zip(blocks, ahead((each.block for each in blocks), Block.read), strict=True):
        yield LabelledRows(block.number, block.before, rows, block.positive, block.weight)


def table_sum(task: Callable[[LabelledRows], Any], table: BlockTable, labels: BlockLabels | None = None) -> Any:
    """The sum, by ``+``, of ``task(rows)`` over the blocks of a table, added where they are read; one pass.

    `labels`: of the rows; without them all are negative.
    """
    blocks = labels or [LabelledBlock(number, (0, 0), block, b"") for number, block in enumerate(table.blocks)]
    return table.engine.reduce(partial(_sum_of, task), blocks)


def _sum_of(task: Callable[[LabelledRows], Any], rows: Iterable[LabelledRows]) -> Any:
    return tree_sum(map(task, rows))


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


def data_files(path: str | PurePath, endings: Sequence[str]) -> tuple[fs.FileSystem, list[str], str]:
    """The file system, the files of a folder and its folders ``name=value``, and the path of the folder or file.

    Files are in the order of their paths.
    """
    import pyarrow.fs as fs

    if is_address(path):
        system, folder = _file_system(str(path))
        found = _at_address(str(path), system, folder, endings)
        opened: fs.FileSystem = fs.PyFileSystem(fs.FSSpecHandler(system))
    else:
        place = Path(path).expanduser()
        if not place.exists():
            raise AuclabError(f"{path} does not exist; give a folder of {endings[0]} files, or one such file")
        found = [str(file) for file in (files_below(place, endings) if place.is_dir() else [place])]
        opened, folder = fs.LocalFileSystem(), str(place)
    if not found:
        raise AuclabError(f"{path} holds no file that ends in {' or '.join(endings)}")
    return opened, found, folder


def _at_address(address: str, system: Any, root: str, endings: Sequence[str]) -> list[str]:
    try:
        if not system.exists(root):
            raise AuclabError(f"{address} does not exist; give a folder of {endings[0]} files, or one such file")
        if system.isfile(root):
            return [root]
        listed = [str(file) for file in system.find(root)]
    except OSError as error:
        raise AuclabError(f"{address} cannot be read ({error or type(error).__name__}); check the address") from error
    kept = [
        file
        for file in listed
        if file.endswith(tuple(endings))
        and all(looked_into(name) for name in PurePosixPath(file).relative_to(root).parts[:-1])
    ]
    return sorted(kept, key=PurePosixPath)


def file_state(system: fs.FileSystem, path: str) -> tuple[Any, ...]:
    """Values that change with the file: its size and the time of its last change, or attributes from the store."""
    inner = getattr(getattr(system, "handler", None), "fs", None)
    if inner is None:
        found = system.get_file_info(path)
        return found.size, found.mtime_ns
    inner.invalidate_cache(path)  # a listing of the folder would be that of its first look
    facts = inner.info(path)
    return tuple(str(facts[key]) for key in _STATE if key in facts)


def sha256_of_files(path: str | PurePath, endings: Sequence[str]) -> str:
    """SHA-256 of the contents of a file, or of all files of a folder one after the other.

    At an address it is that of names, sizes and attributes from the store; nothing is read.
    """
    system, files, _ = data_files(path, endings)
    digest: Any = hashlib.sha256()
    for file in files:
        if is_address(path):
            digest.update(repr((file, *file_state(system, file))).encode())
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
