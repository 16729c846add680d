"""`auclab ui`: serves MLflow's page on a store, opened at the table of the newest runs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any
from urllib.error import URLError
from urllib.request import urlopen

from rich.markup import escape

from auclab.comparison.runs import open_reader, require_store
from auclab.pipeline.screen.console import err, out
from auclab.sizes import ANSWER, PATIENCE
from auclab.tracking.address import Address
from auclab.tracking.processes import end_tree
from auclab.types import AuclabError

#: Without its job runner MLflow's page takes a sixth of the memory.
PAGE_SETTINGS = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
#: Time limit in seconds for the first answer of the server.
START_SECONDS = PATIENCE
#: Seconds between two checks that the server runs. On Windows, Ctrl-C does not reach a process in `Popen.wait`.
ALIVE_SECONDS = 0.5
#: Signals by which a terminal or another program ends a command.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
#: Windows' substitute for a session.
NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


def ui(arguments: Namespace) -> int:
    """Serve MLflow's page until Ctrl-C or the end of this process."""
    store = Address.parse(arguments.store)
    require_store(store)
    client = open_reader(store)
    tables = runs_tables(client)
    from auclab.cli.sweep_tables import attach_tables  # figures and compiled loops, which a refusal does not need

    attached = attach_tables(client, arguments.store)
    if store.is_server:
        _show(str(store).rstrip("/"), tables)
        return 0
    port = free_port(arguments.port)
    if attached:
        what = "the table of 1 sweep was" if attached == 1 else f"tables of {attached} sweeps were"
        out.print(f"[dim]{what} added to {'its parent run' if attached == 1 else 'their parent runs'}[/dim]")
    with tempfile.TemporaryFile() as log, _server(port, store, log) as server:
        _await(port, server, log)
        _show(f"http://127.0.0.1:{port}", tables)
        out.print("[dim]Ctrl-C stops it[/dim]")
        while (code := server.poll()) is None:
            time.sleep(ALIVE_SECONDS)
        return code


def runs_tables(client: Any) -> list[tuple[str, str]]:
    """Name and path of the table of runs of each experiment that has runs, the one with the newest run first.

    MLflow opens on an overview for language models, which shows none of them.
    """
    found = []
    for experiment in client.search_experiments():
        newest = client.search_runs([experiment.experiment_id], max_results=1)
        if newest:
            path = f"#/experiments/{experiment.experiment_id}/runs?workflowType=machine_learning"
            found.append((newest[0].info.start_time, str(experiment.name), path))
    return [(name, path) for _, name, path in sorted(found, reverse=True)]


def page_settings(store: Address) -> dict[str, str]:
    """Environment variables of MLflow's page.

    The address is one of them: it may have a password, and all users of a machine can list the arguments of processes.
    """
    return PAGE_SETTINGS | {"MLFLOW_BACKEND_STORE_URI": store.uri}


def page_command(port: int) -> list[str]:
    """MLflow's page with this Python's MLflow, on this port."""
    return [sys.executable, "-m", "auclab.cli.page", "ui", "--workers", "1", "--port", str(port)]


def free_port(first: int) -> int:
    """The first port from here on that is free."""
    for port in range(first, first + 50):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AuclabError(f"ports {first} to {first + 49} are taken; choose another with --port")


def _show(address: str, tables: list[tuple[str, str]]) -> None:
    if not tables:
        out.print(f"[cyan]open[/cyan]  {escape(address)}   [dim](no runs yet)[/dim]", soft_wrap=True)
    for name, path in tables:
        label = "" if len(tables) == 1 else f"   [dim]{escape(name)}[/dim]"
        out.print(f"[cyan]open[/cyan]  {escape(address)}/{path}{label}", soft_wrap=True)


@contextmanager
def _server(port: int, store: Address, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """MLflow's server, which starts processes of its own; all of them end with the context.

    Its output, with a line per request, goes to `log`.

    Ctrl-C, and the signals by which a terminal or another program ends this command, end the context.
    """
    before = {number: signal.signal(number, _stop) for number in ENDING}
    # A separate process group, which Ctrl-C does not reach: this process ends it.
    server = subprocess.Popen(
        page_command(port),
        env=os.environ | page_settings(store),
        start_new_session=True,
        creationflags=NEW_GROUP,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        yield server
    except KeyboardInterrupt:
        pass
    finally:
        end_tree(server.pid, ANSWER)
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _await(port: int, server: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """Wait until the page answers; raise if the server ended before."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise AuclabError(
                f"MLflow's server ended with exit code {server.returncode} before it was ready{_last_line(log)}"
            )
        try:
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    err.print("[yellow]note:[/yellow] MLflow's server has not responded yet", soft_wrap=True)


def _last_line(log: IO[bytes]) -> str:
    """The last line of the server's log, which names the error."""
    log.seek(0)
    lines = [line.strip() for line in log.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return f": {lines[-1]}" if lines else ""
