"""Minima along a path of λ or z over a band that narrows level by level, for a choice among them.

A choice among many λ or z needs every scorer roughly and only the close ones well. At one half-width h of the band the
smoothed program ``φ_h + λ‖w‖`` (or ``λ‖w‖²``) is smooth away from w = 0, also with the buffer z‖w‖ in the margins and
over the hardest negatives. Newton's method needs one factorisation a step and, from the minimum at a neighbouring value
or at the last half-width, one or two steps. Between changes of the margins in the band the minimum is affine in h, by
which the next level is started (`auclab.solvers.newton.continuation`). Minima are not certified: the smoothing gap
estimates the distance of the value from the optimum, and the solve at the chosen value has a certificate. That w = 0 is
optimal is proved by the multipliers of the minimum: their dual value is that of w = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from auclab.formulations.problem import Problem
from auclab.precision import (
    EPSILON,
    HALF_OF_DIGITS,
    LITTLE,
    MOST_STEPS,
    ROUGH,
    ROUNDING,
    SMALL_OBJECTIVE,
    SOLVED,
    TOLERANCE,
)
from auclab.solvers.budget import DENSE_FEATURES
from auclab.solvers.certificate import certify
from auclab.solvers.registry import PARTS
from auclab.solvers.smoothed.evaluation import Evaluation, SmoothedLoss
from auclab.solvers.smoothed.smoothed_loss import smooth_loss
from auclab.types import Array

#: Half-widths of the band, in units of the margins.
HALF_WIDTHS = tuple(np.geomspace(0.2, 2e-6, 11).tolist())
#: A step is at most this many times as long as w, or as the first w.
_LONGEST = 3.0
#: How far a minimum may be below the value of w = 0, of the smoothing gap, if that may be the optimum.
_NEAR_NULL = 5e-2


@dataclass(frozen=True)
class Minimum:
    """The minimum of the smoothed program at one value and half-width.

    `theta` (n_features + 2,): ``(w, b, ‖w‖)``. `gap`: the relative gap of primal and dual value that smoothing leaves,
    as in a certificate. `is_separated`: whether no margin is below the band; then no error is left, and a smaller λ has
    the same scorer. `is_null`: whether its multipliers prove that w = 0 is the optimum without smoothing.
    """

    theta: Array
    gap: float
    half_width: float
    is_separated: bool
    is_null: bool


class SmoothedPath:
    """Minima of one sample at several values of λ or z.

    `problems`: one for each value, with `is_smooth_path`. `tolerance`: relative gap at which w = 0 counts as the
    optimum.
    """

    def __init__(self, problems: Sequence[Problem], tolerance: float):
        self.problems, self.tolerance, problem = problems, tolerance, problems[0]
        self._losses: dict[float, SmoothedLoss] = {}
        self._hessian: Array | None = None  # the last one, of the loss alone
        n = problem.sample.n_features
        self._free = np.r_[:n] if problem.over_pairs else np.r_[: n + 1]
        difference, self._scale = problem.sample.mean_difference, float((problem.sample.spread**2).mean())
        coef = difference / max(float(difference @ difference), 1e-300)
        self._first = np.r_[coef, problem.null_intercept(), np.linalg.norm(coef)]

    def minimum(self, k: int, level: int, near: Minimum | None, before: Minimum | None) -> Minimum | None:
        """The minimum at the value number `k` and a half-width.

        `k`, `level`: positions among the problems and in `HALF_WIDTHS`. `near`: at a neighbouring value, or at this one
        and the last level. `before`: at this value, two levels before. Returns: None where the steps did not converge,
        and where z < 0 and no hinge is left, so that there are many minima.
        """
        half_width, loss = HALF_WIDTHS[level], self._loss(k)
        start = self._first if near is None else near.theta
        evaluation = loss.evaluate(start, half_width)
        if near is not None and before is not None:
            along = (half_width - near.half_width) / (near.half_width - before.half_width)
            predicted = loss.evaluate(_on_cone(near.theta + along * (near.theta - before.theta)), half_width)
            evaluation = min(evaluation, predicted, key=lambda each: self._value(k, each))
        return self._descended(k, evaluation)

    def _loss(self, k: int) -> SmoothedLoss:
        """The smoothed loss of a problem; losses differ only in z."""
        problem = self.problems[k]
        threshold = problem.program.threshold
        if threshold not in self._losses:
            self._losses[threshold] = smooth_loss(problem, problem.sample)
        return self._losses[threshold]

    def _value(self, k: int, evaluation: Evaluation) -> float:
        return evaluation.value + self.problems[k].program.regulariser.value(evaluation.theta[:-2])

    def _descended(self, k: int, evaluation: Evaluation) -> Minimum | None:
        """Newton steps until the predicted reduction of the next one is negligible.

        Steps are taken with the last Hessian, that of another point, value or half-width, as long as each reduces the
        predicted reduction to a tenth: one costs as much as ten evaluations (83,000 rows × 58 columns).
        """
        free, loss, value = self._free, self._loss(k), self._value(k, evaluation)
        before = np.inf
        for _ in range(MOST_STEPS):
            gradient = loss.direction_sum(evaluation.multipliers)
            per_length, curvature = self._of_length(k, evaluation.theta, -float(gradient[-1]))
            descent = (gradient - np.r_[per_length * evaluation.theta[:-2], 0.0, 0.0])[free]
            step, is_own = self._step(curvature, descent), False
            if step is None or float(descent @ step[free]) > LITTLE * before:
                self._hessian, is_own = self._on_lengths(k, evaluation), True
                step = self._step(curvature, descent)
                if step is None:
                    return None
            promised = float(descent @ step[free])
            near_null = self._is_near_null(k, value, evaluation)
            part = HALF_OF_DIGITS if near_null else ROUGH
            # Steps at one half-width end if the predicted reduction of the next is this part of the smoothing gap, or
            # rounding of the value; with the last Hessian it has to be smaller.
            negligible = max(part * evaluation.smoothing_gap, ROUNDING * value)
            if 0.5 * promised <= (negligible if is_own else LITTLE * negligible):
                if is_own or not near_null:
                    return self._found(k, value, evaluation, step)
                self._hessian = None  # multipliers prove w = 0 after a step with the Hessian of their point
                continue
            size, longest = float(np.linalg.norm(step[:-2])), _LONGEST * self._size(evaluation.theta)
            # With few margins in the band the model is nearly linear along w.
            length = 1.0 if size <= longest else longest / size
            following = self._line_search(k, evaluation, value, length * step, length * promised)
            if following is None:
                if is_own:
                    return None
                self._hessian = None  # the next step has that of this point
                continue
            evaluation, value, before = following, self._value(k, following), promised
        return None

    def _step(self, curvature: Array, descent: Array) -> Array | None:
        """The step of the last Hessian and the curvature of the terms in ‖w‖; None if there is none."""
        if self._hessian is None:
            return None
        hessian = self._hessian.copy()
        hessian[: curvature.shape[0], : curvature.shape[0]] += curvature
        hessian[np.diag_indices_from(hessian)] += SOLVED * max(float(hessian.diagonal().mean()), self._scale)
        step = np.zeros(self._first.size)
        try:
            step[self._free] = cho_solve(cho_factor(hessian, check_finite=False), descent, check_finite=False)
        except LinAlgError:
            return None
        return step

    def _on_lengths(self, k: int, evaluation: Evaluation) -> Array:
        """The Hessian of the loss in the free variables, ‖w‖ being a function of w."""
        free, loss = self._free, self._loss(k)
        full = loss.hessian(evaluation)
        hessian: Array = full[np.ix_(free, free)]
        if self.problems[k].program.threshold != 0:
            direction = np.zeros(free.size)
            direction[: evaluation.theta.size - 2] = evaluation.theta[:-2] / evaluation.theta[-1]
            mixed = np.outer(full[free, -1] + 0.5 * full[-1, -1] * direction, direction)
            hessian += mixed + mixed.T
        return hessian

    def _of_length(self, k: int, theta: Array, slope: float) -> tuple[float, Array]:
        """Slope over length, and Hessian, of the terms in ‖w‖: R, and the loss with its `slope`."""
        regulariser, w = self.problems[k].program.regulariser, theta[:-2]
        length = float(np.linalg.norm(w))
        direction, per_length = w / length, (regulariser.slope(length) + slope) / length
        curvature = (regulariser.curvature - per_length) * np.outer(direction, direction)
        curvature[np.diag_indices_from(curvature)] += per_length
        return per_length, curvature

    def _line_search(
        self, k: int, evaluation: Evaluation, value: float, step: Array, promised: float
    ) -> Evaluation | None:
        """A point along the step with a lower value (Armijo's rule), by quadratic interpolation."""
        length = 1.0
        while length > EPSILON:
            other = self._loss(k).evaluate(_on_cone(evaluation.theta + length * step), evaluation.half_width)
            change = self._value(k, other) - value
            if change <= -1e-4 * length * promised:
                is_null = float(np.linalg.norm(other.theta[:-2])) <= TOLERANCE * self._size(self._first)
                return None if is_null else other
            best = 0.5 * length * length * promised / (change + length * promised)
            length = float(np.clip(best, 0.1 * length, 0.5 * length)) if np.isfinite(best) else 0.1 * length
        return None

    def _size(self, theta: Array) -> float:
        """The length of w, or that of the first one where it is longer."""
        return max(float(np.linalg.norm(theta[:-2])), float(np.linalg.norm(self._first[:-2])))

    def _found(self, k: int, value: float, evaluation: Evaluation, step: Array) -> Minimum | None:
        problem, theta, width = self.problems[k], evaluation.theta, evaluation.half_width
        program, loss = problem.program, problem.program.loss
        pos, neg = problem.sample.scores(theta[:-2])
        b = theta[-2]
        least = pos.min() - neg.max() if problem.over_pairs else min((pos + b).min(), -(neg + b).max())
        gap = evaluation.smoothing_gap / max(value, SMALL_OBJECTIVE)
        errors_from = min(float(loss.table.breakpoints[0]), 0.0) + (0.0 if loss.is_smooth else width)
        separated = bool(1.0 - least - program.threshold * theta[-1] < errors_from)
        if separated and program.threshold < 0:
            return None
        return Minimum(theta, gap, width, separated, self._is_null(k, value, evaluation, step))

    def _is_near_null(self, k: int, value: float, evaluation: Evaluation) -> bool:
        """Whether the dual value at the minimum, which is at most that of w = 0, may be as large."""
        problem, gap = self.problems[k], evaluation.smoothing_gap
        program = problem.program
        null = program.null.value(problem.sample)
        of_hinges = program.loss.is_hinge and program.comparisons.by_marginals
        return of_hinges and value - (1.0 - _NEAR_NULL) * gap >= null

    def _is_null(self, k: int, value: float, evaluation: Evaluation, step: Array) -> bool:
        """Whether the multipliers after a step, which satisfy the dual constraint, have the dual value of w = 0."""
        if not self._is_near_null(k, value, evaluation):
            return False
        problem, loss = self.problems[k], self._loss(k)
        null = problem.program.null.value(problem.sample)
        step[-1] = float(evaluation.theta[:-2] @ step[:-2]) / evaluation.theta[-1]
        pos, neg, *shares = loss.linearised(evaluation, step)
        dual = problem.dual_problem(shares[0] if shares else None, neg)
        coef = np.zeros(problem.sample.n_features)
        return certify(dual, coef, problem.null_intercept(), (pos, neg), null)[0].gap <= self.tolerance


def _on_cone(theta: Array) -> Array:
    """`theta` with its last entry at ‖w‖."""
    theta[-1] = np.linalg.norm(theta[:-2])
    return theta


def is_smooth_path(problems: Sequence[Problem]) -> bool:
    """Whether the method applies: λ > 0 or z < 0, the norm l2, and rows in memory."""
    program, sample = problems[0].program, problems[0].sample
    return (
        all(each.program.uses_norm and each.program.threshold <= 0 for each in problems)
        and program.regulariser.norm.is_euclidean
        and PARTS["smoothed path"].why_not(program, problems[0].constraints) is None
        and not sample.in_blocks
        and sample.n_features <= DENSE_FEATURES
        and bool(sample.mean_difference.any())
    )
