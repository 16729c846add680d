"""A labelled sample in blocks: one pass over the rows for scores, one for a sum, one for a curvature.

Kept in memory are labels, shares and what is asked for: vectors with an entry an observation. The rows are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any
from weakref import ref

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from auclab.samples.blocks.table import BlockTable, rows_of, scores_of
from auclab.samples.memory import Sample, class_shares, spread_of, strided
from auclab.types import Array, AuclabError
from auclab.validation import positive_mask, same_length, weight_vector


@dataclass(frozen=True)
class BlockSample(Sample):
    """What `Sample` is, without rows in memory; `X_pos` and `X_neg` are views that give rows when asked."""

    table: BlockTable
    _last: list[Any] = field(default_factory=lambda: [(), (), None], repr=False, compare=False)

    in_blocks = True

    @classmethod
    def from_labels(
        cls, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, pos_label: Any = None
    ) -> BlockSample:
        """The rows of a `BlockTable` with their labels; one pass over the blocks.

        Raises
        ------
        AuclabError
            As `Sample.from_labels`.
        """
        positive = positive_mask(y, pos_label)
        if len(X) != positive.size:
            raise AuclabError(f"X has {len(X)} rows, but there are {positive.size} labels")
        weight = weight_vector(sample_weight, positive.size)
        same_length(y=positive, sample_weight=weight)
        return cls.from_table(X, positive, weight)

    @classmethod
    def from_table(cls, table: BlockTable, positive: NDArray[np.bool_], weight: Array | None) -> BlockSample:
        """Split by class; looks at every value once.

        Raises
        ------
        AuclabError
            A value that is missing or infinite; a class without weight.
        """
        share_pos, share_neg, prior_pos = class_shares(positive, weight)
        sample = cls(None, None, share_pos, share_neg, prior_pos, positive, weight is not None, table)
        object.__setattr__(sample, "X_pos", ClassRows(sample, "pos"))
        object.__setattr__(sample, "X_neg", ClassRows(sample, "neg"))
        sample.spread  # noqa: B018  the first look
        return sample

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

    @cached_property
    def spread(self) -> Array:
        """As `Sample.spread`, from the same rows; reading them is also the check that all values are finite."""
        wanted = np.zeros(len(self.table), dtype=bool)
        for rows in (np.flatnonzero(self.positive), np.flatnonzero(~self.positive)):
            wanted[rows[strided(rows.size)]] = True
        looks = self.table.run(_first_look, self.table.cut(wanted))
        some, peaks = [], np.zeros(self.n_features)
        for start, (bad, rows, peak) in zip(self.table.starts[:-1], looks, strict=True):
            if bad is not None:
                self._refuse(int(start) + bad[0], bad[1])
            some.append(rows)
            peaks = np.maximum(peaks, peak)
        of_pos, found = self.positive[wanted], np.concatenate(some)
        shares = self.share_pos[strided(self.n_pos)], self.share_neg[strided(self.n_neg)]
        return spread_of(((found[of_pos], shares[0]), (found[~of_pos], shares[1])), lambda constant: peaks[constant])

    def scores(self, coef: Array) -> tuple[Array, Array]:
        """``(X_pos @ coef, X_neg @ coef)`` in one pass."""
        pos, neg = np.empty(self.n_pos), np.empty(self.n_neg)
        results = self.table.run(scores_of, repeat(coef, len(self.table.parts)))
        for (mine, in_pos, in_neg), scores in zip(self._places(), results, strict=True):
            pos[in_pos], neg[in_neg] = scores[mine], scores[~mine]
        return pos, neg

    def combine(self, multipliers_pos: Array, multipliers_neg: Array) -> Array:
        """``Σ_i α_i x_i⁺ − Σ_j β_j x_j⁻`` in one pass; none where these are the multipliers of the last time."""
        arrays = multipliers_pos, multipliers_neg
        sums = tuple(float(array.sum()) for array in arrays)
        before, sums_before, result = self._last
        if sums == sums_before and all(it() is array for it, array in zip(before, arrays, strict=True)):
            return result.copy()
        signed = (self._joined(place, *arrays, sign=-1.0) for place in self._places())
        result = np.asarray(sum(self.table.run(_weighted_sum, signed)))
        # References that keep nothing alive; the sums tell an array that was changed since.
        self._last[:] = [tuple(ref(array) for array in arrays), sums, result]
        return result.copy()

    def take(self, rows_pos: NDArray[np.integer], rows_neg: NDArray[np.integer]) -> tuple[Array, Array]:
        """Some rows of either class, read in one pass."""
        numbers = np.r_[np.flatnonzero(self.positive)[rows_pos], np.flatnonzero(~self.positive)[rows_neg]]
        rows = self.table.take(numbers)
        return rows[: len(rows_pos)], rows[len(rows_pos) :]

    def gram(self, weight_pos: Array, weight_neg: Array) -> Array:
        """``Σ_i u_i x_i⁺x_i⁺ᵀ + Σ_j v_j x_j⁻x_j⁻ᵀ`` in one pass."""
        weights = (self._joined(place, weight_pos, weight_neg) for place in self._places())
        return np.asarray(sum(self.table.run(_weighted_gram, weights)))

    def bin_sums(self, bins_pos: NDArray[np.int32], bins_neg: NDArray[np.int32], n_bins: int) -> tuple[Array, Array]:
        """``Σ share_k x_k`` over the observations of each bin, by class, shape (n_bins, n_features), in one pass."""
        above = n_bins + bins_neg
        arguments = (
            (self._joined(place, bins_pos, above), self._joined(place, self.share_pos, self.share_neg), n_bins)
            for place in self._places()
        )
        sums = sum(self.table.run(_bin_sums, arguments))
        return sums[:n_bins], sums[n_bins:]

    def _places(self) -> Iterator[tuple[NDArray[np.bool_], slice, slice]]:
        """For every block: which of its rows are positive, and where its observations are within the classes."""
        i = j = 0
        for mine in self.table.cut(self.positive):
            n_pos = int(np.count_nonzero(mine))
            n_neg = mine.size - n_pos
            yield mine, slice(i, i + n_pos), slice(j, j + n_neg)
            i, j = i + n_pos, j + n_neg

    @staticmethod
    def _joined(
        place: tuple[NDArray[np.bool_], slice, slice], pos: NDArray[Any], neg: NDArray[Any], sign: float | None = None
    ) -> NDArray[Any]:
        """Values per class as one vector over the rows of a block, those of the negatives times `sign`."""
        mine, in_pos, in_neg = place
        joined = np.empty(mine.size, dtype=pos.dtype)
        joined[mine] = pos[in_pos]
        joined[~mine] = neg[in_neg] if sign is None else sign * neg[in_neg]
        return joined

    def _refuse(self, row: int, column: int) -> None:
        raise AuclabError(
            f"X contains a missing or infinite value, first at row {row}, column {self.table.columns[column]!r}; "
            "blocks are not imputed: repair the files, or drop the column"
        )


@dataclass(frozen=True)
class ClassRows:
    """The rows of one class: a shape, a product, and rows when asked for."""

    sample: BlockSample
    side: str

    @property
    def shape(self) -> tuple[int, int]:
        """Number of observations of the class, and of features."""
        return (self.sample.n_pos if self.side == "pos" else self.sample.n_neg), self.sample.n_features

    @property
    def T(self) -> Array:  # noqa: N802
        """Not without all rows.

        Raises
        ------
        AuclabError
            Always.
        """
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


def _first_look(rows: Array, wanted: NDArray[np.bool_]) -> tuple[tuple[int, int] | None, Array, Array]:
    """The first place that is not finite, the rows that are wanted, and the largest modulus of every column."""
    bad = None
    if not np.isfinite(rows.sum()):
        places = np.argwhere(~np.isfinite(rows))
        bad = (int(places[0, 0]), int(places[0, 1])) if places.size else None
    return bad, rows_of(rows, np.flatnonzero(wanted)), np.maximum(rows.max(axis=0), -rows.min(axis=0))


def _weighted_sum(rows: Array, weights: Array) -> Array:
    return np.asarray(weights @ rows)


def _weighted_gram(rows: Array, weights: Array) -> Array:
    used = np.flatnonzero(weights)
    some = rows if used.size == weights.size else rows[used]
    return np.asarray((some * weights[used][:, None]).T @ some)


def _bin_sums(rows: Array, argument: tuple[NDArray[np.int32], Array, int]) -> Array:
    bins, shares, n_bins = argument
    places = (bins, np.arange(bins.size))
    return np.asarray(sp.csr_array((shares, places), shape=(2 * n_bins, bins.size)) @ np.ascontiguousarray(rows))
