# ruff: noqa: F401  what is imported is used by the expressions
"""What the expressions of tables/datasets.csv may use besides: small tables in memory, in files and in blocks."""

from __future__ import annotations

import gzip
import io
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.preprocessing import MaxAbsScaler

from auclab.datasets import published
from auclab.datasets.artificial import make_perturbed
from auclab.datasets.block_pipeline import BlockPipeline
from auclab.datasets.blocks import load_blocks
from auclab.datasets.cache import Limited
from auclab.datasets.columns import refuse_constant
from auclab.datasets.dates import as_dates
from auclab.datasets.file import read_new_rows
from auclab.datasets.labels import binarise
from auclab.datasets.preprocess import standard, unit_ball
from auclab.datasets.records import Dataset
from auclab.datasets.splits import Grouped, Timed, holdout, kfold, repeated, split_rows
from auclab.datasets.steps import ColumnScaler, VaryingColumns
from auclab.datasets.target import Roles, Target
from messages.situations.conditions import giving, in_folder, new_folder, raising, under

#: Columns of four rows, two of each class.
LABELS = [0, 1, 0, 1]


def table(y: Any = LABELS, **columns: Any) -> Dataset:
    """A data set in memory."""
    return Dataset("toy", pd.DataFrame(columns), np.asarray(y))


def prepared(**columns: Any) -> Any:
    """Columns of four rows, standardised."""
    settings = {key: columns.pop(key) for key in ("dates", "date_format", "max_categories") if key in columns}
    dataset = table(**columns)
    return standard(dataset, **settings).fit_transform(dataset.X)


def sparse(*entries: float) -> Any:
    """A CSR matrix of one column, standardised."""
    X = sp.csr_array(np.array(entries)[:, None])
    return standard(Dataset("toy", X, np.array(LABELS))).fit_transform(X)


def read(text: str, **settings: Any) -> Dataset:
    """A csv file with this text as a data set."""
    from auclab.datasets import load
    from messages.situations import csv

    return load("file", path=csv(text), **{"target": "y", **settings})


def look(text: str, **settings: Any) -> Any:
    """A csv file with this text, inspected."""
    from auclab.datasets.inspection import inspect_file
    from messages.situations import csv

    return inspect_file(csv(text), **settings)


def look_sparse(**settings: Any) -> Any:
    """An svmlight file of four rows, inspected."""
    from auclab.datasets.inspection import inspect_file
    from messages.situations import new_folder

    path = new_folder() / "rows.svm"
    path.write_text("1 1:1\n0 2:1\n1 1:2\n0 2:3\n", encoding="utf-8")
    return inspect_file(path, **settings)


def blocks(**columns: Any) -> Any:
    """Columns of one length in a Parquet file, read as blocks and standardised."""
    dataset = in_blocks(**columns)
    return standard(dataset).fit(dataset.X)


def in_two_files(**columns: Any) -> Any:
    """Columns in two Parquet files, half of the rows in each, read as blocks and standardised."""
    frame, folder = pd.DataFrame(columns), new_folder()
    frame = frame.assign(y=np.arange(len(frame)) % 2)
    for number, half in enumerate(np.array_split(np.arange(len(frame)), 2)):
        frame.iloc[half].to_parquet(folder / f"{number}.parquet", index=False)
    dataset = load_blocks(folder, target="y")
    return standard(dataset).fit(dataset.X)


def in_blocks(**columns: Any) -> Dataset:
    """Columns of one length in a Parquet file, as a data set in blocks."""
    frame = pd.DataFrame(columns)
    path = new_folder() / "rows.parquet"
    frame.assign(y=np.arange(len(frame)) % 2).to_parquet(path, index=False)
    return load_blocks(path, target="y")


def parquet(**columns: Any) -> Path:
    """The path of a Parquet file with these columns."""
    path = new_folder() / "table.parquet"
    pd.DataFrame(columns).to_parquet(path, index=False)
    return path


def timed(column: Any, **settings: Any) -> Any:
    """Splits of rows that follow each other in the order of a column."""
    return split_rows(Timed(column="t", **settings), table(y=[0, 1] * (len(column) // 2), t=column))


def written(content: bytes, name: str) -> Path:
    """A file with these bytes."""
    path = new_folder() / name
    path.write_bytes(content)
    return path


def downloaded(**expected: Any) -> Any:
    """A data set of four rows that is not on this machine, as OpenML would send it."""

    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "y": ["0", "1", "0", "1"]})
    folder = str(new_folder())
    replaced = {
        "auclab.datasets.published.fetch": giving((frame, ())),
        "auclab.datasets.published.find_file": giving(None),
        "auclab.datasets.published.cache_dir": giving(Path(folder)),
    }
    options = {"name": "toy", "file": "toy.csv", "target": "y", "positive": "1", "openml_id": 7}
    return under(replaced, lambda: published.load_published(**options, **expected))


def stored_copy(**changes: Any) -> Any:
    """The note on a copy from OpenML, with other contents."""
    place = new_folder() / "toy.csv"
    published.store(pd.DataFrame({"a": [1]}), place, source="OpenML data set 7", nominal=())
    note = place.with_name("toy.csv.origin.json")
    if changes:
        note.write_text(changes["text"], encoding="utf-8")
    return published.origin_of(place)
