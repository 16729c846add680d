"""Multipliers that are functions of a bin of the scores, and those of all rows on request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.fixed_point import bins_of
from auclab.compiled.score_bins import moved_scores
from auclab.samples.blocks.labels import BlockLabels, LabelledBlock, labels_of
from auclab.samples.blocks.table import BlockTable
from auclab.types import Array


@dataclass(frozen=True)
class BinMultipliers:
    """The multipliers that prove a bound, by class and bin: a few kilobytes for any number of rows.

    `coef` (n_features,): the w whose scores were binned: that of the pass that proved the bound. `moves` (2,): what is
    added to the scores of negatives and of positives. `edges` (n_bins − 1,): bin b holds moved scores ``edges[b − 1] ≤
    t < edges[b]``. `values` (2, n_bins): the multiplier of a row over its weight within its class, negatives first.
    `offset` (n_features,), or None: subtracted from the rows first.
    """

    coef: Array
    moves: Array
    edges: Array
    values: Array
    offset: Array | None = None

    def of_rows(
        self,
        table: BlockTable,
        y: ArrayLike | BlockLabels,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
    ) -> Array:
        """The multiplier of every row, shape (n_rows,), as `Solution.multipliers` has them; one pass.

        `table`: that of the solve. `y` (n_rows,), or BlockLabels: `BlockLabels` have their weights, and say which class
        is positive. `pos_label`: the label of the positive class.
        """
        return np.concatenate(list(self.by_block(table, y, sample_weight, pos_label=pos_label)))

    def by_block(
        self,
        table: BlockTable,
        y: ArrayLike | BlockLabels,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
    ) -> Iterator[Array]:
        """The multipliers of the rows block by block, in their order: some blocks are in memory at a time; one pass.

        Parameters and errors as in `of_rows`.
        """
        labels = labels_of(table, y, sample_weight, pos_label=pos_label)
        of_pos, of_neg = labels.units()
        return table.less(self.offset).run(_Multiply(self, (of_neg, of_pos)), labels)


@dataclass(frozen=True)
class _Multiply:
    """The task: the multipliers of the rows of a block."""

    multipliers: BinMultipliers
    unit: tuple[float, float]

    def __call__(self, rows: Array, block: LabelledBlock) -> Array:
        of, positive = self.multipliers, block.positive
        columns = np.ascontiguousarray(np.asarray(rows).T, dtype=np.float64)
        moves = float(of.moves[0]), float(of.moves[1])
        bins = bins_of(moved_scores(columns, of.coef, positive, moves), of.edges)
        side = positive.astype(np.intp)
        values = of.values[side, bins] * np.asarray(self.unit)[side]
        return np.asarray(values if block.weight is None else values * block.weight)
