"""Tables larger than memory as data sets whose rows are read block by block: Parquet files, and Dask's collections."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from auclab._core.base import AuclabError, GroupWeights
from auclab.datasets.formats import ALL
from auclab.datasets.labels import as_labels, binarise
from auclab.datasets.records import Dataset
from auclab.datasets.target import Ranked, Roles, Target
from auclab.samples.blocks.dask_tables import open_dask
from auclab.samples.blocks.files import is_address
from auclab.samples.blocks.parquet import boolean_columns, column_in_memory, is_lazy, open_groups, row_groups, sha256_of
from auclab.samples.blocks.table import BlockTable, Engine


def load_blocks(
    path: Any = None,
    target: str | None = None,
    positive: Any = None,
    *,
    negative: Any = None,
    group: str | None = None,
    time: str | None = None,
    event: str | None = None,
    graded: bool = False,
    group_weights: GroupWeights = "pairs",
    nominal: Sequence[str] | str = (),
    drop: Sequence[str] | str = (),
    engine: Engine | None = None,
    name: str | None = None,
    citation: str = "",
) -> Dataset:
    """Parquet files, or rows that are read lazily, as a data set whose rows are not read into memory.

    Parameters
    ----------
    path : path
        A folder of .parquet files with the same columns, or one file; row groups of about 10⁵ rows are best. Addresses
        such as ``s3://bucket/folder`` are read by fsspec. Or a dataset of pyarrow, a LazyFrame of polars, a relation of
        DuckDB, another stream of Arrow: docs/blocks.md.
    target, positive, negative, group, time, event, graded, group_weights, nominal, drop
        As in `auclab.datasets.file.load_file`: columns of text and of booleans are categories anyway. Grades and times
        need a group: the rows of a group are read together, and all rows would have to be in memory. Files in the order
        of their groups are read fastest.
    engine : Engine, optional
        What reads the blocks: `auclab.samples.blocks.LocalEngine` (if left out) or `DaskEngine`.
    name : str, optional
        Name of the data set; that of the folder or file if left out.
    citation : str
        Source of the data set.

    Returns
    -------
    Dataset
        `X` is a `BlockTable`.

    Raises
    ------
    AuclabError
        No path or target, files that are missing or have different columns, columns that are neither numbers nor
        text, missing labels, or one class only.

    See Also
    --------
    auclab.samples.blocks.open_parquet : The table and the labels without a data set.
    auclab.datasets.file.load_file : A file that fits into memory.
    """
    roles = Roles(target, group, time, event, graded, group_weights=group_weights)
    if path is None or not roles.ranking:
        raise AuclabError("which files? Give dataset.path=folder_of_parquet dataset.target=COLUMN")
    if roles.group is None and (roles.graded or roles.time is not None):
        key = "graded" if roles.graded else "time"
        raise AuclabError(
            f"dataset.{key} compares all rows with each other, and rows in blocks are compared within groups only: "
            "give dataset.group=COLUMN, or use dataset=file"
        )
    where = path if is_lazy(path) or is_address(path) else Path(path).expanduser()
    groups = row_groups(where)
    first, *others = [*roles.ranking, *([] if roles.group is None else [roles.group])]
    left_out = [*others, *as_labels(drop)]
    flags = [] if nominal == ALL else [name for name in boolean_columns(groups) if name not in (first, *left_out)]
    table = open_groups(groups, first, left_out, with_flags(nominal, flags), engine)
    labels = column_in_memory(groups, first)
    if roles.group is None:
        ranked = ranked_by(labels, positive, negative)
    else:
        import pandas as pd

        frame = pd.DataFrame({first: labels, **{name: column_in_memory(groups, name) for name in others}})
        ranked = roles.ranked(frame, positive, negative)
    facts: dict[str, Any] = {"name": name or type(where).__name__, "source": f"a {type(where).__name__}"}
    if not is_lazy(where):
        facts = {"name": name or PurePath(where).stem, "sha256": sha256_of(where), "source": str(where)}
    return block_dataset(table, ranked, nominal, citation=citation, **facts)


def with_flags(nominal: Sequence[str] | str, flags: Sequence[str]) -> Any:
    """The columns that are read as categories: those named, and those of booleans."""
    return ALL if nominal == ALL else list(dict.fromkeys([*as_labels(nominal), *flags]))


def ranked_by(labels: Any, positive: Any, negative: Any) -> Ranked:
    """Rows ranked by two classes."""
    sides = binarise(labels, positive, negative, kind=np.int8)  # a byte a row: eight would be most of the memory
    return Ranked(Target(sides.y), sides.kept, sides.positive, sides.negative)


def block_dataset(table: BlockTable, ranked: Ranked, nominal: Sequence[str] | str, **facts: Any) -> Dataset:
    """A table in blocks and what its rows are ranked by as a data set; `facts`: its other fields."""
    named = table.nominal if nominal == ALL else tuple(each for each in as_labels(nominal) if each in table.nominal)
    return Dataset(
        X=table if ranked.kept.all() else table[np.flatnonzero(ranked.kept)],
        y=ranked.target.y,
        nominal=named,
        positive=ranked.positive,
        negative=ranked.negative,
        ranked=None if ranked.target.is_of_classes else ranked.target,
        **facts,
    )


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

    `X`, `y`, `target`, `engine`: as in `auclab.samples.blocks.dask_tables.open_dask`. `positive`, `negative`,
    `nominal`, `drop`: as in `auclab.datasets.file.load_file`: columns of text and of booleans are categories anyway.
    `name`: name of the data set. Returns: `X` is a `BlockTable`.
    """
    from pandas.api.types import is_bool_dtype

    left_out = as_labels(drop)
    columns = [str(each) for each in getattr(X, "columns", ())]
    flags = [each for each in columns if each not in (target, *left_out) and is_bool_dtype(X[each].dtype)]
    table, labels = open_dask(X, y, target=target, drop=left_out, nominal=with_flags(nominal, flags), engine=engine)
    return block_dataset(table, ranked_by(labels, positive, negative), nominal, name=name, source="a Dask collection")
