"""A sample whose rows are in blocks.

Labels, weights and results are in memory, as vectors with an entry per observation; the rows are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import repeat
from typing import Any
from weakref import ref

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from auclab._core.accurate import two_sums, weighted_column_sums
from auclab._core.base import Array, AuclabError
from auclab._core.forms import row_scores
from auclab._core.rows import Check, never
from auclab._core.validation import LARGEST_SQUARED
from auclab.samples.blocks import row_forms
from auclab.samples.blocks.labels import BlockLabels, LabelledRows, labels_of
from auclab.samples.blocks.table import BlockTable
from auclab.samples.features import check_variation, column_offsets
from auclab.samples.memory import Sample, class_shares, farthest_row, spread_of, strided
from auclab.samples.protocol import Sums


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
        chance = np.random.default_rng([*_STREAM, block.number]).random(len(rows))
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


#: Rows drawn of a class at most: 2^17.
BLOCK_ROWS = 131_072
#: Of the stream of random numbers from which rows are drawn; nobody's labels are drawn from the same.
_STREAM = (0x6175636C6162, 0x726F7773)
#: Number of rows from which on a table is sampled; the bytes drawn of a class, or the rows per column if that is more.
DRAWN_FROM, DRAWN_BYTES, DRAWN_PER_COLUMN = 500_000, 24_000_000, 40


@dataclass(frozen=True)
class BlockSample(Sample):
    """A `Sample` without rows in memory: `X_pos` and `X_neg` are `ClassRows`, which read rows when they are indexed.

    `labels`: the blocks of the table with their labels. `drawn`: rows that the first pass drew from a large table.
    """

    table: BlockTable
    labels: BlockLabels
    drawn: Sample | None = None
    _last: list[Any] = field(default_factory=lambda: [(), (), None], repr=False, compare=False)

    in_blocks = True

    def check_files(self) -> None:
        """Raise `AuclabError` if a file has changed since it was opened, also after the last pass."""
        self.table.check_files()

    @classmethod
    def from_labels(
        cls, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, pos_label: Any = None
    ) -> BlockSample:
        """The rows of a `BlockTable` with their labels, a vector or `BlockLabels`; one pass checks every value."""
        X.require_numbers()
        labels = labels_of(X, y, sample_weight, pos_label=pos_label)
        share_pos, share_neg, prior_pos, prior_neg = _shares(labels)
        none: Any = None
        sample = cls(
            none, none, share_pos, share_neg, prior_pos, none, labels.weighted, X, labels,
            prior_neg=prior_neg, columns=X.columns,
        )  # fmt: skip
        del sample.__dict__["positive"]  # made from the blocks where it is needed
        object.__setattr__(sample, "X_pos", ClassRows(sample, "pos"))
        object.__setattr__(sample, "X_neg", ClassRows(sample, "neg"))
        sample._check_and_centre()
        return sample

    @cached_property  # type: ignore[misc]
    def positive(self) -> NDArray[np.bool_]:
        """Which observations are positive, in the order of the data."""
        return self.labels.positive()

    @cached_property
    def mean_difference(self) -> Array:
        """Δ = mean(x⁺) − mean(x⁻); computed here only for rows that were centred after the first pass."""
        return self.combine(self.share_pos, self.share_neg)

    @property
    def n_pos(self) -> int:
        """Number of positive observations."""
        return self.share_pos.size

    @property
    def n_neg(self) -> int:
        """Number of negative observations."""
        return self.share_neg.size

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.table.shape[1]

    @property
    def is_sparse(self) -> bool:
        """Blocks are dense."""
        return False

    @property
    def n_entries(self) -> int:
        """Entries that a pass reads."""
        return (self.n_pos + self.n_neg) * self.n_features

    def _check_and_centre(self) -> None:
        """One pass that checks all values, finds offsets, `spread` and the difference of the means, and draws rows."""
        strided_by = strided(self.n_pos).step, strided(self.n_neg).step
        task = looks_at(self.labels, strided_by, self._n_drawn, self.labels.units())
        look: FirstLook = self.table.engine.reduce(task, self.labels)
        low, high = look.low, look.high
        refuse_values(self.table, look.bad, low, high)
        offset = column_offsets(low, high)
        if offset is not None:
            low, high = low - offset, high - offset
            centred = self.table.less(offset)
            object.__setattr__(self, "table", centred)
            object.__setattr__(self, "labels", self.labels.of(centred))
            object.__setattr__(self, "offset", offset)
        shift = 0.0 if offset is None else offset
        peaks = np.maximum(high, -low)
        shares = self.share_pos[strided(self.n_pos)], self.share_neg[strided(self.n_neg)]
        parts = ((look.pos.spaced - shift, shares[0]), (look.neg.spaced - shift, shares[1]))
        # The cached properties of `Sample`.
        self.__dict__.update(peaks=peaks, spread=spread_of(parts, lambda constant: peaks[constant]))
        if offset is None:  # for rows far from 0 it would be mostly rounding error
            self.__dict__["mean_difference"] = look.difference
        object.__setattr__(self, "drawn", self._drawn_sample(look, shift))

    @property
    def _n_drawn(self) -> int:
        """Rows of each class to draw for the start of a solve; 0 for a small sample."""
        if self.n_pos + self.n_neg < DRAWN_FROM:
            return 0
        return min(BLOCK_ROWS, max(DRAWN_BYTES // (16 * self.n_features), DRAWN_PER_COLUMN * self.n_features))

    def _drawn_sample(self, look: FirstLook, shift: Any) -> Sample | None:
        """The drawn rows as a sample in memory; None if none were drawn, or none of a class with weight."""
        rows = [part.drawn - shift for part in (look.pos, look.neg)]
        weights = [
            np.ones(len(each)) if part.weight is None else part.weight
            for part, each in zip((look.pos, look.neg), rows, strict=True)
        ]
        if not all(weight.sum() > 0 for weight in weights):
            return None
        shares = [weight / weight.sum() for weight in weights]
        positive = np.repeat([True, False], [len(each) for each in rows])
        return Sample(
            rows[0], rows[1], shares[0], shares[1], self.prior_pos, positive, self.weighted, prior_neg=self.prior_neg
        )

    def scores(self, coef: Array) -> tuple[Array, Array]:
        """``(X_pos @ coef, X_neg @ coef)`` in one pass."""
        pos, neg = np.empty(self.n_pos), np.empty(self.n_neg)
        results = self.table.run(row_scores, repeat(coef, len(self.table.blocks)))
        for (positive, in_pos, in_neg), scores in zip(self._class_slices(), results, strict=True):
            pos[in_pos], neg[in_neg] = scores[positive], scores[~positive]
        return pos, neg

    def combine(self, multipliers_pos: Array, multipliers_neg: Array) -> Array:
        """``Σ_i α_i x_i⁺ − Σ_j β_j x_j⁻`` in one pass; without a pass for the multipliers of the last call."""
        arrays = multipliers_pos, multipliers_neg
        sums = tuple(float(array.sum()) for array in arrays)
        before, sums_before, result = self._last
        if sums == sums_before and all(it() is array for it, array in zip(before, arrays, strict=True)):
            return result.copy()
        signed = (self._joined(slices, *arrays, sign=-1.0) for slices in self._class_slices())
        result = np.asarray(sum(self.table.run(_weighted_sum, signed)))
        # Weak references; the sums reveal an array that has been changed in place since.
        self._last[:] = [tuple(ref(array) for array in arrays), sums, result]
        return result.copy()

    def take(self, rows_pos: NDArray[np.integer], rows_neg: NDArray[np.integer]) -> tuple[Array, Array]:
        """The rows of either class with these numbers, in their order, read in one pass; numbers may repeat."""
        numbers = np.r_[np.flatnonzero(self.positive)[rows_pos], np.flatnonzero(~self.positive)[rows_neg]]
        rows = self.table.take(numbers)
        return rows[: len(rows_pos)], rows[len(rows_pos) :]

    def gram(self, weight_pos: Array, weight_neg: Array, check: Check = never) -> Array:
        """``Σ_i u_i x_i⁺x_i⁺ᵀ + Σ_j v_j x_j⁻x_j⁻ᵀ`` in one pass."""
        weights = (self._joined(slices, weight_pos, weight_neg) for slices in self._class_slices())
        return np.asarray(sum(self.table.run(row_forms.gram, weights)))

    def accurate_sums(self, pos: Array, neg: Array) -> tuple[Sums, Sums]:
        """``Σ_i α_i x_i⁺`` and ``Σ_j β_j x_j⁻`` as ``(high, low, error)``, in one pass."""
        weights = (self._joined(slices, pos, neg) for slices in self._class_slices())
        parts = self.table.run(_accurate_sums, zip(weights, self.table.split(self.positive), strict=True))
        return added_sums(parts, self.n_features)

    def radii(self, lengths: Callable[[Array], Array]) -> tuple[float, float]:
        """The largest distance of a positive, and of a negative, from the mean of all rows, in two passes."""
        centre = self.combine(np.ones(self.n_pos), -np.ones(self.n_neg)) / (self.n_pos + self.n_neg)
        found = list(self.table.run(partial(_farthest, centre, lengths), self.table.split(self.positive)))
        return max(pos for pos, _ in found), max(neg for _, neg in found)

    def bin_sums(self, bins_pos: NDArray[np.int32], bins_neg: NDArray[np.int32], n_bins: int) -> tuple[Array, Array]:
        """``Σ share_k x_k`` over the observations of each bin, by class, shape (n_bins, n_features), in one pass.

        `bins_pos` and `bins_neg`, of shapes (n_pos,) and (n_neg,), are the bins of the observations, from 0.
        """
        above = n_bins + bins_neg
        arguments = (
            (self._joined(slices, bins_pos, above), self._joined(slices, self.share_pos, self.share_neg), n_bins)
            for slices in self._class_slices()
        )
        sums = sum(self.table.run(_bin_sums, arguments))
        return sums[:n_bins], sums[n_bins:]

    def _class_slices(self) -> Iterator[tuple[NDArray[np.bool_], slice, slice]]:
        """For every block the mask of its positive rows, and the slices of its observations within either class."""
        i = j = 0
        for positive in self.table.split(self.positive):
            n_pos = int(np.count_nonzero(positive))
            n_neg = positive.size - n_pos
            yield positive, slice(i, i + n_pos), slice(j, j + n_neg)
            i, j = i + n_pos, j + n_neg

    @staticmethod
    def _joined(
        slices: tuple[NDArray[np.bool_], slice, slice], pos: NDArray[Any], neg: NDArray[Any], sign: float | None = None
    ) -> NDArray[Any]:
        """Values per class as one vector over the rows of a block, those of the negatives times `sign`."""
        positive, in_pos, in_neg = slices
        joined = np.empty(positive.size, dtype=pos.dtype)
        joined[positive] = pos[in_pos]
        joined[~positive] = neg[in_neg] if sign is None else sign * neg[in_neg]
        return joined


@dataclass(frozen=True)
class ClassRows:
    """The rows of one class (`side` is "pos" or "neg"): shape, products, and rows read when they are indexed."""

    sample: BlockSample
    side: str

    @property
    def shape(self) -> tuple[int, int]:
        """Number of observations of the class, and of features."""
        return (self.sample.n_pos if self.side == "pos" else self.sample.n_neg), self.sample.n_features

    @property
    def T(self) -> Array:  # noqa: N802
        """The transpose, which would need all rows in memory."""
        raise AuclabError(
            "the sample is in blocks, and this needs all rows in memory: np.asarray(table) reads them, if they fit"
        )

    def __matmul__(self, coef: Array) -> Array:
        return self.sample.scores(coef)[0 if self.side == "pos" else 1]

    def __getitem__(self, rows: Any) -> Array:
        none, numbers = np.arange(0), np.arange(self.shape[0])[rows]
        return self.sample.take(*((numbers, none) if self.side == "pos" else (none, numbers)))[
            0 if self.side == "pos" else 1
        ]


def _shares(labels: BlockLabels) -> tuple[Array, Array, float, float]:
    """The result of `class_shares`; equal weights are in vectors that take no memory."""
    if labels.weighted:
        parts = (np.ones(each.block.n_rows) if each.weight is None else each.weight for each in labels)
        return class_shares(labels.positive(), np.concatenate(list(parts)))
    n_pos, n_neg = labels.n_pos, labels.n_neg
    total = float(n_pos + n_neg)
    pos, neg = (np.broadcast_to(1.0 / count, count) for count in (n_pos, n_neg))
    return pos, neg, n_pos / total, n_neg / total


def refuse_values(table: BlockTable, bad: tuple[int, int, int] | None, low: Array, high: Array) -> None:
    """Refuse values that are not finite or beyond ±1e150, and columns that vary by less than 1e-150.

    `bad`: block, row in it and column of the first value that is not finite. `low`, `high` (n_columns,): ranges.
    """
    if bad is not None:
        row = int(table.offsets[bad[0]]) + bad[1]
        raise AuclabError(
            f"X contains a missing or infinite value, first at row {row}, column {table.columns[bad[2]]!r}; "
            "blocks are not imputed: repair the files, or drop the column"
        )
    far = np.flatnonzero(np.maximum(high, -low) > LARGEST_SQUARED)
    if far.size:
        raise AuclabError(f"column {table.columns[far[0]]!r} has values beyond ±{LARGEST_SQUARED:g}; change its unit")
    check_variation(low, high)


def added_sums(parts: Iterable[Array], n_columns: int) -> tuple[Sums, Sums]:
    """The sums of two sides, each ``(high, low, error)``, from those of blocks, of shape (2, 3, n_columns)."""
    total = np.zeros((2, 3, n_columns))
    for part in parts:
        high, rest = two_sums(total[:, 0], part[:, 0])
        low, error = total[:, 1] + (rest + part[:, 1]), total[:, 2] + part[:, 2] + 2.0**-100 * abs(part[:, 0])
        total = np.stack([high, low, error], axis=1)
    of_pos, of_neg = ((each[0], each[1], each[2]) for each in total)
    return of_pos, of_neg


def _weighted_sum(rows: Array, weights: Array) -> Array:
    return np.asarray(weights @ rows)


def _accurate_sums(rows: Any, argument: tuple[Array, NDArray[np.bool_]]) -> NDArray[np.float64]:
    """A task: the sums of either class."""
    weights, positive = argument
    sides = np.where(positive, weights, 0.0), np.where(positive, 0.0, weights)
    return np.array([weighted_column_sums(rows, side) for side in sides])


def _farthest(
    centre: Array, lengths: Callable[[Array], Array], rows: Any, positive: NDArray[np.bool_]
) -> tuple[float, float]:
    """A task: the largest distance of either class."""
    pos, neg = (farthest_row(rows[np.flatnonzero(side)], centre, lengths) for side in (positive, ~positive))
    return pos, neg


def _bin_sums(rows: Any, argument: tuple[NDArray[np.int32], Array, int]) -> Array:
    bins, shares, n_bins = argument
    indices = (bins, np.arange(bins.size))
    return row_forms.sparse_sums(rows, sp.csr_array((shares, indices), shape=(2 * n_bins, bins.size)))
