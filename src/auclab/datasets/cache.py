"""Downloaded files: where they are kept, and archives."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import socket
import threading
import urllib.request
import urllib.response
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from auclab._core.base import AuclabError
from auclab.datasets.records import Dataset
from auclab.samples.tables import in_memory

#: Bytes that all data sets together may take, except that the last one is kept whatever its size.
MAX_BYTES = 500_000_000

_kept: dict[str, Dataset] = {}
_lock = threading.Lock()


def load_cached(key: str, load: Callable[[], Dataset]) -> Dataset:
    """The data set of `key`: loaded at the first call, shared afterwards; its arrays must not be changed.

    The last data set is kept, and earlier ones as long as all together take at most `MAX_BYTES`. Tables whose rows are
    in files are not kept: their engine may hold a cluster open.

    `key`: identifies the data set: its resolved settings. `load`: loads it.
    """
    with _lock:
        dataset = _kept.pop(key, None)
        if dataset is None:
            dataset = load()
            if not in_memory(dataset.X):
                return dataset
        _kept[key] = dataset  # at the end: the least recently used one is the first
        while len(_kept) > 1 and sum(map(size_of, _kept.values())) > MAX_BYTES:
            del _kept[next(iter(_kept))]
        return dataset


def size_of(dataset: Dataset) -> int:
    """Bytes of the numbers of a data set in memory."""
    X: Any = dataset.X
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False).sum()) + dataset.y.nbytes
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) + dataset.y.nbytes


#: Bytes that a file may unpack to, unless it is itself so large that this is less than `MOST_RATIO` times its size;
#: a table takes up to ten times as much memory while it is read.
MOST_BYTES = 200_000_000
#: Tables pack to a tenth or so of their size, sparse ones to a fortieth; a file of equal bytes to a thousandth.
MOST_RATIO = 100

#: Endings of packed files.
PACKINGS = (".gz", ".bz2", ".xz", ".zip", ".zst")


def _unpacker(path: Path) -> Any:
    """A stream of the contents of a packed file; None for a file that is not packed."""
    openers: dict[str, Callable[[Path], Any]] = {
        ".gz": gzip.GzipFile,
        ".bz2": bz2.BZ2File,
        ".xz": lzma.LZMAFile,
        ".zip": _only_member,
        ".zst": lambda path: importlib.import_module("zstandard").open(path, "rb"),
    }
    opener = openers.get(path.suffix.lower())
    try:
        return None if opener is None else opener(path)
    except ImportError as error:
        raise needs_library(path, error) from error


def needs_library(path: Path, error: ImportError) -> AuclabError:
    """The error for a file whose library is not installed."""
    return AuclabError(f"{path} needs a library that is not installed ({error}): pip install 'auclab[tables]'")


def _only_member(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise AuclabError(f"{path} has {len(names)} files, and one table is read: unpack it, and give its path")
        return archive.open(names[0])


class Limited(io.RawIOBase):
    """A stream that ends in an error after `most` bytes."""

    def __init__(self, source: Any, most: int) -> None:
        self._source, self._left = source, most
        self.is_exceeded = False

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, or a part of it."""
        data = self._source.read(min(len(buffer), self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            self.is_exceeded = True
            raise OSError("it unpacks to more than is allowed")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the source, too."""
        if not self.closed:
            self._source.close()
        super().close()


@contextmanager
def unpacked(path: Path) -> Iterator[Any]:
    """What a reader of tables takes: the path of a plain file, a stream of the contents of a packed one."""
    packed = _unpacker(path)
    if packed is None:
        yield path
        return
    size = path.stat().st_size
    most = max(MOST_BYTES, MOST_RATIO * size)
    with packed as source:
        limited = Limited(source, most)
        try:
            yield io.BufferedReader(limited, 1 << 20)
        except Exception as error:  # whatever a reader makes of the end of its bytes; any other is raised
            if limited.is_exceeded:
                raise AuclabError(
                    f"{path} has {size / 1e6:.3g} MB and unpacks to more than {most / 1e6:,.0f}, the limit for a "
                    "table; if it is yours, unpack it yourself and give the plain file"
                ) from error
            raise


class _LimitedAnswers(urllib.request.BaseHandler):
    """Unpacks answers of servers, and ends them after `most` bytes."""

    handler_order = 900  # after redirects and errors

    def __init__(self, most: int) -> None:
        self.most = most

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        """The answer with a limit; errors and redirects are passed on."""
        if not 200 <= response.status < 300:
            return response
        source = response
        if response.headers.get("Content-Encoding", "") == "gzip":
            source = gzip.GzipFile(fileobj=response, mode="rb")
            del response.headers["Content-Encoding"], response.headers["Content-Length"]
        body = io.BufferedReader(Limited(source, self.most))
        answer = urllib.response.addinfourl(body, response.headers, response.url, response.status)
        answer.msg = response.msg  # type: ignore[attr-defined]  # as urlopen's own answers have it
        return answer

    https_response = http_response


@contextmanager
def limited_downloads(*, seconds: float, most: int = MAX_BYTES) -> Iterator[None]:
    """Inside, ``urlopen`` of this process fetches from http and https alone, with limits on time and bytes.

    For clients that have no limits of their own, such as scikit-learn's of OpenML.
    """
    opener = urllib.request.OpenerDirector()
    for handler in (
        *(urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), urllib.request.HTTPSHandler()),
        *(urllib.request.HTTPDefaultErrorHandler(), urllib.request.HTTPRedirectHandler()),
        *(urllib.request.HTTPErrorProcessor(), urllib.request.UnknownHandler(), _LimitedAnswers(most)),
    ):
        opener.add_handler(handler)
    before, before_seconds = getattr(urllib.request, "_opener", None), socket.getdefaulttimeout()
    urllib.request.install_opener(opener)
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before_seconds)
        urllib.request.install_opener(before)  # None: the usual one
