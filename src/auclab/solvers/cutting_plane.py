"""Cutting planes with a level: cuts, bound, step, until the gap is proved.

Every point gives a cut of the loss in O(m log m) (`cuts`). The master problem, the minimum of the largest cut plus the
penalty, is a lower bound; the next point is the projection of the prox centre, the best point so far, onto the level
set of the model, in the metric of the scores. The weights of the cuts in the master combine their marginals to the
multipliers that prove the bound (`proof`).

Linear programs have their master in HiGHS, warm-started from step to step, the others in Clarabel, and with many
features in a small space (`subspace`). Without a penalty the first masters have no minimum nearby: theirs is taken in a
box, and the bound is claimed once the box has been lifted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, Status
from auclab._core.compiling import compile_loops
from auclab._core.tolerances import EQUAL, HALF_OF_DIGITS, SMALL_OBJECTIVE, TOLERANCE
from auclab.certificates.scorers import proves_by_slopes
from auclab.formulations.base import Program
from auclab.formulations.problem import Problem
from auclab.formulations.programs import row_with
from auclab.models.bundle import Cuts, LinearMaster, MasterPoint, minimise_model, project_on_level, proved_bound
from auclab.models.timings import Timings
from auclab.solvers.budget import DENSE_FEATURES, KEPT_BYTES
from auclab.solvers.canonical import nearest_feasible
from auclab.solvers.certificate import certify, certify_scorers
from auclab.solvers.monitor import Monitor
from auclab.solvers.registry import is_linear
from auclab.solvers.solution import RawSolution
from auclab.solvers.subspace import (
    Cut,
    Span,
    Sparse,
    Whole,
    cut_multipliers,
    metric_length,
    space_for,
    start_points,
    supporting_cut,
)

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
#: The part of a gap, or of a step, that does not count.
LITTLE = 0.1
#: Steps after which the method, which converges in far fewer, is stopped.
MOST_STEPS = 200
#: Weights ≥ 0 with a sum of at most 1 (up to rounding), and their cuts: ``Σ weight·cut`` bounds the loss from below.
CutCombination = Sequence[tuple[float, Cut]]


def proved_solution(
    problem: Problem,
    coef: Array,
    intercept: float,
    combination: CutCombination,
    *,
    status: Status,
    iterations: int,
    monitor: Monitor,
) -> tuple[RawSolution, float]:
    """A point with the multipliers of a combination of cuts, and its certified relative gap.

    Bounds in the history are capped at the bound that is finally proved: a larger one of the master was rounding.
    """
    sample = problem.sample
    total = max(1.0, sum(weight for weight, _ in combination))
    objective = problem.objective(coef, intercept)
    if proves_by_slopes(problem.program):
        total *= 1.0 + 2.0**-50  # so that the sum of the rounded weights is at most 1, exactly
        points = [(weight / total, cut.theta) for weight, cut in combination if cut.theta is not None and weight > 0]
        scorers = tuple((weight, theta[:-2], float(theta[-2]), HALF_OF_DIGITS) for weight, theta in points)
        certificate = certify_scorers(problem, coef, objective, scorers or [(1.0, coef, intercept, 0.0)])[0]
        timings, history = Timings(solve=monitor.seconds), tuple(monitor.history)
        found = RawSolution(coef, intercept, status, None, iterations, timings, history=history, scorers=scorers)
        return found, certificate.gap
    varies = problem.program.comparisons.capacity(sample) is not None
    multipliers = np.zeros(sample.n_pos), np.zeros(sample.n_neg), *([np.zeros(sample.n_neg)] if varies else [])
    for weight, cut in combination:
        for sums, part in zip(multipliers, cut_multipliers(problem, cut), strict=True):
            sums += weight / total * part
    (pos, neg), share_neg = multipliers[:2], multipliers[2] if varies else None
    certificate, _ = certify(problem.dual_problem(share_neg, neg), coef, intercept, (pos, neg), objective)
    proved = certificate.lower_bound
    solution = RawSolution(
        coef,
        intercept,
        status,
        (pos, neg),
        iterations,
        Timings(solve=monitor.seconds),
        history=tuple((seconds, value, min(bound, proved)) for seconds, value, bound in monitor.history),
        share_neg=share_neg,
    )
    return solution, certificate.gap


#: Relative position of the level between lower bound and best value (measured: 0.5 takes a third more steps).
_LEVEL = 0.8
#: In a span, relative step towards the minimum (measured: half as many steps as with the level, each at half the cost).
_SPAN_STEP = 0.4
#: A bundle holds this many cuts and two per variable; those that have been inactive for longest are dropped first.
_MIN_CUTS = 60


def solve(problem: Problem, monitor: Monitor, *, max_iters: int = 5_000) -> RawSolution:
    """Solve a convex hinge program, partial AUC included, to a certified relative gap.

    Parameters
    ----------
    problem : Problem
        A program of the kind ``hinge`` or ``cvar`` (partial AUC), with any norm, and its sample. Over all pairs or
        points the sample may be in blocks.
    monitor : Monitor
        Has the relative gap ``(objective − lower_bound) / max(|objective|, 1e-3)`` at which to stop, and the time; the
        result is then the best point so far with the bound proved so far.
    max_iters : int ≥ 1
        Cuts at most, the same as evaluations of the loss.

    Returns
    -------
    RawSolution

    See Also
    --------
    auclab.solvers.newton.solver.solve : Faster on large samples with few features.

    Notes
    -----
    The level method of Lemaréchal, Nemirovskii & Nesterov (1995), "New variants of bundle methods", with the best point
    as prox centre. Cuts of pairwise hinges from sorted scores: Joachims (2006), "Training linear SVMs in linear time".
    """
    compiling = compile_loops(*problem.program.comparisons.loops["cuts"])
    monitor.start()
    solution = BundleSolve(problem, monitor).solve(max_iters)
    return replace(solution, timings=replace(solution.timings, compile=compiling))


class BundleSolve:
    """One solve: bundle, prox centre, and proved bound. Points are θ = (x, b, t) with ``w = x·unit``."""

    def __init__(self, problem: Problem, monitor: Monitor):
        self.problem, self.program, self.monitor, self.tolerance = problem, problem.program, monitor, monitor.tolerance
        sample, n = problem.sample, problem.sample.n_features
        self.many_features = n > DENSE_FEATURES
        self.unit = 1.0 / sample.spread
        if self.many_features and self.program.uses_norm and self.program.regulariser.norm.is_euclidean:
            # With one unit for all features lengths in x are those of the l2 norm, as a span requires.
            self.unit = np.full(n, float(np.median(self.unit)))
        self.to_theta = np.r_[self.unit, 1.0, 1.0]
        self.space: Whole | Span | Sparse = space_for(problem, self.unit, self.many_features)
        in_highs = is_linear(self.program) and not self.space.is_working_set
        self.constraints = problem.constraints
        self.master = LinearMaster(self.program, self.unit, self.constraints) if in_highs else None
        self.cuts: list[Cut] = []
        self.max_cuts = _MIN_CUTS + 2 * min(n, DENSE_FEATURES)
        if self.many_features:
            self.max_cuts = max(_MIN_CUTS, min(self.max_cuts, KEPT_BYTES // (8 * n)))
        self.by_slopes = proves_by_slopes(self.program)
        size = 8 * (sample.n_pos + sample.n_neg) * self.max_cuts
        self.keep_multipliers = size <= KEPT_BYTES and not self.by_slopes
        self.center = np.zeros(n + 2)
        self.best, self.lower, self.highest_lower, self.iterations = math.inf, 0.0, 0.0, 0
        self.combination: list[tuple[float, Cut]] = []
        # Without a penalty the minimum of a model with few cuts may be anywhere.
        self.radius = 1.0 if self.master and self.program.regulariser.weight == 0 else math.inf
        self.step_length = 1.0
        self.previous, self.steps_without_rise, self.stalled_steps = (-math.inf, math.inf), 0, 0

    def solve(self, max_iters: int) -> RawSolution:
        """Cut, bound, step, until the gap is proved or a limit is reached."""
        sparse_start = self.space.is_working_set
        for theta in start_points(self.problem, self.unit, _MIN_CUTS if sparse_start else None):
            self.space.include(theta)
            self._add_cut(theta)
        allowed, status, earlier = self.tolerance, Status.ITERATION_LIMIT, self.combination
        while True:
            point = self._model_minimum(self.radius)
            if point.boxed and self._gap(self._model_value(point)) <= 0.5 * allowed:
                self.radius *= 4.0
                point = self._model_minimum(math.inf)
            self.highest_lower = max(self.highest_lower, self.lower)
            self.monitor.record(self.best, self.highest_lower)
            if self._gap(self.lower) <= allowed:
                solution, proved_gap = self._solution(Status.OPTIMAL, self.combination)
                if proved_gap <= self.tolerance:
                    return solution
                # Rounding in the master: require more, and start it from a basis without rounding.
                earlier, allowed, self.lower, self.combination = self.combination, 0.3 * allowed, 0.0, []
                if self.master:
                    self.master.restart()
            reason = self.monitor.stopped()
            if reason is not None:
                status = reason
                break
            stalled = self.stalled_steps >= MOST_STEPS
            if self.iterations >= max_iters or stalled or allowed < 1e-3 * self.tolerance:
                break
            self._add_cut(self._next_point(point))
        if not self.combination:
            self._model_minimum(math.inf)
        solutions = [self._solution(status, combination) for combination in (self.combination, earlier)]
        return min(solutions, key=lambda solution_and_gap: solution_and_gap[1])[0]

    def _add_cut(self, theta: Array) -> None:
        """Evaluate the loss at a point and add its cut to the model."""
        theta = self._feasible(theta)
        theta[-1] = self.program.used_norm(theta[:-2] * self.unit)
        loss, slope, cut = supporting_cut(self.problem, theta * self.to_theta, keep_multipliers=self.keep_multipliers)
        value = loss + self.program.regulariser.value(theta[:-2] * self.unit)
        if value < self.best:
            self.best, self.center = value, theta
            if self.by_slopes:
                # The slopes at a point alone: near the minimum of a smooth loss their bound exceeds the master's.
                coef, intercept = theta[:-2] * self.unit, float(theta[-2])
                found, *_ = certify_scorers(self.problem, coef, self.best, [(1.0, coef, intercept, HALF_OF_DIGITS)])
                if found.lower_bound > self.lower:
                    self.lower, self.combination = found.lower_bound, [(1.0, cut)]
        cut.last_active = self.iterations
        slope = slope * self.to_theta
        self.cuts.append(cut)
        self.space.add(slope)
        if self.master:
            self.master.add(cut.constant, slope)
        self.iterations += 1
        if len(self.cuts) > self.max_cuts:
            self._drop_inactive()

    def _feasible(self, theta: Array) -> Array:
        """A copy of a point, moved onto the constraints where the rounding of a model violates them."""
        theta = theta.copy()
        if self.constraints is not None:
            coef = nearest_feasible(self.constraints, theta[:-2] * self.unit, 1.0 / self.unit)
            if coef is not None:
                theta[:-2] = coef / self.unit
        return theta

    def _drop_inactive(self) -> None:
        """Drop the tenth of the cuts that have been inactive for longest, but none of those that prove the bound."""
        proving = {id(cut) for weight, cut in self.combination if weight > TOLERANCE}
        last_active = np.array([math.inf if id(cut) in proving else cut.last_active for cut in self.cuts])
        oldest = np.argsort(last_active, kind="stable")[: max(1, len(last_active) // 10)]
        dropped = np.sort(oldest[np.isfinite(last_active[oldest])])
        if self.master:
            self.master.remove(dropped)
        kept = np.setdiff1d(np.arange(len(self.cuts)), dropped)
        self.cuts = [self.cuts[k] for k in kept]
        self.space.keep(kept, self.center)

    def _model_minimum(self, radius: float) -> MasterPoint:
        """The minimum of the master in a box of this radius; the bound rises if the box is not active."""
        if self.master:
            size = max(1.0, float(np.abs(self.center[:-2]).max()))
            point = self.master.minimise(self.center, radius * size, self.monitor.call_limit)
        else:
            point = self._conic_minimum()
        self._mark_active(point.weights > TOLERANCE)
        if not point.boxed and point.value > self.lower:
            self.lower = min(point.value, self.best)
            self.combination = [(float(point.weights[k]), self.cuts[k]) for k in np.flatnonzero(point.weights)]
        return point

    @property
    def _program_in_space(self) -> Program:
        """The program with its norm as one of the points of the space."""
        norm = self.program.regulariser.norm
        narrowed = self.space.norm(norm)
        return (
            self.program
            if narrowed is norm
            else row_with(self.program, regulariser=self.program.regulariser.with_norm(narrowed))
        )

    def _conic_minimum(self) -> MasterPoint:
        """The master in the space; over all features once those of largest reduced cost have entered."""
        space, program = self.space, self._program_in_space
        while True:
            point = minimise_model(
                program,
                space.unit,
                self._model(),
                space.narrow(self.center),
                self.monitor.call_limit,
                self.constraints,
            )
            point = replace(point, theta=space.widen(point.theta))
            if not isinstance(space, Sparse):  # the other spaces have no reduced costs
                return point
            slope, t = space.combine(point.weights), float(point.theta[-1])
            constant = float(sum(weight * cut.constant for weight, cut in zip(point.weights, self.cuts, strict=True)))
            bound = max(0.0, proved_bound(self.program, self.unit, constant, slope, t))
            penalty_slope = program.regulariser.slope(t)
            close = point.value - bound <= LITTLE * (self.best - point.value)
            if not space.enter(slope, penalty_slope - slope[-1]) or close or self.monitor.stopped():
                return replace(point, value=bound)

    def _model_value(self, point: MasterPoint) -> float:
        """The model's minimum within the box, between the proved bound and the best value."""
        return min(max(point.value, self.lower), self.best)

    def _next_point(self, minimiser: MasterPoint) -> Array:
        """The projection of the prox centre onto the level set; a point towards the minimiser if need be."""
        lowest = self._model_value(minimiser)
        # Steps in which the model's minimum did not rise, and those in which the best value did not fall either.
        rise, fall = lowest - self.previous[0], self.previous[1] - self.best
        self.steps_without_rise = 0 if rise > EQUAL * self.best else self.steps_without_rise + 1
        self.stalled_steps = 0 if max(rise, fall) > EQUAL * self.best else self.stalled_steps + 1
        self.previous = lowest, self.best
        if self.steps_without_rise and self.steps_without_rise % FEW_STEPS == 0:
            # The model's minimum no longer changes: if the model is exact there, this point is the last.
            self.space.include(minimiser.theta)
            return minimiser.theta
        if self.space.is_span and self.program.uses_norm:
            # The l2 norm keeps the minimiser near, and a step towards it does as well as the level.
            return (1.0 - _SPAN_STEP) * self.center + _SPAN_STEP * minimiser.theta
        level = lowest + _LEVEL * (self.best - lowest)
        space, model = self.space, self._model()
        center, metric = space.narrow(self.center), space.metric
        projection = project_on_level(
            self._program_in_space,
            space.unit,
            model,
            center,
            level,
            metric,
            self.step_length,
            self.monitor.call_limit,
            self.constraints,
        )
        if projection is None or not np.isfinite(projection[0]).all():
            self.space.include(minimiser.theta)
            return _LEVEL * self.center + (1.0 - _LEVEL) * minimiser.theta
        step, multipliers = projection
        self._mark_active(multipliers > TOLERANCE * max(multipliers.max(), 1e-300))
        self.step_length = min(max(metric_length(step, metric), 1e-12), 1e12)
        return space.widen(center + step)

    def _mark_active(self, active: NDArray[np.bool_]) -> None:
        for k in np.flatnonzero(active):
            self.cuts[k].last_active = self.iterations

    def _model(self) -> Cuts:
        return Cuts(np.array([cut.constant for cut in self.cuts]), self.space.slopes)

    def _solution(self, status: Status, combination: CutCombination) -> tuple[RawSolution, float]:
        coef, intercept = self.center[:-2] * self.unit, float(self.center[-2])
        return proved_solution(
            self.problem, coef, intercept, combination,
            status=status, iterations=self.iterations, monitor=self.monitor,
        )  # fmt: skip

    def _gap(self, bound: float) -> float:
        return (self.best - bound) / max(self.best, SMALL_OBJECTIVE)
