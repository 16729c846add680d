"""Parquet files larger than memory as a data set, whose rows are read block by block."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auclab.datasets.labels import as_labels, binarise
from auclab.datasets.records import Dataset
from auclab.samples.blocks import open_parquet
from auclab.samples.blocks.block import Engine
from auclab.samples.blocks.parquet import sha256_of
from auclab.types import AuclabError


def load_blocks(
    path: str | Path | None = None,
    target: str | None = None,
    positive: Any = None,
    *,
    negative: Any = None,
    drop: Sequence[str] | str = (),
    engine: Engine | None = None,
    name: str | None = None,
    citation: str = "",
) -> Dataset:
    """A folder of parquet files, or one file, as a data set whose rows are not read into memory.

    Parameters
    ----------
    path : path
        A folder of .parquet files with the same numeric columns, or one file; row groups of about 10⁵ rows are best.
    target, positive, negative, drop
        As in `auclab.datasets.file.load_file`.
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
        No path or target, files that are missing or have different columns, columns that are not numeric, missing
        labels, or one class only.

    See Also
    --------
    auclab.samples.blocks.open_parquet : The table and the labels without a data set.
    auclab.datasets.file.load_file : A file that fits into memory.
    """
    if path is None or target is None:
        raise AuclabError("which files? Give dataset.path=folder_of_parquet dataset.target=COLUMN")
    where = Path(path).expanduser()
    table, labels = open_parquet(where, target=target, drop=as_labels(drop), engine=engine)
    sides = binarise(labels, positive, negative)
    kept = np.asarray(sides.kept)
    return Dataset(
        name=name or where.stem,
        X=table if kept.all() else table[np.flatnonzero(kept)],
        y=sides.y,
        positive=sides.positive,
        negative=sides.negative,
        sha256=sha256_of(where),
        source=str(where),
        citation=citation,
    )
