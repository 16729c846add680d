"""The smoothed loss over all pairs of a sample, or over those of bicliques, by prefix moments of sorted scores.

On each curved piece of the loss, the opposite observations of one are consecutive in the order of the scores. With C_i
the weighted sum of their rows over the pairs of a positive i, and u and v the weight of the pairs of every positive and
negative, the Hessian of a piece is ``X⁺ᵀ(u∘X⁺ − C) − CᵀX⁺ + X⁻ᵀ(v∘X⁻)``. Over bicliques every row is on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.pieces import opposite_piece_slopes, pair_piece_sums
from auclab._core.rows import Check, never, row_products, some_at_a_time, sparse_window_products
from auclab._core.smooth import (
    Index,
    add_window_differences,
    add_window_rows,
    sorted_with_prefix,
    sums_of_entries,
    window_sums,
)
from auclab._core.threads import LARGE, in_parallel
from auclab.formulations.problem import Problem
from auclab.samples.bicliques import Side
from auclab.samples.blocks.ranked_blocks import RankedBlockSample
from auclab.samples.memory import Sample
from auclab.solvers.smoothed.losses import Evaluation, SmoothedLoss, binned_hessian, with_one_sum


@dataclass(frozen=True)
class SortedClass:
    """One class in ascending order of its scores.

    `order` sorts its observations and `share` are their weights in this order; the other class's observations that make
    a pair of a curved piece with number k are those numbered ``first[k] ≤ j < last[k]``.
    """

    order: Index
    share: Array
    first: Index
    last: Index


@dataclass(frozen=True)
class CurvedPairs:
    """The pairs on one curved piece of the loss, and the second derivative φ'' there."""

    curvature: float
    pos: SortedClass
    neg: SortedClass

    def weights(self, n_pos: int, n_neg: int) -> tuple[Array, Array]:
        """The weight of the pairs of every positive and of every negative, times φ''."""
        pos, neg = self.pos, self.neg
        of_pos, of_neg = window_sums(neg.share, pos.first, pos.last), window_sums(pos.share, neg.first, neg.last)
        upper = sums_of_entries(self.curvature * of_pos, pos.share, pos.order, n_pos)
        return upper, sums_of_entries(self.curvature * of_neg, neg.share, neg.order, n_neg)


class PairLoss(SmoothedLoss):
    """The smoothed loss over pairs, with ``D = (x_i⁺ − x_j⁻, 0, z)``."""

    def __init__(self, problem: Problem, sample: Sample, check: Check = never):
        super().__init__(problem, sample, check)
        self.threads = sample.n_entries >= LARGE

    def evaluate(self, theta: Array, width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n + m log m)."""
        shift = 1.0 - self.threshold * theta[-1]
        # a_ij = 1 − z t − (p_i − n_j), with t in place of ‖w‖.
        pos, neg = self.sample.sides(self.sample.scores(theta[:-2]))
        pieces = self._smoothed(width)
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
        # A negative's pieces run down the positives: piece s is from the boundary of s + 1 to that of s.
        (of_pos, last_pos), (of_neg, lowest_neg) = in_parallel(
            _summed,
            (pos, slope_pos, neg.starts[1:], self.sample.n_pos),
            (neg, slope_neg, pos.starts[:-1], self.sample.n_neg),
            threads=self.threads,
        )
        ends_pos, ends_neg = [*first_pos[1:], last_pos], [*first_neg[1:], lowest_neg]
        state = tuple(
            CurvedPairs(
                float(pieces.curvatures[s]),
                SortedClass(pos.rows, pos.share, first_pos[s], ends_pos[s]),
                SortedClass(neg.rows, neg.share, ends_neg[s], first_neg[s]),
            )
            for s in np.flatnonzero(curved)
        )
        value, gap, band_share = (float(total) for total in totals)
        return Evaluation(width, value, with_one_sum((of_pos, of_neg)), gap, band_share, state, theta)

    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``G = Σ q α D``, the negative gradient, shape (n_features + 2,)."""
        combined = self.sample.combine(multipliers[0], multipliers[1])
        # D = (x_i⁺ − x_j⁻, 0, z): b cancels, and the entry of t is z Σ q α.
        return np.append(combined, (0.0, self.threshold * float(multipliers[0].sum())))

    def curvatures(self, evaluation: Evaluation) -> tuple[Array, Array]:
        """``Σ_j q_ij φ''_ij`` of every positive i, and ``Σ_i q_ij φ''_ij`` of every negative j."""
        pos, neg = np.zeros(self.sample.n_pos), np.zeros(self.sample.n_neg)
        for pairs in evaluation.state:
            upper, lower = pairs.weights(pos.size, neg.size)
            pos, neg = pos + upper, neg + lower
        return pos, neg

    def hessian(self, evaluation: Evaluation) -> Array:
        """``Σ q φ'' D Dᵀ``, shape (n_features + 2, n_features + 2).

        O(m n²) for dense rows; for CSR rows O(Σ nnz_row² + nnz n), nnz that of the class with fewer entries.
        """
        sample, n = self.sample, self.sample.n_features
        if sample.in_blocks and sample.is_of_classes:
            return binned_hessian(sample, evaluation.theta, evaluation.width, self.threshold)
        pos, neg = self.curvatures(evaluation)
        hessian = np.zeros((n + 2, n + 2))
        hessian[:n, :n] = self._of_rows(evaluation.state, pos, neg)
        # The row of t: z Σ q φ'' (x_i⁺ − x_j⁻), and z² Σ q φ'' on the diagonal.
        hessian[:n, -1] = hessian[-1, :n] = self.threshold * sample.combine(pos, neg)
        hessian[-1, -1] = self.threshold**2 * pos.sum()
        return hessian

    def _of_rows(self, pieces: tuple[CurvedPairs, ...], pos: Array, neg: Array) -> Array:
        """The Hessian in w, given the curvatures of the observations."""
        sample = self.sample
        if sample.in_blocks:
            in_blocks = cast(RankedBlockSample, sample)
            return in_blocks.sum_over_parts(_of_part, _by_part(in_blocks, pieces, pos, neg))
        if sample.is_sparse:
            return self._of_sparse_rows(pieces, pos, neg)
        return dense_hessian(sample.X_pos, sample.X_neg, pieces, pos, neg, self.check)

    def _of_sparse_rows(self, pieces: tuple[CurvedPairs, ...], weight_pos: Array, weight_neg: Array) -> Array:
        """The same for CSR rows, without copying them."""
        sample = self.sample
        hessian = sample.gram(weight_pos, weight_neg, self.check)
        for pairs in pieces:
            # An outer row costs its entries times n, an inner one its entries.
            sides = (sample.X_pos, pairs.pos), (sample.X_neg, pairs.neg)
            (outer, ours), (inner, theirs) = sides if sample.X_pos.nnz <= sample.X_neg.nnz else sides[::-1]
            for part in some_at_a_time(ours.order.size, outer.nnz / outer.shape[0] * outer.shape[1], self.check):
                orders, shares = (ours.order[part], theirs.order), (ours.share[part], theirs.share)
                cross = sparse_window_products(outer, inner, orders, shares, ours.first[part], ours.last[part])
                hessian -= pairs.curvature * (cross + cross.T)
        return hessian

    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array]:
        """The marginals of ``q φ'' D·step``, by which a step lowers the multipliers; O(m n)."""
        sample, shift = self.sample, self.threshold * step[-1]
        moved_pos, moved_neg = sample.scores(step[:-2])
        totals = np.zeros(sample.n_pos), np.zeros(sample.n_neg)
        for pairs in evaluation.state:
            pos, neg, curvature = pairs.pos, pairs.neg, pairs.curvature
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


def _summed(side: Side, slopes: Array, ends: NDArray[np.int64], size: int) -> tuple[Array, Index]:
    """The multipliers of a class, and where the other class ends for every observation in its order."""
    multipliers = sums_of_entries(slopes, side.share, side.rows, size)
    return multipliers, np.repeat(ends.astype(np.int32), np.diff(side.starts))


def dense_hessian(
    X_pos: Any, X_neg: Any, pieces: tuple[CurvedPairs, ...], weight_pos: Array, weight_neg: Array, check: Check
) -> Array:
    """``Σ u x⁺x⁺ᵀ + Σ v x⁻x⁻ᵀ − Σ_i (x_i⁺ C_iᵀ + C_i x_i⁺ᵀ)`` over the rows with a pair, which are few for small h."""
    used_pos, used_neg = np.flatnonzero(weight_pos), np.flatnonzero(weight_neg)
    rows_pos, rows_neg = np.ascontiguousarray(X_pos[used_pos]), np.ascontiguousarray(X_neg[used_neg])
    # An observation without weight has the place 0: it enters and leaves the sums of a window unread.
    place_pos, place_neg = np.zeros(weight_pos.size, np.int32), np.zeros(weight_neg.size, np.int32)
    place_pos[used_pos], place_neg[used_neg] = np.arange(used_pos.size), np.arange(used_neg.size)
    opposite = np.zeros(rows_pos.shape)
    for pairs in pieces if used_pos.size else ():
        pos, neg = pairs.pos, pairs.neg
        theirs = place_neg[neg.order], neg.share
        add_window_rows(
            rows_neg, pos.order, pos.share, *theirs, pos.first, pos.last, pairs.curvature, place_pos, opposite
        )
    check()
    # C_i = Σ_j q_ij φ''_ij x_j⁻: the cross terms of Σ q φ'' d dᵀ are X₊ᵀC and its transpose.
    cross = rows_pos.T @ opposite
    square = row_products(rows_pos, weight_pos[used_pos], check) + row_products(rows_neg, weight_neg[used_neg], check)
    return np.asarray(square - cross - cross.T)


#: The pairs on the curved pieces and the curvatures of the rows, of some of the rows.
_Part = tuple[tuple[CurvedPairs, ...], Array, Array]


def _of_part(rows: Any, part: _Part) -> Array:
    """`dense_hessian` of the pairs of bicliques within some rows."""
    X, (pieces, pos, neg) = np.asarray(rows), part
    return dense_hessian(X, X, pieces, pos, neg, never)


def _by_part(sample: RankedBlockSample, pieces: tuple[CurvedPairs, ...], pos: Array, neg: Array) -> Iterator[_Part]:
    """The pairs and the curvatures of the rows of every part, numbered within it."""
    owner = sample.part_of_row
    for number, rows in enumerate(sample.parts):
        inside = owner[rows] == number
        within = tuple(_within(pairs, owner, number, rows) for pairs in pieces)
        yield within, pos[rows] * inside, neg[rows] * inside


def _within(pairs: CurvedPairs, owner: NDArray[np.int32], number: int, rows: NDArray[np.intp]) -> CurvedPairs:
    """The pairs of one part, which are consecutive on either side."""

    def side(whole: SortedClass, other: SortedClass) -> SortedClass:
        begin, end = np.searchsorted(owner[whole.order], (number, number + 1))
        before = np.int32(np.searchsorted(owner[other.order], number))
        order = np.searchsorted(rows, whole.order[begin:end]).astype(np.int32)
        return SortedClass(
            order, whole.share[begin:end], whole.first[begin:end] - before, whole.last[begin:end] - before
        )

    return CurvedPairs(pairs.curvature, side(pairs.pos, pairs.neg), side(pairs.neg, pairs.pos))
