"""Dask's tables as data sets whose rows are read block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from auclab.datasets.blocks import block_dataset, ranked_by, with_flags
from auclab.datasets.labels import as_labels
from auclab.datasets.records import Dataset
from auclab.samples.blocks.engines import open_dask
from auclab.samples.blocks.table import Engine


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

    `X`, `y`, `target`, `engine`: as in `auclab.samples.blocks.engines.open_dask`. `positive`, `negative`, `nominal`,
    `drop`: as in `auclab.datasets.file.load_file`: columns of text and of booleans are categories anyway. `name`: name
    of the data set. Returns: `X` is a `BlockTable`.
    """
    from pandas.api.types import is_bool_dtype

    left_out = as_labels(drop)
    columns = [str(each) for each in getattr(X, "columns", ())]
    flags = [each for each in columns if each not in (target, *left_out) and is_bool_dtype(X[each].dtype)]
    table, labels = open_dask(X, y, target=target, drop=left_out, nominal=with_flags(nominal, flags), engine=engine)
    return block_dataset(table, ranked_by(labels, positive, negative), nominal, name=name, source="a Dask collection")
