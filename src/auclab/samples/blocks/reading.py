"""Labelled blocks read one after the other, in groups that do not depend on the number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from auclab.samples.blocks.block import Block
from auclab.samples.blocks.labels import LabelledBlock, LabelledRows
from auclab.sizes import AT_ONCE
from auclab.types import Array

#: A task of `Engine.reduce`: the summand of some blocks, which it gets one after the other; picklable.
Reduction = Callable[[Iterable[LabelledRows]], Any]

#: Rows of a group of blocks that one call of a task sums; its result is sent and added once for all of them.
GROUP_ROWS = AT_ONCE


def groups(blocks: Sequence[LabelledBlock]) -> list[list[LabelledBlock]]:
    """Consecutive blocks, together about `GROUP_ROWS` rows; the same for any number of workers."""
    found: list[list[LabelledBlock]] = [[]]
    n_rows = 0
    for block in blocks:
        if n_rows >= GROUP_ROWS:
            found.append([])
            n_rows = 0
        found[-1].append(block)
        n_rows += block.block.n_rows
    return found


def ahead(blocks: Iterable[Block], read: Callable[[Block], Array]) -> Iterator[Array]:
    """The rows of the blocks in order; the next block is read while the caller computes."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="blocks") as reader:
        reads = (reader.submit(read, block) for block in blocks)
        waiting = next(reads, None)
        while waiting is not None:
            rows = waiting.result()
            waiting = next(reads, None)  # only after these are read: two blocks are in memory
            yield rows
            del rows


def rows_ahead(blocks: Sequence[LabelledBlock], read: Callable[[Block], Array]) -> Iterator[LabelledRows]:
    """The same with the labels of the rows."""
    for block, rows in zip(blocks, ahead((each.block for each in blocks), read), strict=True):
        yield LabelledRows(block.number, block.before, rows, block.positive, block.weight)
