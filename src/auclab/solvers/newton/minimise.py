"""The minimum of the smoothed program at one smoothing width, by damped Newton steps.

A Levenberg–Marquardt method: the damping matrix is the Hessian at the smoothing width 1, times a factor that follows
the ratio of actual to predicted reduction (Nocedal & Wright, Numerical Optimization, 2nd ed., algorithm 4.1). At that
width the margins have curvature that will be near a kink later; with the diagonal of the narrow width instead, features
that are rare there take a hundred times as many steps (one-hot coded data). Steps that end far beyond the minimum along
them are shortened by a line search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab._core.base import Array, AuclabError, Status
from auclab._core.tolerances import EPSILON, HALF_OF_DIGITS
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.programs import without_squares
from auclab.solvers.budget import NEWTON_FEATURES
from auclab.solvers.canonical import nearest_feasible
from auclab.solvers.monitor import Monitor, OutOfTime
from auclab.solvers.newton.steps import Hessian, HessianOperator, plus_diagonal, proximal_step
from auclab.solvers.smoothed.losses import Evaluation, SmoothedLoss

#: Where a length is not known, w is at most this many times as long as a w that is.
FARTHER = 10.0
#: The part of a gap, or of a step, that does not count.
LITTLE = 0.1
#: Steps after which the method, which converges in far fewer, is stopped.
MOST_STEPS = 200
#: First damping. Below a thousandth of it no damping is used; at 10¹¹ times it the iteration ends.
_DAMPING = 1e-3
#: Ratios of actual to predicted reduction below which the damping rises, and above which it falls (algorithm 4.1).
_POOR_RATIO, _GOOD_RATIO = 0.25, 0.75
#: The line search ends where the derivative is below this part of the first one, or with the last of 8 points; a new
#: point keeps this part of the bracket from both ends.
_FLAT, _MAX_POINTS, _INSIDE = 0.2, 8, 0.05
#: A Hessian of another point is given up where the predicted reduction falls by less than this factor in a step.
_CHORD_RATE = 0.3
#: A secant update is left out where the curvature along the step differs from the known one by more than this factor.
_LARGEST_RATIO = 10.0


@dataclass(frozen=True)
class NewtonOptions:
    """Numbers of ``solver=newton``.

    `max_iter`: Newton steps in all, on subsamples too, after which the best point is certified and returned. Widths are
    in units of the margins: `first_width` is the smoothing width at first, `subsample_width` the least one on a
    subsample, `least_width` the least one of all. `subsample_size`: observations per class of the smallest subsample.
    """

    max_iter: int = 5_000
    first_width: float = 1.0
    subsample_width: float = 0.03
    least_width: float = HALF_OF_DIGITS
    subsample_size: int = 2_000

    def __post_init__(self) -> None:
        if self.max_iter < 1 or self.subsample_size < 1:
            raise AuclabError(f"max_iter and subsample_size must be at least 1, got {self}")
        if not 0.0 < self.least_width <= self.subsample_width <= self.first_width:
            raise AuclabError(f"0 < least_width ≤ subsample_width ≤ first_width must hold, got {self}")


@dataclass(frozen=True)
class Iterate:
    """Where the steps at one smoothing width ended.

    `converged` says whether the predicted reduction of the next step was below the tolerance. `step` (n_features + 2,)
    is that next step then.
    """

    theta: Array
    evaluation: Evaluation
    hessian: Hessian
    converged: bool
    step: Array

    @property
    def width(self) -> float:
        """The smoothing width."""
        return self.evaluation.width


@dataclass(frozen=True)
class _Trial:
    """A point on a step: its length in units of the step, the gradient of the loss there, and the objective's slope.

    `theta`, `negative_gradient` (n_features + 2,). `slope`: the derivative of the objective along the step.
    """

    length: float
    theta: Array
    evaluation: Evaluation
    negative_gradient: Array
    slope: float


class DampedNewton:
    """The steps for one program; points are ``θ = (w, b, ‖w‖)``.

    `spread` (n_features,): a positive scale for every feature (`Sample.spread`). `monitor`: says when to stop.
    `constraints`: on w.
    """

    def __init__(
        self,
        program: Program,
        spread: Array,
        monitor: Monitor,
        constraints: ColumnConstraints | None = None,
        max_iter: int = NewtonOptions.max_iter,
    ) -> None:
        self.program, self.monitor, self.constraints = program, monitor, constraints
        self.norm = program.used_norm
        # ρ Σ w_k² is part of the quadratic model: of λ‖w‖₂² without z no norm is left, and a step is one linear system.
        self.ridge, self.without_squares = without_squares(program)
        self.squares = np.r_[np.full(spread.size, 2.0 * self.ridge), 0.0, 0.0]
        self.scale = spread
        #: Mean squares of the entries of D = (x, 1, z): the scale of the Hessian's diagonal.
        self.mean_squares = np.r_[spread**2, 1.0, max(program.threshold**2, 1e-6)]
        self.iterations, self.max_iter = 0, max_iter

    def stopped(self) -> Status | None:
        """Why no further step may be taken, or None."""
        if self.iterations >= self.max_iter:
            return Status.ITERATION_LIMIT
        return self.monitor.stopped()

    def minimise(
        self,
        loss: SmoothedLoss,
        begin: Evaluation,
        hessian: Array | None = None,
        *,
        relative_tolerance: float = LITTLE,
        noise: float = 0.0,
    ) -> Iterate:
        """Steps from `begin`, at its width, until the predicted reduction of the next one is negligible.

        `hessian` (n_features + 2, n_features + 2): that of another point, taken in place of the sample's own, with a
        secant update at every step, as long as every step reduces the predicted reduction to three tenths.
        `relative_tolerance`: the predicted reduction, relative to the smoothing gap, at which to stop. `noise`: the
        relative error of the sample itself, below which a predicted reduction is negligible.
        """
        theta, evaluation, converged, step = begin.theta, begin, False, np.zeros_like(begin.theta)
        value = evaluation.value + self.penalty(theta)
        damping_hessian: Any = None
        # `damped`: the damping to return to if the undamped step that should end the iteration fails.
        damping = damped = 0.0
        last = np.inf
        curvature: Any = self._hessian(loss, evaluation) if hessian is None else hessian
        negative_gradient = loss.direction_sum(evaluation.multipliers)
        for _ in range(MOST_STEPS):
            if self.stopped() is not None:
                break
            if damping and damping_hessian is None:
                wide = loss.evaluate(theta, max(1.0, evaluation.width))
                damping_hessian = self._hessian(loss, wide, 1e-3)
            model = curvature + damping * damping_hessian if damping else curvature
            step = self.step(model, negative_gradient, theta)
            if self.monitor.stopped() is not None:  # the step may have been left
                break
            candidate = self.on_cone(theta + step)
            step[:-1] = (candidate - theta)[:-1]  # as it is rounded: of a short one the prediction would be another's
            # Predicted reduction, Nocedal & Wright (4.4): m(0) − m(p) = G·p − ½ pᵀHp, and that of the penalty.
            predicted = float(negative_gradient @ step - 0.5 * step @ (curvature @ step)) - self.rise(theta, candidate)
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
            # Steps with a Hessian of another point (chord method) converge linearly, at the rate of the reductions.
            if converged or not np.isfinite(value) or (hessian is not None and predicted > _CHORD_RATE * last):
                break
            last = predicted
            self.iterations += 1
            if hessian is not None:
                evaluation.release()
            trial = self._searched(loss, evaluation.width, theta, step, negative_gradient)
            actual = value - trial.evaluation.value - self.penalty(trial.theta)
            # A small difference of values has lost more than half of its digits; gradients have more.
            if predicted * trial.length < HALF_OF_DIGITS * value:
                actual = 0.5 * float((negative_gradient + trial.negative_gradient) @ (trial.theta - theta))
                actual -= self.rise(theta, trial.theta)
            if actual > 0:
                if hessian is not None:
                    hessian = with_secant(hessian, trial.theta - theta, negative_gradient - trial.negative_gradient)
                theta, evaluation, negative_gradient = trial.theta, trial.evaluation, trial.negative_gradient
                value = evaluation.value + self.penalty(theta)
                curvature = self._hessian(loss, evaluation) if hessian is None else hessian
                damped = 0.0
            elif damping > 1e11 * _DAMPING:
                break
            # ρ of Nocedal & Wright (4.4). The search replaces damping: a length above 3/8 counts as good, 1/8 as fair.
            ratio = 2.0 * trial.length if actual > 0 and trial.length < 1.0 else actual / predicted
            damping = damped if damped and not damping else _next_damping(damping, ratio)
        if evaluation.state is None:
            evaluation = loss.evaluate(theta, evaluation.width)
        return Iterate(theta, evaluation, curvature, converged, step)

    def step(self, hessian: Hessian, negative_gradient: Array, theta: Array) -> Array:
        """The proximal step of the model to a point that satisfies the constraints; 0 if out of time."""
        model = plus_diagonal(hessian, self.squares), negative_gradient - self.squares * theta, theta
        try:
            # What a step leaves, the next one reaches.
            return proximal_step(
                self.without_squares, *model, self.mean_squares, self.constraints, self.monitor, accuracy=LITTLE**2
            )
        except OutOfTime:
            return np.zeros_like(theta)

    def _searched(
        self, loss: SmoothedLoss, width: float, theta: Array, step: Array, negative_gradient: Array
    ) -> _Trial:
        """The point after a step, or near the minimum along it where the objective rises steeply at its end.

        The smoothed loss is convex and piecewise quadratic, and a step that leaves the piece may end far beyond the
        minimum along it, where the derivative of the objective is 0: found by the secant method within a bracket.
        Newton steps with such a search for sums of hinges: Keerthi & DeCoste (2005), "A modified finite Newton method
        for fast solution of large scale linear SVMs".
        """

        def point_at(length: float) -> _Trial:
            point = self.on_cone(theta + length * step)
            evaluation = loss.evaluate(point, width)
            gradient = loss.direction_sum(evaluation.multipliers)
            return _Trial(length, point, evaluation, gradient, self._slope(point, step, gradient, -1))

        trial, slope = point_at(1.0), self._slope(theta, step, negative_gradient, 1)
        if slope >= 0.0 or trial.slope <= -0.5 * slope:
            return trial
        low, slope_low, high, slope_high = 0.0, slope, trial.length, trial.slope
        for _ in range(_MAX_POINTS):
            # The zero of the line through both ends of the bracket.
            part = slope_low / (slope_low - slope_high)
            trial = point_at(low + (high - low) * min(max(part, _INSIDE), 1.0 - _INSIDE))
            if abs(trial.slope) <= _FLAT * abs(slope):
                break
            if trial.slope > 0:
                high, slope_high = trial.length, trial.slope
            else:
                low, slope_low = trial.length, trial.slope
        return trial

    def _slope(self, theta: Array, step: Array, negative_gradient: Array, side: int) -> float:
        """The derivative of loss and penalty at `theta` along a step on the cone, from the side of its sign."""
        regulariser = self.program.regulariser
        beside = theta[:-2] + side * 1e-9 * step[:-2]  # where a norm has a kink, its derivative on this side
        along = float(self.norm.subgradient(beside) @ step[:-2])
        of_penalty = regulariser.slope(theta[-1]) * along + 2.0 * regulariser.ridge * float(theta[:-2] @ step[:-2])
        return of_penalty - float(negative_gradient[:-1] @ step[:-1]) - float(negative_gradient[-1]) * along

    def _hessian(self, loss: SmoothedLoss, evaluation: Evaluation, ridge: float = 0.0) -> Hessian:
        """The Hessian of the loss, and a small ridge in units of the features' scales."""
        if loss.sample.n_features > NEWTON_FEATURES:
            return HessianOperator(loss, ((1.0, evaluation),), ridge * self.mean_squares)
        try:
            return loss.hessian(evaluation) + np.diag(ridge * self.mean_squares)
        except OutOfTime:  # no further step is taken
            return np.diag(self.mean_squares)

    def feasible(self, theta: Array) -> Array:
        """The nearest point on the cone that satisfies the constraints; the point itself if none is found."""
        if self.constraints is not None:
            coef = nearest_feasible(self.constraints, theta[:-2], self.scale)
            if coef is not None:
                theta = np.r_[coef, theta[-2:]]
        return self.on_cone(theta)

    def is_too_long(self, step: Array, theta: Array) -> bool:
        """Whether a step would change margins by many times their size, where the model is meaningless."""
        size = float(np.abs(theta[:-2] * self.scale).max())
        # "not ≤": a step that is NaN is too long.
        return not float(np.abs(step[:-2] * self.scale).max()) <= FARTHER * max(1.0, size)

    def on_cone(self, theta: Array) -> Array:
        """`theta` with its last entry at ‖w‖, where the objective is least, and without rounding beyond a bound."""
        theta = theta.copy()
        if self.constraints is not None:
            theta[:-2] = np.clip(theta[:-2], self.constraints.lower, self.constraints.upper)
        theta[-1] = self.norm(theta[:-2])
        return theta

    def penalty(self, theta: Array) -> float:
        """R(w) of a point."""
        return self.program.regulariser.value(theta[:-2])

    def rise(self, theta: Array, other: Array) -> float:
        """Increase of R(w) from one point to another; differences of squares are products, to avoid cancellation."""
        w, v, rest = theta[:-2], other[:-2], self.without_squares.regulariser
        return self.ridge * float((v - w) @ (v + w)) + rest.value(v) - rest.value(w)


def _next_damping(damping: float, ratio: float) -> float:
    """Less damping after a step whose actual reduction was near the predicted one, more where it fell far short."""
    if ratio > _GOOD_RATIO:
        return damping / 10 if damping > 1e-3 * _DAMPING else 0.0
    if ratio > _POOR_RATIO:
        return damping
    return max((10 if ratio > 0 else 30) * damping, _DAMPING)


def with_secant(hessian: Array, step: Array, change: Array) -> Array:
    """The BFGS update of `hessian`, which maps a step to the change of the gradient.

    It stays positive definite. `hessian` is returned where the change contradicts it by a factor of ten.

    `hessian` (size, size), positive semidefinite; `step`, `change` (size,). Nocedal & Wright, Numerical Optimization,
    2nd ed., equation 6.19.

    Examples
    --------
    >>> with_secant(np.eye(2), np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    mapped = hessian @ step
    before, after = float(step @ mapped), float(step @ change)
    if not before <= _LARGEST_RATIO * after <= _LARGEST_RATIO**2 * before or before <= 0.0:
        return hessian
    return hessian + np.outer(change / after, change) - np.outer(mapped / before, mapped)
