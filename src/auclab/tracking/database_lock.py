"""Locks on files and SQLite databases: who holds one, waiting with a message, and a limit.

SQLite, SQLAlchemy and MLflow wait silently, with different limits. Here the wait is reported after 2 s, with the
process that holds the lock, and it ends after ``tracking.wait`` seconds.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from auclab.sizes import PATIENCE, SOON
from auclab.tracking.address import hide_password
from auclab.tracking.job_status import PARENT_PROCESS_VARIABLE

log = logging.getLogger(__name__)

#: Default number of seconds to wait for the lock of another process.
WAIT_SECONDS = PATIENCE
#: Seconds of waiting before it is reported.
SAY_AFTER = SOON
#: The same for workers of one sweep, which wait for each other when all of them open the store.
SAY_AFTER_KIN = 30.0
#: Seconds between two attempts, and that SQLite itself waits in one.
ATTEMPT_SECONDS = 0.1
#: Characters of a command that are shown.
LONGEST_COMMAND = 80


class DatabaseHeldError(OSError):
    """Another process held a lock on the database for longer than the time limit."""


def await_database(file: Path, seconds: float = WAIT_SECONDS) -> None:
    """Wait until the SQLite database can be written.

    `file`: the database; it exists. `seconds`: how long to wait.
    """
    uri = f"{file.as_uri()}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, timeout=ATTEMPT_SECONDS, isolation_level=None)) as connection:
        _wait(lambda: _begun(connection), file, seconds)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # a damaged file is noticed here
        connection.execute("ROLLBACK")


@contextmanager
def hold(path: Path, seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of a file, which the operating system releases if the process dies."""
    from filelock import FileLock, Timeout  # a single run takes no such lock

    lock = FileLock(path)

    def acquired() -> bool:
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return False
        return True

    _wait(acquired, path, seconds)
    try:
        yield
    finally:
        lock.release()


def _begun(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return False
        raise
    return True


def _wait(attempt: Callable[[], bool], file: Path, seconds: float) -> None:
    """Attempt to take a lock until it is free; raise `DatabaseHeldError` after `seconds`."""
    start, said = time.monotonic(), False
    while not attempt():
        waited = time.monotonic() - start
        if waited >= seconds:
            raise DatabaseHeldError(f"{file.name} is held by {holders(file)} for more than {waited:.0f} s")
        if not said and waited >= (SAY_AFTER_KIN if _is_kin(file) else SAY_AFTER):
            if attempt():  # released while its holder was looked up: nothing to report
                return
            said = True
            log.warning(
                "waiting for %s, held by %s; for up to %.0f s (tracking.wait), Ctrl-C ends it",
                *(file, holders(file), seconds),
            )
        time.sleep(ATTEMPT_SECONDS)
    if said:
        log.warning("%s is free again after %.0f s", file, time.monotonic() - start)


def holders(file: Path) -> str:
    """A description of the processes that hold a write lock on a database.

    Linux lists locks with their processes. Elsewhere these are the visible processes that have the file open.
    """
    found = _locking(file)
    if found is None:
        found = _opening(file)
    named = [_described(pid) for pid in sorted(found - {os.getpid()})]
    return " and ".join(named[:3]) or "another process"


def _is_kin(file: Path) -> bool:
    """Whether the lock is held by workers of the same sweep, or by the sweep itself."""
    import psutil

    if (sweep := os.environ.get(PARENT_PROCESS_VARIABLE)) is None:
        return False
    pid_of_sweep = json.loads(sweep)["pid"]
    found = (_locking(file) or set()) - {os.getpid()}
    try:
        return bool(found) and all(pid_of_sweep in (pid, psutil.Process(pid).ppid()) for pid in found)
    except psutil.Error:  # it has ended in the meantime
        return True


def _locking(file: Path) -> set[int] | None:
    """Processes with a write lock from the system's list; None without such a list, or if the holder is not on it."""
    try:
        lines = Path("/proc/locks").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    inodes = set()
    for path in (file, file.with_name(f"{file.name}-shm")):  # with a write-ahead log, the lock is on its index
        try:
            inodes.add(path.stat().st_ino)
        except OSError:
            continue
    found = set()
    for line in lines:
        words = line.replace("-> ", "").split()  # number, kind, advisory, mode, process, device:inode, first, last
        if len(words) >= 6 and words[3] == "WRITE" and int(words[5].rpartition(":")[2]) in inodes and int(words[4]) > 0:
            found.add(int(words[4]))
    return found or None


def _opening(file: Path) -> set[int]:
    import psutil

    found, name = set(), str(file.resolve())
    for process in psutil.process_iter():
        try:
            if any(opened.path == name for opened in process.open_files()):
                found.add(process.pid)
        except (psutil.Error, OSError):  # of another account, or gone
            continue
    return found


def _described(pid: int) -> str:
    import psutil

    try:
        command = hide_password(" ".join(psutil.Process(pid).cmdline()))
    except (psutil.Error, OSError):
        command = ""
    if len(command) > LONGEST_COMMAND:
        command = f"{command[:LONGEST_COMMAND]}…"
    return f"process {pid} ({command})" if command else f"process {pid}"
