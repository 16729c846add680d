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

from auclab.compiled.compiling import compile_smooth
from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.samples.memory import Sample
from auclab.solvers.certificate import SMALL_OBJECTIVE, certify, dual_bound
from auclab.solvers.monitor import Monitor, monitored
from auclab.solvers.newton.damped_newton import MATRIX_UP_TO, Descent, Place
from auclab.solvers.newton.proximal_step import Hessian, proximal_step
from auclab.solvers.newton.smoothed_loss import Evaluation, Loss, linearised, smooth_loss
from auclab.solvers.raw import RawSolution
from auclab.solvers.threads import one_thread_each
from auclab.solvers.windows import solve_windows
from auclab.types import Array, AuclabError, Status

#: Observations per class of the first subsample, and how much each next one is larger.
_FIRST, _GROWTH = 2_000, 8
#: The Hessian of a sample larger than this is taken from a subsample: it only has to be good, not exact.
_HESSIAN_UP_TO = 40_000
#: Half-widths of the first subsample, in units of margins; later ones start from the last.
_SCHEDULE: tuple[float, ...] = (1.0, 0.5, 0.2, 0.07, 0.03)
#: The same from a point near the optimum.
_WARM_SCHEDULE: tuple[float, ...] = (0.2, 0.03)
#: A band should hold this many margins a variable to be treated as smooth: fewer for conic programs, whose optimum is
#: no vertex and whose windows take longer.
_SMOOTH_FROM, _SMOOTH_FROM_CONIC = 30, 3
_MAX_ROUNDS, _REFINEMENTS = 12, 8
#: The least part of the slack that a descent is asked to leave, and how many times the slack a gap may be before it has
#: another reason.
_LEAST_REST, _EXPLAINED = 1e-6, 3.0
#: Steps after which a leap to the final half-width is given up, and the half-width from which the way then starts.
_LEAP, _DETOUR = 6, 0.1


def solve(
    problem: Problem,
    *,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    start: tuple[Array, float] | None = None,
) -> RawSolution:
    """Solve any convex hinge program, over pairs or points, to a certified relative gap of `tolerance`.

    `start` is a point ``(w, b)`` near the optimum, as that of a neighbouring λ or z is: the widest bands and all
    subsamples but the largest are then left out.

    Raises
    ------
    AuclabError
        More features than a dense Hessian can hold, where the norm needs one (l1 and linf).
    """
    program, n_features = problem.program, problem.sample.n_features
    if problem.sample.in_blocks and n_features > MATRIX_UP_TO:
        raise AuclabError(
            f"newton on blocks needs an n × n matrix and the data have n = {n_features} features (at most "
            f"{MATRIX_UP_TO}); drop features, or use solver=cutting_plane"
        )
    if program.uses_norm and program.norm != "l2" and n_features > MATRIX_UP_TO:
        raise AuclabError(
            f"solver=newton needs an n × n matrix for the norm {program.norm} and the data have n = {n_features} "
            f"features (at most {MATRIX_UP_TO}); use solver=cutting_plane, or norm l2"
        )
    compiling = compile_smooth()
    with one_thread_each(), monitored(tolerance, time_limit) as monitor:
        answer = _Run(problem, tolerance, monitor, start).solve()
    return replace(answer, timings=replace(answer.timings, compile=compiling))


