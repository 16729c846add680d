"""Pairs of a positive and a negative: all of them, and those with the hardest negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from auclab._core.accurate import UNIT, accurate_pair_hinge
from auclab._core.base import Array
from auclab._core.bicliques import accurate_pair_slopes
from auclab._core.hinge import SortedMarginals, pair_hinge_active, pair_hinge_value, transport_factor
from auclab._core.pieces import opposite_piece_slopes, pair_piece_sums
from auclab._core.tolerances import FEW_ROUNDINGS, TOLERANCE
from auclab.losses import Loss
from auclab.losses.loss import Pieces
from auclab.regularisers import VectorNorm
from auclab.regularisers.projection import distance_to_means
from auclab.samples.bicliques import sums_of_rows
from auclab.samples.memory import Sample

if TYPE_CHECKING:
    pass

from auclab.margins.comparison import Comparison, DoubleDouble, Encoding, MarginRows, piece_sizes


@dataclass(frozen=True)
class AllPairs(Comparison):
    """Every pair of a positive and a negative, evaluated on sorted scores.

    See Also
    --------
    auclab.margins.Points : Points in place of pairs.

    Examples
    --------
    >>> AllPairs().name, AllPairs().margin_symbol
    ('pairs', 'w·(x_i⁺ − x_j⁻)')
    """

    name = "pairs"
    loops: ClassVar = {"values": ("values",), "cuts": ("cuts",), "steps": ("pairs",)}
    encodings: ClassVar[tuple[Encoding, ...]] = ("full", "dual", "aggregated")
    mean_symbol = "mean_ij"
    margin_symbol = "w·(x_i⁺ − x_j⁻)"
    error_name = "ranking error"
    score_name = "bAUC"
    separated = "pairs"
    null_level_names = ("‖mean(x⁺) − mean(x⁻)‖_*", "‖mean(x⁺) − mean(x⁻)‖_*")

    def mean(self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample) -> float:
        """``Σ_ij u_i v_j ℓ(shift − m_ij)``; for the hinge without cancellation."""
        if loss.is_hinge:
            return pair_hinge_value(*scores, shift, *sample.weights)
        # Sums of squares cancel where every pair is ranked correctly: a value below 0 is a rounding error.
        return max(0.0, self.slopes(loss.table, scores, intercept, shift, sample)[1])

    def accurate_mean(
        self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> float:
        """`mean` with sums in twice the working precision."""
        pos, neg = sample.sides(scores)
        total = accurate_pair_slopes(
            pos.scores, neg.scores, pos.share, neg.share, pos.starts, neg.starts, shift,
            loss.table.breakpoints, loss.table.slopes, loss.table.coefficients, 0.0,
        )[2]  # fmt: skip
        return max(0.0, float(total))

    def accurate_mean_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`mean` of the hinge where scores and shift are given as ``high + low``."""
        return accurate_pair_hinge(scores_pos, scores_neg, shift, *sample.weights)

    def slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[tuple[Array, Array], float, float]:
        """The sums of ``u_i v_j ℓ'(a_ij)`` of every observation, and of ``ℓ(a_ij)`` and ``ℓ*(ℓ'(a_ij))`` over all."""
        pos, neg = sample.sides(scores)
        _, slope, totals = pair_piece_sums(
            pos.scores, neg.scores, pos.share, neg.share, pos.starts, neg.starts, shift,
            table.breakpoints, table.coefficients, table.slopes, table.conjugates, np.zeros(table.breakpoints.size),
        )  # fmt: skip
        _, opposite = opposite_piece_slopes(
            neg.scores, pos.scores, pos.share, neg.starts, pos.starts, shift, table.breakpoints, table.slopes
        )
        active = sums_of_rows(pos, slope, sample.n_pos), sums_of_rows(neg, opposite, sample.n_neg)
        return active, float(totals[0]), float(totals[1])

    def bounded_slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[Array, Array, float, float, float]:
        """`slopes`, summed in twice the working precision.

        Rounding may put a pair on either side of a breakpoint, but on one for both of its rows: its slope is that of a
        piece next to its own, continued to it.
        """
        upper, lower = sample.sides(scores)
        longest = max(float(abs(side.scores).max()) for side in (upper, lower))
        slope, of_conjugate, reach, apart = piece_sizes(table, longest, shift)
        near = 2.0**-48 * reach
        of_upper, of_lower, conjugate, nearby = accurate_pair_slopes(
            upper.scores, lower.scores, upper.share, lower.share, upper.starts, lower.starts, shift,
            table.breakpoints, table.slopes, table.conjugates, near,
        )  # fmt: skip
        ones = np.ones(max(upper.rows.size, lower.rows.size))
        pos, neg = (
            sums_of_rows(side._replace(share=ones[: side.rows.size]), values, size)
            for side, values, size in ((upper, of_upper, sample.n_pos), (lower, of_lower, sample.n_neg))
        )
        entries = float(max(np.bincount(side.rows).max() for side in (upper, lower)))
        unit = (upper.rows.size + lower.rows.size + 64.0) * UNIT
        beside = float(abs(np.diff(table.slopes[:, 1], prepend=0.0)) @ nearby) * near
        off = unit * slope + entries * 2.0**-52 * float(pos.sum() + neg.sum()) + beside
        off_conjugate = unit * (of_conjugate + slope * reach) + 2.0**-50 * abs(conjugate) + apart + beside * reach
        return pos, neg, conjugate, off * (1.0 + FEW_ROUNDINGS), off_conjugate * (1.0 + FEW_ROUNDINGS)

    def active(
        self, sample: Sample, scores: tuple[Array, Array], intercept: float, shift: float
    ) -> tuple[tuple[Array, ...], float]:
        """The weights of the pairs with a positive hinge, over the hardest negatives at the worst r."""
        # A common offset of the scores cancels in the pairs; without it no digits are lost in the sums.
        center = 0.5 * float(scores[1].min() + scores[1].max())
        pos, neg = scores[0] - center, scores[1] - center
        weight_pos, weight_neg = sample.weights
        share_neg = self.worst_negatives(neg, sample)
        active = pair_hinge_active(pos, neg, shift, weight_pos, weight_neg if share_neg is None else share_neg)
        loss = shift * float(active[0].sum()) - float(active[0] @ pos) + float(active[1] @ neg)
        return active if share_neg is None else (*active, share_neg), loss

    def score_changes(self, rows: Array, share: Array, prior: float) -> tuple[Array, Array]:
        """Of scores about the mean of their class, as a common offset changes nothing."""
        return np.c_[rows - share @ rows, np.zeros(len(rows))], share

    def n_pairs(self, sample: Sample) -> int:
        """All of them."""
        return sample.n_pairs

    def rows(self, sample: Sample) -> MarginRows:
        """The pairs, in row-major order (positive, negative)."""
        return MarginRows(*sample.pairs())

    def total(self, of_pos: float, of_neg: float) -> float:
        """The sum over one class: a multiplier belongs to an observation of each."""
        return of_pos

    def of_intercept(self, value: float) -> float:
        """0: over pairs the intercept cancels."""
        return 0.0

    def row_weights(self, sample: Sample) -> tuple[Array, Array]:
        """The weights within the class."""
        return sample.share_pos, sample.share_neg

    def _clipped(self, sample: Sample, pos: Array, neg: Array) -> tuple[Array, Array]:
        # Observations without weight have pairs without capacity.
        return pos * (sample.share_pos > 0), neg * (sample.share_neg > 0)

    def largest_factor(self, sample: Sample, pos: Array, neg: Array) -> float:
        """The factor with which they pass the transport condition."""
        return transport_factor(pos, neg, sample.share_pos, sample.share_neg)

    def excess(self, sample: Sample, pos: Array, neg: Array, allowed: float = 0.0) -> float:
        """The excess over the smallest cut; of multipliers that were scaled to fit, the rounding of running sums."""
        rounding = 2.0**-50 * (sample.n_pos + sample.n_neg) * float(pos.sum())
        if rounding <= allowed:
            return rounding
        return max(0.0, SortedMarginals(pos, neg, sample.share_pos, sample.share_neg).largest_excess(1.0))

    def capacity_test(self, sample: Sample, pos: Array, neg: Array) -> Callable[[float, float, float], bool]:
        """Whether the smallest cut has room for what is moved."""
        marginals = SortedMarginals(pos, neg, sample.share_pos, sample.share_neg)
        return lambda factor, mass, change: marginals.largest_excess(factor, change) + mass <= 0.0

    def null_intercept(self, loss: Loss, sample: Sample) -> float:
        """0: over pairs the intercept cancels."""
        return 0.0

    def null_value(self, loss: Loss, sample: Sample) -> float:
        """``ℓ(1)``: every margin is 0."""
        return float(loss.value(1.0))

    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal."""
        return "the value is 1 and the bAUC of every linear scorer is 0"


@dataclass(frozen=True)
class HardestNegatives(AllPairs):
    """Pairs of the positives with the hardest negatives, the share `max_fpr` with the highest scores; for the hinge.

        max over R of Σ_j r_j Σ_i u_i [shift − m_ij]₊,     R = {0 ≤ r_j ≤ v_j/max_fpr, Σ r_j = 1}

    The loss of a negative rises with its score, so the worst r puts its weight on the highest scores, and the largest
    mean is the superquantile of the losses at level 1 − max_fpr (derivations 2).

    Parameters
    ----------
    max_fpr : float
        In (0, 1].

    See Also
    --------
    auclab.PartialAUC : The formulation.
    auclab.margins.AllPairs : All negatives.

    Examples
    --------
    >>> HardestNegatives(0.3).max_fpr, HardestNegatives().hardest
    (0.3, True)
    """

    max_fpr: float = 0.3

    hardest = True
    loops: ClassVar = {**AllPairs.loops, "steps": ("pairs", "hardest")}
    encodings = ("full",)
    is_tied_at_null = True

    def mean(self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample) -> float:
        """The mean hinge over the hardest negatives."""
        share = self.worst_negatives(scores[1], sample)
        hard = share > 0
        return pair_hinge_value(scores[0], scores[1][hard], shift, sample.weights[0], share[hard])

    def accurate_mean_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`mean` where scores and shift are given as ``high + low``."""
        order = np.lexsort(scores_neg[::-1])
        rank = np.empty(order.size)
        rank[order] = np.arange(order.size)
        share = self.worst_negatives(rank, sample)
        hard = share > 0
        kept = scores_neg[0][hard], scores_neg[1][hard]
        return accurate_pair_hinge(scores_pos, kept, shift, sample.weights[0], share[hard])

    def slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[tuple[Array, Array], float, float]:
        """The weights of the pairs with a positive hinge at the worst r, and the mean hinge."""
        (pos, neg, _), value = self.active(sample, scores, intercept, shift)
        return (pos, neg), value, 0.0

    def capacity(self, sample: Sample) -> Array:
        """The largest r_j, v_j/max_fpr, shape (n_neg,)."""
        return sample.share_neg / self.max_fpr

    def worst_negatives(self, scores_neg: Array, sample: Sample) -> Array:
        """The r with its weight on the highest scores, shape (n_neg,); ties are broken arbitrarily.

        Examples
        --------
        >>> from auclab.samples.as_sample import as_sample
        >>> sample = as_sample([[0.0], [1.0], [2.0], [3.0]], [1, 0, 0, 0])
        >>> share = HardestNegatives(0.5).worst_negatives(np.array([5.0, 7.0, 6.0]), sample)
        >>> share.round(3).tolist()   # 1½ of three negatives
        [0.0, 0.667, 0.333]
        """
        order = np.argsort(-scores_neg)
        share = sample.share_neg[order]
        taken = np.clip(self.max_fpr - (np.cumsum(share) - share), 0.0, share)
        worst = np.empty_like(taken)
        worst[order] = taken / taken.sum()
        return worst

    def dual_shares(self, scores_neg: Array, multipliers_neg: Array, sample: Sample, tied: float = 1e-6) -> Array:
        """The r that belongs to the multipliers of an optimum, shape (n_neg,).

        Tied negatives have the same share of active pairs, so their r_j are proportional to their multipliers. Scores
        that differ by less than `tied` times their range count as tied.
        """
        share = self.worst_negatives(scores_neg, sample)
        border = float(scores_neg[share > 0].min())
        at_border = abs(scores_neg - border) <= tied * max(float(np.ptp(scores_neg)), 1e-300)
        weight = np.where(at_border, multipliers_neg, 0.0)
        if weight.sum() > 0:
            share = np.where(at_border, share[at_border].sum() * weight / weight.sum(), share)
        return admissible_shares(share, self.capacity(sample))

    def weighted(self, sample: Sample, share_neg: Array, multipliers_neg: Array) -> Sample:
        """The sample with the negatives weighted by a point of R near `share_neg`.

            max_{r ∈ R} min_w [ Σ_ij r_j u_i [1 − w·(x_i⁺ − x_j⁻)]₊ + R(w) ] = min_w max_{r ∈ R} [ … ],

        so for any r in R a lower bound over all pairs, weighted by r, is a lower bound over the hardest negatives
        (derived).

        Rounding can leave r_j and the weight of the pairs of j near 1e-12 where both should be 0. Their ratio is then
        arbitrary, and all multipliers are divided by the largest ratio; such r_j are therefore raised to the ratio of
        the others.
        """
        above_noise = share_neg > TOLERANCE * share_neg.max()
        ratio = float((multipliers_neg[above_noise] / share_neg[above_noise]).max(initial=0.0))
        if ratio > 0:
            share_neg = np.fmax(share_neg, multipliers_neg / ratio)
        share = admissible_shares(share_neg, self.capacity(sample))
        weighted = replace(sample, share_neg=share, weighted=True)
        # Rows and units do not change, so that a norm bound is in the units of the original sample.
        weighted.__dict__.update(spread=sample.spread, peaks=sample.peaks)
        return weighted

    def null_level(self, sample: Sample, norm: VectorNorm) -> float:
        """The least ``‖mean(x⁺) − Σ r_j x_j⁻‖_*``: every pair has its full weight at w = 0."""
        target = np.asarray(sample.X_pos.T @ sample.share_pos, dtype=float)
        return distance_to_means(sample.X_neg, self.capacity(sample), 1.0, target, norm)

    def null_cause(self, sample: Sample) -> str:
        """What it means that ``Σ q d = 0`` for multipliers at w = 0, as the end of a sentence."""
        return (
            "a weighted mean of negatives equals the mean of the positives, so that in every direction the hardest "
            "negatives score at least as high on average"
        )

    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal."""
        return "no direction has the hardest negatives below the positives on average"


def admissible_shares(share: Array, capacity: Array) -> Array:
    """`share` clipped to ``0 ≤ r ≤ capacity``, with the missing sum added where there is capacity left.

    `share`, `capacity` (n_neg,): the capacities sum to at least 1.
    """
    share = np.clip(share, 0.0, capacity)
    total = float(share.sum())
    if total >= 1.0:
        return share / total
    left = capacity - share
    # Through rounding the capacity that is left may be slightly less than the missing sum.
    return np.minimum(share + (1.0 - total) * (left / max(float(left.sum()), 1e-300)), capacity)
