"""Stores the comparison of a sweep's jobs with its parent run, where MLflow's page shows it.

The table is the description of the parent run, and ``comparison.csv`` and ``comparison.png`` are among its files.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from auclab.comparison.formats import to_csv, to_markdown
from auclab.comparison.runs import find_metric, read_runs
from auclab.comparison.table import Table, compare_runs
from auclab.displays.base import DPI
from auclab.displays.scores import draw_pairs
from auclab.tracking.record import LONGEST_VALUE
from auclab.types import AuclabError

#: MLflow's tag with the description of a run, in Markdown.
NOTE_TAG = "mlflow.note.content"
#: Tag of a parent run with the number of jobs that its table compares.
TABLE_TAG = "sweep.compared"
#: Largest number of (newest) sweeps compared at once.
MOST_SWEEPS = 20


def attach_tables(client: Any, store: str) -> int:
    """Add tables and figures to parent runs without an up-to-date one; return how many."""
    parents = _parents(client)
    if not parents:
        return 0
    count = 0
    for parent in parents:
        jobs = read_runs(store, sweep=parent.info.run_id)
        if jobs.empty or parent.data.tags.get(TABLE_TAG) == str(jobs["run_id"].nunique()):
            continue
        try:
            table = compare_runs(jobs, metric=find_metric(jobs, "auc"))
        except AuclabError:  # nothing to compare, such as jobs without a common metric
            continue
        _attach(client, parent.info.run_id, table, jobs)
        count += 1
    return count


def _attach(client: Any, parent: str, table: Table, jobs: pd.DataFrame) -> None:
    with tempfile.TemporaryDirectory(prefix="auclab-") as folder:
        csv, figure = Path(folder, "comparison.csv"), Path(folder, "comparison.png")
        csv.write_text(to_csv(table), encoding="utf-8")
        draw_pairs(table.cells.by_row, metric=table.cells.metric).savefig(figure, dpi=DPI)
        for path in (csv, figure):
            client.log_artifact(parent, str(path))
    client.set_tag(parent, NOTE_TAG, to_markdown(table)[:LONGEST_VALUE])
    client.set_tag(parent, TABLE_TAG, str(jobs["run_id"].nunique()))


def _parents(client: Any) -> list[Any]:
    """The newest parent runs."""
    every = [experiment.experiment_id for experiment in client.search_experiments()]
    if not every:
        return []
    return list(client.search_runs(every, "tags.`sweep.grid` != ''", max_results=MOST_SWEEPS))
