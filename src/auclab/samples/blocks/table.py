"""A table in blocks, and one block of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.forms import row_scores
from auclab.samples.blocks import row_forms
from auclab.samples.blocks.row_forms import MixedRows, not_numbers

if TYPE_CHECKING:
    import pandas as pd


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


class BlockTable:
    """A matrix of shape (n_rows, n_columns) in blocks, which an engine reads when they are needed.

    ``table @ vector`` is an array; ``table[rows]`` is a view of rows in ascending order; ``np.asarray`` reads all rows
    of a view into memory.

    Parameters
    ----------
    blocks : sequence of Block
    columns : sequence of str
        Names of the columns.
    engine : Engine
        `LocalEngine` or `DaskEngine`.

    See Also
    --------
    auclab.samples.blocks.open_parquet : Opens parquet files as a table.
    auclab.datasets.blocks.load_blocks : The same as a data set.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from auclab.samples.blocks import open_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"age": [30.0, 40.0], "y": [0, 1]}).to_parquet(f"{folder}/rows.parquet")
    ...     table, labels = open_parquet(folder, target="y")
    ...     print(table.shape, table @ [0.5])
    (2, 1) [15. 20.]
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, blocks: Sequence[Block], columns: Sequence[str], engine: Engine) -> None:
        self.blocks, self.columns, self.engine = tuple(blocks), tuple(columns), engine
        #: Row offsets of the blocks, and the number of rows.
        self.offsets = np.concatenate(([0], np.cumsum([block.n_rows for block in self.blocks])))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self.offsets[-1]), len(self.columns)

    @property
    def nominal(self) -> tuple[str, ...]:
        """Names of the columns of categories; none of a table that has been encoded."""
        if not self.blocks or self.blocks[0].steps:
            return ()
        return tuple(getattr(self.blocks[0].source, "nominal", ()))

    def require_numbers(self) -> None:
        """Raise `AuclabError` for a table with columns of categories."""
        if self.nominal:
            raise not_numbers(self.nominal)

    def __len__(self) -> int:
        return self.shape[0]

    def run(self, task: Callable[[Array, Any], Any], arguments: Iterable[Any] | None = None) -> Iterator[Any]:
        """Results of ``task(rows, argument)`` for every block, in order."""
        return self.engine.run(task, self.blocks, repeat(None, len(self.blocks)) if arguments is None else arguments)

    def split(self, values: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """A vector with an entry per row, block by block, as views."""
        return (values[start:end] for start, end in zip(self.offsets[:-1], self.offsets[1:], strict=True))

    def __matmul__(self, vector: ArrayLike) -> Array:
        self.require_numbers()
        coef = np.asarray(vector, dtype=np.float64)
        product = np.empty(len(self))
        for target, scores in zip(
            self.split(product), self.run(row_scores, repeat(coef, len(self.blocks))), strict=True
        ):
            target[:] = scores
        return product

    def __getitem__(self, rows: Any) -> BlockTable:
        """A view of the rows: a slice, or row numbers in ascending order, none of them twice."""
        numbers = np.arange(len(self))[rows] if isinstance(rows, slice) else np.asarray(rows)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or (numbers[1:] <= numbers[:-1]).any():
            raise AuclabError("rows of a table in blocks are taken in ascending order, each at most once")
        selected = np.zeros(len(self), dtype=bool)
        selected[numbers] = True
        masks = zip(self.blocks, self.split(selected), strict=True)
        # A block with all of its rows in the view is read without a copy.
        blocks = [block if mask.all() else block.select(mask) for block, mask in masks if mask.any()]
        return BlockTable(blocks, self.columns, self.engine)

    def take(self, rows: NDArray[np.integer]) -> Array:
        """The rows with these numbers, read into memory in their order; numbers may repeat."""
        self.require_numbers()
        distinct, inverse = np.unique(rows, return_inverse=True)
        bounds = np.searchsorted(distinct, self.offsets)
        local = [distinct[a:b] - start for a, b, start in zip(bounds[:-1], bounds[1:], self.offsets[:-1], strict=True)]
        read = [k for k, numbers in enumerate(local) if numbers.size]
        found = self.engine.run(rows_of, [self.blocks[k] for k in read], [local[k] for k in read])
        return np.concatenate([np.empty((0, len(self.columns))), *found])[inverse]

    def less(self, offset: Array | None) -> BlockTable:
        """The table with `offset`, shape (n_columns,), subtracted from every row when a block is read."""
        if offset is None:
            return self
        return self.changed(Less(tuple(offset.tolist())), self.columns)

    def changed(self, step: Step, columns: Sequence[str]) -> BlockTable:
        """The table after a step that makes other columns; applied when a block is read."""
        blocks = [replace(block, steps=(*block.steps, step)) for block in self.blocks]
        return BlockTable(blocks, columns, self.engine)

    def check_files(self) -> None:
        """Raise `AuclabError` if a file is no longer the one that was opened."""
        sources: Any = (block.source for block in self.blocks)
        for source in {source.path: source for source in sources if hasattr(source, "check_file")}.values():
            source.check_file()

    def stream(self) -> Iterator[Array]:
        """The rows of the blocks one after the other, read by this process."""
        return (block.read() for block in self.blocks)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        self.require_numbers()
        rows = np.concatenate([np.empty((0, len(self.columns))), *map(np.asarray, self.stream())])
        return rows if dtype is None else rows.astype(dtype)

    def to_frame(self) -> pd.DataFrame:
        """All rows of the view in memory, with the names of the columns."""
        import pandas as pd

        if self.nominal:
            parts: list[Any] = list(self.stream())
            return pd.concat([rows.to_frame(self.columns) for rows in parts], ignore_index=True)
        return pd.DataFrame(np.asarray(self), columns=list(self.columns))


def rows_of(rows: Array, numbers: NDArray[np.integer]) -> Array:
    """A task: some of the rows."""
    return np.ascontiguousarray(rows[numbers])
