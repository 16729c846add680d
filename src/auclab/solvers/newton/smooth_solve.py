"""Newton's method with multipliers that are slopes of the loss at a point: losses without kinks, and ranked pairs.

A piecewise quadratic loss is its own model near the minimum, so that once no margin changes its piece one step ends
there; what is certified are the slopes at that point (`auclab.solvers.verified.scorers`). Of a loss with kinks they are
those of the smoothed loss at its minimum, and the gap that the smoothing leaves shrinks with its half-width.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.constraint_multipliers import constraint_multipliers
from auclab.models.timings import Timings
from auclab.samples.memory import Sample
from auclab.solvers.certificate import SMALL_OBJECTIVE, certify_scorers, relative_gap
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.damped_newton import DampedNewton, Iterate
from auclab.solvers.newton.positive_definite import EPSILON
from auclab.solvers.newton.state import FIRST_LENGTHS
from auclab.solvers.newton.subsampling import nested_subsamples, ranked_subsamples
from auclab.solvers.raw import RawSolution
from auclab.solvers.smoothed.smoothed_loss import smooth_loss
from auclab.solvers.verified.value import Rounding, dual_value
from auclab.types import Array, Status

#: The first half-width of the band of a loss with kinks, in units of the margins, and the last. All are powers of 2, so
#: that the one at which a point is the minimum can be found again from the point.
_FIRST_WIDTH, _LAST_WIDTH = 0.5, 2.0**-36
#: A width is at most this part of the one before, and at least this part.
_LEAST_NARROWING, _LARGEST_NARROWING = 0.25, 2.0**-6
#: The part of the tolerance that is aimed at in working precision.
_AIM = 0.5

#: Steps after the last one, where the bound is not yet as wanted.
_REFINEMENTS = 2


def solve_smooth(
    problem: Problem, tolerance: float, monitor: Monitor, start: tuple[Array, float] | None
) -> RawSolution:
    """Subsamples, then all observations, until the certified gap is within the tolerance.

    Parameters
    ----------
    problem : Problem
        Of the kind ``piecewise``.
    tolerance : float
        Relative gap.
    monitor : Monitor
    start : (array of shape (n_features,), float), optional
        A point ``(w, b)`` to begin with.
    """
    if not problem.program.comparisons.by_marginals:
        problem = replace(problem, sample=_within_groups(problem.sample))
    program, full = problem.program, problem.sample
    method = DampedNewton(program, full.spread, monitor, problem.constraints)
    samples = [] if start else _subsamples(problem)
    if start:
        theta = method.feasible(np.r_[start[0], start[1], 0.0])
    else:
        theta = _first_point(Problem(program, [*samples, full][0]), method)
    half_width = 0.0 if program.loss.is_smooth else _FIRST_WIDTH
    for sample in samples:
        noise = full.n_features / min(sample.n_pos, sample.n_neg)
        if half_width:
            half_width = min(half_width, _power_of_two(2.0 * math.sqrt(noise)))  # about what margins are off by
        loss, ridge = smooth_loss(problem, sample, monitor.check), noise / full.n_features
        iterate = method.minimise(loss, theta, half_width, noise=noise, ridge=ridge)
        theta = iterate.theta
    if samples and half_width:
        value = max(iterate.evaluation.value, SMALL_OBJECTIVE)
        half_width = _next_width(half_width, iterate.evaluation.smoothing_gap / value, tolerance)
    loss = smooth_loss(problem, full, monitor.check)
    while True:
        iterate = method.minimise(loss, theta, half_width, relative_tolerance=EPSILON)
        theta = iterate.theta if problem.constraints is None else method.feasible(iterate.theta)
        coef, intercept = theta[:-2], float(theta[-2])
        objective = problem.objective(coef, intercept)
        bound = _bound(problem, iterate)
        monitor.record(objective, bound)
        gap, stopped = relative_gap(objective, bound), monitor.stopped()
        if gap <= _AIM * tolerance or stopped is not None or half_width <= _LAST_WIDTH:
            break
        half_width = _next_width(half_width, gap, tolerance)
    scorers = ((1.0, coef, intercept, half_width),)
    certificate, *_ = certify_scorers(problem, coef, objective, scorers)
    for _ in range(_REFINEMENTS):
        if certificate.gap <= tolerance or monitor.stopped():
            break
        # The last step promised less than rounding and was not taken: the slopes there may still be nearer.
        push = loss.direction_sum(iterate.evaluation.multipliers)
        theta = method.feasible(theta + method.step(iterate.hessian, push, theta))
        iterate = method.minimise(loss, theta, half_width, max_steps=0)
        there = ((1.0, theta[:-2], float(theta[-2]), half_width),)
        value = problem.objective(theta[:-2], float(theta[-2]))
        found, *_ = certify_scorers(problem, theta[:-2], value, there)
        if found.gap < certificate.gap:
            coef, intercept, scorers, certificate = theta[:-2], float(theta[-2]), there, found
    status = Status.OPTIMAL if certificate.gap <= tolerance else stopped or Status.ITERATION_LIMIT
    timings, history = Timings(solve=monitor.seconds), tuple(monitor.history)
    return RawSolution(coef, intercept, status, None, method.iterations, timings, history=history, scorers=scorers)


def _within_groups(sample: Any) -> Sample:
    return sample.within_groups()


def _subsamples(problem: Problem) -> list[Sample]:
    draw = nested_subsamples if problem.program.comparisons.by_marginals else ranked_subsamples
    return draw(problem.sample)


def _first_point(problem: Problem, method: DampedNewton) -> Array:
    """The best of w = 0 and some multiples of the mean difference, in units of the variances."""
    direction, intercept = problem.sample.mean_difference * method.unit**2, problem.null_intercept()
    points = [np.r_[length * direction, intercept, 0.0] for length in (0.0, *FIRST_LENGTHS)]
    return min(map(method.feasible, points), key=lambda point: problem.objective(point[:-2], intercept))


def _bound(problem: Problem, iterate: Iterate) -> float:
    """The dual value of the slopes at a minimum, in working precision."""
    evaluation, over_pairs = iterate.evaluation, problem.over_pairs
    pos, neg = evaluation.multipliers
    margins = float(pos.sum()) + (0.0 if over_pairs else float(neg.sum()))
    gradient = problem.sample.combine(pos, neg)
    # φ(a) + ℓ*(α) − αa is the gap, and a is 1 less the margin and the buffer
    along = float(gradient @ iterate.theta[:-2]) + problem.program.threshold * float(iterate.theta[-1]) * margins
    conjugate = evaluation.smoothing_gap - evaluation.value + margins - along
    if not over_pairs:
        conjugate -= float(iterate.theta[-2]) * float(pos.sum() - neg.sum())
    worth = margins - conjugate
    if problem.constraints is not None:
        taken = constraint_multipliers(
            problem.program, problem.constraints, gradient, margins, problem.sample.spread, iterate.theta[:-2]
        )
        gradient, worth = taken.residual(problem.constraints, gradient), worth - taken.cost(problem.constraints)
    return dual_value(problem, iterate.theta[:-2], (pos, neg), margins, worth, gradient, Rounding()).bound


def _next_width(half_width: float, gap: float, tolerance: float) -> float:
    """The width at which the gap is about as wanted: it falls with the square of the width, where many margins are."""
    wanted = math.sqrt(0.25 * _AIM * tolerance / gap) if gap > 0 else 0.0
    part = min(max(wanted, _LARGEST_NARROWING), _LEAST_NARROWING)
    return max(_power_of_two(half_width * part), _LAST_WIDTH)


def _power_of_two(width: float) -> float:
    return float(2.0 ** math.floor(math.log2(width)))
