"""The result of a pass over the rows: sums by bins of the scores, added by the workers that read the rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from auclab.compiled.accurate import two_sums
from auclab.compiled.fixed_point import bins_of
from auclab.compiled.score_bins import add_rows, add_scores, moved_scores, parts_of_bins
from auclab.samples.blocks.labels import LabelledRows
from auclab.solvers.binned.grid import N_PARTS, Grid
from auclab.types import Array


@dataclass(frozen=True)
class BinSums:
    """Sums over rows; in arrays of two classes the negatives come first.

    `mass`, `total` (2, n_bins · N_PARTS): weights, and weights times moved scores, by parts of bins. `ends` (2, 2): the
    least and the largest moved score of either class. `rows`, `rest` (n_columns, 2, n_bins): weights times rows, by
    bins, as ``rows + rest``. `weighted`: whether there are weights other than 1, with which products are rounded.
    `longest`: the most rows that were added to one bin one after the other: what rounding grows with.
    """

    mass: Array
    total: Array
    ends: Array
    rows: Array
    rest: Array
    weighted: bool
    longest: int

    def __add__(self, other: BinSums) -> BinSums:
        rows, lost = two_sums(self.rows, other.rows)
        return BinSums(
            self.mass + other.mass,
            self.total + other.total,
            np.c_[np.minimum(self.ends[:, 0], other.ends[:, 0]), np.maximum(self.ends[:, 1], other.ends[:, 1])],
            rows,
            (self.rest + other.rest) + lost,
            self.weighted or other.weighted,
            max(self.longest, other.longest),
        )

    @property
    def bin_mass(self) -> Array:
        """Weights by bins, shape (2, n_bins)."""
        return np.asarray(self.mass.reshape(2, -1, N_PARTS).sum(axis=2))


@dataclass(frozen=True)
class SumInBins:
    """The task of a pass; only w and the edges of the bins are sent.

    `moves`: what is added to the scores of negatives and of positives (`grid.moves_of`).
    """

    coef: Array
    moves: tuple[float, float]
    grid: Grid

    def __call__(self, blocks: Iterable[LabelledRows]) -> BinSums:
        """The sums over some blocks."""
        n, grid = self.coef.size, self.grid
        low, rate = grid.ends[:-1].copy(), grid.rate
        mass, total = np.zeros((2, grid.n_bins * N_PARTS)), np.zeros((2, grid.n_bins * N_PARTS))
        ends = np.array([[np.inf, -np.inf]] * 2)
        rows, rest = np.zeros((n, 2 * grid.n_bins)), np.zeros((n, 2 * grid.n_bins))
        count, weighted = np.zeros(2 * grid.n_bins, np.int64), False
        for block in blocks:
            columns = np.ascontiguousarray(np.asarray(block.rows).T, dtype=np.float64)
            positive = np.ascontiguousarray(block.positive)
            weight = np.empty(0) if block.weight is None else np.ascontiguousarray(block.weight, dtype=np.float64)
            scores = moved_scores(columns, self.coef, positive, self.moves)
            bins = bins_of(scores, grid.edges)
            parts = parts_of_bins(scores, bins, low, rate, N_PARTS)
            add_scores(scores, parts, positive, weight, mass, total, ends)
            add_rows(columns, bins, positive, weight, rows, rest, count)
            weighted = weighted or block.weight is not None
        shape = n, 2, grid.n_bins
        return BinSums(mass, total, ends, rows.reshape(shape), rest.reshape(shape), weighted, int(count.max()))
