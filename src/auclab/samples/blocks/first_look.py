"""The first pass over labelled blocks: every value is checked, columns are measured, and some rows are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from auclab.samples.blocks.labels import BlockLabels, LabelledRows
from auclab.types import Array


@dataclass(frozen=True)
class ClassRowsDrawn:
    """Rows of one class in the order of the table, with their weights if there are any.

    `spaced` (k, n_columns): evenly spaced ones. `drawn` (l, n_columns): each row of the class by a random draw, the
    same in every pass. `weight` (l,), or None: of the drawn ones.
    """

    spaced: Array
    drawn: Array
    weight: Array | None

    def __add__(self, other: ClassRowsDrawn) -> ClassRowsDrawn:
        weight = None
        if self.weight is not None and other.weight is not None:
            weight = np.concatenate([self.weight, other.weight])
        return ClassRowsDrawn(
            np.concatenate([self.spaced, other.spaced]), np.concatenate([self.drawn, other.drawn]), weight
        )


@dataclass(frozen=True)
class FirstLook:
    """The result of the first pass.

    `bad`: the first value that is not finite. `low`, `high` (n_columns,): the range of every column. `difference`
    (n_columns,): of the class means, as far as these rows add to it.
    """

    bad: tuple[int, int, int] | None
    low: Array
    high: Array
    difference: Array
    pos: ClassRowsDrawn
    neg: ClassRowsDrawn

    def __add__(self, other: FirstLook) -> FirstLook:
        return FirstLook(
            self.bad or other.bad,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.difference + other.difference,
            self.pos + other.pos,
            self.neg + other.neg,
        )


@dataclass(frozen=True)
class LookAtRows:
    """The task of the first pass.

    `strides`: distance of evenly spaced rows of each class. `rates` in [0, 1]: the share of each class that is drawn at
    random. `units`: the share of a weight of 1 within its class; in all three pairs the positives come first.
    """

    strides: tuple[int, int]
    rates: tuple[float, float]
    units: tuple[float, float]

    def __call__(self, blocks: Iterable[LabelledRows]) -> FirstLook:
        """The sum over some blocks."""
        total: FirstLook | None = None
        for block in blocks:
            found = self._of_block(block)
            total = found if total is None else total + found
        assert total is not None
        return total

    def _of_block(self, block: LabelledRows) -> FirstLook:
        rows, bad = block.rows, None
        with np.errstate(over="ignore", invalid="ignore"):  # large values are refused by their range
            total = rows.sum()
        if not np.isfinite(total):
            where = np.argwhere(~np.isfinite(rows))
            bad = (block.number, int(where[0, 0]), int(where[0, 1])) if where.size else None
        chance = np.random.default_rng([0, block.number]).random(len(rows))
        parts = []
        for mask, before, stride, rate in zip(
            (block.positive, ~block.positive), block.before, self.strides, self.rates, strict=True
        ):
            members = np.flatnonzero(mask)
            drawn = members[chance[members] < rate]
            weight = None if block.weight is None else block.weight[drawn]
            spaced = members[-before % stride :: stride]
            parts.append(ClassRowsDrawn(np.ascontiguousarray(rows[spaced]), np.ascontiguousarray(rows[drawn]), weight))
        signed = np.where(block.positive, self.units[0], -self.units[1])
        if block.weight is not None:
            signed *= block.weight
        with np.errstate(over="ignore", invalid="ignore"):
            difference = np.asarray(signed @ rows)
        return FirstLook(bad, rows.min(axis=0), rows.max(axis=0), difference, parts[0], parts[1])


def looks_at(labels: BlockLabels, strides: tuple[int, int], n_drawn: int, units: tuple[float, float]) -> LookAtRows:
    """The task that takes evenly spaced rows, and draws about `n_drawn` of either class.

    `strides`: as in `LookAtRows`. `n_drawn` ≥ 0. `units`: as in `LookAtRows`.
    """
    rates = min(1.0, n_drawn / max(labels.n_pos, 1)), min(1.0, n_drawn / max(labels.n_neg, 1))
    return LookAtRows(strides, rates, units)
