"""The blocks of a table: where rows are read from, how they are scaled, and what runs tasks on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from auclab.samples.blocks import row_forms
from auclab.samples.blocks.mixed_rows import MixedRows
from auclab.types import Array


class Source(Protocol):
    """Rows that can be read: hashable, and small enough to be sent to a worker."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def read(self) -> Array | MixedRows:
        """The rows, shape (n_rows, n_columns)."""


class Step(Protocol):
    """A transformation of rows when they are read: hashable, and small enough to be sent to a worker."""

    def apply(self, rows: Any) -> Any:
        """The transformed rows, which may be changed in place."""


@dataclass(frozen=True)
class Less:
    """The step that subtracts an offset from every row."""

    offset: tuple[float, ...]

    def apply(self, rows: Any) -> Any:
        """The rows minus the offset; an array is changed in place."""
        return row_forms.less(rows, np.asarray(self.offset))


@dataclass(frozen=True)
class Block:
    """The rows of a source that are in a view, and the steps that are applied when they are read.

    `kept` is the mask of these rows as packed bits, None for all of them.
    """

    source: Source
    kept: bytes | None = None
    steps: tuple[Step, ...] = ()

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Which rows of the source are in the view, None for all of them."""
        if self.kept is None:
            return None
        bits = np.frombuffer(self.kept, dtype=np.uint8)
        return np.unpackbits(bits, count=self.source.n_rows).astype(bool)

    @property
    def n_rows(self) -> int:
        """Number of rows in the view."""
        mask = self.mask
        return self.source.n_rows if mask is None else int(np.count_nonzero(mask))

    def read(self) -> Array:
        """The rows of the view, preprocessed."""
        rows: Any = self.source.read()
        mask = self.mask
        if mask is not None:
            rows = row_forms.selected(rows, mask)
        for step in self.steps:
            rows = step.apply(rows)
        return rows

    def select(self, selected: NDArray[np.bool_]) -> Block:
        """The block with those of its rows that are True in `selected`, shape (n_rows,)."""
        mask = self.mask
        if mask is None:
            mask = selected
        else:
            mask[mask] = selected
        return replace(self, kept=np.packbits(mask).tobytes())


Task = Callable[[Array, Any], Any]


class Engine(Protocol):
    """Runs a task on every block, each with its own argument, and yields the results in order."""

    def run(self, task: Task, blocks: Sequence[Block], arguments: Iterable[Any]) -> Iterator[Any]:
        """Results of ``task(block.read(), argument)``."""

    def reduce(self, task: Callable[[Iterable[Any]], Any], blocks: Sequence[Any]) -> Any:
        """The sum, by ``+``, of ``task(rows of some blocks)`` in a tree that the blocks determine.

        `blocks` are `auclab.samples.blocks.labels.LabelledBlock`; the task takes `LabelledRows`, block by block.
        """
