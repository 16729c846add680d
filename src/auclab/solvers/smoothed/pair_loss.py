"""The smoothed loss over all pairs of a sample, by prefix moments of sorted scores (see `smoothed_loss`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.pieces import opposite_piece_slopes, pair_piece_sums
from auclab.compiled.smooth import (
    Index,
    add_window_differences,
    sorted_with_prefix,
    sums_of_entries,
    window_row_sums,
    window_sums,
)
from auclab.compiled.sparse_rows import sparse_window_products
from auclab.compiled.threads import LARGE, in_parallel
from auclab.formulations.problem import Problem
from auclab.samples.bicliques import Side
from auclab.samples.memory import Sample
from auclab.solvers.smoothed.binned_hessian import binned_hessian
from auclab.solvers.smoothed.evaluation import Evaluation, SmoothedLoss, entrywise_square, in_sample_order, with_one_sum
from auclab.solvers.smoothed.row_products import Check, gram, never, row_products, some_at_a_time
from auclab.types import Array


@dataclass(frozen=True)
class SortedClass:
    """One class in ascending order of its scores.

    `order` sorts its observations and `share` are their weights in this order; the scores of the other class that are
    in the band of observation k are those numbered ``first[k] ≤ j < last[k]``.
    """

    order: Index
    share: Array
    first: Index
    last: Index

    def band_weight(self, opposite: SortedClass) -> Array:
        """The weight of the opposite class that is in the band, for every observation."""
        return np.asarray(window_sums(opposite.share, self.first, self.last))


@dataclass(frozen=True)
class Band:
    """The pairs on one curved piece of the loss: windows of either class, and the second derivative there."""

    curvature: float
    pos: SortedClass
    neg: SortedClass


class PairLoss(SmoothedLoss):
    """The smoothed loss over the pairs of a sample."""

    def __init__(self, problem: Problem, sample: Sample, check: Check = never):
        super().__init__(sample, check)
        self.threshold = problem.program.threshold
        self._smoothed = lru_cache(problem.program.loss.smoothed)  # many points share a half-width
        self.threads = sample.n_entries >= LARGE

    def evaluate(self, theta: Array, half_width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n + m log m)."""
        shift = 1.0 - self.threshold * theta[-1]
        pos, neg = self.sample.sides(self.sample.scores(theta[:-2]))
        pieces = self._smoothed(half_width)
        curved = pieces.curvatures > 0
        tables = pieces.coefficients, pieces.slopes, pieces.gap, curved.astype(float)
        (first_pos, slope_pos, totals), (first_neg, slope_neg) = in_parallel(
            lambda sums, *data: sums(*data),
            (
                pair_piece_sums, pos.scores, neg.scores, pos.share, neg.share, pos.starts, neg.starts, shift,
                pieces.breakpoints, *tables,
            ),
            (
                opposite_piece_slopes, neg.scores, pos.scores, pos.share, neg.starts, pos.starts, shift,
                pieces.breakpoints, pieces.slopes,
            ),
            threads=self.threads,
        )  # fmt: skip
        (of_pos, last_pos), (of_neg, last_neg) = in_parallel(
            self._finished,
            (pos, slope_pos, neg.starts[1:], self.sample.n_pos),
            (neg, slope_neg, pos.starts[:-1], self.sample.n_neg),
            threads=self.threads,
        )
        ends_pos, ends_neg = [*first_pos[1:], last_pos], [*first_neg[1:], last_neg]
        bands = tuple(
            Band(
                float(pieces.curvatures[s]),
                SortedClass(pos.rows, pos.share, first_pos[s], ends_pos[s]),
                SortedClass(neg.rows, neg.share, ends_neg[s], first_neg[s]),
            )
            for s in np.flatnonzero(curved)
        )
        value, gap, band_share = (float(total) for total in totals)
        return Evaluation(half_width, value, with_one_sum((of_pos, of_neg)), gap, band_share, bands, theta)

    @staticmethod
    def _finished(side: Side, slopes: Array, ends: NDArray[np.int64], size: int) -> tuple[Array, Index]:
        """The multipliers of a class, and where the other class ends for every observation in its order."""
        multipliers = sums_of_entries(slopes, side.share, side.rows, size)
        return multipliers, np.repeat(ends.astype(np.int32), np.diff(side.starts))

    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``G = Σ q α D``, the negative gradient, shape (n_features + 2,)."""
        combined = self.sample.combine(multipliers[0], multipliers[1])
        return np.append(combined, (0.0, self.threshold * float(multipliers[0].sum())))

    def hessian(self, evaluation: Evaluation) -> Array:
        """``Σ q φ'' D Dᵀ`` over the band, shape (n_features + 2, n_features + 2).

        O(m n²) for dense rows; for CSR rows O(Σ nnz_row² + nnz n), nnz that of the class with fewer entries.
        """
        if self.sample.in_blocks:
            return binned_hessian(self.sample, evaluation.theta, evaluation.half_width, self.threshold)
        sample, n = self.sample, self.sample.n_features
        sums = self._sparse_sums if sample.is_sparse else self._dense_sums
        hessian = np.zeros((n + 2, n + 2))
        for band in evaluation.state:
            pos, neg, curvature = band.pos, band.neg, band.curvature
            weight_pos, weight_neg = pos.share * pos.band_weight(neg), neg.share * neg.band_weight(pos)
            square, cross, to_norm = sums(pos, neg, weight_pos, weight_neg)
            hessian[:n, :n] += curvature * (square - cross - cross.T)
            hessian[:n, -1] += curvature * self.threshold * to_norm
            hessian[-1, -1] += curvature * self.threshold**2 * weight_pos.sum()
        hessian[-1, :n] = hessian[:n, -1]
        return hessian

    def _dense_sums(
        self, pos: SortedClass, neg: SortedClass, weight_pos: Array, weight_neg: Array
    ) -> tuple[Array, Array, Array]:
        """``Σ u x⁺x⁺ᵀ + Σ v x⁻x⁻ᵀ``, ``Σ x⁺x⁻ᵀ`` over the pairs in the band, and ``Σ u x⁺ − Σ v x⁻``."""
        sample = self.sample
        pos, neg, weight_pos, weight_neg = _in_band(pos, neg, weight_pos, weight_neg)
        rows_pos, rows_neg = in_parallel(
            _sorted_rows, (sample.X_pos, pos.order), (sample.X_neg, neg.order), threads=self.threads
        )

        def between_classes() -> Array:
            opposite = window_row_sums(rows_neg, neg.share, pos.first, pos.last)
            return row_products(rows_pos, pos.share, self.check, opposite)

        def within_classes() -> Array:
            return row_products(rows_pos, weight_pos, self.check) + row_products(rows_neg, weight_neg, self.check)

        cross, square = in_parallel(
            lambda product: product(), (between_classes,), (within_classes,), threads=self.threads
        )
        return square, cross, np.dot(weight_pos, rows_pos) - np.dot(weight_neg, rows_neg)

    def _sparse_sums(
        self, pos: SortedClass, neg: SortedClass, weight_pos: Array, weight_neg: Array
    ) -> tuple[Array, Array, Array]:
        """`_dense_sums` of CSR rows, without copying them; the second sum may be transposed."""
        sample = self.sample
        in_place = tuple(
            in_sample_order(weight, ours.order, share.size)
            for weight, ours, share in ((weight_pos, pos, sample.share_pos), (weight_neg, neg, sample.share_neg))
        )

        def between_classes() -> Array:
            # An outer row costs its entries times n, an inner one its entries.
            sides = (sample.X_pos, pos), (sample.X_neg, neg)
            (outer, ours), (inner, theirs) = sides if sample.X_pos.nnz <= sample.X_neg.nnz else sides[::-1]
            orders, shares = (ours.order, theirs.order), (ours.share, theirs.share)
            total = np.zeros((outer.shape[1], outer.shape[1]))
            for part in some_at_a_time(outer.shape[0], outer.nnz / outer.shape[0] * outer.shape[1], self.check):
                low, high = int(ours.first[part][0]), int(ours.last[part][-1])
                rows = orders[0][part], orders[1][low:high]
                of_rows = shares[0][part], shares[1][low:high]
                windows = ours.first[part] - np.int32(low), ours.last[part] - np.int32(low)
                total += sparse_window_products(outer, inner, rows, of_rows, *windows)
            return total

        within_classes = partial(gram, sample, in_place[0], in_place[1], self.check)
        cross, square = in_parallel(
            lambda product: product(), (between_classes,), (within_classes,), threads=self.threads
        )
        return square, cross, sample.combine(*in_place)

    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array]:
        """The marginals of ``q φ'' D·step``, by which a step lowers the multipliers; O(m n)."""
        sample, shift = self.sample, self.threshold * step[-1]
        moved_pos, moved_neg = sample.scores(step[:-2])
        totals = np.zeros(sample.n_pos), np.zeros(sample.n_neg)
        for band in evaluation.state:
            pos, neg, curvature = band.pos, band.neg, band.curvature
            (change_pos, *of_pos), (change_neg, *of_neg) = in_parallel(
                sorted_with_prefix,
                (moved_pos, pos.share, pos.order),
                (moved_neg, neg.share, neg.order),
                threads=self.threads,
            )
            in_parallel(
                add_window_differences,
                (totals[0], change_pos, pos.share, pos.order, pos.first, pos.last, *of_neg, shift, curvature),
                (totals[1], change_neg, neg.share, neg.order, neg.first, neg.last, *of_pos, -shift, -curvature),
                threads=self.threads,
            )
        return totals

    def band_weights(self, band: Band) -> tuple[Array, Array]:
        """The weight of the pairs of every row in a band, as the upper and as the lower one."""
        pos, neg, sample = band.pos, band.neg, self.sample
        upper = sums_of_entries(pos.band_weight(neg), pos.share, pos.order, sample.n_pos)
        return upper, sums_of_entries(neg.band_weight(pos), neg.share, neg.order, sample.n_neg)

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """An upper bound of the Hessian's diagonal, shape (n_features + 2,), by ``(x − y)² ≤ 2x² + 2y²``."""
        squares, to_norm = np.zeros(self.sample.n_features), 0.0
        square_pos, square_neg = entrywise_square(self.sample.X_pos), entrywise_square(self.sample.X_neg)
        for band in evaluation.state:
            upper, lower = self.band_weights(band)
            squares += 2.0 * band.curvature * (square_pos.T @ upper + square_neg.T @ lower)
            to_norm += band.curvature * self.threshold**2 * float(upper.sum())
        return np.r_[squares, 0.0, to_norm]


def _in_band(
    pos: SortedClass, neg: SortedClass, weight_pos: Array, weight_neg: Array
) -> tuple[SortedClass, SortedClass, Array, Array]:
    """The rows with a pair in the band, if these are few because few rows of the other class have one."""
    inside = weight_pos > 0, weight_neg > 0
    counts = [int(np.count_nonzero(each)) for each in inside]
    if 2 * counts[0] > weight_pos.size and 2 * counts[1] > weight_neg.size:
        return pos, neg, weight_pos, weight_neg
    before = [np.concatenate(([0], np.cumsum(each, dtype=np.int32))).astype(np.int32) for each in inside]
    pos, neg = (
        SortedClass(ours.order[here], ours.share[here], there[ours.first[here]], there[ours.last[here]])
        for ours, here, there in ((pos, inside[0], before[1]), (neg, inside[1], before[0]))
    )
    return pos, neg, weight_pos[inside[0]], weight_neg[inside[1]]


def _sorted_rows(X: Any, order: NDArray[np.integer]) -> Array:
    return np.ascontiguousarray(X[order])
