"""Rows that are computed from a seed when they are read, the same in every pass, for tables larger than any disk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab.samples.blocks.block import Block, Engine
from auclab.samples.blocks.engines import LocalEngine
from auclab.samples.blocks.table import BlockTable
from auclab.sizes import BLOCK_ROWS
from auclab.types import Array


@dataclass(frozen=True)
class UniformRows:
    """A block of rows of two cubes: first the positives, then the negatives.

    The numbers are those of NumPy's PCG64, one stream for each block: ``SeedSequence(seed, spawn_key=(number,))``.

    `seed`, `number`: of the data, and of the block. `n_pos`, `n_neg`: rows of each class. `low_pos`, `low_neg`: lower
    ends of the cubes ``[low, low + 1]ⁿ``.
    """

    seed: int
    number: int
    n_pos: int
    n_neg: int
    n_columns: int
    low_pos: float
    low_neg: float

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.n_pos + self.n_neg

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are positive, shape (n_rows,)."""
        return np.arange(self.n_rows) < self.n_pos

    def read(self) -> Array:
        """The rows, shape (n_rows, n_columns); a column is contiguous."""
        stream = np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(self.number,)))
        columns = np.random.Generator(stream).random((self.n_columns, self.n_rows))
        columns[:, : self.n_pos] += self.low_pos
        columns[:, self.n_pos :] += self.low_neg
        return columns.T


def uniform_rows(
    *,
    n_pos: int,
    n_neg: int,
    n_columns: int,
    seed: int,
    low_pos: float,
    low_neg: float,
    engine: Engine | None = None,
) -> BlockTable:
    """Rows of two cubes as a table in blocks; `auclab.samples.blocks.labels.computed_labels` has their labels.

    Every block has its share of either class, up to one row, so that a few blocks are like the whole.

    `n_pos`, `n_neg` ≥ 1: rows of each class. `n_columns` ≥ 1. `seed` ≥ 0. `low_pos`, `low_neg`: the positives are
    uniform on ``[low_pos, low_pos + 1]ⁿ``, the negatives on ``[low_neg, low_neg + 1]ⁿ``. `engine`: what computes the
    rows; `LocalEngine` if left out.
    """
    n_blocks = -(-(n_pos + n_neg) // BLOCK_ROWS)
    ends = [(n_pos * k // n_blocks, n_neg * k // n_blocks) for k in range(n_blocks + 1)]
    sources = [
        UniformRows(seed, k, ends[k + 1][0] - ends[k][0], ends[k + 1][1] - ends[k][1], n_columns, low_pos, low_neg)
        for k in range(n_blocks)
    ]
    columns = [f"x{k + 1}" for k in range(n_columns)]
    return BlockTable([Block(source) for source in sources], columns, engine or LocalEngine())
