"""Multipliers that are functions of a bin of the scores, and those of all rows where they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.fixed_point import bins_of
from auclab.compiled.score_bins import moved_scores
from auclab.samples.blocks.block import Scaling
from auclab.samples.blocks.labels import LabelledRows, packed_labels
from auclab.samples.blocks.table import BlockTable
from auclab.types import Array
from auclab.validation import positive_mask, weight_vector


@dataclass(frozen=True)
class BinMultipliers:
    """The multipliers that prove a bound, by class and bin: some kilobytes for any number of rows.

    Attributes
    ----------
    coef : array of shape (n_features,)
        The w whose scores were binned: that of the pass that proved the bound.
    moves : array of shape (2,)
        What is added to the scores of negatives and of positives.
    edges : array of shape (n_bins − 1,)
        Bin b holds moved scores ``edges[b − 1] ≤ t < edges[b]``.
    values : array of shape (2, n_bins)
        The multiplier of a row over its weight within its class, negatives first.
    offset : array of shape (n_features,) or None
        Subtracted from the rows first.

    See Also
    --------
    auclab.solvers.solution.Solution : Has them in place of `multipliers` where the rows are in blocks.
    """

    coef: Array
    moves: Array
    edges: Array
    values: Array
    offset: Array | None = None

    def of_rows(
        self, table: BlockTable, y: ArrayLike, sample_weight: ArrayLike | None = None, *, pos_label: Any = None
    ) -> Array:
        """The multiplier of every row, shape (n_rows,), as `Solution.multipliers` has them; one pass.

        Parameters
        ----------
        table : BlockTable
            That of the solve.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
        pos_label : optional
            The label of the positive class.

        Raises
        ------
        AuclabError
            Labels or weights of another length than the table, labels of other than two classes, a changed file.
        """
        positive = positive_mask(y, pos_label)
        weight = weight_vector(sample_weight, positive.size)
        if self.offset is not None:
            table = table.scaled(Scaling(tuple(self.offset.tolist()), (1.0,) * self.offset.size))
        labels = packed_labels(table, positive, weight)
        if weight is None:
            unit = 1.0 / labels.n_neg, 1.0 / labels.n_pos
        else:
            unit = 1.0 / float(weight[~positive].sum()), 1.0 / float(weight[positive].sum())
        found: _Pieces = table.engine.reduce(_Multiply(self, unit), labels)
        return np.concatenate(found.parts)


@dataclass(frozen=True)
class _Pieces:
    """Vectors of blocks, which are joined by ``+``."""

    parts: tuple[Array, ...]

    def __add__(self, other: _Pieces) -> _Pieces:
        return _Pieces(self.parts + other.parts)


@dataclass(frozen=True)
class _Multiply:
    """The task: the multipliers of the rows of some blocks."""

    multipliers: BinMultipliers
    unit: tuple[float, float]

    def __call__(self, blocks: Iterable[LabelledRows]) -> _Pieces:
        of, parts = self.multipliers, []
        for block in blocks:
            columns = np.ascontiguousarray(np.asarray(block.rows).T, dtype=np.float64)
            moves = float(of.moves[0]), float(of.moves[1])
            bins = bins_of(moved_scores(columns, of.coef, block.positive, moves), of.edges)
            side = block.positive.astype(np.intp)
            values = of.values[side, bins] * np.asarray(self.unit)[side]
            parts.append(values if block.weight is None else values * block.weight)
        return _Pieces((np.concatenate(parts),))
