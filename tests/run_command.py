"""`python run.py` from the shell, and the runs it left in the store."""

import os
import subprocess
import sys

from auclab.tracking.store import open_store
from composed import REPOSITORY

SMALL = ("dataset=artificial", "dataset.n_pos=30", "dataset.n_neg=40", "dataset.n_features=3")


def command(*arguments):
    return [sys.executable, str(REPOSITORY / "run.py"), *arguments]


def run(folder, *arguments, timeout=300):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("AUCLAB", "MLFLOW"))}
    environment["COLUMNS"] = "120"
    return subprocess.run(
        command(*arguments), cwd=folder, capture_output=True, text=True, timeout=timeout, env=environment
    )


def runs_in(folder):
    """Parents last: newest first, and a parent starts before its children."""
    store = open_store(folder / "mlruns")
    return store.client, store.client.search_runs([store.experiment_id])
