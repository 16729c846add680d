"""The smoothed loss over the points of a sample (see `smoothed_loss`)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from auclab.compiled.pieces import point_piece_sums
from auclab.formulations.problem import Problem
from auclab.samples.memory import Sample
from auclab.solvers.smoothed.evaluation import Evaluation, SmoothedLoss, entrywise_square
from auclab.solvers.smoothed.row_products import Check, gram, never
from auclab.types import Array


class PointLoss(SmoothedLoss):
    """The smoothed loss over the points of a sample."""

    over_pairs = False

    def __init__(self, problem: Problem, sample: Sample, check: Check = never):
        super().__init__(sample, check)
        self.threshold = problem.program.threshold
        self._smoothed = lru_cache(problem.program.loss.smoothed)  # many points share a half-width

    def evaluate(self, theta: Array, half_width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n)."""
        weight_pos, weight_neg = self.sample.point_weights
        shift = 1.0 - self.threshold * theta[-1]
        scores_pos, scores_neg = self.sample.scores(theta[:-2])
        arguments = shift - (scores_pos + theta[-2]), shift + (scores_neg + theta[-2])
        pieces = self._smoothed(half_width)
        tables = pieces.breakpoints, pieces.coefficients, pieces.slopes, pieces.gap
        (slope_pos, curved_pos, totals), (slope_neg, curved_neg, others) = (
            point_piece_sums(a, weight, *tables) for a, weight in zip(arguments, (weight_pos, weight_neg), strict=True)
        )
        value, gap, band_share = (float(total) for total in totals + others)
        multipliers = weight_pos * slope_pos, weight_neg * slope_neg
        return Evaluation(half_width, value, multipliers, gap, band_share, (curved_pos, curved_neg), theta)

    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``G = Σ q α D``."""
        sum_pos, sum_neg = float(multipliers[0].sum()), float(multipliers[1].sum())
        return np.r_[
            self.sample.combine(multipliers[0], multipliers[1]), sum_pos - sum_neg, self.threshold * (sum_pos + sum_neg)
        ]

    def hessian(self, evaluation: Evaluation) -> Array:
        """``Σ q φ'' D Dᵀ`` over the band, shape (n_features + 2, n_features + 2); O(m n²)."""
        n, sample = self.sample.n_features, self.sample
        weight_pos, weight_neg = (
            w * curvature for w, curvature in zip(sample.point_weights, evaluation.state, strict=True)
        )
        total_pos, total_neg = float(weight_pos.sum()), float(weight_neg.sum())
        hessian = np.zeros((n + 2, n + 2))
        hessian[:n, :n] = gram(sample, weight_pos, weight_neg, self.check)
        hessian[:n, n] = hessian[n, :n] = sample.combine(weight_pos, -weight_neg)
        hessian[:n, -1] = hessian[-1, :n] = self.threshold * sample.combine(weight_pos, weight_neg)
        hessian[n, n] = total_pos + total_neg
        hessian[n, -1] = hessian[-1, n] = self.threshold * (total_pos - total_neg)
        hessian[-1, -1] = self.threshold**2 * (total_pos + total_neg)
        return hessian

    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array]:
        """``q φ'' D·step`` of either class."""
        norm_change = self.threshold * step[-1]
        change_pos, change_neg = self.sample.scores(step[:-2])
        (weight_pos, weight_neg), (curved_pos, curved_neg) = self.sample.point_weights, evaluation.state
        lowered_pos = weight_pos * curved_pos * (change_pos + step[-2] + norm_change)
        return lowered_pos, weight_neg * curved_neg * (norm_change - change_neg - step[-2])

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """The Hessian's diagonal, shape (n_features + 2,)."""
        diagonal = np.zeros(self.sample.n_features + 2)
        sample, weights = self.sample, self.sample.point_weights
        for X, weight, curvature in zip((sample.X_pos, sample.X_neg), weights, evaluation.state, strict=True):
            in_band = weight * curvature
            total = float(in_band.sum())
            diagonal += np.r_[entrywise_square(X).T @ in_band, total, self.threshold**2 * total]
        return diagonal
