"""SHA-256 of files and of computed arrays."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.types import AuclabError


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file, in hexadecimal digits.

    Raises
    ------
    AuclabError
        The file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise AuclabError(
            f"{path} cannot be read: {error.strerror or error}; check the path and its permissions"
        ) from error


def verified_sha256(path: Path, expected: str | None) -> str:
    """SHA-256 of a file that must equal `expected`, unless that is None.

    Raises
    ------
    AuclabError
        The two differ, or the file cannot be read.
    """
    actual = file_sha256(path)
    if expected is not None and actual != expected.lower():
        raise AuclabError(
            f"{path} is not the file that was expected: its SHA-256 is {actual}, needed was {expected}; "
            "put the right file there, or accept this one with dataset.sha256=null"
        )
    return actual


def array_sha256(*arrays: NDArray[Any]) -> str:
    """SHA-256 of the bytes of arrays in row order, one after the other.

    Examples
    --------
    >>> import hashlib
    >>> array_sha256(np.array([1], dtype=np.uint8)) == hashlib.sha256(bytes([1])).hexdigest()
    True
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
