"""Every positive with the negatives of the highest scores: ``max over r of Σ_j r_j mean_i ℓ(…)``, a superquantile."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auclab.comparisons.comparison import DoubleDouble
from auclab.comparisons.pairs import AllPairs
from auclab.compiled.accurate import accurate_pair_hinge
from auclab.compiled.hinge import pair_hinge_active, pair_hinge_value
from auclab.losses import Loss
from auclab.losses.loss import Pieces
from auclab.precision import TOLERANCE
from auclab.projection.distance import distance_to_means
from auclab.regularisers import VectorNorm
from auclab.samples.memory import Sample
from auclab.types import Array


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
    auclab.comparisons.AllPairs : All negatives.

    Examples
    --------
    >>> HardestNegatives(0.3).max_fpr, HardestNegatives().hardest
    (0.3, True)
    """

    max_fpr: float = 0.3

    hardest = True
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
        share = self.worst_negatives(scores[1], sample)
        active = pair_hinge_active(*scores, shift, sample.weights[0], share)
        return active, pair_hinge_value(*scores, shift, sample.weights[0], share), 0.0

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
