"""`python run.py` from the shell, and the runs it left in the store."""

import os
import subprocess
import sys

from auclab.runs.compare.runs import open_reader
from composed import REPOSITORY
from warm_programs import plain, warm_programs

SMALL = ("dataset=artificial", "dataset.n_pos=30", "dataset.n_neg=40", "dataset.n_features=3")


def command(*arguments):
    return [sys.executable, str(REPOSITORY / "run.py"), *arguments]


def run(folder, *arguments, **environment):
    """The answer of ``python run.py`` with these words, in a process that has the libraries when it starts.

    Where processes cannot be forked, it starts afresh.
    """
    programs = warm_programs() if hasattr(os, "fork") else {}
    words = ["python", *command(*arguments)[1:]] if programs else command(*arguments)
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, encoding="utf-8",
        env=plain() | {"PYTHONIOENCODING": "utf-8"} | programs | environment, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def runs_in(folder):
    """Parents last: newest first, and a parent starts before its children."""
    client = open_reader(folder / "mlruns")
    every = [each.experiment_id for each in client.search_experiments()]
    return client, client.search_runs(every)
