"""The smoothed loss over the points of a sample (see `smoothed_loss`)."""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.samples.memory import Sample
from auclab.solvers.newton.evaluation import Evaluation, entrywise_square
from auclab.types import Array


class PointLoss:
    """The smoothed loss over the points of a sample.

    Parameters
    ----------
    problem : Problem
        Gives the threshold z of the program.
    sample : Sample
        The observations to sum over: those of the problem, or a subsample.
    """

    def __init__(self, problem: Problem, sample: Sample):
        self.threshold = problem.program.threshold
        self.sample = sample
        self.n_variables = sample.n_features + 2

    def evaluate(self, theta: Array, half_width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n)."""
        weight_pos, weight_neg = self.sample.point_weights
        shift = 1.0 - self.threshold * theta[-1]
        scores_pos, scores_neg = self.sample.scores(theta[:-2])
        arguments = shift - (scores_pos + theta[-2]), shift + (scores_neg + theta[-2])
        slopes = [np.clip((a + half_width) / (2.0 * half_width), 0.0, 1.0) for a in arguments]
        losses = [
            np.where(np.abs(a) < half_width, (a + half_width) ** 2 / (4.0 * half_width), np.maximum(a, 0.0))
            for a in arguments
        ]
        bands = [np.abs(a) < half_width for a in arguments]
        value = float(weight_pos @ losses[0] + weight_neg @ losses[1])
        multipliers = weight_pos * slopes[0], weight_neg * slopes[1]
        active = float(multipliers[0] @ arguments[0] + multipliers[1] @ arguments[1])
        band_share = float(weight_pos @ bands[0] + weight_neg @ bands[1])
        return Evaluation(half_width, value, multipliers, value - active, band_share, bands, theta)

    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``G = Σ q α D``, the negative gradient, shape (n_variables,)."""
        sum_pos, sum_neg = float(multipliers[0].sum()), float(multipliers[1].sum())
        return np.r_[
            self.sample.combine(multipliers[0], multipliers[1]), sum_pos - sum_neg, self.threshold * (sum_pos + sum_neg)
        ]

    def hessian(self, evaluation: Evaluation) -> Array:
        """``Σ q φ'' D Dᵀ`` over the band, shape (n_variables, n_variables); O(m n²)."""
        n, sample = self.sample.n_features, self.sample
        weight_pos, weight_neg = (w * band for w, band in zip(sample.point_weights, evaluation.state, strict=True))
        total_pos, total_neg = float(weight_pos.sum()), float(weight_neg.sum())
        hessian = np.zeros((self.n_variables, self.n_variables))
        hessian[:n, :n] = sample.gram(weight_pos, weight_neg)
        hessian[:n, n] = hessian[n, :n] = sample.combine(weight_pos, -weight_neg)
        hessian[:n, -1] = hessian[-1, :n] = self.threshold * sample.combine(weight_pos, weight_neg)
        hessian[n, n] = total_pos + total_neg
        hessian[n, -1] = hessian[-1, n] = self.threshold * (total_pos - total_neg)
        hessian[-1, -1] = self.threshold**2 * (total_pos + total_neg)
        return hessian / (2.0 * evaluation.half_width)

    def reusable(self, hessian: Array, evaluation: Evaluation) -> Array:
        """What of a Hessian of this loss may stand for that of other points and samples: all of it."""
        return hessian

    def completed(self, hessian: Array, evaluation: Evaluation) -> Array:
        """A reusable Hessian with what this point adds: nothing."""
        return hessian

    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array]:
        """``q φ'' D·step`` of either class, by which a step lowers the multipliers; O(m n)."""
        norm_change, width = self.threshold * step[-1], 2.0 * evaluation.half_width
        change_pos, change_neg = self.sample.scores(step[:-2])
        (weight_pos, weight_neg), (band_pos, band_neg) = self.sample.point_weights, evaluation.state
        lowered_pos = weight_pos * band_pos * (change_pos + step[-2] + norm_change) / width
        return lowered_pos, weight_neg * band_neg * (norm_change - change_neg - step[-2]) / width

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """The Hessian's diagonal, shape (n_variables,)."""
        diagonal = np.zeros(self.n_variables)
        sample, weights = self.sample, self.sample.point_weights
        for X, weight, band in zip((sample.X_pos, sample.X_neg), weights, evaluation.state, strict=True):
            in_band = weight * band
            total = float(in_band.sum())
            diagonal += np.r_[entrywise_square(X).T @ in_band, total, self.threshold**2 * total]
        return diagonal / (2.0 * evaluation.half_width)
