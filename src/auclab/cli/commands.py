"""What the commands of `auclab` do; a function per command takes the parsed arguments and returns the exit code."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from auclab.comparison import formats
from auclab.comparison.cells import shorten
from auclab.comparison.runs import fetch_files, find_run, read_runs, require_store
from auclab.comparison.sweeps import choose_sweep
from auclab.comparison.table import Table, compare_runs
from auclab.pipeline.console import out
from auclab.tracking import SETTINGS_TAG
from auclab.tracking.address import Address
from auclab.types import AuclabError

TEXTS: dict[str, Callable[[Table], str]] = {
    "csv": formats.to_csv,
    "markdown": formats.to_markdown,
    "latex": formats.to_latex,
}
SUFFIXES = {".csv": "csv", ".md": "markdown", ".tex": "latex"}
FIGURES = (".png", ".pdf", ".svg")

#: Without its job runner MLflow's page takes a sixth of the memory.
PAGE_SETTINGS = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}


def runs(chosen: Namespace) -> int:
    """List runs."""
    from auclab.comparison.screens import show_runs

    found = _choose(chosen, status=chosen.status)
    metric = chosen.metric or ("test/auc" if "test/auc" in found else "train/auc")
    if chosen.metric and chosen.metric not in found:
        raise AuclabError(f"no run has a metric {chosen.metric!r}")
    if chosen.last is not None:
        newest = list(dict.fromkeys(found["run_id"]))[-chosen.last :] if chosen.last > 0 else []
        found = found[found["run_id"].isin(newest)]
    show_runs(found, metric=metric)
    return 0


def show(chosen: Namespace) -> int:
    """Show one run."""
    from auclab.comparison.run_screen import show_run

    rows = find_run(read_runs(chosen.store, status=None), chosen.run)
    fetch_files(rows, chosen.store)
    show_run(rows)
    return 0


def figures(chosen: Namespace) -> int:
    """Draw the figures of one run from the scores it has kept, beside its other files."""
    from auclab.pipeline.console import short_path
    from auclab.pipeline.figures import draw_figures

    rows = find_run(read_runs(chosen.store), chosen.run)
    fetch_files(rows, chosen.store)
    for _, row in rows.iterrows():
        for path in draw_figures(Path(row["fold_folder"]), split=str(row["fold"])):
            out.print(short_path(path), markup=False, soft_wrap=True)
    return 0


def compare(chosen: Namespace) -> int:
    """Compare runs, print the table and write what was asked for."""
    for name in chosen.save:
        if Path(name).suffix not in (*SUFFIXES, *FIGURES):
            raise AuclabError(f"--save {name}: the name has to end in one of {' '.join((*SUFFIXES, *FIGURES))}")
    every = _choose(chosen, status=None)
    finished = every[every["run_status"] == "FINISHED"]
    table = compare_runs(
        finished,
        metric=chosen.metric,
        rows=chosen.rows,
        columns=chosen.columns,
        test=chosen.test,
        alpha=chosen.level,
        better=chosen.better,
        notes=_unfinished(every),
    )
    if chosen.format == "screen":
        from auclab.comparison.screens import show_table

        show_table(table)
    else:
        sys.stdout.write(TEXTS[chosen.format](table))
    written = [_save(table, Path(name)) for name in chosen.save]
    if chosen.values:
        Path(chosen.values).write_text(formats.to_values(table), encoding="utf-8")
        written.append(chosen.values)
    if written and chosen.format == "screen":
        out.print(f"written: {', '.join(map(str, written))}", soft_wrap=True, markup=False)
    return 0


def rerun(chosen: Namespace) -> int:
    """Run a stored configuration again."""
    from auclab.comparison.replay import replay
    from auclab.comparison.screens import show_replay

    rows = find_run(read_runs(chosen.store, status=None), chosen.run)
    fetch_files(rows, chosen.store)
    found = replay(rows, tolerance=chosen.tolerance)
    show_replay(found, chosen.tolerance)
    return int(not found.same)


def report(chosen: Namespace) -> int:
    """Write the page on runs."""
    from auclab.report import write_report

    every = _choose(chosen, status=None)
    fetch_files(every, chosen.store)
    words = [word for name in chosen.experiment or () for word in ("--experiment", name)]
    if chosen.sweep is not None:
        words += ["--sweep", chosen.sweep]  # its id, as last would be another one tomorrow
    words += ["--where", *chosen.where] if chosen.where else []
    words += ["--filter", chosen.filter] if chosen.filter else []
    page = write_report(
        *(every, Path(chosen.output)),
        store_dir=chosen.store,
        metrics=chosen.metric,
        title=chosen.title,
        selection=shlex.join(words),
    )
    out.print(f"written: {page} ({page.stat().st_size / 1e6:.2g} MB)", soft_wrap=True, markup=False)
    return 0


def ui(chosen: Namespace) -> int:
    """Serve MLflow's page until Ctrl-C."""
    store = Address.parse(chosen.store)
    require_store(store)
    if store.is_server:
        out.print(f"[cyan]open[/cyan]  {store.uri}   [dim](a server that runs already)[/dim]", soft_wrap=True)
        return 0
    port = _free_port(chosen.port)
    out.print(f"[cyan]open[/cyan]  http://127.0.0.1:{port}   [dim](ready in a few seconds; Ctrl-C ends it)[/dim]")
    try:
        return subprocess.run(page_command(store, port), env=os.environ | PAGE_SETTINGS, check=False).returncode
    except KeyboardInterrupt:
        return 0


