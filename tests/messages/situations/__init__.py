# ruff: noqa: F401  what is imported is used by the expressions
"""What the expressions of the tables may use: small data and the public packages."""

import tempfile
from collections.abc import Callable
from hashlib import sha256
from math import inf, nan
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy import sparse

import auclab
import auclab.bounds as b
import auclab.datasets as d
import auclab.displays as di
import auclab.estimators as e
import auclab.formulations as f
import auclab.inference as i
import auclab.kernels as k
import auclab.metrics as m
import auclab.models as mo
import auclab.regularisers as r
import auclab.runs as runs
import auclab.samples.blocks as bl
import auclab.scorecards as sc
import auclab.solvers as s
from auclab.runs.config.checks import check_settings
from auclab.runs.experiment import solve_splits
from composed import composed

#: Labels and scores of four rows; rows of one column and of two.
Y, S = [0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0]
X1 = [[0.0], [2.0], [1.0], [3.0]]
X2 = [[0.0, 1.0], [2.0, 0.0], [1.0, 3.0], [3.0, 1.0]]

SMALL = ("tracking=none", "dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=2")
_FOLDER = tempfile.TemporaryDirectory()


def new_folder() -> Path:
    """An empty folder that is deleted at the end."""
    return Path(tempfile.mkdtemp(dir=_FOLDER.name))


def patched(place: str, value: object, call: Callable[[], object]) -> object:
    """What `call` returns while the attribute MODULE.NAME is `value`."""
    # The statement `import` reads the dictionary that was sys.modules at the start, whatever has its name now.
    with patch.dict(place, value) if place == "sys.modules" else patch(place, value):
        return call()


def raises(error: BaseException) -> Callable[..., object]:
    """A function that raises this error, whatever it is given."""

    def function(*_: object, **__: object) -> object:
        raise error

    return function


def csv(text: str, ending: str = ".csv") -> str:
    """A file with this text."""
    path = Path(_FOLDER.name) / (sha256(text.encode()).hexdigest()[:12] + ending)
    path.write_text(text, encoding="utf-8")
    return str(path)


def parquet(place: Path | None = None, name: str = "part.parquet", **columns: object) -> str:
    """A folder with a parquet file of these columns, those of X2 and Y if none is given."""
    place = place or new_folder()
    place.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(columns or {"a": [x for x, _ in X2], "b": [x for _, x in X2], "y": Y})
    table.to_parquet(place / name)
    return str(place)


def blocks(**columns: object) -> bl.BlockTable:
    """Rows in blocks."""
    return bl.open_parquet(parquet(**columns), target="y")[0]


def checked(words: str) -> object:
    """What `auclab run` does with these settings, on 50 rows."""
    formulation = () if "formulation=" in words else ("formulation=bauc",)
    quick = ("decision.probability=none", "bounds=none")
    experiment = composed([*SMALL, *quick, *formulation, *words.split()])
    check_settings(experiment)
    return solve_splits(experiment)
