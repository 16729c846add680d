"""One process at a time works on a job, of several sweeps on a machine that have the same job.

A lock per job: a byte of one file, whose position follows from the settings and the code. The operating system releases
it when the process ends, however it ends.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

from auclab.tracking.config import TrackingConfig

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

#: Seconds between two attempts.
POLL_SECONDS = 0.2
#: Positions of locks; two jobs share one with probability 2⁻³⁰.
POSITIONS = 2**30


def claim(tracking: TrackingConfig, key: str) -> AbstractContextManager[None]:
    """Hold the lock of a job, as soon as no other process of this machine has it.

    Nothing is locked where the store is not an SQLite file: processes of several machines write into others, which see
    the runs of each other there (`auclab.tracking.finished.find_finished`).

    Parameters
    ----------
    tracking : TrackingConfig
        Names the store.
    key : str
        What identifies the job.
    """
    from auclab.tracking.address import Address  # imports NumPy, which --help does not need

    file = Address.of_settings(tracking).file if tracking.name == "mlflow" else None
    return nullcontext() if file is None else _locked(file.with_name(f".{file.name}.jobs"), key)


@contextmanager
def _locked(path: Path, key: str) -> Iterator[None]:
    position = int(hashlib.sha256(key.encode()).hexdigest(), 16) % POSITIONS
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        while not _try(stream, position):
            time.sleep(POLL_SECONDS)
        yield  # closing the file releases the lock


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _try(stream: IO[bytes], position: int) -> bool:
        stream.seek(position)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try(stream: IO[bytes], position: int) -> bool:
        try:
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, position)
        except BlockingIOError:
            return False
        return True