def page_command(store: Address, port: int) -> list[str]:
    """What `auclab.pipeline.console.open_command` recommends, with this Python's MLflow and on this port."""
    options = ["--workers", "1", "--backend-store-uri", store.uri, "--port", str(port)]
    return [sys.executable, "-m", "mlflow", "ui", *options]


def _choose(chosen: Namespace, *, status: str | None) -> pd.DataFrame:
    """The runs that --experiment, --filter, --sweep and --where name."""
    found = read_runs(chosen.store, filter=chosen.filter, experiments=chosen.experiment, status=status)
    if chosen.sweep is not None:
        chosen.sweep, found = choose_sweep(found, chosen.sweep, chosen.store)
    found = where(found, chosen.where)
    if found.empty:
        raise AuclabError(
            f"no run in {chosen.store} fits; auclab runs --store {chosen.store} lists those that there are"
        )
    return found


def where(runs: pd.DataFrame, conditions: Sequence[str]) -> pd.DataFrame:
    """Rows in which every ``KEY=VALUE,VALUE`` holds; numbers are compared as numbers.

    Raises
    ------
    AuclabError
        A condition without ``=``, or a key that no run has.
    """
    for condition in conditions:
        key, sign, values = condition.partition("=")
        if not sign:
            raise AuclabError(f"--where {condition}: write KEY=VALUE, such as dataset=ionosphere")
        if key not in runs:
            close = [str(name) for name in runs if key in str(name)]
            hint = f"; is it {shorten(close)}?" if close else ""
            raise AuclabError(f"--where {condition}: no run has {key!r}{hint}")
        runs = runs[_fits(runs[key], values.split(","))]
    return runs


def _fits(column: pd.Series, values: Sequence[str]) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column):
        numbers = pd.to_numeric(pd.Series(list(values)), errors="coerce").dropna()
        return column.isin(numbers.to_list()) | (column.isna() if "None" in values else False)
    return column.astype("string").fillna("None").isin(list(values))


def _unfinished(runs: pd.DataFrame) -> list[str]:
    """A sentence per status of runs that did not finish, and were not started again and finished then."""
    done = runs["run_status"] == "FINISHED"
    rest = runs[~done].drop_duplicates("run_id")
    if (key := f"tag.{SETTINGS_TAG}") in runs:
        rest = rest[~rest[key].isin(runs.loc[done, key].dropna())]
    words = {"FAILED": "failed", "KILLED": "were stopped early", "RUNNING": "are still running"}
    return [
        f"left out, as they {words.get(str(status), str(status))}: {shorten([str(name) for name in block['run']])}"
        for status, block in rest.groupby("run_status")
    ]


def _save(table: Table, path: Path) -> Path:
    if path.suffix in SUFFIXES:
        path.write_text(TEXTS[SUFFIXES[path.suffix]](table), encoding="utf-8")
        return path
    if table.ranking is None:
        raise AuclabError(f"{path}: a critical-difference diagram needs 3 columns or more on 2 complete rows or more")
    from auclab.comparison.diagram import draw_critical_difference

    draw_critical_difference(table.ranking).savefig(path, dpi=200)
    return path


def _free_port(first: int) -> int:
    """The first port from here on that nobody listens on."""
    for port in range(first, first + 50):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AuclabError(f"ports {first} to {first + 49} are taken; choose another with --port")
