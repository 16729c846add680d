"""An MLflow server that is killed or hangs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from urllib.request import urlopen

from fault_cases.workspace import BEGUN, SLOW, Fault, Workspace, finish, lacking, outcome, push, running, wait_for


@contextmanager
def serving(workspace: Workspace, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`mlflow server`, with a process group of its own."""
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    options = [
        "--workers",
        "1",
        "--port",
        str(port),
        "--backend-store-uri",
        f"sqlite:///{workspace.folder / 'server.db'}",
    ]
    options += ["--artifacts-destination", str(workspace.folder / "server-files")]
    with (workspace.folder / "server.log").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *options], cwd=workspace.folder, stdout=log, stderr=log,
            env=os.environ | quiet, start_new_session=True,
        )  # fmt: skip
    try:
        wait_for(lambda: process.poll() is not None or answers(port))
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(port: int) -> bool:
    """Whether the server answers."""
    try:
        return bool(urlopen(f"http://127.0.0.1:{port}/health", timeout=2).status == 200)
    except OSError:
        return False


def free_port() -> int:
    """A port that nobody listens to."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def lost_after(workspace: Workspace, words: Sequence[str]) -> list[str]:
    """What `auclab push` and the same command once more cannot repair."""
    lost = push(workspace)
    again = workspace.run(*words)
    return lost if again.code == 0 else [*lost, f"the second start ended with {again.code}"]


def server_killed(workspace: Workspace) -> Fault:
    """The MLflow server is killed (kill -9) while a job of a sweep computes."""
    port, database = free_port(), workspace.folder / "server.db"
    words = ("run", "-m", *SLOW, f"tracking.uri=http://127.0.0.1:{port}", "split.seed=1,2")
    with serving(workspace, port) as server:
        process = workspace.start(*words)
        wait_for(lambda: running(database))
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        begun = time.monotonic() - BEGUN[process.pid]
        answer = finish(process)
    with serving(workspace, port):
        lost = lost_after(workspace, words)
    return outcome("", "", answer, lost + lacking(workspace, [1, 2], database), begun=begun)


def server_stopped(workspace: Workspace) -> Fault:
    """The MLflow server hangs (SIGSTOP) while a job of a sweep computes."""
    port, database = free_port(), workspace.folder / "server.db"
    words = ("run", "-m", *SLOW, f"tracking.uri=http://127.0.0.1:{port}", "split.seed=1")
    with serving(workspace, port) as server:
        process = workspace.start(*words)
        wait_for(lambda: running(database))
        os.killpg(server.pid, signal.SIGSTOP)
        begun = time.monotonic() - BEGUN[process.pid]
        answer = finish(process, 900.0)
        os.killpg(server.pid, signal.SIGCONT)
        lost = lost_after(workspace, words)
    return outcome("", "", answer, lost + lacking(workspace, [1], database), begun=begun)
