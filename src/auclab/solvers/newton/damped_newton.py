"""Damped Newton steps on the smoothed loss at one half-width of the band.

A Levenberg–Marquardt method: the damping matrix is the Hessian of a band of half-width 1, times a factor that follows
the ratio of actual to predicted reduction (Nocedal & Wright, Numerical Optimization, 2nd ed., algorithm 4.1). The wide
band contains the margins that will enter the narrow one. With the diagonal of the narrow band instead, features that
are rare in the band take a hundred times as many steps (measured on one-hot coded data). Steps far beyond the minimum
along their direction are shortened (`line_search`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.precision import EPSILON, FARTHER, HALF_OF_DIGITS, LITTLE, MOST_STEPS, PATIENCE
from auclab.solvers.budget import NEWTON_FEATURES
from auclab.solvers.feasible_point import nearest_feasible
from auclab.solvers.monitor import Monitor, OutOfTime
from auclab.solvers.newton.hessian_operator import Hessian, HessianOperator
from auclab.solvers.newton.line_search import Trial, is_too_far, shortened
from auclab.solvers.newton.proximal_step import proximal_step
from auclab.solvers.smoothed.evaluation import Evaluation, SmoothedLoss
from auclab.solvers.windows import GOOD_RATIO, POOR_RATIO
from auclab.types import Array

#: First damping. Below a thousandth of it no damping is used; at 10¹¹ times it the iteration ends.
_DAMPING = 1e-3


@dataclass(frozen=True)
class Iterate:
    """Where the steps at one half-width ended.

    `converged` says whether the next step's predicted reduction was below the tolerance or below the noise. `given`:
    the Hessian that was taken in place of the sample's own, improved by the steps.
    """

    theta: Array
    half_width: float
    evaluation: Evaluation
    hessian: Hessian
    converged: bool
    given: Array | None


class DampedNewton:
    """The steps for one program; points are ``θ = (w, b, ‖w‖)``.

    `spread` (n_features,): a positive scale for every feature (`Sample.spread`). `monitor`: says when to stop.
    `constraints`: on w.
    """

    def __init__(
        self, program: Program, spread: Array, monitor: Monitor, constraints: ColumnConstraints | None = None
    ) -> None:
        self.program, self.monitor, self.constraints = program, monitor, constraints
        self.unit = 1.0 / spread
        self.spread = np.r_[spread**2, 1.0, max(program.threshold**2, 1e-6)]
        self.by_products = spread.size > NEWTON_FEATURES
        self.iterations = 0

    def minimise(
        self,
        loss: SmoothedLoss,
        theta: Array,
        half_width: float,
        hessian: Array | None = None,
        *,
        noise: float = 0.0,
        ridge: float = 0.0,
        relative_tolerance: float = LITTLE,
        max_steps: int = MOST_STEPS,
        evaluation: Evaluation | None = None,
    ) -> Iterate:
        """Steps from `theta` until the predicted reduction of the next one is negligible.

        `theta` (n_features + 2,). `half_width`: that of the band. `hessian` (n_features + 2, n_features + 2): taken in
        place of the sample's own at every point. `noise`: relative error of the sample itself: a predicted reduction
        below it is negligible. `ridge`: regularises directions of which a subsample has little information; at one over
        its size it is below the sampling error of all others. `relative_tolerance`: the predicted reduction, relative
        to the smoothing gap, at which to stop. `evaluation`: the loss at `theta`, where it has been computed.
        """
        subproblem = _Subproblem(self, loss, half_width, hessian, ridge)
        evaluation = loss.evaluate(theta, half_width) if evaluation is None else evaluation
        value, converged = subproblem.value(theta, evaluation), False
        # `damped`: the damping to return to if the undamped step that should end the iteration fails.
        damping = damped = 0.0
        least, stalled = np.inf, 0
        curvature: Any = subproblem.hessian(evaluation)
        negative_gradient = subproblem.negative_gradient(theta, evaluation)
        for _ in range(max_steps):
            model = curvature + damping * subproblem.damping_hessian(theta) if damping else curvature
            step = self.step(model, negative_gradient, theta)
            if self.monitor.stopped() is not None:
                break
            candidate = self.on_cone(theta + step)
            step[:-1] = (candidate - theta)[:-1]  # as it is rounded: of a short one the prediction would be another's
            predicted = float(negative_gradient @ step - 0.5 * step @ (curvature @ step))
            predicted -= self.rise(theta, candidate)
            if self.is_too_long(step, theta) or predicted < -1e-9 * value:
                if damping > 1e11 * _DAMPING:
                    break
                damping = max(10 * damping, damped or _DAMPING)
                continue
            negligible = relative_tolerance * evaluation.smoothing_gap
            if damping and not damped and predicted <= negligible:
                # A short damped step does not show that the minimum is near.
                damping, damped = 0.0, damping
                continue
            converged = predicted <= max(0.0 if damping else negligible, (noise + EPSILON * EPSILON) * value)
            # Along linearly dependent features, and in the narrowest bands, it may be rounding of the gradient.
            stalled = 0 if predicted < 0.5 * least or predicted > HALF_OF_DIGITS * value else stalled + 1
            least = min(least, predicted)
            converged = converged or (stalled >= PATIENCE and (not damping or predicted < EPSILON * value))
            if converged or not np.isfinite(value) or self.monitor.stopped():
                break
            self.iterations += 1
            if hessian is not None:
                evaluation.release()
            trial, slope = subproblem.trial(theta, step, 1.0), subproblem.slope(theta, step, negative_gradient, 1)
            if is_too_far(slope, trial):
                trial = shortened(slope, trial, partial(subproblem.trial, theta, step))
            actual = value - subproblem.value(trial.theta, trial.evaluation)
            # A small difference of values has lost more than half of its digits; gradients have more.
            if predicted * trial.length < HALF_OF_DIGITS * value:
                actual = 0.5 * float((negative_gradient + trial.negative_gradient) @ (trial.theta - theta))
                actual -= self.rise(theta, trial.theta)
            if actual > 0:
                if hessian is not None:
                    subproblem.learn(trial.theta - theta, negative_gradient - trial.negative_gradient)
                theta, evaluation = trial.theta, trial.evaluation
                value = subproblem.value(theta, evaluation)
                negative_gradient, curvature = trial.negative_gradient, subproblem.hessian(evaluation)
                damped = 0.0
            elif damping > 1e11 * _DAMPING:
                break
            # A slightly shortened step is good: the line search has replaced the damping.
            ratio = 2.0 * trial.length if actual > 0 and trial.length < 1.0 else actual / predicted
            damping = damped if damped and not damping else _next_damping(damping, ratio)
        if evaluation.state is None:
            evaluation = loss.evaluate(theta, half_width)
        return Iterate(theta, half_width, evaluation, curvature, converged, subproblem.given_hessian)

    def step(self, hessian: Hessian, negative_gradient: Array, theta: Array) -> Array:
        """The proximal step of the model to a point that satisfies the constraints; 0 if out of time."""
        settings = self.spread, self.constraints, self.monitor
        try:
            return proximal_step(self.program, hessian, negative_gradient, theta, *settings)
        except OutOfTime:
            return np.zeros_like(theta)

    def feasible(self, theta: Array) -> Array:
        """The nearest point on the cone that satisfies the constraints; the point itself if none is found."""
        if self.constraints is not None:
            coef = nearest_feasible(self.constraints, theta[:-2], 1.0 / self.unit)
            if coef is not None:
                theta = np.r_[coef, theta[-2:]]
        return self.on_cone(theta)

    def is_too_long(self, step: Array, theta: Array) -> bool:
        """Whether a step would change margins by many times their size, where the model is meaningless."""
        size = float(np.abs(theta[:-2] / self.unit).max())
        # "not ≤": a step that is NaN is too long.
        return not float(np.abs(step[:-2] / self.unit).max()) <= FARTHER * max(1.0, size)

    def on_cone(self, theta: Array) -> Array:
        """`theta` with its last entry at ‖w‖, where the objective is least, and without rounding beyond a bound."""
        theta = theta.copy()
        if self.constraints is not None:
            theta[:-2] = np.clip(theta[:-2], self.constraints.lower, self.constraints.upper)
        theta[-1] = self.program.regulariser.norm(theta[:-2]) if self.program.uses_norm else 0.0
        return theta

    def penalty(self, theta: Array) -> float:
        """R(w) of a point."""
        return self.program.regulariser.value(theta[:-2])

    def rise(self, theta: Array, other: Array) -> float:
        """Increase of R(w) from one point to another; differences of squares are products, to avoid cancellation."""
        (ridge, rest), w, v = self.program.regulariser.split(), theta[:-2], other[:-2]
        return ridge * float((v - w) @ (v + w)) + rest.value(v) - rest.value(w)


class _Subproblem:
    """The smoothed program at one half-width, with a ridge ``½ Σ_k r_k θ_k²`` on the coefficients."""

    def __init__(
        self, method: DampedNewton, loss: SmoothedLoss, half_width: float, hessian: Array | None, ridge: float
    ):
        self.method, self.loss, self.half_width, self.given_hessian = method, loss, half_width, hessian
        self.ridge = ridge * np.r_[method.spread[:-2], 0.0, 0.0]
        self._damping_hessian: Hessian | None = None

    def value(self, theta: Array, evaluation: Evaluation) -> float:
        """Smoothed loss, penalty and ridge."""
        return evaluation.value + self.method.penalty(theta) + 0.5 * float(self.ridge @ theta**2)

    def negative_gradient(self, theta: Array, evaluation: Evaluation) -> Array:
        """That of loss and ridge; the penalty is the proximal term."""
        return self.loss.direction_sum(evaluation.multipliers) - self.ridge * theta

    def trial(self, theta: Array, step: Array, length: float) -> Trial:
        """The objective after a fraction of a step."""
        point = self.method.on_cone(theta + length * step)
        evaluation = self.loss.evaluate(point, self.half_width)
        negative_gradient = self.negative_gradient(point, evaluation)
        return Trial(length, point, evaluation, negative_gradient, self.slope(point, step, negative_gradient, -1))

    def slope(self, theta: Array, step: Array, negative_gradient: Array, side: int) -> float:
        """The derivative of loss, ridge and penalty at `theta` along a step on the cone, from the side of its sign."""
        program, along = self.method.program, 0.0
        if program.uses_norm:
            beside = theta[:-2] + side * 1e-9 * step[:-2]  # where a norm has a kink, its derivative on this side
            along = float(program.regulariser.norm.subgradient(beside) @ step[:-2])
        rise = program.regulariser.slope(theta[-1]) * along
        rise += 2.0 * program.regulariser.ridge * float(theta[:-2] @ step[:-2])
        return rise - float(negative_gradient[:-1] @ step[:-1]) - float(negative_gradient[-1]) * along

    def hessian(self, evaluation: Evaluation) -> Hessian:
        """The given Hessian plus the terms that are always computed here, or the sample's own."""
        if self.given_hessian is not None:
            return self.loss.completed(self.given_hessian, evaluation)
        return self._own_hessian(evaluation, self.ridge)

    def learn(self, step: Array, change: Array) -> None:
        """Improve the given Hessian by how the gradient changed along a step."""
        assert self.given_hessian is not None
        self.given_hessian = self.loss.learned(self.given_hessian, step, change)

    def damping_hessian(self, theta: Array) -> Any:
        """The Hessian of a band of half-width 1 at the point where damping was first needed, and a small ridge."""
        if self._damping_hessian is None:
            wide = self.loss.evaluate(theta, max(1.0, self.half_width))
            self._damping_hessian = self._own_hessian(wide, 1e-3 * self.method.spread)
        return self._damping_hessian

    def _own_hessian(self, evaluation: Evaluation, diagonal: Array) -> Hessian:
        if self.method.by_products:
            return HessianOperator(self.loss, ((1.0, evaluation),), diagonal)
        try:
            return self.loss.hessian(evaluation) + np.diag(diagonal)
        except OutOfTime:  # no further step is taken
            return np.diag(self.method.spread)


def _next_damping(damping: float, ratio: float) -> float:
    """Less damping after a step whose actual reduction was near the predicted one, more where it fell far short."""
    if ratio > GOOD_RATIO:
        return damping / 10 if damping > 1e-3 * _DAMPING else 0.0
    if ratio > POOR_RATIO:
        return damping
    return max((10 if ratio > 0 else 30) * damping, _DAMPING)
