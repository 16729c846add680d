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
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from auclab.formulations.norms import norm_of
from auclab.formulations.sample import Sample
from auclab.kernels.compiling import compile_smooth
from auclab.solvers._aggregated import solve_aggregated
from auclab.solvers._proximal import proximal_step
from auclab.solvers._smooth import Evaluation, Loss, smooth_loss
from auclab.solvers.base import Capabilities, Play, Problem
from auclab.solvers.certificate import SMALL_OBJECTIVE, certify, dual_bound
from auclab.types import Array, AuclabError, Status, Timings

CAPABILITIES = Capabilities()
#: The Hessian is a dense matrix of this many features squared at most.
MAX_FEATURES = 2_000
#: Observations per class of the first subsample, and how much each next one is larger.
_FIRST, _GROWTH = 2_000, 8
#: The Hessian of a sample larger than this is taken from a subsample: it only has to be good, not exact.
_HESSIAN_UP_TO = 20_000
#: Half-widths of the first subsample, in units of margins; later ones start from the last.
_SCHEDULE = (1.0, 0.5, 0.2, 0.07, 0.03)
#: A band should hold this many margins a variable to be treated as smooth.
_SMOOTH_FROM = 30
_MAX_STEPS, _MAX_ROUNDS, _REFINEMENTS = 60, 12, 8
#: Steps after which a leap to the final half-width is given up.
_LEAP = 6
#: The half-width from which the way to the final one then starts.
_DETOUR = 0.1


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


@dataclass(frozen=True)
class _Place:
    """Where a descent at one half-width ended, and whether the next step promised next to nothing."""

    theta: Array
    half_width: float
    evaluation: Evaluation
    curvature: Array
    settled: bool


