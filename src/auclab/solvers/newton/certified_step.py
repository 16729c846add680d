"""The last step of a smoothed solve, and the multipliers that certify the point it ends at."""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.solvers.certificate import SMALL_OBJECTIVE, certify
from auclab.solvers.newton.damped_newton import RELATIVE_TOLERANCE, Iterate
from auclab.solvers.newton.state import Best, State
from auclab.solvers.raw import RawSolution
from auclab.solvers.smoothed.evaluation import SmoothedLoss
from auclab.solvers.solution import Certificate
from auclab.solvers.verified.value import dual_bound
from auclab.types import Array, Status

#: The refinement ends after this number of steps, or once one raises the bound by less than a part of the tolerance.
_MAX_REFINEMENTS = 8


def certified_step(state: State, loss: SmoothedLoss, iterate: Iterate, other: Array | None = None) -> Certificate:
    """Take one more step; the best point is kept with the multipliers linearised in the step.

    Returns the certificate of this point with these multipliers, in working precision. The step is refined, as
    iterative refinement does with a linear system, until the dual constraint holds to a tenth of the tolerance: the
    Hessian may be that of a subsample. `other` is a third point that may be the best.
    """
    problem, method, monitor = state.problem, state.method, state.monitor
    theta, evaluation = iterate.theta, iterate.evaluation
    step, multipliers = np.zeros_like(theta), evaluation.multipliers
    bound = dual_bound(problem, theta[:-2], _of_pairs(multipliers)).bound
    allowed = RELATIVE_TOLERANCE * state.tolerance * max(evaluation.value, SMALL_OBJECTIVE)
    for _ in range(_MAX_REFINEMENTS):
        negative_gradient = loss.direction_sum(multipliers)
        correction = method.step(iterate.hessian, negative_gradient, theta + step)
        if method.is_too_long(step + correction, theta):
            break
        step = step + correction
        multipliers = _with_one_sum(problem, loss.linearised(evaluation, step))
        before, bound = bound, dual_bound(problem, (theta + step)[:-2], _of_pairs(multipliers)).bound
        if bound - before <= allowed:
            break
    evaluation.release()
    points = [theta, theta + step] if other is None else [theta, theta + step, other]
    if method.constraints is not None:
        points = [method.feasible(point) for point in points]
    # Too long a step may prove something by its multipliers, and end at a worse point.
    objective, place = min((problem.objective(point[:-2], float(point[-2])), k) for k, point in enumerate(points))
    coef, intercept = points[place][:-2], float(points[place][-2])
    share_neg = multipliers[2] if len(multipliers) > 2 else None  # the r of `PartialLoss`
    marginals = _of_pairs(multipliers)
    certificate, _ = certify(problem.dual_problem(share_neg, marginals[1]), coef, intercept, marginals, objective)
    monitor.record(certificate.objective, certificate.lower_bound)
    solution = RawSolution(coef, intercept, Status.ITERATION_LIMIT, marginals, share_neg=share_neg)
    state.best = Best.of(state.best, solution, certificate)
    return certificate


def _with_one_sum(problem: Problem, multipliers: tuple[Array, ...]) -> tuple[Array, ...]:
    """Those of pairs with the sum over either class that they have but for rounding, in place.

    A certificate makes the sums equal, which moves ``Σ q d`` by what they differ by times the means of the columns:
    with a λ of 1e-9 in units of these that is too much, unless the refinement takes it into account.
    """
    if problem.over_pairs:
        sums = [float(part.sum()) for part in multipliers[:2]]
        for part, total in zip(multipliers[:2], sums, strict=True):
            if 0.0 < min(sums) < total:
                part *= min(sums) / total
    return multipliers


def _of_pairs(multipliers: tuple[Array, ...]) -> tuple[Array, Array]:
    """The multipliers without the r of `PartialLoss`."""
    return multipliers[0], multipliers[1]
