"""The blocks of a table: where rows are read from, what is done to them, and who runs tasks on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from auclab.types import Array


class Source(Protocol):
    """Rows that can be read; hashable, and small enough to be sent."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def read(self) -> Array:
        """The rows, shape (n_rows, n_columns)."""
        ...


@dataclass(frozen=True)
class Scaling:
    """What a fitted affine preprocessing does: ``(x − shift) · factor``, column by column."""

    shift: tuple[float, ...]
    factor: tuple[float, ...]

    def apply(self, rows: Array) -> None:
        """In place."""
        rows -= np.asarray(self.shift)
        rows *= np.asarray(self.factor)


@dataclass(frozen=True)
class Part:
    """The rows of a source that are in a view, and what is done to them.

    `kept` are the rows as packed bits, None for all of them.
    """

    source: Source
    kept: bytes | None = None
    scalings: tuple[Scaling, ...] = ()

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Which rows of the source are in the view."""
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
        rows, mask = self.source.read(), self.mask
        if mask is not None:
            rows = np.asfortranarray(rows[mask])
        for scaling in self.scalings:
            scaling.apply(rows)
        return rows

    def chosen(self, within: NDArray[np.bool_]) -> Part:
        """The part with those of its rows that are True in `within`."""
        mask = self.mask
        if mask is None:
            mask = within
        else:
            mask[mask] = within
        return replace(self, kept=np.packbits(mask).tobytes())


Task = Callable[[Array, Any], Any]


class Engine(Protocol):
    """Runs a task on every part, each with an argument of its own, and gives the results in order."""

    def run(self, task: Task, parts: Sequence[Part], arguments: Iterable[Any]) -> Iterator[Any]:
        """Results of ``task(part.read(), argument)``."""
        ...
