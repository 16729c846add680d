"""Scores of blocks in a temporary file, so that only the first pass reads the rows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.metrics.summary.blocks import Task
from auclab.metrics.summary.scored_block import scored_block
from auclab.samples.blocks.files import GROUP_ROWS, tree_sum
from auclab.sizes import MOST_NUMBERS
from auclab.types import Array

#: Scores of more rows are not kept: 0.8 GB.
MOST_KEPT = MOST_NUMBERS
#: The part of the free space of the temporary folder that they may take.
_SHARE_OF_DISK = 0.5


class _File:
    """A file without a name, closed with the last of those who read it."""

    def __init__(self) -> None:
        self.open: Any = tempfile.TemporaryFile(prefix="auclab-scores-")  # noqa: SIM115

    def __del__(self) -> None:
        self.open.close()


class KeptScores:
    """Scores of blocks that are read from a file without a name, 8 bytes each.

    `scores`: block by block, read once. `labels`: which observations of each block are positive.
    """

    def __init__(self, scores: Iterable[Array], labels: Sequence[NDArray[np.bool_]]):
        self._file, self._labels = _File(), labels
        for part in scores:
            np.asarray(part, dtype=np.float64).tofile(self._file.open)
        self._file.open.flush()

    def joined(self) -> KeptScores:
        """The same scores in larger blocks: sums over bins take less time in few of them."""
        groups: list[list[NDArray[np.bool_]]] = [[]]
        for positive in self._labels:
            if sum(part.size for part in groups[-1]) >= GROUP_ROWS:
                groups.append([])
            groups[-1].append(positive)
        found = copy(self)
        found._labels = [np.concatenate(parts) for parts in groups]
        return found

    @staticmethod
    def fits(n_rows: int) -> bool:
        """Whether the scores are kept: they are few enough, and there is space for them."""
        free = shutil.disk_usage(tempfile.gettempdir()).free
        return n_rows <= MOST_KEPT and 8 * n_rows <= _SHARE_OF_DISK * free

    def by_block(self) -> Iterator[Array]:
        """The scores block by block."""
        at = 0
        for positive in self._labels:
            self._file.open.seek(at)
            yield np.fromfile(self._file.open, np.float64, positive.size)
            at += 8 * positive.size

    def reduce(self, task: Task) -> Any:
        """The sum of a task over all blocks, in the order in which they are added where the rows are."""
        blocks = zip(self._labels, self.by_block(), strict=True)
        return tree_sum(task(scored_block(positive, scores)) for positive, scores in blocks)
