"""Stores of runs for the tables of comparison, tracking, cli and report: made once, and never changed."""

from __future__ import annotations

import sqlite3
from contextlib import closing, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from auclab.pipeline.experiment import run_experiment
from auclab.tracking import TrackingConfig, open_run
from auclab.types import AuclabError
from composed import composed
from messages.situations.conditions import new_folder
from messages.situations.pipeline import QUICK, rows_file


def keep_run(store: Path, *words: str, data: tuple[str, ...] | None = None) -> Any:
    """Run an experiment and keep it in a store."""
    rows = ("dataset=file", f"dataset.path={rows_file()}", "dataset.target=y")
    experiment = composed(
        [*(rows if data is None else data), "formulation=ranksvm", *QUICK, f"tracking.dir={store}", *words]
    )
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        return run_experiment(experiment, folder=new_folder() / "run", brief=True)


@cache
def store() -> Path:
    """Two runs on one split, one over two folds, and one that failed."""
    from store_copies import copy_databases

    place = new_folder() / "mlruns"

    copy_databases()
    keep_run(place)
    keep_run(place, "formulation.penalty=1")
    keep_run(place, "split=kfold", "split.n_folds=2")
    try:
        with open_run(TrackingConfig(dir=str(place)), name="failed", folder=new_folder(), params={}):
            raise AuclabError("the solver failed")
    except AuclabError:
        pass
    return place


def copied() -> Path:
    """A copy of the store that may be changed; its runs are found in it."""
    import shutil

    place = new_folder() / "mlruns"
    shutil.copytree(store(), place)
    change(place, "UPDATE runs SET artifact_uri = replace(artifact_uri, ?, ?)", str(store()), str(place))
    return place


def change(place: Path, statement: str, *values: str) -> None:
    """Change the database of a store, as another program may."""
    with closing(sqlite3.connect(place / "mlflow.db")) as connection:
        connection.execute(statement, values)
        connection.commit()


def changed_store(statement: str, *values: str) -> Path:
    """A copy of the store whose database was changed."""
    place = copied()
    change(place, statement, *values)
    return place
