"""Minima along a path of λ or z at smoothing widths that fall level by level, for a choice among them.

A choice among many λ or z needs every scorer roughly and only the close ones well. The minimum at one smoothing width
is that of `auclab.solvers.newton.minimise`; from the minimum at a neighbouring value or at the last width it takes one
or two steps, with the Hessian of the last minimum as long as steps converge fast with it: one costs as much as ten
evaluations (83,000 rows × 58 columns). Between changes of the margins near the kinks the minimum is affine in the
width, by which the next level is started (`auclab.solvers.newton.continuation`). Minima are not certified: the
smoothing gap estimates the distance of the value from the optimum, and the solve at the chosen value has a
certificate. That w = 0 is optimal is proved by the multipliers of the minimum: their dual value is that of w = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auclab._core.base import Array
from auclab._core.tolerances import HALF_OF_DIGITS, SMALL_OBJECTIVE, TOLERANCE
from auclab.formulations.problem import Problem
from auclab.solvers.budget import DENSE_FEATURES
from auclab.solvers.certificate import certify
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.minimise import DampedNewton, Iterate
from auclab.solvers.registry import PARTS
from auclab.solvers.smoothed.losses import Evaluation, SmoothedLoss
from auclab.solvers.smoothed.smoothed_loss import smooth_loss

#: The gap of a first, rough solve, which others refine.
ROUGH = 1e-2
#: Smoothing widths, in units of the margins.
WIDTHS = tuple(np.geomspace(0.2, 2e-6, 11).tolist())
#: How far a minimum may be below the value of w = 0, of the smoothing gap, if that may be the optimum.
_NEAR_NULL = 5e-2


@dataclass(frozen=True)
class Minimum:
    """The minimum of the smoothed program at one value and half-width.

    `theta` (n_features + 2,): ``(w, b, ‖w‖)``. `gap`: the relative gap of primal and dual value that smoothing leaves,
    as in a certificate. `is_separated`: whether no margin is at or below the curved part of the loss; then no error is
    left, and a smaller λ has the same scorer. `is_null`: whether its multipliers prove that w = 0 is the optimum
    without smoothing.
    """

    theta: Array
    gap: float
    width: float
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
        difference = problem.sample.mean_difference
        coef = difference / max(float(difference @ difference), 1e-300)
        self._first = np.r_[coef, problem.null_intercept(), np.linalg.norm(coef)]

    def minimum(self, k: int, level: int, near: Minimum | None, before: Minimum | None) -> Minimum | None:
        """The minimum at the value number `k` and a smoothing width.

        `k`, `level`: positions among the problems and in `WIDTHS`. `near`: at a neighbouring value, or at this one
        and the last level. `before`: at this value, two levels before. Returns: None where the steps did not converge,
        and where z < 0 and no hinge is left, so that there are many minima.
        """
        width, loss, problem = WIDTHS[level], self._loss(k), self.problems[k]
        start = self._first if near is None else near.theta
        method = DampedNewton(problem.program, problem.sample.spread, Monitor())
        evaluation = loss.evaluate(start, width)
        if near is not None and before is not None:
            along = (width - near.width) / (near.width - before.width)
            predicted = method.on_cone(near.theta + along * (near.theta - before.theta))
            evaluation = min(evaluation, loss.evaluate(predicted, width), key=lambda each: self._value(k, each))
        iterate = self._minimised(k, method, evaluation)
        is_null = iterate.theta[-1] <= TOLERANCE * self._first[-1]
        return self._found(k, iterate.evaluation, iterate.step) if iterate.converged and not is_null else None

    def _minimised(self, k: int, method: DampedNewton, evaluation: Evaluation) -> Iterate:
        """Steps with the last Hessian, then with the sample's own where that is too far off or w = 0 may be optimal."""
        loss = self._loss(k)
        if self._hessian is not None:
            # The predicted reduction with a Hessian of another point has to be smaller.
            iterate = method.minimise(loss, evaluation, self._hessian, relative_tolerance=0.1 * ROUGH)
            evaluation = iterate.evaluation
            if iterate.converged and not self._is_near_null(k, self._value(k, evaluation), evaluation):
                return iterate
        iterate = method.minimise(loss, evaluation, relative_tolerance=ROUGH)
        if self._is_near_null(k, self._value(k, iterate.evaluation), iterate.evaluation):
            # Multipliers prove w = 0 after a step with the Hessian of their point, which is the minimum.
            iterate = method.minimise(loss, iterate.evaluation, relative_tolerance=HALF_OF_DIGITS)
        assert isinstance(iterate.hessian, np.ndarray)
        self._hessian = iterate.hessian if loss.lends_hessian else None
        return iterate

    def _loss(self, k: int) -> SmoothedLoss:
        """The smoothed loss of a problem; losses differ only in z."""
        problem = self.problems[k]
        threshold = problem.program.threshold
        if threshold not in self._losses:
            self._losses[threshold] = smooth_loss(problem, problem.sample)
        return self._losses[threshold]

    def _value(self, k: int, evaluation: Evaluation) -> float:
        return evaluation.value + self.problems[k].program.regulariser.value(evaluation.theta[:-2])

    def _found(self, k: int, evaluation: Evaluation, step: Array) -> Minimum | None:
        """The minimum at a point, given the next step there."""
        problem, theta, width, value = self.problems[k], evaluation.theta, evaluation.width, self._value(k, evaluation)
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


def is_smooth_path(problems: Sequence[Problem]) -> bool:
    """Whether the method applies: λ > 0 or z < 0, the norm l2, and rows in memory."""
    program, sample = problems[0].program, problems[0].sample
    return (
        all(PARTS["smoothed path"].takes(each) for each in problems)
        and program.used_norm.is_euclidean
        and sample.n_features <= DENSE_FEATURES
        and bool(sample.mean_difference.any())
    )
