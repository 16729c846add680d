"""Damped Newton steps on the smoothed loss at one half-width of the band.

The damping is the curvature of a band of half-width 1, times a factor that follows the agreement of steps and model: it
knows which margins will enter the narrow band. With the narrow band's own diagonal in its place, features that are
rare in the band take a hundred times the steps (measured on one-hot coded data).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.formulations.base import Program
from auclab.formulations.norms import norm_of
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.proximal_step import Hessian, proximal_step
from auclab.solvers.newton.smoothed_loss import BandHessian, Evaluation, Loss
from auclab.types import Array

#: A descent ends when its next step promises this part of what the smoothing leaves open.
REST = 0.1
MAX_STEPS = 60
#: Half-width of the band whose curvature damps, and the part of the features' spread that is added to it.
_WIDE, _FLOOR = 1.0, 1e-3
#: Damping that is next to none, that is tried first after a step that failed, and that is given up at.
_LEAST, _FIRST, _MOST = 1e-3, 1e-2, 1e8
#: With more features than this the Hessian is known by its products alone.
MATRIX_UP_TO = 2_000


@dataclass(frozen=True)
class Place:
    """Where a descent at one half-width ended, and whether the next step promised less than `rest` of the slack."""

    theta: Array
    half_width: float
    evaluation: Evaluation
    curvature: Hessian
    settled: bool
    rest: float


class Descent:
    """The steps for one program; points are ``θ = (w, b, ‖w‖)``."""

    def __init__(self, program: Program, spread: Array, monitor: Monitor) -> None:
        self.program, self.monitor = program, monitor
        self.unit = 1.0 / spread
        self.spread = np.r_[spread**2, 1.0, max(program.threshold**2, 1e-6)]
        self.by_products = spread.size > MATRIX_UP_TO
        self.iterations = 0

    def descend(
        self,
        loss: Loss,
        theta: Array,
        half_width: float,
        hessian: Hessian | None = None,
        *,
        noise: float = 0.0,
        ridge: float = 0.0,
        rest: float = REST,
        max_steps: int = MAX_STEPS,
    ) -> Place:
        """Steps until the next one promises next to nothing.

        That is a decrease below `rest` times what the smoothing leaves open, or below `noise`, the relative error of
        the sample itself. `hessian` stands in for the sample's own. `ridge` holds back directions that a subsample
        says little about; at one over its size it is below the sampling error of all others.
        """
        pull = ridge * np.r_[self.spread[:-2], 0.0, 0.0]

        def value_at(theta: Array, evaluation: Evaluation) -> float:
            return evaluation.value + self.penalty(theta) + 0.5 * float(pull @ theta**2)

        evaluation = loss.evaluate(theta, half_width)
        value, damping = value_at(theta, evaluation), 0.0
        curvature = self._curvature(loss, evaluation, pull) if hessian is None else hessian
        wide: Hessian | None = None
        settled = False
        for _ in range(max_steps):
            gradient = loss.direction_sum(evaluation.multipliers) - pull * theta
            damped = curvature
            if damping:
                if wide is None:
                    around = loss.evaluate(theta, max(_WIDE, half_width))
                    wide = self._curvature(loss, around, _FLOOR * self.spread)
                damped = _sum(curvature, damping, wide)
            step = proximal_step(self.program, damped, gradient, theta, self.spread)
            candidate = self.on_cone(theta + step)
            promised = gradient @ step - 0.5 * step @ (curvature @ step)
            promised -= self.penalty(candidate) - self.penalty(theta)
            if self.too_far(step, theta) or promised < -1e-9 * value:
                if damping > _MOST:
                    break
                damping = max(10 * damping, _LEAST)
                continue
            settled = bool(promised <= max(rest * evaluation.slack, (noise + 1e-12) * value))
            if settled or self.monitor.stopped():
                break
            self.iterations += 1
            if hessian is not None:
                evaluation.release()
            trial = loss.evaluate(candidate, half_width)
            agreement = (value - value_at(candidate, trial)) / promised
            if agreement > 1e-4:
                theta, evaluation, value = candidate, trial, value_at(candidate, trial)
                curvature = self._curvature(loss, evaluation, pull) if hessian is None else hessian
            elif damping > _MOST:
                break
            damping = _next_damping(damping, agreement)
        if evaluation.state is None:
            evaluation = loss.evaluate(theta, half_width)
        return Place(theta, half_width, evaluation, curvature, settled, rest)

    def too_far(self, step: Array, theta: Array) -> bool:
        """Whether a step would change margins by many times their size: nothing is known there."""
        reach = float(np.abs(theta[:-2] / self.unit).max())
        return not float(np.abs(step[:-2] / self.unit).max()) <= 10.0 * max(1.0, reach)

    def on_cone(self, theta: Array) -> Array:
        """`theta` with its last entry at ‖w‖, where the objective is least."""
        return np.r_[theta[:-1], norm_of(theta[:-2], self.program.norm) if self.program.uses_norm else 0.0]

    def penalty(self, theta: Array) -> float:
        """λ Ω(w) of a point on the cone."""
        return self.program.penalty * float(theta[-1] ** 2 if self.program.squared else theta[-1])

    def _curvature(self, loss: Loss, evaluation: Evaluation, diagonal: Array) -> Hessian:
        if self.by_products:
            return BandHessian(loss, ((1.0, evaluation),), diagonal)
        return loss.hessian(evaluation) + np.diag(diagonal)


def _sum(curvature: Hessian, damping: float, wide: Hessian) -> Hessian:
    if isinstance(curvature, np.ndarray) and isinstance(wide, np.ndarray):
        return np.asarray(curvature + damping * wide)
    if isinstance(curvature, BandHessian) and isinstance(wide, BandHessian):
        return curvature.plus(damping, wide)
    raise TypeError(f"cannot add {type(wide).__name__} to {type(curvature).__name__}")


def _next_damping(damping: float, agreement: float) -> float:
    """More damping after a step that brought much less than it promised, less after one that kept its promise."""
    if agreement > 0.75:
        return damping / 10 if damping > _LEAST else 0.0
    return damping if agreement > 0.25 else max(10 * damping, _FIRST)
