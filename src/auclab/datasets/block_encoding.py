"""The in-memory preprocessing as one step that is applied to the rows of a block when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab.datasets.labels import label_text
from auclab.samples.blocks.encoded_rows import EncodedRows
from auclab.samples.blocks.mixed_rows import MixedRows
from auclab.samples.blocks.row_forms import categories_of, norms, numbers_of, times
from auclab.types import Array

if TYPE_CHECKING:
    import scipy.sparse as sp


@dataclass(frozen=True)
class CategoryColumns:
    """Which column of zeros and ones a category becomes; −1 stands for none.

    `known`: values as text, with their columns. `missing`: the column of missing values, that of the most frequent
    value. `other`: the column of all values that are not `known`.
    """

    known: tuple[tuple[str, int], ...]
    missing: int
    other: int

    def columns_of(self, codes: NDArray[np.int32], values: tuple[Any, ...]) -> NDArray[np.int32]:
        """The column of every row; `codes` and `values` as in `auclab.samples.blocks.mixed_rows.MixedRows`."""
        places = dict(self.known)
        columns = [places.get(label_text(value), self.other) for value in values]
        return np.array([*columns, self.missing], dtype=np.int32)[codes]


@dataclass(frozen=True)
class BlockEncoding:
    """Medians, columns of zeros and ones, marks of gaps, a choice of columns, a scale, and a ball, fitted elsewhere.

    The order of the columns is that of memory: numbers, categories, marks of gaps.

    `fill`: for every number what a missing value becomes. `categories`: columns count from 0 over the columns of zeros
    and ones that are kept. `gaps`: for every mark of gaps that is kept, whether it is of a number, and of which, or of
    which category. `numbers`: the numbers that are kept. `n_onehot`: columns of zeros and ones that are kept. `shift`,
    `factor`: ``(x − shift) · factor`` of every column that is kept. `ball`: radius and margin of
    `auclab.datasets.preprocess.UnitBall`.
    """

    fill: tuple[float, ...]
    categories: tuple[CategoryColumns, ...]
    gaps: tuple[tuple[bool, int], ...]
    numbers: tuple[int, ...]
    n_onehot: int
    shift: tuple[float, ...]
    factor: tuple[float, ...]
    ball: tuple[float, float] | None = None

    def apply(self, rows: Array | MixedRows) -> Array | EncodedRows:
        """The rows as numbers; an array of numbers may be changed in place."""
        numbers, categories = numbers_of(rows), categories_of(rows)
        missing = np.isnan(numbers)
        marks = [missing[:, k] if number else categories[k][0] < 0 for number, k in self.gaps]
        where = np.nonzero(missing)
        if where[0].size:
            numbers[where] = np.asarray(self.fill)[where[1]]
        if self.numbers != tuple(range(numbers.shape[1])):
            numbers = np.asfortranarray(numbers[:, list(self.numbers)])
        if marks:
            numbers = np.asfortranarray(np.column_stack([numbers, *marks]))
        n_numbers, n_columns = len(self.numbers), len(self.shift)
        shift, factor = np.asarray(self.shift), np.asarray(self.factor)
        at_onehot = np.arange(n_numbers, n_numbers + self.n_onehot)
        at_dense = np.r_[np.arange(n_numbers), np.arange(n_numbers + self.n_onehot, n_columns)]
        numbers -= shift[at_dense]
        numbers *= factor[at_dense]
        if not self.n_onehot:
            return self._in_ball(numbers)
        onehot = self._onehot(len(rows), categories)
        return self._in_ball(EncodedRows(numbers, onehot, at_dense, at_onehot, shift[at_onehot], factor[at_onehot]))

    def _onehot(self, n_rows: int, categories: Sequence[tuple[NDArray[np.int32], tuple[Any, ...]]]) -> sp.csr_array:
        """Zeros and ones of all categories."""
        import scipy.sparse as sp

        columns = np.column_stack([each.columns_of(*of) for each, of in zip(self.categories, categories, strict=True)])
        kept = columns >= 0
        ends = np.concatenate(([0], np.cumsum(np.count_nonzero(kept, axis=1)))).astype(np.int32)
        entries = columns[kept]
        return sp.csr_array((np.ones(entries.size), entries, ends), shape=(n_rows, self.n_onehot))

    def _in_ball(self, rows: Any) -> Any:
        """Rows of a norm of at most 1, as `auclab.datasets.preprocess.UnitBall` makes them."""
        if self.ball is None:
            return rows
        radius, margin = self.ball
        return times(rows, 1.0 / (np.maximum(norms(rows), radius) * margin))
