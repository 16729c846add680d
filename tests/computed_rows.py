"""Rows of two cubes in blocks that are computed when they are read, the same in every pass, of any number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab.samples.blocks import BlockTable, LocalEngine
from auclab.samples.blocks.labels import BlockLabels, LabelledBlock
from auclab.samples.blocks.table import Block, Engine

#: Rows of a block.
BLOCK_ROWS = 131_072


@dataclass(frozen=True)
class UniformRows:
    """A block of rows: first the positives, uniform on ``[−0.25, 0.75]ⁿ``, then the negatives, on ``[0, 1]ⁿ``.

    The numbers are those of NumPy's PCG64, one stream for each block: ``SeedSequence(seed, spawn_key=(number,))``.

    `seed`, `number`: of the data, and of the block. `n_pos`, `n_neg`: rows of each class.
    """

    seed: int
    number: int
    n_pos: int
    n_neg: int
    n_columns: int

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
        columns[:, : self.n_pos] -= 0.25
        return columns.T


def uniform_rows(
    n_pos: int, n_neg: int, n_columns: int, seed: int, engine: Engine | None = None
) -> tuple[BlockTable, BlockLabels]:
    """A table in blocks with its labels; every block has its share of either class, up to one row."""
    n_blocks = -(-(n_pos + n_neg) // BLOCK_ROWS)
    ends = [(n_pos * k // n_blocks, n_neg * k // n_blocks) for k in range(n_blocks + 1)]
    blocks = [
        Block(UniformRows(seed, k, ends[k + 1][0] - ends[k][0], ends[k + 1][1] - ends[k][1], n_columns))
        for k in range(n_blocks)
    ]
    labelled = [
        LabelledBlock(k, ends[k], block, np.packbits(block.source.positive).tobytes())  # type: ignore[attr-defined]
        for k, block in enumerate(blocks)
    ]
    table = BlockTable(blocks, [f"x{k + 1}" for k in range(n_columns)], engine or LocalEngine())
    return table, BlockLabels(labelled, n_pos, n_neg)
