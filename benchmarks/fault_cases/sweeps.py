"""Sweeps that are started twice, and processes of sweeps that are killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from contextlib import closing, suppress

import psutil

from fault_cases.workspace import (
    BEGUN,
    QUICK,
    Answer,
    Fault,
    Workspace,
    finish,
    is_whole,
    lacking,
    outcome,
    running,
    wait_for,
)


def two_sweeps(workspace: Workspace) -> Fault:
    """The same sweep of six jobs is started twice at the same moment."""
    words = ("run", "-m", *QUICK, "split.seed=range(6)")
    processes = [workspace.start(*words) for _ in range(2)]
    answers: list[Answer] = []
    threads = [threading.Thread(target=lambda each=each: answers.append(finish(each))) for each in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lost = [f"a sweep ended with {each.code}: {each.lines[-1][1]}" for each in answers if each.code]
    lost += lacking(workspace, range(6)) + is_whole(workspace.folder / "mlruns" / "mlflow.db")
    result = outcome("", "", answers[0], lost)
    result.saw = [each.lines[-1][1] for each in answers]
    return result


def _kill(workspace: Workspace, launcher: str, *, worker: bool) -> Fault:
    choice = (f"hydra/launcher={launcher}", "hydra.launcher.workers=2") if launcher else ()
    words = ("run", "-m", *QUICK, *choice, "split.seed=range(8)")
    database = workspace.folder / "mlruns" / "mlflow.db"
    process = workspace.start(*words)
    wait_for(lambda: workspace.finished() and running(database))
    with closing(sqlite3.connect(database, timeout=30)) as connection:
        query = """SELECT t.value FROM runs r JOIN tags t ON t.run_uuid = r.run_uuid
                   JOIN params p ON p.run_uuid = r.run_uuid
                   WHERE r.status = 'RUNNING' AND t.key = 'process.pid' AND p.key = 'split.seed'"""
        found = connection.execute(query).fetchone()
    inside = psutil.Process(process.pid).children(recursive=True)
    victim = int(found[0]) if worker and found else process.pid
    os.kill(victim, signal.SIGKILL)
    begun = time.monotonic() - BEGUN[process.pid]
    answer = finish(process)
    lost = []
    wait = time.monotonic() + 20.0
    while time.monotonic() < wait and any(each.is_running() and each.status() != "zombie" for each in inside):
        time.sleep(0.2)
    left = [each.pid for each in inside if each.is_running() and each.status() != "zombie"]
    lost += [f"{len(left)} processes are left behind"] if left else []
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    again = workspace.run(*words)
    lost += [] if again.code == 0 else [f"the second start ended with {again.code}"]
    lost += lacking(workspace, range(8)) + is_whole(database)
    lost += [f"staged files are left: {path.name}" for path in (workspace.folder / "mlruns" / "staging").glob("*")]
    result = outcome("", "", answer, lost, begun=begun)
    result.saw = result.saw or ["nothing: it was killed"]
    result.saw.append(f"the second start: {again.lines[-1][1]}")
    return result


def kill_client_basic(workspace: Workspace) -> Fault:
    """The process of a sweep is killed (kill -9)."""
    return _kill(workspace, "", worker=False)


def kill_client_processes(workspace: Workspace) -> Fault:
    """The process of a sweep is killed (kill -9), two processes."""
    return _kill(workspace, "processes", worker=False)


def kill_worker_processes(workspace: Workspace) -> Fault:
    """A worker is killed (kill -9), two processes."""
    return _kill(workspace, "processes", worker=True)


def kill_client_dask(workspace: Workspace) -> Fault:
    """The process of a sweep is killed (kill -9), Dask with two workers."""
    return _kill(workspace, "dask", worker=False)


def kill_worker_dask(workspace: Workspace) -> Fault:
    """A worker is killed (kill -9), Dask with two workers."""
    return _kill(workspace, "dask", worker=True)
