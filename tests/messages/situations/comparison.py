# ruff: noqa: F401  what is imported is used by the expressions
"""What the expressions of tables/comparison.csv may use besides: made-up runs, and those of a small store."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from auclab.comparison import arrange, compare_runs, read_runs
from auclab.comparison.column_pairs import compare_columns
from auclab.comparison.models import find_model
from auclab.comparison.paired import mean_interval, paired_test
from auclab.comparison.ranks import rank_columns
from auclab.comparison.replay import Replay, replay
from auclab.comparison.run_screen import show_run
from auclab.comparison.runs import fetch_files, find_run
from auclab.comparison.screens import show_replay, show_runs, show_sweep_commands
from auclab.comparison.searches import Search, find_searches, show_search
from auclab.comparison.sweeps import choose_sweep
from auclab.tracking.search_tags import KeptSearch
from auclab.types import AuclabError
from made_runs import fake, table_of
from messages.situations.conditions import giving, new_folder, raising, under
from messages.situations.stores import change, changed_store, copied, store

#: Two formulations on two seeds of a data set.
TWO = {("one", "bauc"): [0.8, 0.7], ("one", "csvm"): [0.6, 0.9]}
MEANS = pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.6], "c": [0.5, 0.4]})


def runs() -> pd.DataFrame:
    """The finished runs of the store."""
    return read_runs(store())


def one_run(number: int = 0, **changes: Any) -> pd.DataFrame:
    """The rows of one run of the store."""
    found = runs()
    return found[found["run_id"] == found["run_id"].unique()[number]].assign(**changes)


def swept() -> pd.DataFrame:
    """Two runs, both jobs of a sweep."""
    return table_of(TWO).assign(**{"tag.sweep.id": "5" * 32, "parent_id": "5" * 32})


def numbers(*pairs: tuple[float, float]) -> Replay:
    """A run whose numbers were stored, and computed again."""
    table = pd.DataFrame(
        [("holdout", "test/auc", stored, again, again - stored, stored == again) for stored, again in pairs],
        columns=["fold", "metric", "stored", "again", "difference", "same"],
    )
    return Replay(table, ())


def registered(source: str) -> Path:
    """A store with a model that was registered from this place."""
    from mlflow import MlflowClient

    place = copied()
    client = MlflowClient(tracking_uri=f"sqlite:///{place / 'mlflow.db'}")
    client.create_registered_model("churn")
    client.create_model_version("churn", source=source)
    return place


def model_folder() -> str:
    """The folder of the model of a run."""
    return str(Path(one_run()["folder"].iloc[0]) / "model")


def unreadable() -> Any:
    """What a client raises where the database is damaged."""
    return {"mlflow.MlflowClient.search_experiments": raising(sqlite3.DatabaseError("file is not a database"))}


def shown_search(**importances: float) -> None:
    """The screen of a search that knows, or not, which setting matters."""
    kept = KeptSearch("inner/auc", "maximize", "tpe", ("formulation.penalty",), (), importances)
    show_search(Search(kept, ()))


def without_files(name: str, number: int = 0) -> Path:
    """A copy of the store in which a file or folder of a run is gone."""
    place = copied()
    gone = place / "artifacts" / one_run(number)["run_id"].iloc[0] / "artifacts" / name
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    return place
