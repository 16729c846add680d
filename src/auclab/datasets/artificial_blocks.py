"""Norton and Uryasev's artificial data of any size: every row is computed when it is read."""

from __future__ import annotations

import hashlib
from typing import cast

import numpy as np

from auclab.datasets.artificial import CITATION, NEGATIVES, POSITIVES, checked_sizes
from auclab.datasets.records import Dataset, Labels
from auclab.samples.blocks.block import Engine
from auclab.samples.blocks.computed import BLOCK_ROWS, uniform_rows
from auclab.samples.blocks.labels import computed_labels


def make_artificial_blocks(
    *,
    n_pos: float = 1_000_000,
    n_neg: float = 1_000_000,
    n_features: int = 10,
    seed: int = 0,
    engine: Engine | None = None,
) -> Dataset:
    """Positives uniform on ``[−0.25, 0.75]ⁿ``, negatives uniform on ``[0, 1]ⁿ``, in blocks that are never stored.

    The distribution is that of `make_artificial` (Norton & Uryasev 2018, section 4.5.2), the rows differ: every
    block of 2¹⁷ rows has its own stream of NumPy's PCG64 and its share of either class, the positives first. Only the
    labels are in memory, one byte each.

    Parameters
    ----------
    n_pos, n_neg : whole number ≥ 1
        Observations of each class; 5e8 is one.
    n_features : int ≥ 1
    seed : int ≥ 0
    engine : Engine, optional
        What computes the rows: `auclab.samples.blocks.LocalEngine` (if left out) or `DaskEngine`.

    Returns
    -------
    Dataset
        `X` is a `BlockTable`; `sha256` is the checksum of the settings that determine the rows, not of the rows.

    Raises
    ------
    AuclabError
        A number that is not whole, or below its range.

    See Also
    --------
    auclab.datasets.artificial.make_artificial : The same distribution in memory.
    auclab.datasets.parquet_blocks.load_blocks : Rows from files.

    Examples
    --------
    >>> dataset = make_artificial_blocks(n_pos=3, n_neg=2, n_features=4, seed=1)
    >>> dataset.X.shape, dataset.y.tolist()
    ((5, 4), [1, 1, 1, 0, 0])
    >>> bool(abs(dataset.X.take([0]) - dataset.X.take([0])).max() == 0.0)  # computed twice
    True
    """
    n_pos, n_neg, n_features, seed = checked_sizes("artificial_blocks", n_pos, n_neg, n_features, seed)
    table = uniform_rows(
        n_pos=n_pos,
        n_neg=n_neg,
        n_columns=n_features,
        seed=seed,
        low_pos=POSITIVES[0],
        low_neg=NEGATIVES[0],
        engine=engine,
    )
    labels = computed_labels(table).positive().astype(np.int8)  # one byte each: eight would be most of the memory
    rows = f"PCG64, SeedSequence({seed}, spawn_key=(block,)), {BLOCK_ROWS} rows: {n_pos} + {n_neg} × {n_features}"
    return Dataset(
        name="artificial_blocks",
        X=table,
        y=cast(Labels, labels),
        sha256=hashlib.sha256(rows.encode()).hexdigest(),
        source=f"computed, seed {seed}",
        citation=CITATION,
    )
