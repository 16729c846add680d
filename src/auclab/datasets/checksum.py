"""SHA-256 of files and of computed arrays."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.datasets.target import Target, as_target
from auclab.sizes import MANY
from auclab.types import AuclabError

#: Rows of a table in blocks up to which this process reads them for a checksum.
MOST_STREAMED = MANY


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file, in hexadecimal digits."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise AuclabError(f"{path} is a device or a pipe; give the path of a file with data")
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise AuclabError(
            f"{path} cannot be read: {error.strerror or error}; check the path and its permissions"
        ) from error


def verified_sha256(path: Path, expected: str | None) -> str:
    """SHA-256 of a file that must equal `expected`, unless that is None."""
    actual = file_sha256(path)
    if expected is not None and actual != expected.lower():
        raise AuclabError(
            f"{path} is not the file that was expected: its SHA-256 is {actual}, expected {expected}; "
            "put the right file there, or accept this one with dataset.sha256=null"
        )
    return actual


def array_sha256(*arrays: NDArray[Any]) -> str:
    """SHA-256 of the bytes of arrays in row order, one after the other."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def part_sha256(X: Any, y: NDArray[Any] | Target) -> str:
    """SHA-256 of prepared features and their labels: every digit and every label counts.

    `X` (n_samples, n_features): Float64; an array and a table in blocks with the same rows have one checksum. Above
    `MOST_STREAMED` rows that of a table is made of the checksums of its blocks, which are computed where the rows are
    read. `y` (n_samples,), or Target: 1 for the positive class, 0 for the other; or what the rows are ranked by: of
    grades and times, events and groups every value counts.
    """
    digest = hashlib.sha256(f"{X.shape[0]} {X.shape[1]}".encode())
    if hasattr(X, "stream") and X.shape[0] > MOST_STREAMED:
        for part in X.run(_sha256_of_rows):
            digest.update(part)
        return _with_target(digest, y)
    if hasattr(X, "indptr"):
        parts = [X.indptr.astype(np.int64), X.indices.astype(np.int64), np.asarray(X.data, dtype=np.float64)]
    else:
        parts = X.stream() if hasattr(X, "stream") else [X]
    for part in parts:
        digest.update(np.ascontiguousarray(part, dtype=None if hasattr(X, "indptr") else np.float64).data)
    return _with_target(digest, y)


def _with_target(digest: Any, y: NDArray[Any] | Target) -> str:
    """The checksum of rows with their targets."""
    target = as_target(y)
    if target.is_of_classes:
        digest.update(target.y.astype(np.int8).data)
        return str(digest.hexdigest())
    digest.update(target.kind.encode())
    for name, values in target.columns.items():
        digest.update(name.encode())
        digest.update("\0".join(values.tolist()).encode() if name == "group" else values.astype(np.float64).data)
    return str(digest.hexdigest())


def _sha256_of_rows(rows: Any, argument: Any) -> bytes:
    """A task: the checksum of a block."""
    return hashlib.sha256(np.ascontiguousarray(rows, dtype=np.float64).data).digest()
