"""Parquet files larger than memory as a data set, whose rows are read block by block."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from auclab.datasets.labels import as_labels, binarise
from auclab.datasets.records import Dataset
from auclab.datasets.table import ALL
from auclab.samples.blocks import open_parquet
from auclab.samples.blocks.block import Engine
from auclab.samples.blocks.files import is_address
from auclab.samples.blocks.parquet import boolean_columns, sha256_of
from auclab.types import AuclabError


def load_blocks(
    path: str | Path | None = None,
    target: str | None = None,
    positive: Any = None,
    *,
    negative: Any = None,
    nominal: Sequence[str] | str = (),
    drop: Sequence[str] | str = (),
    engine: Engine | None = None,
    name: str | None = None,
    citation: str = "",
) -> Dataset:
    """A folder of parquet files, or one file, as a data set whose rows are not read into memory.

    Parameters
    ----------
    path : path
        A folder of .parquet files with the same columns, or one file; row groups of about 10⁵ rows are best. Addresses
        such as ``s3://bucket/folder`` are read by fsspec.
    target, positive, negative, nominal, drop
        As in `auclab.datasets.file.load_file`: columns of text and of booleans are categories anyway.
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
    if path is None or target is None:
        raise AuclabError("which files? Give dataset.path=folder_of_parquet dataset.target=COLUMN")
    where = str(path) if is_address(path) else Path(path).expanduser()
    named, left_out = as_labels(nominal), as_labels(drop)
    categories: Any = nominal
    if nominal != ALL:
        flags = [name for name in boolean_columns(where) if name != target and name not in left_out]
        categories = list(dict.fromkeys([*named, *flags]))
    table, labels = open_parquet(where, target=target, drop=left_out, nominal=categories, engine=engine)
    sides = binarise(labels, positive, negative, kind=np.int8)  # a byte a row: eight would be most of the memory
    return Dataset(
        name=name or PurePath(where).stem,
        X=table if sides.kept.all() else table[np.flatnonzero(sides.kept)],
        y=sides.y,
        nominal=table.nominal if nominal == ALL else tuple(each for each in named if each in table.nominal),
        positive=sides.positive,
        negative=sides.negative,
        sha256=sha256_of(where),
        source=str(where),
        citation=citation,
    )
