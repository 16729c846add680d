"""A matrix whose rows stay where they are: products, views of rows, and lazily applied preprocessing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.samples.blocks.parts import Engine, Part, Scaling
from auclab.types import Array, AuclabError

if TYPE_CHECKING:
    import pandas as pd


class BlockTable:
    """Rows of shape (n_rows, n_columns) in blocks: parts of sources, read by an engine.

    ``table @ vector`` gives an array; ``table[rows]`` is a view of rows in ascending order; ``np.asarray`` reads all
    rows of a view into memory.
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, parts: Sequence[Part], columns: Sequence[str], engine: Engine) -> None:
        self.parts, self.columns, self.engine = tuple(parts), tuple(columns), engine
        #: Where every part begins, and the end of the last.
        self.starts = np.concatenate(([0], np.cumsum([part.n_rows for part in self.parts])))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self.starts[-1]), len(self.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def run(self, task: Callable[[Array, Any], Any], arguments: Iterable[Any] | None = None) -> Iterator[Any]:
        """Results of ``task(rows, argument)`` for every block, in order."""
        return self.engine.run(task, self.parts, repeat(None, len(self.parts)) if arguments is None else arguments)

    def cut(self, values: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """A vector with an entry per row, block by block."""
        return (values[start:end] for start, end in zip(self.starts[:-1], self.starts[1:], strict=True))

    def __matmul__(self, vector: ArrayLike) -> Array:
        coef = np.asarray(vector, dtype=np.float64)
        product = np.empty(len(self))
        for place, scores in zip(self.cut(product), self.run(scores_of, repeat(coef, len(self.parts))), strict=True):
            place[:] = scores
        return product

    def __getitem__(self, rows: Any) -> BlockTable:
        """A view of the rows: a slice, or row numbers in ascending order, none of them twice."""
        chosen = np.zeros(len(self), dtype=bool)
        numbers = np.arange(len(self))[rows] if isinstance(rows, slice) else np.asarray(rows)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or (np.diff(numbers) <= 0).any():
            raise AuclabError("rows of a table in blocks are taken in ascending order, each at most once")
        chosen[numbers] = True
        parts = [part.chosen(within) for part, within in zip(self.parts, self.cut(chosen), strict=True) if within.any()]
        return BlockTable(parts, self.columns, self.engine)

    def take(self, rows: NDArray[np.integer]) -> Array:
        """Rows in any order and number, read into memory."""
        wanted, back = np.unique(rows, return_inverse=True)
        bounds = np.searchsorted(wanted, self.starts)
        local = [wanted[a:b] - start for a, b, start in zip(bounds[:-1], bounds[1:], self.starts[:-1], strict=True)]
        touched = [k for k, some in enumerate(local) if some.size]
        found = self.engine.run(rows_of, [self.parts[k] for k in touched], [local[k] for k in touched])
        return np.concatenate([np.empty((0, len(self.columns))), *found])[back]

    def scaled(self, scaling: Scaling) -> BlockTable:
        """The table with every row scaled."""
        parts = [replace(part, scalings=(*part.scalings, scaling)) for part in self.parts]
        return BlockTable(parts, self.columns, self.engine)

    def stream(self) -> Iterator[Array]:
        """The blocks one after the other, read by this process."""
        return (part.read() for part in self.parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        rows = np.concatenate([np.empty((0, len(self.columns))), *self.stream()])
        return rows if dtype is None else rows.astype(dtype)

    def to_frame(self) -> pd.DataFrame:
        """All rows of the view in memory, with the names of the columns."""
        import pandas as pd

        return pd.DataFrame(np.asarray(self), columns=list(self.columns))


def scores_of(rows: Array, coef: Array) -> Array:
    """A task: ``rows @ coef``."""
    return np.asarray(rows @ coef)


def rows_of(rows: Array, numbers: NDArray[np.integer]) -> Array:
    """A task: some of the rows."""
    return np.ascontiguousarray(rows[numbers])