class _Run:
    """One solve: the point that travels through the levels."""

    def __init__(self, problem: Problem, tolerance: float, monitor: Monitor, start: tuple[Array, float] | None):
        self.problem, self.tolerance, self.monitor, self.start = problem, tolerance, monitor, start
        self.descent = Descent(problem.program, problem.sample.spread, monitor)

    def solve(self) -> RawSolution:
        """The levels, the rounds on all observations, and the exact finish where it is needed."""
        full, descent = self.problem.sample, self.descent
        samples = _subsamples(full)
        hessian: Hessian | None = None
        if self.start is None:
            theta, schedule = self._rough_start(samples[0] if samples else full), _SCHEDULE
        else:
            theta, schedule = descent.on_cone(np.r_[self.start[0], self.start[1], 0.0]), _WARM_SCHEDULE
            samples = samples[-1:]
        subsampled = bool(samples)
        while samples:
            sample = samples.pop(0)  # one after the other is let go: the largest may be half a gigabyte
            loss, fewest = smooth_loss(self.problem, sample), min(sample.n_pos, sample.n_neg)
            known, noise = _reusable(hessian, sample), 1e-2 * full.n_features / fewest
            for half_width in schedule:
                place = descent.descend(loss, theta, half_width, known, noise=noise, ridge=1.0 / fewest)
                theta, hessian = place.theta, place.curvature
            # Subsamples keep the wide band: their Hessian is passed on, and a wide band makes it less noisy.
            schedule = _SCHEDULE[-1:]
        if subsampled and self._too_late(loss, place):
            return self._unproved(place.theta)
        sample, loss = full, smooth_loss(self.problem, full)
        if not subsampled:
            for half_width in schedule:
                place = descent.descend(loss, theta, half_width)
                theta = place.theta
        return self._finish(loss, *self._narrowed(loss, place, _reusable(hessian, full)))

    def _too_late(self, loss: Loss, place: Place) -> bool:
        """Whether no time is left for a step and a certificate on all observations: about four evaluations."""
        if self.monitor.remaining is None:
            return False
        begin = perf_counter()
        loss.evaluate(place.theta, place.half_width)
        full, part = (sample.n_pos + sample.n_neg for sample in (self.problem.sample, loss.sample))
        return self.monitor.remaining < 4.0 * (perf_counter() - begin) * full / part

    def _unproved(self, theta: Array) -> RawSolution:
        """A subsample's point, with no more of a bound than that hinges are not negative."""
        sample = self.problem.sample
        return RawSolution(
            theta[:-2],
            float(theta[-2]),
            self.monitor.stopped() or Status.TIME_LIMIT,
            (np.zeros(sample.n_pos), np.zeros(sample.n_neg)),
            self.descent.iterations,
            Timings(solve=self.monitor.seconds),
            ("the time limit left no time to look at all observations: this is a subsample's optimum",),
        )

    def _narrowed(self, loss: Loss, place: Place, hessian: Hessian | None) -> tuple[Place, Hessian | None]:
        """All observations at the half-width the tolerance asks for, or the least that is smooth.

        In one leap with the Hessian of the subsample, or by quarters with its own if that is too far; also returns
        the Hessian to go on with, None for its own.
        """
        target = max(self._target_width(place), self._smooth_width(place.evaluation))
        target = min(target, place.half_width)
        half_width = place.half_width
        if not self.descent.by_products:
            leap = self.descent.descend(loss, place.theta, target, hessian, max_steps=_LEAP)
            self._record(leap)
            if leap.settled or self.monitor.stopped():
                return leap, hessian
            # Too far, or the subsample knows too little of this one's curvature: features that are rare in it.
            half_width = max(_DETOUR, place.half_width)
        while True:
            place = self.descent.descend(loss, place.theta, half_width)
            self._record(place)
            if half_width <= target or self.monitor.stopped():
                return place, None
            half_width = max(target, 0.25 * half_width)

    def _record(self, place: Place) -> None:
        """A place on all observations: the smoothed value lies above the true one, and no hinge is negative."""
        self.monitor.record(place.evaluation.value + self.descent.penalty(place.theta), 0.0)

    def _finish(self, loss: Loss, place: Place, hessian: Hessian | None) -> RawSolution:
        """Rounds on all observations: certify, settle, narrow the band, descend; then the windows."""
        descent = self.descent
        best, least = self._certified(loss, place)
        answer, gap = best, least
        for _ in range(_MAX_ROUNDS):
            if gap <= self.tolerance:
                return replace(answer, status=Status.OPTIMAL)
            reason = self.monitor.stopped()
            if reason is not None:
                return replace(best, status=reason)
            theta = descent.on_cone(np.r_[answer.coef, answer.intercept, 0.0])
            unexplained = gap * max(place.evaluation.value, SMALL_OBJECTIVE) > _EXPLAINED * place.evaluation.slack
            if unexplained and place.rest > _LEAST_REST:
                # Multipliers of a few observations left their range in the last step: go on until none does.
                rest = max(1e-2 * place.rest, _LEAST_REST)
                place = descent.descend(loss, theta, place.half_width, hessian, rest=rest)
            elif place.half_width > self._smooth_width(place.evaluation):
                width = min(0.5 * place.half_width, max(self._target_width(place), 0.25 * place.half_width))
                place = descent.descend(loss, theta, width, hessian)
            else:
                break
            answer, gap = self._certified(loss, place)
            if gap < least:
                best, least = answer, gap
        return best if descent.by_products else self._exact(best, place.half_width)

    def _exact(self, rough: RawSolution, half_width: float) -> RawSolution:
        """The windows, from where the smoothing ended."""
        earlier = self.monitor.seconds
        answer = solve_windows(
            self.problem,
            tolerance=self.tolerance,
            time_limit=self.monitor.remaining,
            start=(rough.coef, rough.intercept),
            radius=max(0.1, 2 * half_width),
            stopped=self.monitor.stopped,
        )
        for seconds, objective, lower_bound in answer.history:
            self.monitor.record(objective, lower_bound, earlier + seconds)
        if answer.status is not Status.OPTIMAL and not self._proves_more(answer, rough):
            # The windows keep the better point, but may have had no time for a bound.
            answer = replace(answer, multipliers=rough.multipliers)
        return replace(
            answer,
            iterations=answer.iterations + self.descent.iterations,
            timings=Timings(solve=self.monitor.seconds),
            history=tuple(self.monitor.history),
        )

    def _proves_more(self, answer: RawSolution, rough: RawSolution) -> bool:
        bounds = [
            certify(self.problem, answer.coef, answer.intercept, play.multipliers)[0].lower_bound
            for play in (answer, rough)
        ]
        return bounds[0] >= bounds[1]

    def _certified(self, loss: Loss, place: Place) -> tuple[RawSolution, float]:
        """The point after a last step, with the multipliers linearised in it, and its gap.

        The step is refined until the dual constraint is met to a tenth of the tolerance: the Hessian may be that of
        a subsample.
        """
        program, descent = self.problem.program, self.descent
        theta, evaluation = place.theta, place.evaluation
        step, multipliers = np.zeros_like(theta), evaluation.multipliers
        bound = dual_bound(self.problem, theta[:-2], multipliers).bound
        allowed = 0.1 * self.tolerance * max(evaluation.value, SMALL_OBJECTIVE)
        for _ in range(_REFINEMENTS):
            gradient = loss.direction_sum(multipliers)
            more = proximal_step(program, place.curvature, gradient, theta + step, descent.spread)
            if descent.too_far(step + more, theta):
                break
            step = step + more
            multipliers = linearised(loss, evaluation, step)
            before, bound = bound, dual_bound(self.problem, (theta + step)[:-2], multipliers).bound
            if bound - before <= allowed:
                break
        evaluation.release()
        coef, intercept = (theta + step)[:-2], float((theta + step)[-2])
        objective = self.problem.objective(coef, intercept)
        if objective > evaluation.value + descent.penalty(theta):
            # Too long a step, though its multipliers may prove something.
            coef, intercept = theta[:-2], float(theta[-2])
            objective = self.problem.objective(coef, intercept)
        certificate, _ = certify(self.problem, coef, intercept, multipliers, objective)
        self.monitor.record(certificate.objective, certificate.lower_bound)
        return RawSolution(
            coef,
            intercept,
            self.monitor.stopped() or Status.ITERATION_LIMIT,
            multipliers,
            descent.iterations,
            Timings(solve=self.monitor.seconds),
            history=tuple(self.monitor.history),
        ), certificate.gap

    def _rough_start(self, sample: Sample) -> Array:
        """The difference of the class means, at the best of a few lengths."""
        problem = Problem(self.problem.program, sample)
        intercept = problem.null_intercept()
        direction = sample.mean_difference * self.descent.unit**2
        lengths = (0.1, 0.3, 1.0, 3.0)
        best = min(lengths, key=lambda length: problem.objective(length * direction, intercept))
        return self.descent.on_cone(np.r_[best * direction, intercept, 0.0])

    def _target_width(self, place: Place) -> float:
        """The half-width at which the smoothing leaves a third of the tolerance open: what is open falls as h²."""
        evaluation = place.evaluation
        objective = evaluation.value + self.descent.penalty(place.theta)
        allowed = 0.3 * self.tolerance * max(objective, SMALL_OBJECTIVE)
        if evaluation.slack <= 0:
            return math.inf
        return evaluation.half_width * math.sqrt(min(1.0, allowed / evaluation.slack))

    def _smooth_width(self, evaluation: Evaluation) -> float:
        """The half-width at which the band holds just enough margins to be treated as smooth."""
        if self.descent.by_products:
            return 0.0  # there is no other way to end
        margins = evaluation.band * self.problem.n_margins
        needed = (_SMOOTH_FROM if self.problem.program.is_linear else _SMOOTH_FROM_CONIC) * (
            self.problem.sample.n_features + 1
        )
        return evaluation.half_width * needed / margins if margins > 0 else math.inf


