"""The structured solver: a smoothed Newton method that never forms a pair, and an exact finish.

1. The hinge is smoothed over a band of half-width h (`_smooth`), and a damped Newton method with a small proximal step
   (`_proximal`) follows its minimum, first on nested subsamples, then on all observations, where few evaluations are
   left to do.
2. The band is made as narrow as the tolerance asks: primal and dual value of a smoothed minimum differ by about h²
   times the density of margins at the kink. The multipliers that are certified are those linearised in the last step,
   so the dual constraint holds to rounding.
3. Where so narrow a band would hold too few margins to be smooth, the optimum is a vertex or nearly one, and the
   windows of `_aggregated` find it exactly.
"""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter

import numpy as np

from auclab.formulations.norms import norm_of
from auclab.formulations.sample import Sample
from auclab.kernels.compiling import compile_smooth
from auclab.solvers._aggregated import margin_units, solve_aggregated
from auclab.solvers._proximal import proximal_step
from auclab.solvers._smooth import Evaluation, Loss, smooth_loss
from auclab.solvers.base import Capabilities, Play, Problem
from auclab.solvers.certificate import certify
from auclab.types import Array, AuclabError, Status, Timings

CAPABILITIES = Capabilities()
#: The Hessian is a dense matrix of this many features squared at most.
MAX_FEATURES = 2_000
#: Observations per class of the first subsample, and how much each next one is larger.
_FIRST, _GROWTH = 2_000, 8
#: The Hessian of a sample larger than this is taken from a subsample: it only has to be good, not exact.
_HESSIAN_UP_TO = 150_000
#: Half-widths of the first subsample, in units of margins; later ones start from the last.
_SCHEDULE = (0.5, 0.2, 0.07, 0.03)
#: A band should hold this many margins a variable to be treated as smooth.
_SMOOTH_FROM = 100
_MAX_STEPS, _MAX_ROUNDS, _REFINEMENTS = 50, 12, 3


def play(problem: Problem, *, tolerance: float = 1e-6, time_limit: float | None = None) -> Play:
    """Solve any convex hinge program, over pairs or points, to a certified relative gap of `tolerance`.

    Raises
    ------
    AuclabError
        More features than a dense Hessian can hold.
    """
    if problem.sample.n_features > MAX_FEATURES:
        raise AuclabError(
            f"solver=newton forms an n × n matrix and the data have n = {problem.sample.n_features} features (at most "
            f"{MAX_FEATURES}); use solver=highs with pairs=aggregated, or solver=clarabel"
        )
    compiling = compile_smooth()
    answer = _Run(problem, tolerance, time_limit).solve()
    return replace(answer, timings=replace(answer.timings, compile=compiling))


