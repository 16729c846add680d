"""Every positive with every negative: ``m_ij = w·(x_i⁺ − x_j⁻)``, with weight ``u_i v_j``; b cancels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from auclab.comparisons.comparison import Comparison, DoubleDouble, Encoding
from auclab.compiled.accurate import accurate_pair_hinge
from auclab.compiled.bicliques import accurate_pair_slopes
from auclab.compiled.hinge import pair_hinge_value
from auclab.compiled.pieces import opposite_piece_slopes, pair_piece_sums
from auclab.losses import Loss
from auclab.losses.loss import Pieces
from auclab.samples.bicliques import sums_of_rows
from auclab.samples.memory import Sample
from auclab.types import Array


@dataclass(frozen=True)
class AllPairs(Comparison):
    """Every pair of a positive and a negative, evaluated on sorted scores.

    See Also
    --------
    auclab.comparisons.Points : Points in place of pairs.

    Examples
    --------
    >>> AllPairs().name, AllPairs().margin_symbol
    ('pairs', 'w·(x_i⁺ − x_j⁻)')
    """

    name = "pairs"
    encodings: ClassVar[tuple[Encoding, ...]] = ("full", "dual", "aggregated")
    mean_symbol = "mean_ij"
    margin_symbol = "w·(x_i⁺ − x_j⁻)"
    error_name = "ranking error"
    score_name = "bAUC"
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

    def null_intercept(self, loss: Loss, sample: Sample) -> float:
        """0: over pairs the intercept cancels."""
        return 0.0

    def null_value(self, loss: Loss, sample: Sample) -> float:
        """``ℓ(1)``: every margin is 0."""
        return float(loss.value(1.0))

    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal."""
        return "the value is 1 and the bAUC of every linear scorer is 0"
