"""A sample of rows in blocks that are compared within groups: one pass for scores, one for a sum, one for a Hessian.

Targets, groups, weights and scores are in memory, the rows are not. The pairs of a group are summed where its rows are
read: a group that is in one block with that block, and the others together, some groups at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.accurate import weighted_column_sums
from auclab._core.base import Array, AuclabError
from auclab._core.rows import Check, never
from auclab._core.validation import label_for_every_row
from auclab.samples.bicliques import LevelPairs
from auclab.samples.blocks import row_forms
from auclab.samples.blocks.block_sample import added_sums, refuse_values
from auclab.samples.blocks.table import BlockTable
from auclab.samples.features import column_offsets
from auclab.samples.memory import spread_of, strided
from auclab.samples.protocol import Sums
from auclab.samples.ranked import RankedSample

#: Entries of the rows of groups in several blocks that are in memory at a time.
READ_TOGETHER = 10_000_000


@dataclass(frozen=True)
class BlockRows:
    """The rows of a table in blocks as a matrix: products, and rows read where they are indexed."""

    table: BlockTable

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.table.shape

    def __matmul__(self, coef: Array) -> Array:
        return self.table @ coef

    def __getitem__(self, rows: Any) -> Array:
        return self.table.take(np.arange(len(self.table))[rows])


@dataclass(frozen=True)
class RankedBlockSample(RankedSample):
    """A `RankedSample` without rows in memory: `X_pos` and `X_neg` are `BlockRows`.

    Groups are numbered by the block that they are in, and those in several blocks come last (`by_block`).
    """

    in_blocks = True

    bicliques: LevelPairs = field(kw_only=True)

    def check_files(self) -> None:
        """Raise `AuclabError` if a file has changed since it was opened, also after the last pass."""
        self.table.check_files()

    @classmethod
    def of_table(cls, table: BlockTable, bicliques: LevelPairs) -> RankedBlockSample:
        """The rows of a table; one pass checks every value. `bicliques`: with groups as `by_block` numbers them."""
        table.require_numbers()
        label_for_every_row(len(table), bicliques.n_rows)
        looks = list(table.run(_look))
        refuse_values(table, next(((k, *look[2]) for k, look in enumerate(looks) if look[2] is not None), None),
                      low := np.min([look[0] for look in looks], axis=0),
                      high := np.max([look[1] for look in looks], axis=0))  # fmt: skip
        offset = column_offsets(low, high)
        moved = 0.0 if offset is None else offset
        sample = cls._of(BlockRows(table.less(offset)), bicliques, offset, table.columns)
        sample.__dict__["peaks"] = np.maximum(high - moved, moved - low)  # the cached property, known by now
        sample._refuse_long_groups()
        return sample

    @property
    def table(self) -> BlockTable:
        """The rows."""
        return self.X_pos.table

    @property
    def is_sparse(self) -> bool:
        """Blocks are dense."""
        return False

    @property
    def n_entries(self) -> int:
        """Entries that a pass reads."""
        return self.n_pos * self.n_features

    @cached_property
    def mean_difference(self) -> Array:
        """The mean of all differences of pairs."""
        return self.combine(self.share_pos, self.share_neg)

    @cached_property
    def spread(self) -> Array:
        """A positive scale for every feature, about its standard deviation."""
        some = strided(self.n_pos)
        rows = self.X_pos[some]
        return spread_of([(rows, self.share_pos[some]), (rows, self.share_neg[some])], lambda which: self.peaks[which])

    def combine(self, multipliers_pos: Array, multipliers_neg: Array) -> Array:
        """``Σ_i (α_i − β_i) x_i`` in one pass."""
        parts = self.table.run(_weighted_sum, self.table.split(multipliers_pos - multipliers_neg))
        return np.asarray(sum(parts), dtype=float)

    def accurate_sums(self, pos: Array, neg: Array) -> tuple[Sums, Sums]:
        """``Σ_i α_i x_i`` and ``Σ_j β_j x_j`` as ``(high, low, error)``, in one pass."""
        return added_sums(self.table.run(_accurate_sums, self.table.split(np.c_[pos, neg])), self.n_features)

    def gram(self, weight_pos: Array, weight_neg: Array, check: Check = never) -> Array:
        """``Σ_i (u_i + v_i) x_i x_iᵀ`` in one pass."""
        return np.asarray(sum(self.table.run(row_forms.gram, self.table.split(weight_pos + weight_neg))))

    def within_groups(self) -> RankedSample:
        """The sample itself: a row of each group would have to be in memory."""
        return self

    def thinned(self, size: int, generator: np.random.Generator) -> RankedSample | None:
        """About `size` rows in memory, read in one pass, and the pairs among them; None where there is none."""
        found = self.bicliques.thinned(size, generator)
        return None if found is None else RankedSample._of(self.X_pos[found[0]], found[1])

    @cached_property
    def parts(self) -> Sequence[NDArray[np.intp]]:
        """Numbers of the rows that are read together: those of every block, and those of groups in several blocks."""
        offsets, owner = self.table.offsets, self.part_of_row
        blocks = [np.arange(start, end) for start, end in pairwise(offsets)]
        several = np.flatnonzero(owner >= len(blocks))
        several = several[np.argsort(owner[several], kind="stable")]
        cuts = np.searchsorted(owner[several], np.arange(len(blocks), int(owner.max(initial=0)) + 1))
        return [*blocks, *np.split(several, cuts[1:])] if several.size else blocks

    @cached_property
    def part_of_row(self) -> NDArray[np.int32]:
        """The part with which the pairs of every row are summed, shape (n_rows,); ascending with the group."""
        groups, n_blocks = self.bicliques.groups, len(self.table.blocks)
        part = _block_of_groups(groups, self.table.offsets)
        several = np.flatnonzero(part == n_blocks)
        rows = np.cumsum(np.bincount(groups, minlength=part.size)[several])
        part[several] += (rows * self.n_features) // READ_TOGETHER
        return part.astype(np.int32)[groups]

    def sum_over_parts(self, task: Callable[[Any, Any], Array], arguments: Iterable[Any]) -> Array:
        """``Σ task(rows, argument)`` over `parts`, each with its argument; about one pass."""
        given, n_blocks = list(arguments), len(self.table.blocks)
        total = np.asarray(sum(self.table.run(task, given[:n_blocks])))
        for rows, argument in zip(self.parts[n_blocks:], given[n_blocks:], strict=True):
            total = total + task(self.table.take(rows), argument)
        return total

    def _refuse_long_groups(self) -> None:
        """Refuse a group in several blocks that is too long to be read at once."""
        groups, n_blocks = self.bicliques.groups, len(self.table.blocks)
        size = np.bincount(groups) * (_block_of_groups(groups, self.table.offsets) == n_blocks)
        if size.max() * self.n_features > READ_TOGETHER:
            raise AuclabError(
                f"a group of {size.max()} rows is in several blocks, and the rows of such a group are read together, "
                f"at most {READ_TOGETHER // self.n_features} of {self.n_features} columns: write the files with whole "
                "groups in their row groups, or read the rows into memory"
            )


def by_block(groups: NDArray[np.intp], table: BlockTable) -> NDArray[np.intp]:
    """Numbers for numbered groups, shape (n_rows,): ascending with the block, and those in several blocks last.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> by_block(np.array([1, 0, 1, 2, 2]), SimpleNamespace(offsets=np.array([0, 2, 5]))).tolist()
    [2, 0, 2, 1, 1]
    """
    _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    order = np.lexsort((first, _block_of_groups(numbers, table.offsets)))
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.arange(order.size)
    return place[numbers]


def _block_of_groups(groups: NDArray[np.intp], offsets: NDArray[np.intp]) -> NDArray[np.intp]:
    """The block of every group, shape (n_groups,); the number of blocks where it is in several."""
    n_blocks, n_groups = offsets.size - 1, int(groups.max()) + 1
    block = np.repeat(np.arange(n_blocks), np.diff(offsets))
    first, last = np.full(n_groups, n_blocks), np.full(n_groups, -1)
    np.minimum.at(first, groups, block)
    np.maximum.at(last, groups, block)
    return np.where(first == last, first, n_blocks)


def _look(rows: Any, _: None) -> tuple[Array, Array, tuple[int, int] | None]:
    """A task: the range of every column, and the first value that is not finite."""
    bad = None
    with np.errstate(over="ignore", invalid="ignore"):  # large values are refused by their range
        total = rows.sum()
    if not np.isfinite(total):
        where = np.argwhere(~np.isfinite(np.asarray(rows)))
        bad = (int(where[0, 0]), int(where[0, 1])) if where.size else None
    return rows.min(axis=0), rows.max(axis=0), bad


def _weighted_sum(rows: Any, weights: Array) -> Array:
    return np.asarray(weights @ rows)


def _accurate_sums(rows: Any, weights: Array) -> Array:
    return np.array([weighted_column_sums(rows, np.ascontiguousarray(side)) for side in weights.T])