class _Run:
    """One solve: the clock, the records, and the point that travels through the levels."""

    def __init__(self, problem: Problem, tolerance: float, time_limit: float | None):
        self.problem, self.program, self.tolerance = problem, problem.program, tolerance
        self.begin = perf_counter()
        self.deadline = math.inf if time_limit is None else self.begin + time_limit
        self.iterations = 0
        self.unit = 1.0 / problem.sample.spread
        self.spread = np.r_[problem.sample.spread**2, 1.0, max(self.program.threshold**2, 1e-6)]
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
                place = self._descend(
                    loss,
                    theta,
                    half_width,
                    _reusable(hessian, sample),
                    noise=noise,
                    ridge=1.0 / min(sample.n_pos, sample.n_neg),
                )
                theta, hessian = place.theta, place.curvature
            # Subsamples keep the wide band: their Hessian is passed on, and a wide band makes it less noisy.
            schedule = _SCHEDULE[-1:]
        loss, known = smooth_loss(self.problem, full), _reusable(hessian, full)
        if not samples:
            for half_width in schedule:
                place = self._descend(loss, theta, half_width)
                theta = place.theta
        return self._finish(loss, *self._narrowed(loss, place, known))

    def _finish(self, loss: Loss, place: _Place, hessian: Array | None) -> Play:
        """Rounds on all observations: certify, narrow the band, descend."""
        best: tuple[float, Play] | None = None
        for _ in range(_MAX_ROUNDS):
            answer, gap = self._certified(loss, place)
            if best is None or gap < best[0]:
                best = gap, answer
            if gap <= self.tolerance:
                return replace(answer, status=Status.OPTIMAL)
            if perf_counter() > self.deadline:
                return best[1]
            if place.half_width <= self._smooth_width(place.evaluation):
                break
            theta = self._on_cone(np.r_[answer.coef, answer.intercept, 0.0])
            width = min(0.5 * place.half_width, max(self._target_width(place.evaluation), 0.25 * place.half_width))
            place = self._descend(loss, theta, width, hessian)
        return self._exact(place)

    def _narrowed(self, loss: Loss, place: _Place, hessian: Array | None) -> tuple[_Place, Array | None]:
        """All observations at the half-width the tolerance asks for, or the least that is smooth.

        In one leap with the Hessian of the subsample, or by quarters with its own if that is too far; also returns
        the Hessian to go on with, None for its own.
        """
        target = max(self._target_width(place.evaluation), self._smooth_width(place.evaluation))
        target = min(target, place.half_width)
        leap = self._descend(loss, place.theta, target, hessian, max_steps=_LEAP)
        if leap.settled:
            return leap, hessian
        # Too far, or the subsample knows too little of this one's curvature: features that are rare in it.
        half_width = max(_DETOUR, place.half_width)
        while True:
            place = self._descend(loss, place.theta, half_width)
            if half_width <= target or perf_counter() > self.deadline:
                return place, None
            half_width = max(target, 0.25 * half_width)

    def _exact(self, place: _Place) -> Play:
        """The windows, from where the smoothing ended."""
        remaining = self.deadline - perf_counter()
        answer = solve_aggregated(
            self.problem,
            tolerance=self.tolerance,
            time_limit=remaining if math.isfinite(remaining) else None,
            start=(place.theta[:-2], float(place.theta[-2])),
            radius=max(0.1, 2 * place.half_width),
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
        self,
        loss: Loss,
        theta: Array,
        half_width: float,
        hessian: Array | None = None,
        *,
        noise: float = 0.0,
        ridge: float = 0.0,
        max_steps: int = _MAX_STEPS,
    ) -> _Place:
        """Damped Newton steps at one half-width until the next one promises next to nothing.

        That is a decrease below a tenth of what the smoothing leaves open, or below `noise`, the relative error of
        the sample itself. `hessian` stands in for the sample's own. `ridge` holds back directions that a subsample
        says little about; at one over its size it is below the sampling error of all others.
        """
        pull = ridge * np.r_[self.spread[:-2], 0.0, 0.0]

        def value_at(theta: Array, evaluation: Evaluation) -> float:
            return self._value(evaluation, theta) + 0.5 * float(pull @ theta**2)

        evaluation = loss.evaluate(theta, half_width)
        value, damping = value_at(theta, evaluation), 0.0
        curvature = loss.hessian(evaluation) + np.diag(pull) if hessian is None else hessian
        settled = False
        for _ in range(max_steps):
            gradient = loss.direction_sum(evaluation.multipliers) - pull * theta
            step = proximal_step(self.program, curvature, gradient, theta, self.spread, damping)
            candidate = self._on_cone(theta + step)
            promised = gradient @ step - 0.5 * step @ curvature @ step
            promised -= self._penalty(candidate) - self._penalty(theta)
            if self._too_far(step, theta) or promised < -1e-9 * value:
                damping = max(10 * damping, 1e-6)
                continue
            settled = bool(promised <= max(0.1 * evaluation.slack, (noise + 1e-12) * value))
            if settled or perf_counter() > self.deadline:
                break
            self.iterations += 1
            trial = loss.evaluate(candidate, half_width)
            agreement = (value - value_at(candidate, trial)) / promised
            if agreement > 1e-4:
                theta, evaluation, value = candidate, trial, value_at(candidate, trial)
                curvature = loss.hessian(evaluation) + np.diag(pull) if hessian is None else hessian
            elif damping > 1e8:
                break
            damping = _next_damping(damping, agreement)
        return _Place(theta, half_width, evaluation, curvature, settled)

    def _certified(self, loss: Loss, place: _Place) -> tuple[Play, float]:
        """The point after a last step, with the multipliers linearised in it, and its gap.

        The step is refined until the dual constraint is met to a tenth of the tolerance: the Hessian may be that of
        a subsample.
        """
        theta, evaluation = place.theta, place.evaluation
        step, multipliers = np.zeros_like(theta), evaluation.multipliers
        bound = dual_bound(self.problem, theta[:-2], multipliers).bound
        allowed = 0.1 * self.tolerance * max(evaluation.value, SMALL_OBJECTIVE)
        for _ in range(_REFINEMENTS):
            gradient = loss.direction_sum(multipliers)
            more = proximal_step(self.program, place.curvature, gradient, theta + step, self.spread)
            if self._too_far(step + more, theta):
                break
            step = step + more
            multipliers = loss.linearised(evaluation, step)
            before, bound = bound, dual_bound(self.problem, (theta + step)[:-2], multipliers).bound
            if bound - before <= allowed:
                break
        coef, intercept = (theta + step)[:-2], float((theta + step)[-2])
        certificate, _ = certify(self.problem, coef, intercept, multipliers)
        seconds = perf_counter() - self.begin
        self.history.append((seconds, certificate.objective, certificate.lower_bound))
        status = Status.TIME_LIMIT if perf_counter() > self.deadline else Status.ITERATION_LIMIT
        timings, history = Timings(solve=seconds), tuple(self.history)
        return Play(coef, intercept, status, multipliers, self.iterations, timings, history=history), certificate.gap

    def _target_width(self, evaluation: Evaluation) -> float:
        """The half-width at which the smoothing leaves a third of the tolerance open: what is open falls as h²."""
        allowed = 0.3 * self.tolerance * max(evaluation.value, 1e-3)
        return (
            evaluation.half_width * math.sqrt(min(1.0, allowed / evaluation.slack))
            if evaluation.slack > 0
            else math.inf
        )

    def _smooth_width(self, evaluation: Evaluation) -> float:
        """The half-width at which the band holds just enough margins to be treated as smooth."""
        margins = evaluation.band * self.problem.n_margins
        needed = _SMOOTH_FROM * (self.problem.sample.n_features + 1)
        return evaluation.half_width * needed / margins if margins > 0 else math.inf

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


def _next_damping(damping: float, agreement: float) -> float:
    """More damping after a step that brought much less than it promised, less after one that kept its promise."""
    if agreement > 0.75:
        return damping / 10 if damping > 1e-5 else 0.0
    return damping if agreement > 0.25 else max(10 * damping, 1e-4)


def _reusable(hessian: Array | None, sample: Sample) -> Array | None:
    """The Hessian of the sample before, where computing one for this sample would not pay."""
    return hessian if max(sample.n_pos, sample.n_neg) > _HESSIAN_UP_TO else None


def _subsample(sample: Sample, size: int, generator: np.random.Generator) -> Sample:
    """At most `size` observations of either class, drawn with replacement."""
    parts = []
    for X, share in ((sample.X_pos, sample.share_pos), (sample.X_neg, sample.share_neg)):
        rows = generator.integers(0, share.size, size) if share.size > size else np.arange(share.size)
        kept = share[rows]
        parts.append((X[rows], kept / kept.sum()))
    (X_pos, share_pos), (X_neg, share_neg) = parts
    return replace(sample, X_pos=X_pos, X_neg=X_neg, share_pos=share_pos, share_neg=share_neg)
