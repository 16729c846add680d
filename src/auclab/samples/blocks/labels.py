"""Labels and weights that stay with their blocks: a bit a row in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.validation import label_for_every_row, positive_mask, same_length, weight_vector
from auclab.samples.blocks.table import Block, BlockTable


class LabelledRows(NamedTuple):
    """The rows of a `LabelledBlock` that was read; `weight` is None if all are 1."""

    number: int
    before: tuple[int, int]
    rows: Array
    positive: NDArray[np.bool_]
    weight: Array | None


@dataclass(frozen=True)
class LabelledBlock:
    """A block with its labels, which is sent to a worker.

    `number`: in the table, from 0. `before`: positives and negatives in the blocks before it. `labels`: a bit a row.
    """

    number: int
    before: tuple[int, int]
    block: Block
    labels: bytes
    weight: Array | None = None

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are positive, shape (n_rows,)."""
        bits = np.frombuffer(self.labels, dtype=np.uint8)
        return np.unpackbits(bits, count=self.block.n_rows).astype(bool)


class BlockLabels(Sequence[LabelledBlock]):
    """The blocks of a table with their labels.

    `n_pos`, `n_neg`: rows of each class.
    """

    def __init__(self, blocks: Sequence[LabelledBlock], n_pos: int, n_neg: int) -> None:
        self.blocks, self.n_pos, self.n_neg = tuple(blocks), n_pos, n_neg

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, number: int) -> LabelledBlock:  # type: ignore[override]
        return self.blocks[number]

    def positive(self) -> NDArray[np.bool_]:
        """Which rows of the table are positive, as one vector."""
        return np.concatenate([block.positive for block in self.blocks])

    @property
    def weighted(self) -> bool:
        """Whether there are weights."""
        return any(block.weight is not None for block in self)

    def units(self) -> tuple[float, float]:
        """The share of a weight of 1 within its class, for the positives and for the negatives."""
        if not self.weighted:
            return 1.0 / self.n_pos, 1.0 / self.n_neg
        sums = np.zeros(2)
        for block in self:
            positive = block.positive
            weight = np.ones(positive.size) if block.weight is None else block.weight
            sums += weight[positive].sum(), weight[~positive].sum()
        return 1.0 / float(sums[0]), 1.0 / float(sums[1])

    def of(self, table: BlockTable) -> BlockLabels:
        """The same labels on the blocks of a table with the same rows, which may be preprocessed."""
        blocks = (replace(ours, block=block) for ours, block in zip(self.blocks, table.blocks, strict=True))
        return BlockLabels(tuple(blocks), self.n_pos, self.n_neg)


def labels_of(
    table: BlockTable, y: Any, sample_weight: ArrayLike | None = None, *, pos_label: Any = None
) -> BlockLabels:
    """The labels of a table, given as a vector or as `BlockLabels`, in the form that is stored with its blocks.

    `sample_weight` (n_rows,): with labels in a vector. `pos_label`: the label of the positive class, of labels in a
    vector.
    """
    if isinstance(y, BlockLabels):  # else a vector
        if sample_weight is not None or pos_label is not None:
            raise AuclabError(
                "BlockLabels already have weights and a positive class: leave out sample_weight and pos_label, or "
                "give y as a vector"
            )
        sizes, of_table = ([block.n_rows for block in each] for each in ((b.block for b in y), table.blocks))
        if sizes != of_table:
            raise AuclabError(f"the labels belong to another table, with {sum(sizes)} rows in {len(sizes)} blocks")
        return y.of(table)
    positive = positive_mask(y, pos_label)
    label_for_every_row(len(table), positive.size)
    weight = weight_vector(sample_weight, positive.size)
    same_length(y=positive, sample_weight=weight)
    return packed_labels(table, positive, weight)


def packed_labels(table: BlockTable, positive: NDArray[np.bool_], weight: Array | None = None) -> BlockLabels:
    """Labels in one vector of shape (n_rows,) as a bit a row, block by block."""
    parts: Iterator[Array | None] = iter([None] * len(table.blocks)) if weight is None else table.split(weight)
    blocks, n_pos, n_neg = [], 0, 0
    for number, (block, mask, part) in enumerate(zip(table.blocks, table.split(positive), parts, strict=True)):
        blocks.append(LabelledBlock(number, (n_pos, n_neg), block, np.packbits(mask).tobytes(), part))
        of_block = int(np.count_nonzero(mask))
        n_pos, n_neg = n_pos + of_block, n_neg + mask.size - of_block
    return BlockLabels(blocks, n_pos, n_neg)
