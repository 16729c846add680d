"""Stores the comparison of a sweep's jobs with its parent run, where MLflow's page shows it.

The table is the description of the parent run, and ``comparison.csv`` and ``comparison.png`` are among its files.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from auclab._core.base import AuclabError
from auclab.displays.canvas import DPI
from auclab.displays.scores import draw_pairs
from auclab.runs.compare.formats import to_csv, to_markdown
from auclab.runs.compare.runs import find_metric, read_runs
from auclab.runs.compare.table import Table, compare_runs
from auclab.runs.tracking.record import LONGEST_VALUE
from auclab.runs.tracking.sync import GRID_TAG

#: MLflow's tag with the description of a run, in Markdown.
NOTE_TAG = "mlflow.note.content"
#: Tag of a parent run with the number of jobs that its table compares.
TABLE_TAG = "sweep.compared"
#: Largest number of (newest) sweeps compared at once.
MOST_SWEEPS = 20


def attach_tables(client: Any, store: str) -> int:
    """Add tables and figures to parent runs without an up-to-date one; return how many."""
    every = [experiment.experiment_id for experiment in client.search_experiments()]
    count = 0
    for parent in client.search_runs(every, f"tags.`{GRID_TAG}` != ''", max_results=MOST_SWEEPS) if every else ():
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
    client.log_text(parent, to_csv(table), "comparison.csv")
    figure = draw_pairs(table.cells.by_row, metric=table.cells.metric)
    client.log_figure(parent, figure, "comparison.png", save_kwargs={"dpi": DPI})
    client.set_tag(parent, NOTE_TAG, to_markdown(table)[:LONGEST_VALUE])
    client.set_tag(parent, TABLE_TAG, str(jobs["run_id"].nunique()))
