"""A Dask DataFrame or Array as a data set, whose partitions are read block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from auclab.datasets.labels import as_labels, binarise
from auclab.datasets.records import Dataset
from auclab.datasets.table import ALL
from auclab.samples.blocks.block import Engine
from auclab.samples.blocks.dask_input import open_dask


def dask_dataset(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    positive: Any = None,
    negative: Any = None,
    nominal: Sequence[str] | str = (),
    drop: Sequence[str] | str = (),
    engine: Engine | None = None,
    name: str = "dask",
) -> Dataset:
    """A Dask collection and its labels as a data set, for `auclab.datasets.preprocess` and what follows.

    `X`, `y`, `target`, `engine`: as in `auclab.samples.blocks.dask_input.open_dask`. `positive`, `negative`, `nominal`,
    `drop`: as in `auclab.datasets.file.load_file`: columns of text and of booleans are categories anyway. `name`: name
    of the data set. Returns: `X` is a `BlockTable`.
    """
    from pandas.api.types import is_bool_dtype

    named, left_out = as_labels(nominal), as_labels(drop)
    categories: Any = nominal
    if nominal != ALL:
        columns = [str(each) for each in getattr(X, "columns", ())]
        flags = [each for each in columns if each not in (target, *left_out) and is_bool_dtype(X[each].dtype)]
        categories = list(dict.fromkeys([*named, *flags]))
    table, labels = open_dask(X, y, target=target, drop=left_out, nominal=categories, engine=engine)
    sides = binarise(labels, positive, negative, kind=np.int8)
    return Dataset(
        name=name,
        X=table if sides.kept.all() else table[np.flatnonzero(sides.kept)],
        y=sides.y,
        nominal=table.nominal if nominal == ALL else tuple(each for each in named if each in table.nominal),
        positive=sides.positive,
        negative=sides.negative,
        source="a Dask collection",
    )
