"""`auclab ui`: MLflow's own server on a store, opened at the table of the newest runs.

The comparison of a sweep's jobs becomes the description of its parent run, and ``comparison.csv`` and
``comparison.png`` are among the files.
"""

from __future__ import annotations

import os
import runpy
import socket
import sys
from argparse import Namespace
from typing import Any

from rich.markup import escape

from auclab._core.base import AuclabError
from auclab.runs.compare.runs import find_metric, open_reader, read_runs, require_store
from auclab.runs.screen.console import out
from auclab.runs.tracking.address import Address
from auclab.runs.tracking.record import LONGEST_VALUE
from auclab.runs.tracking.sync import GRID_TAG

#: Without its job runner MLflow's page takes a sixth of the memory.
PAGE_SETTINGS = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
#: MLflow's tag with the description of a run, in Markdown.
NOTE_TAG = "mlflow.note.content"
#: Tag of a parent run with the number of jobs that its table compares.
TABLE_TAG = "sweep.compared"
#: Largest number of (newest) sweeps compared at once.
MOST_SWEEPS = 20


def ui(arguments: Namespace) -> int:
    """Attach tables to sweeps, print the addresses of the runs, and serve MLflow's page until Ctrl-C."""
    store = Address.parse(arguments.store)
    require_store(store)
    client = open_reader(store)
    tables = runs_tables(client)
    attach_tables(client, arguments.store)
    port = None if store.is_server else free_port(arguments.port)
    address = str(store).rstrip("/") if port is None else f"http://127.0.0.1:{port}"
    for name, path in tables or [("no runs yet", "")]:
        out.print(f"[cyan]open[/cyan]  {escape(address)}/{path}   [dim]{escape(name)}[/dim]", soft_wrap=True)
    if port is not None:
        out.print("[dim]it answers in a few seconds; Ctrl-C stops it[/dim]")
        os.environ.update(PAGE_SETTINGS | {"MLFLOW_BACKEND_STORE_URI": store.uri})
        sys.argv = ["mlflow", "ui", "--workers", "1", "--port", str(port), "--uvicorn-opts", "--log-level warning"]
        runpy.run_module("mlflow", run_name="__main__")
    return 0


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


def attach_tables(client: Any, store: str) -> int:
    """Add tables and figures to parent runs without an up-to-date one; return how many."""
    # Figures and compiled loops, which a refusal does not need.
    from auclab.displays.canvas import DPI
    from auclab.displays.scores import draw_pairs
    from auclab.runs.compare.formats import to_csv, to_markdown
    from auclab.runs.compare.table import compare_runs

    every = [experiment.experiment_id for experiment in client.search_experiments()]
    count = 0
    for parent in client.search_runs(every, f"tags.`{GRID_TAG}` != ''", max_results=MOST_SWEEPS) if every else ():
        run_id, jobs = parent.info.run_id, read_runs(store, sweep=parent.info.run_id)
        if jobs.empty or parent.data.tags.get(TABLE_TAG) == str(jobs["run_id"].nunique()):
            continue
        try:
            table = compare_runs(jobs, metric=find_metric(jobs, "auc"))
        except AuclabError:  # nothing to compare, such as jobs without a common metric
            continue
        client.log_text(run_id, to_csv(table), "comparison.csv")
        figure = draw_pairs(table.cells.by_row, metric=table.cells.metric)
        client.log_figure(run_id, figure, "comparison.png", save_kwargs={"dpi": DPI})
        client.set_tag(run_id, NOTE_TAG, to_markdown(table)[:LONGEST_VALUE])
        client.set_tag(run_id, TABLE_TAG, str(jobs["run_id"].nunique()))
        count += 1
    return count


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
