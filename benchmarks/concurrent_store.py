"""Concurrent writers: eight processes write 25 runs each at the same time into a new store.

    python benchmarks/concurrent_store.py [--processes 8] [--runs 25]     # measure, docs/sweeps/concurrent.csv
    python benchmarks/concurrent_store.py --page                          # the line of docs/sweeps.md, from that file

Every run has parameters, 40 metrics, tags, a data set and a file, as those of ``run.py`` have. Prints errors, runs and
seconds; exit code 0 if there are no errors and as many finished runs as were written.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import measured
import numpy as np
import pandas as pd

from auclab.datasets.records import Dataset
from auclab.types import AuclabError

PAGE = measured.ROOT / "docs" / "sweeps.md"
RESULTS = PAGE.with_suffix("") / "concurrent.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/concurrent_store.py", "benchmarks/concurrent_store.py --page"
FIELDS = ("processes", "runs", "errors", "finished", "seconds", "load", "mode", "integrity")
DATASET = Dataset("toy", pd.DataFrame({"a": [0.0, 1.0]}), np.array([0, 1]), sha256="ab" * 32, source="made here")


def write(folder: Path, number: int, runs: int) -> int:
    """Write some runs and return how many could not be written."""
    from auclab.tracking import Record, TrackingConfig, open_run

    errors = 0
    for k in range(runs):
        params = {f"group.key_{i}": str(i) for i in range(40)}
        metrics = {f"test/metric_{i}": 0.5 + i for i in range(40)}
        try:
            tracking = TrackingConfig(dir=str(folder / "mlruns"))
            with open_run(tracking, name=f"{number}.{k}", folder=folder / f"{number}.{k}", params=params) as run:
                (run.staging / "note.txt").write_text("hello", encoding="utf-8")
                run.keep(Record(DATASET, metrics, {"config.hash": f"{number}.{k}"}))
        except AuclabError as error:
            errors += 1
            print(error, flush=True)
    return errors


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """The line of the page."""
    (row,) = rows
    line = (
        "    {errors} errors, {finished} finished runs, {seconds:.0f} s (load before {load:.1f}), {mode}, {integrity}"
    )
    return {"concurrent": line.format(**row | {name: float(row[name]) for name in ("seconds", "load")})}


def sentences(rows: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about how it was measured."""
    (row,) = rows
    return [f"{row['processes']} processes write {row['runs']} runs each"]


def main() -> None:
    """Start the processes and count the runs, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    folder = Path(tempfile.mkdtemp(prefix="store-"))
    load, begin = os.getloadavg()[0], time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        work = [(folder, number, options.runs) for number in range(options.processes)]
        errors = sum(pool.starmap(write, work, chunksize=1))
    seconds = time.perf_counter() - begin
    with closing(sqlite3.connect(folder / "mlruns" / "mlflow.db")) as database:
        finished = database.execute("SELECT count(*) FROM runs WHERE status = 'FINISHED'").fetchone()[0]
        mode = database.execute("PRAGMA journal_mode").fetchone()[0]
        whole = database.execute("PRAGMA integrity_check").fetchone()[0]
    found = (options.processes, options.runs, errors, finished, seconds, load, mode, whole)
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        keep(dict(zip(FIELDS, found, strict=True)))
    print(f"{errors} errors, {finished} finished runs, {seconds:.1f} s (load before {load:.1f}), {mode}, {whole}")
    raise SystemExit(bool(errors) or finished != options.processes * options.runs)


if __name__ == "__main__":
    main()
