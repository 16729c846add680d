"""Parquet files that need not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auclab.datasets.labels import as_labels, binarise
from auclab.datasets.records import Dataset
from auclab.samples.blocks import open_parquet
from auclab.samples.blocks.parquet import sha256_of
from auclab.samples.blocks.parts import Engine
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
    """A folder of parquet files, or one file, as a data set whose rows stay where they are.

    Parameters
    ----------
    path : path
        A folder of .parquet files with the same numeric columns, or one file; row groups of some 10⁵ rows.
    target, positive, negative, drop
        As in `auclab.datasets.file.load_file`.
    engine : Engine, optional
        Who reads the blocks: `auclab.samples.blocks.LocalEngine` or `DaskEngine`.
    name : str, optional
        Name of the set; that of the folder or file if left out.
    citation : str
        Who made the set.

    Returns
    -------
    Dataset
        `X` is a `BlockTable`.

    Raises
    ------
    AuclabError
        No path or target, files that are missing or do not fit together, columns that are not numeric, missing labels,
        or one class only.
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
