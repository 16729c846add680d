"""Partial AUC maximisation: the pairwise hinge over the negatives with the highest scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from auclab.comparisons import AllPairs
from auclab.compiled.accurate import accurate_pair_hinge
from auclab.compiled.hinge import pair_hinge_value
from auclab.formulations.base import DoubleDouble, NullProof, Program
from auclab.formulations.hinge import HingeProgram
from auclab.formulations.optimum import Optimum
from auclab.formulations.ranksvm import RankSVM
from auclab.projection.nearest_mean import nearest_mean
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample
from auclab.types import Array, AuclabError, Norm

#: Below this part of the largest weight, a weight may be rounding.
_NOISE = 1e-6


@dataclass(frozen=True)
class PartialAUC(HingeProgram):
    """Maximise the area under the ROC curve up to a false positive rate: a CVaR over the negatives.

        min_w  max_{r ∈ R} Σ_j r_j mean_i [1 − w·(x_i⁺ − x_j⁻)]₊ + λ‖w‖     (or λ‖w‖²),
        R = {0 ≤ r_j ≤ 1/(α n_neg), Σ r_j = 1},     α = max_fpr

    The loss of a negative, ``mean_i [1 − w·(x_i⁺ − x_j⁻)]₊``, rises with its score, so the worst r is the mean over the
    share α of the negatives with the highest scores (one of them in part, unless ``α n_neg`` is whole), which is the
    superquantile of the losses at level 1 − α (derivations 2). A largest value of convex functions, so convex, and a
    linear program for λ = 0 or the norms l1 and linf. Derived; Narasimhan & Agarwal 2013 (KDD) reach a structural SVM
    from the same sets of negatives.

    The pairs with the hardest negatives, those with the highest scores, are those of the ROC curve up to FPR α, so for
    every w ``∫₀^α roc / α ≥ 1 − value(w)``, tied pairs counted 0. ``max_fpr=1`` is bAUC maximisation (λ = 0) or
    RankSVM.

    Without a penalty, w = 0 (value 1) is often optimal: it is as soon as the mean of the positives is a mean
    ``Σ r_j x_j⁻`` of some r in R, for then no direction has the hardest negatives below the positives on average.

    Parameters
    ----------
    max_fpr : float
        α in (0, 1].
    penalty : float
        λ, 0 or in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}
    squared : bool
        Penalise ‖w‖² in place of ‖w‖.

    Examples
    --------
    Positive 2; the harder of the negatives 0 and 1.5 has margin ½, so at ``w = 1`` its hinge is ½, and the mean of both
    is ¼:

    >>> X, y = [[2.0], [0.0], [1.5]], [1, 0, 0]
    >>> PartialAUC(0.5).value([1.0], 0.0, X, y), PartialAUC(1.0).value([1.0], 0.0, X, y)
    (0.5, 0.25)

    See Also
    --------
    auclab.RankSVM : The mean over all negatives.
    auclab.metrics.partial_auc : The partial AUC of given scores.
    """

    max_fpr: float = 0.3
    penalty: float = 0.0
    norm: Norm = "l2"
    squared: bool = False

    name = "partial_auc"
    comparisons = AllPairs()
    kind = "cvar"
    encodings = ("full",)
    null_proof_takes_program = True
    threshold = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.max_fpr <= 1.0:
            raise AuclabError(f"max_fpr is a false positive rate in (0, 1], got {self.max_fpr}")

    def hinge(self, coef: Array, intercept: float, sample: Sample) -> float:
        """The loss part, over the hardest negatives."""
        scores_neg = sample.X_neg @ coef
        share = self.worst_negatives(scores_neg, sample)
        hard = share > 0
        return pair_hinge_value(sample.X_pos @ coef, scores_neg[hard], 1.0, sample.weights[0], share[hard])

    def accurate_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`hinge` where scores, b and ``1 − z‖w‖`` are given as ``high + low``."""
        order = np.lexsort(scores_neg[::-1])
        rank = np.empty(order.size)
        rank[order] = np.arange(order.size)
        share = self.worst_negatives(rank, sample)
        hard = share > 0
        kept = scores_neg[0][hard], scores_neg[1][hard]
        return accurate_pair_hinge(scores_pos, kept, shift, sample.weights[0], share[hard])

    @property
    def is_plain_hinge(self) -> bool:
        """No: it is the largest of such means."""
        return False

    def negative_capacity(self, sample: Sample) -> Array:
        """The largest r_j, share_j/α, shape (n_neg,)."""
        return sample.share_neg / self.max_fpr

    def worst_negatives(self, scores_neg: Array, sample: Sample) -> Array:
        """The r of the highest scores, shape (n_neg,); of tied ones, any.

        Examples
        --------
        >>> sample = as_sample([[0.0], [1.0], [2.0], [3.0]], [1, 0, 0, 0])
        >>> share = PartialAUC(0.5).worst_negatives(np.array([5.0, 7.0, 6.0]), sample)
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
        """The r that belongs to the multipliers of an optimum, shape (n_neg,): of tied scores, as they are divided.

        Tied negatives have one share of active pairs, so that their r_j are proportional to their multipliers. Scores
        that differ by less than `tied` times their range are taken for tied.
        """
        share = self.worst_negatives(scores_neg, sample)
        border = float(scores_neg[share > 0].min())
        at_border = abs(scores_neg - border) <= tied * max(float(np.ptp(scores_neg)), 1e-300)
        weight = np.where(at_border, multipliers_neg, 0.0)
        if weight.sum() > 0:
            share = np.where(at_border, share[at_border].sum() * weight / weight.sum(), share)
        return admissible_shares(share, self.negative_capacity(sample))

    def dual_program(self, sample: Sample, share_neg: Array, multipliers_neg: Array) -> tuple[Program, Sample]:
        """RankSVM (for λ = 0 bAUC maximisation) with the negatives weighted by a point of R near `share_neg`.

            max_{r ∈ R} min_w [ Σ_ij r_j/n_pos [1 − w·(x_i⁺ − x_j⁻)]₊ + λΩ(w) ] = min_w max_{r ∈ R} [ … ],

        so a lower bound of that program with any r in R is one of this, and the certificate over pairs serves both
        (derived).

        Rounding leaves r_j and the weight of the pairs of j at some 1e-12 where both should be 0. Their ratio is then
        anything, and the largest ratio costs all multipliers a factor: such r_j are raised to the ratio of the others.
        """
        above_noise = share_neg > _NOISE * share_neg.max()
        ratio = float((multipliers_neg[above_noise] / share_neg[above_noise]).max(initial=0.0))
        if ratio > 0:
            share_neg = np.fmax(share_neg, multipliers_neg / ratio)
        share = admissible_shares(share_neg, self.negative_capacity(sample))
        plain = RankSVM(self.penalty, self.norm, self.squared)
        weighted = replace(sample, share_neg=share, weighted=True)
        # The rows and their units are the same: a norm bound is in those of the sample itself.
        weighted.__dict__.update(spread=sample.spread, peaks=sample.peaks)
        return plain, weighted

    def null_is_certain(self, sample: Sample) -> bool:
        """Never: the level at which w = 0 becomes optimal is itself the value of a program."""
        return False

    def null_proof(self, sample: Sample) -> NullProof:
        """Every pair with its full weight at the weights of the negatives that bring the class means nearest."""
        share_neg = self.null_share(sample)
        return NullProof((sample.share_pos, share_neg), share_neg)

    def null_reason(self, sample: Sample, proof: NullProof | None) -> str | None:
        """Why w = 0 is optimal."""
        if self.penalty == 0:
            return (
                "w = 0 is optimal: the mean of the positives is a mean of hardest negatives, and every direction "
                "has those above it on average"
            )
        return super().null_reason(sample, proof)

    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal."""
        return "no direction has the hardest negatives below the positives on average"

    def null_share(self, sample: Sample) -> Array:
        """The r that brings the means of the classes nearest to each other: argmin ``‖mean(x⁺) − Σ r_j x_j⁻‖_*``.

        Without a penalty there is no norm; then every feature is in units of its own distance of the classes.
        """
        target = np.asarray(sample.X_pos.T @ sample.share_pos, dtype=float)
        # The solver's tolerances are absolute: it gets features near 0 and of size 1.
        away = sample.X_neg if sample.is_sparse else sample.X_neg - target
        unit = np.asarray(abs(away).mean(axis=0), dtype=float).ravel()
        unit = np.where(unit > 0, unit, 1.0) if not self.uses_norm else np.full(unit.size, unit.mean() or 1.0)
        scaled = away @ sp.diags_array(1.0 / unit) if sample.is_sparse else away / unit
        nearest = target / unit if sample.is_sparse else np.zeros(unit.size)
        return nearest_mean(scaled, self.negative_capacity(sample), 1.0, nearest, self.regulariser.norm)

    def null_penalty(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """λ_max = min over R of ‖mean(x⁺) − Σ r_j x_j⁻‖_*: w = 0 is optimal iff λ ≥ λ_max.

        Infinite for the squared penalty unless the minimum is 0.

        Examples
        --------
        >>> round(PartialAUC(0.5).null_penalty([[0.0], [1.0], [3.0]], [0, 0, 1]), 9)  # to the upper of the negatives
        2.0
        """
        sample = as_sample(X, y, sample_weight)
        level = self.regulariser.norm.dual(sample.combine(sample.share_pos, self.null_share(sample)))
        return (math.inf if level > 0 else 0.0) if self.squared else level

    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """The hinge as a lower bound of the partial AUC."""
        loss, band = self.hinge_part(objective, coef), f"up to FPR {self.max_fpr:g}"
        sentence = f"the partial AUC {band}, divided by {self.max_fpr:g}, is at least {1 - loss:.4f} (a hinge bound)"
        if not coef.any():
            share = f"{100 * self.max_fpr:g}%"
            sentence = f"w = 0: the hinge over the hardest {share} of the negatives proves no partial AUC {band}"
        return Optimum(0.0, loss, 1.0 - loss, math.nan, math.nan, sentence)

    def equation(self) -> str:
        """The program in one line.

        Examples
        --------
        >>> PartialAUC(0.1).equation()
        'min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ over the hardest 10% of j'
        """
        hinge, *penalty = super().equation().partition("]₊")
        return f"{hinge}]₊ over the hardest {100 * self.max_fpr:g}% of j{penalty[1]}"


def admissible_shares(share: Array, capacity: Array) -> Array:
    """`share` cut to ``0 ≤ r ≤ capacity`` and with the sum 1: what is missing goes where there is capacity left.

    Parameters
    ----------
    share, capacity : array of shape (n_neg,)
        The capacities sum to at least 1.

    See Also
    --------
    auclab.PartialAUC : Whose weights of the negatives these are.

    Examples
    --------
    >>> admissible_shares(np.array([0.9, 0.1, -0.2]), np.array([0.5, 0.5, 0.5])).tolist()  # 0.4 missing, 0.4, 0.5 left
    [0.5, 0.277..., 0.222...]
    """
    share = np.clip(share, 0.0, capacity)
    total = float(share.sum())
    if total >= 1.0:
        return share / total
    left = capacity - share
    # Rounding may leave less capacity than is missing, by a digit.
    return np.minimum(share + (1.0 - total) * (left / max(float(left.sum()), 1e-300)), capacity)