def _subsamples(full: Sample) -> list[Sample]:
    """Nested in size, each with more observations than features, the largest well below the whole."""
    size = max(full.n_pos, full.n_neg)
    generator = np.random.default_rng(0)
    levels = []
    level = _FIRST
    while 3 * level < size:
        if level >= full.n_features:
            levels.append(level)
        level *= _GROWTH
    # The largest is drawn first and the others from it: one look at the whole, which may be out of memory.
    samples: list[Sample] = []
    for level in reversed(levels):
        samples.insert(0, _subsample(samples[0] if samples else full, level, generator))
    return samples


def _reusable(hessian: Hessian | None, sample: Sample) -> Hessian | None:
    """The Hessian of the sample before, where computing one for this sample would not pay."""
    return hessian if max(sample.n_pos, sample.n_neg) > _HESSIAN_UP_TO else None


def _subsample(sample: Sample, size: int, generator: np.random.Generator) -> Sample:
    """At most `size` observations of either class, drawn with replacement."""
    drawn = [
        generator.integers(0, count, size) if count > size else np.arange(count)
        for count in (sample.n_pos, sample.n_neg)
    ]
    shares = [share[rows] for share, rows in zip((sample.share_pos, sample.share_neg), drawn, strict=True)]
    X_pos, X_neg = sample.take(*drawn)
    share_pos, share_neg = (share / share.sum() for share in shares)
    return Sample(X_pos, X_neg, share_pos, share_neg, sample.prior_pos, sample.positive, sample.weighted)
