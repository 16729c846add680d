"""Whether w = 0 is the optimum of partial AUC maximisation, by Newton steps that need no pairs.

Near w = 0 every hinge is positive, so that the loss of negative j is ``1 − w·(mean(x⁺) − x_j⁻)``. With these losses at
every w, and without a squared penalty, the program is positively homogeneous apart from a constant: w = 0 is its
optimum, or it has none. The original program has the same subgradients at w = 0, so w = 0 is optimal for both or for
neither. The superquantile is smoothed over a band of half-width 1. The r of `PartialAUC` at the minimum has
``‖mean(x⁺) − Σ r_j x_j⁻‖_* ≤ λ`` (0 for λ = 0 and squared penalties), which is the proof. If w = 0 is not optimal, the
steps reach a smoothed value below 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.comparisons import AllPairs
from auclab.compiled.hardest import smoothed_level
from auclab.compiled.smooth import Index
from auclab.formulations.composed import Composed
from auclab.formulations.problem import Problem
from auclab.precision import EPSILON, FEW_STEPS, LITTLE, ROUNDING
from auclab.regularisers import Norm
from auclab.solvers.certificate import certify
from auclab.solvers.newton.damped_newton import DampedNewton
from auclab.solvers.newton.state import State
from auclab.solvers.raw import RawSolution
from auclab.solvers.smoothed.evaluation import Evaluation, entrywise_square, in_sample_order
from auclab.solvers.smoothed.partial_loss import PartialLoss
from auclab.solvers.smoothed.row_products import Check, gram, never
from auclab.types import Array, Status

#: The largest number of attempts at a proof.
_LOOKS = 10


@dataclass(frozen=True)
class _Band:
    """The negatives within the band of losses and their o_j (see `partial_loss`)."""

    rows: Index
    weight: Array


class LinearPartialLoss(PartialLoss):
    """The smoothed superquantile of the losses ``1 − w·(mean(x⁺) − x_j⁻)``.

    `problem`: gives α, the `max_fpr` of the program, and the sample.
    """

    def __init__(self, problem: Problem, check: Check = never):
        super().__init__(problem, problem.sample, check)
        self.mean_pos = self.sample.combine(self.sample.share_pos, np.zeros(self.sample.n_neg))

    def evaluate(self, theta: Array, half_width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n + m log m)."""
        sample = self.sample
        loss = 1.0 - float(self.mean_pos @ theta[:-2]) + np.asarray(sample.X_neg @ theta[:-2])
        order = np.argsort(loss).astype(np.int32)
        loss, capacity = loss[order], self.capacity[order] if sample.weighted else self.capacity
        level, start, end = smoothed_level(loss, capacity, 1.0, half_width)
        excess = loss - level
        share = capacity * np.clip((excess + half_width) / (2.0 * half_width), 0.0, 1.0)
        weight = capacity[start:end] / (2.0 * half_width)
        gap = 0.5 * float(weight @ np.maximum(half_width**2 - excess[start:end] ** 2, 0.0))
        share_neg = in_sample_order(share, order)
        multipliers = sample.share_pos * share.sum(), share_neg, share_neg
        band = _Band(order[start:end], weight)
        return Evaluation(half_width, float(share @ loss) + gap, multipliers, gap, 1.0, band, theta)

    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``mean(x⁺) Σ r − Σ r_j x_j⁻``, the negative gradient, shape (n_features + 2,)."""
        return np.r_[self.sample.combine(multipliers[0], multipliers[1]), 0.0, 0.0]

    def hessian(self, evaluation: Evaluation) -> Array:
        """``Σ o_j (x_j⁻ − x̄)(x_j⁻ − x̄)ᵀ`` over the band, shape (n_features + 2, n_features + 2)."""
        hessian, n = np.zeros((self.sample.n_features + 2, self.sample.n_features + 2)), self.sample.n_features
        weight_neg = self._band_weight(evaluation)
        total = float(weight_neg.sum())
        if total > 0:
            none = np.zeros(self.sample.n_pos)
            mean = self.sample.combine(none, weight_neg)
            hessian[:n, :n] = gram(self.sample, none, weight_neg, self.check) - np.outer(mean, mean) / total
        return hessian

    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array, Array]:
        """The decrease of the multipliers by a step, to first order; O(m n)."""
        weight_neg = self._band_weight(evaluation)
        moved = np.asarray(self.sample.X_neg @ step[:-2])
        lowered = weight_neg * (float(weight_neg @ moved) / max(float(weight_neg.sum()), 1e-300) - moved)
        return np.zeros(self.sample.n_pos), lowered, lowered.copy()

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """An upper bound of the Hessian's diagonal, shape (n_features + 2,)."""
        return np.r_[entrywise_square(self.sample.X_neg).T @ self._band_weight(evaluation), 0.0, 0.0]

    def _band_weight(self, evaluation: Evaluation) -> Array:
        """The o_j of all negatives, 0 outside the band."""
        weight = np.zeros(self.sample.n_neg)
        weight[evaluation.state.rows] = evaluation.state.weight
        return weight


class NullSolution:
    """W = 0 as the optimum over the hardest negatives."""

    def may(self, state: State) -> bool:
        """Before the first step, where the first point does not show that w = 0 is not optimal."""
        problem = state.problem
        if state.evaluation is not None or not problem.program.comparisons.hardest or problem.constraints is not None:
            return False
        return state.measured(state.theta)[0] > 1.0 - LITTLE

    def attempt(self, state: State) -> RawSolution | None:
        """W = 0 if Newton steps on the linear losses prove it; None if their value falls below 1, or out of time."""
        problem, monitor, program, sample = state.problem, state.monitor, state.problem.program, state.problem.sample
        regulariser = Norm(program.regulariser.norm, program.regulariser.slope(0.0))
        method = DampedNewton(Composed(AllPairs(), program.loss, regulariser), sample.spread, monitor)
        loss, theta = LinearPartialLoss(problem, monitor.check), np.zeros(sample.n_features + 2)
        coef = theta[:-2]
        for _ in range(_LOOKS):
            before = method.iterations
            iterate = method.minimise(loss, theta, 1.0, relative_tolerance=EPSILON, max_steps=FEW_STEPS)
            theta = iterate.theta
            if iterate.evaluation.value + method.penalty(theta) < 1.0:
                break
            # The last step solves a linear system: its multipliers satisfy the constraint to rounding.
            step = method.step(iterate.hessian, loss.direction_sum(iterate.evaluation.multipliers), theta)
            pos, neg, share_neg = loss.linearised(iterate.evaluation, step)
            certificate, _ = certify(problem.dual_problem(share_neg, neg), coef, 0.0, (pos, neg), 1.0)
            if certificate.gap <= min(state.gap, state.tolerance):
                state.consider(
                    RawSolution(coef, 0.0, Status.ITERATION_LIMIT, (pos, neg), share_neg=share_neg), certificate
                )
            else:
                monitor.record(1.0, certificate.lower_bound)
            if iterate.converged or method.iterations == before or monitor.stopped() or state.gap <= ROUNDING:
                break
        if not state.is_certified:
            return None
        state.method.iterations += method.iterations
        return state.solution()
