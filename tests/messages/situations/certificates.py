# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the checker may use: a stored run, and copies of it with a change."""

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from auclab.certificates.checker.constraints import transport_factor
from auclab.certificates.checker.kernel import KernelData, StoredKernel
from auclab.certificates.checker.pieces import REGULARISERS
from auclab.certificates.checker.program import Program
from auclab.runs.checking.command import check_folder
from auclab.runs.checking.stored import prepare_training, read_splits
from auclab.runs.stored.stored_files import damaged
from composed import run_here
from messages.situations import new_folder


@cache
def stored_run() -> Path:
    """A run of RankSVM on a few rows."""
    folder = new_folder()
    small = ("dataset=artificial", "dataset.n_pos=12", "dataset.n_neg=15", "dataset.n_features=2", "bounds=none")
    run_here(folder, *small, "formulation=ranksvm", "decision.probability=none")
    return folder


def changed(*changes: Callable[[Path], object]) -> Path:
    """A copy of the run after these changes."""
    folder = new_folder()
    shutil.copytree(stored_run(), folder, dirs_exist_ok=True)
    for change in changes:
        change(folder)
    return folder


def check(*changes: Callable[[Path], object]) -> object:
    """Check a copy of the run after these changes."""
    return check_folder(changed(*changes))


def read(*changes: Callable[[Path], object]) -> object:
    """Read the splits of a copy of the run after these changes."""
    return read_splits(changed(*changes))


def of_kernel() -> KernelData:
    """Two rows of which one kernel value is known."""
    values = StoredKernel("rbf", {"gamma": 1.0}).values(np.array([[0.0], [1.0]]))
    return KernelData(values, np.array([True, False]), np.ones(2, dtype=object))


def certificate(**values: object) -> Callable[[Path], object]:
    """Changes certificate.json: a value of None leaves its key out."""

    def change(folder: Path) -> None:
        path = folder / "certificate.json"
        stored = json.loads(path.read_text(encoding="utf-8")) | values
        path.write_text(
            json.dumps({key: value for key, value in stored.items() if value is not None}), encoding="utf-8"
        )

    return change


def without(name: str) -> Callable[[Path], object]:
    """Deletes a file."""
    return lambda folder: (folder / name).unlink()


def written(name: str, text: str) -> Callable[[Path], object]:
    """Writes a file anew."""
    return lambda folder: (folder / name).write_text(text, encoding="utf-8")


def pairs(upper: int) -> Callable[[Path], object]:
    """Writes the multiplier of a pair: of a row with this number and the first row."""

    def write(folder: Path) -> None:
        first = pd.read_parquet(folder / "multipliers.parquet")["row"].iloc[0]
        table = pd.DataFrame({"upper": [upper], "lower": [first], "multiplier": [0.1]})
        table.to_parquet(folder / "pair_multipliers.parquet", index=False)

    return write


def program(**stored: object) -> Program:
    """The program of a certificate."""
    return Program.from_stored({"name": "ranksvm", **stored})
