"""A database that another process holds, or whose bytes are overwritten."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from fault_cases.workspace import BEGUN, QUICK, Fault, Workspace, finish, lacking, outcome, push, wait_for

#: How long the lock of another process lasts, in seconds.
MINUTE = 60.0


@contextmanager
def holding(file: Path, seconds: float) -> Iterator[None]:
    """Another process holds the lock of a database, or of another file."""
    database = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('BEGIN IMMEDIATE'); print('held', flush=True); time.sleep(float(sys.argv[2]))"
    )
    other = (
        "import sys, time; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire(); "
        "print('held', flush=True); time.sleep(float(sys.argv[2]))"
    )
    script = database if file.suffix == ".db" else other
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(file), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield
    finally:
        process.kill()
        process.wait()


def held_minute(workspace: Workspace) -> Fault:
    """Another process holds the database for a minute; a single run."""
    workspace.seed_store()
    with holding(workspace.folder / "mlruns" / "mlflow.db", MINUTE):
        answer = workspace.run("run", *QUICK, "split.seed=1")
    return outcome("", "", answer, push(workspace) + lacking(workspace, [1]))


def held_minute_sweep(workspace: Workspace) -> Fault:
    """Another process holds the database for a minute from the first job of a sweep on."""
    workspace.seed_store()
    process = workspace.start("run", "-m", *QUICK, "split.seed=1,2,3")
    wait_for(lambda: len(workspace.finished()) >= 2)
    with holding(workspace.folder / "mlruns" / "mlflow.db", MINUTE):
        begun = time.monotonic() - BEGUN[process.pid]
        answer = finish(process)
    lost = push(workspace)
    workspace.run("run", "-m", *QUICK, "split.seed=1,2,3")
    return outcome("", "", answer, lost + lacking(workspace, [1, 2, 3]), begun=begun)


def held_long(workspace: Workspace) -> Fault:
    """Another process holds the database for ten minutes; a single run."""
    workspace.seed_store()
    with holding(workspace.folder / "mlruns" / "mlflow.db", 600.0):
        answer = workspace.run("run", *QUICK, "split.seed=1")
    return outcome("", "", answer, push(workspace) + lacking(workspace, [1]))


def held_lock(workspace: Workspace) -> Fault:
    """Another process holds the lock under which the store is opened for ten minutes; a sweep starts."""
    workspace.seed_store()
    with holding(workspace.folder / "mlruns" / ".lock", 600.0):
        answer = workspace.run("run", "-m", *QUICK, "split.seed=1")
    workspace.run("run", "-m", *QUICK, "split.seed=1")
    return outcome("", "", answer, lacking(workspace, [1]))


def overwrite(file: Path, start: int, count: int) -> None:
    """Write random bytes over a file."""
    with file.open("r+b") as stream:
        stream.seek(start)
        stream.write(os.urandom(count))


def _corrupt(workspace: Workspace, damage: Callable[[Path], None]) -> Fault:
    workspace.seed_store()
    file = workspace.folder / "mlruns" / "mlflow.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(file, workspace.folder / "copy.db")
    damage(file)
    answer = workspace.run("run", *QUICK, "split.seed=1")
    for path in file.parent.glob("mlflow.db*"):
        path.unlink()
    shutil.copy(workspace.folder / "copy.db", file)  # the reader's backup
    return outcome("", "", answer, push(workspace) + lacking(workspace, [1]))


def corrupt_header(workspace: Workspace) -> Fault:
    """The first kilobyte of the database is overwritten."""
    return _corrupt(workspace, lambda file: overwrite(file, 0, 1024))


def corrupt_pages(workspace: Workspace) -> Fault:
    """Every page of the database but the first is overwritten."""
    return _corrupt(workspace, lambda file: overwrite(file, 4096, file.stat().st_size - 4096))