class _Run:
    """One solve: the clock, the records, and the point that travels through the levels."""

    def __init__(self, problem: Problem, tolerance: float, time_limit: float | None):
        self.problem, self.program, self.tolerance = problem, problem.program, tolerance
        self.begin = perf_counter()
        self.deadline = math.inf if time_limit is None else self.begin + time_limit
        self.iterations = 0
        self.unit = margin_units(problem.sample)
        self.spread = np.r_[self.unit**-2.0, 1.0, max(self.program.threshold**2, 1e-6)]
        self.history: list[tuple[float, float, float]] = []

    def solve(self) -> Play:
        """The levels, the rounds on all observations, and the exact finish where it is needed."""
        full = self.problem.sample
        size = max(full.n_pos, full.n_neg)
        levels = [_FIRST]
        while levels[-1] * _GROWTH < size:
            levels.append(levels[-1] * _GROWTH)
        generator = np.random.default_rng(0)
        samples = [_subsample(full, level, generator) for level in levels if 3 * level < size]
        theta = self._start(samples[0] if samples else full)
        hessian: Array | None = None
        schedule: tuple[float, ...] = _SCHEDULE
        for sample in samples:
            loss = smooth_loss(self.problem, sample)
            noise = 1e-2 * full.n_features / min(sample.n_pos, sample.n_neg)
            for half_width in schedule:
                theta, evaluation, hessian = self._descend(loss, theta, half_width, noise)
            schedule = self._next_schedule(evaluation)
        return self._finish(
            smooth_loss(self.problem, full), theta, hessian if size > _HESSIAN_UP_TO else None, schedule
        )

    def _finish(self, loss: Loss, theta: Array, hessian: Array | None, schedule: tuple[float, ...]) -> Play:
        """Rounds on all observations: descend, certify, narrow the band."""
        best: Play | None = None
        best_gap = math.inf
        for half_width in schedule:
            theta, evaluation, curvature = self._descend(loss, theta, half_width, 0.0, hessian)
        for _ in range(_MAX_ROUNDS):
            if self._too_few(self._target_width(evaluation), evaluation):
                break
            if evaluation.half_width > self._target_width(evaluation):
                width = max(self._target_width(evaluation), 0.05 * evaluation.half_width)
                theta, evaluation, curvature = self._descend(loss, theta, width, 0.0, hessian)
            answer, gap = self._certified(loss, theta, evaluation, curvature)
            if gap < best_gap:
                best, best_gap = answer, gap
            if gap <= self.tolerance:
                return replace(answer, status=Status.OPTIMAL)
            if perf_counter() > self.deadline:
                break
            theta = self._on_cone(np.r_[answer.coef, answer.intercept, 0.0])
            theta, evaluation, curvature = self._descend(loss, theta, 0.5 * evaluation.half_width, 0.0, hessian)
        if perf_counter() > self.deadline:
            return best or self._certified(loss, theta, evaluation, curvature)[0]
        return self._exact(theta, evaluation)

    def _exact(self, theta: Array, evaluation: Evaluation) -> Play:
        """The windows, from where the smoothing ended."""
        remaining = self.deadline - perf_counter()
        answer = solve_aggregated(
            self.problem,
            tolerance=self.tolerance,
            time_limit=remaining if math.isfinite(remaining) else None,
            start=(theta[:-2], float(theta[-2])),
            radius=max(0.1, 2 * evaluation.half_width),
        )
        spent = perf_counter() - self.begin
        earlier = spent - answer.timings.total
        return replace(
            answer,
            iterations=answer.iterations + self.iterations,
            timings=Timings(solve=spent),
            history=(*self.history, *((earlier + s, value, bound) for s, value, bound in answer.history)),
        )

    def _start(self, sample: Sample) -> Array:
        """The difference of the class means, at the best of a few lengths."""
        problem = Problem(self.program, sample)
        intercept = problem.null_intercept()
        direction = sample.mean_difference * self.unit**2
        lengths = (0.1, 0.3, 1.0, 3.0)
        best = min(lengths, key=lambda length: problem.objective(length * direction, intercept))
        return self._on_cone(np.r_[best * direction, intercept, 0.0])

    def _descend(
        self, loss: Loss, theta: Array, half_width: float, noise: float, hessian: Array | None = None
    ) -> tuple[Array, Evaluation, Array]:
        """Damped Newton steps at one half-width until the next one promises next to nothing.

        That is a decrease below a tenth of what the smoothing leaves open, or below `noise`, the relative error of
        the sample itself.
        """
        evaluation = loss.evaluate(theta, half_width)
        value, damping = self._value(evaluation, theta), 0.0
        curvature = loss.hessian(evaluation) if hessian is None else hessian
        for _ in range(_MAX_STEPS):
            gradient = loss.direction_sum(evaluation.multipliers)
            step = proximal_step(self.program, curvature, gradient, theta, self.spread, damping)
            candidate = self._on_cone(theta + step)
            promised = gradient @ step - 0.5 * step @ curvature @ step
            promised -= self._penalty(candidate) - self._penalty(theta)
            if promised <= max(0.1 * evaluation.slack, (noise + 1e-12) * value) or perf_counter() > self.deadline:
                break
            if self._too_far(step, theta):
                damping = max(10 * damping, 1e-3)
                continue
            self.iterations += 1
            trial = loss.evaluate(candidate, half_width)
            if self._value(trial, candidate) <= value - 1e-4 * promised:
                theta, evaluation, value = candidate, trial, self._value(trial, candidate)
                damping = damping / 10 if damping > 1e-5 else 0.0
                curvature = loss.hessian(evaluation) if hessian is None else hessian
            elif damping > 1e8:
                break
            else:
                damping = max(10 * damping, 1e-3)
        return theta, evaluation, curvature

    def _certified(self, loss: Loss, theta: Array, evaluation: Evaluation, curvature: Array) -> tuple[Play, float]:
        """The point after a last step, with the multipliers linearised in it, and its gap."""
        step, multipliers = np.zeros_like(theta), evaluation.multipliers
        for _ in range(_REFINEMENTS):
            gradient = loss.direction_sum(multipliers)
            step = step + proximal_step(self.program, curvature, gradient, theta + step, self.spread)
            multipliers = loss.linearised(evaluation, step)
        coef, intercept = (theta + step)[:-2], float((theta + step)[-2])
        certificate, _ = certify(self.problem, coef, intercept, multipliers)
        seconds = perf_counter() - self.begin
        self.history.append((seconds, certificate.objective, certificate.lower_bound))
        status = Status.TIME_LIMIT if perf_counter() > self.deadline else Status.ITERATION_LIMIT
        answer = Play(
            coef,
            intercept,
            status,
            multipliers,
            self.iterations,
            Timings(solve=seconds),
            history=tuple(self.history),
        )
        return answer, certificate.gap

    def _next_schedule(self, evaluation: Evaluation) -> tuple[float, ...]:
        """One half-width for a larger sample: towards the one the tolerance asks for, but a smooth one."""
        return (max(self._target_width(evaluation), 0.1 * evaluation.half_width),)

    def _target_width(self, evaluation: Evaluation) -> float:
        """The half-width at which the smoothing leaves a third of the tolerance open: what is open falls as h²."""
        allowed = 0.3 * self.tolerance * max(evaluation.value, 1e-3)
        return (
            evaluation.half_width * math.sqrt(min(1.0, allowed / evaluation.slack))
            if evaluation.slack > 0
            else math.inf
        )

    def _too_few(self, half_width: float, evaluation: Evaluation) -> bool:
        """Whether a band of that half-width would hold too few margins to be smooth."""
        if not math.isfinite(half_width):
            return True
        margins = evaluation.band * self.problem.n_margins * half_width / evaluation.half_width
        return margins < _SMOOTH_FROM * (self.problem.sample.n_features + 1)

    def _too_far(self, step: Array, theta: Array) -> bool:
        """Whether a step would change margins by many times their size: nothing is known there."""
        reach = float(np.abs(theta[:-2] / self.unit).max())
        return not float(np.abs(step[:-2] / self.unit).max()) <= 10.0 * max(1.0, reach)

    def _value(self, evaluation: Evaluation, theta: Array) -> float:
        return evaluation.value + self._penalty(theta)

    def _penalty(self, theta: Array) -> float:
        return self.program.penalty * float(theta[-1] ** 2 if self.program.squared else theta[-1])

    def _on_cone(self, theta: Array) -> Array:
        """`theta` with its last entry at ‖w‖, where the objective is least."""
        return np.r_[theta[:-1], norm_of(theta[:-2], self.program.norm) if self.program.uses_norm else 0.0]


def _subsample(sample: Sample, size: int, generator: np.random.Generator) -> Sample:
    """At most `size` observations of either class, drawn with replacement."""
    parts = []
    for X, share in ((sample.X_pos, sample.share_pos), (sample.X_neg, sample.share_neg)):
        rows = generator.integers(0, share.size, size) if share.size > size else np.arange(share.size)
        kept = share[rows]
        parts.append((X[rows], kept / kept.sum()))
    (X_pos, share_pos), (X_neg, share_neg) = parts
    return replace(sample, X_pos=X_pos, X_neg=X_neg, share_pos=share_pos, share_neg=share_neg)
