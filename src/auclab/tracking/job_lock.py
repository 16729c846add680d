"""Lets only one process of a machine at a time work on a job that several sweeps share.

A lock per job, in a file named by a hash of the settings and the code. The operating system releases it when the
process ends for any reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from auclab.tracking.address import Address
from auclab.tracking.config import TrackingConfig

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def claim(tracking: TrackingConfig, key: str) -> AbstractContextManager[None]:
    """Wait for the lock of a job and hold it.

    Without an SQLite file nothing is locked: other stores may be shared by several machines, whose processes find each
    other's runs in the store (`auclab.tracking.finished.find_finished`).

    `tracking`: names the store. `key`: what identifies the job.
    """
    file = Address.of_settings(tracking).file if tracking.name == "mlflow" else None
    return nullcontext() if file is None else _locked(file.with_name(f".{file.name}.locks"), key)


@contextmanager
def _locked(folder: Path, key: str) -> Iterator[None]:
    from filelock import FileLock  # single runs and --help do not need it

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(key.encode()).hexdigest()
    with FileLock(path):
        try:
            yield
        finally:
            with suppress(OSError):  # on Windows the lock itself removes the file, once it is closed
                path.unlink()  # while it is held: a process that waits for it notices, and makes a file of its own
