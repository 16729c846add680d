"""The last step of a smoothed solve, and the dual point that certifies where it ends."""

from __future__ import annotations

import numpy as np

from auclab.precision import LITTLE, PART_OF_GAP, SMALL_OBJECTIVE
from auclab.solvers.certificate import certify, certify_scorers
from auclab.solvers.newton.damped_newton import Iterate
from auclab.solvers.newton.state import State
from auclab.solvers.raw import RawSolution
from auclab.solvers.smoothed.evaluation import SmoothedLoss
from auclab.solvers.smoothed.row_products import with_secant
from auclab.solvers.solution import Certificate
from auclab.solvers.verified.scorers import proves_by_slopes
from auclab.solvers.verified.value import dual_bound
from auclab.types import Array, Status


def certified_step(state: State, loss: SmoothedLoss, iterate: Iterate, other: Array | None = None) -> Certificate:
    """Take one more step, and keep the best point and the best proof; the certificate in working precision.

    The hinge of all pairs, points or hardest negatives is proved by the multipliers linearised in the step; any other
    loss, and pairs within groups, by the slopes of the smoothed loss at a point (`auclab.solvers.verified.scorers`).
    `other` is a further point that may be the best.
    """
    prove = _by_slopes if proves_by_slopes(state.problem.program) else _by_multipliers
    return prove(state, loss, iterate, [] if other is None else [other])


def _by_multipliers(state: State, loss: SmoothedLoss, iterate: Iterate, others: list[Array]) -> Certificate:
    """Iterative refinement of the step until the bound is close, because its Hessian may be that of a subsample."""
    problem, method = state.problem, state.method
    theta, evaluation = iterate.theta, iterate.evaluation
    step, multipliers, hessian = np.zeros_like(theta), evaluation.multipliers, iterate.hessian
    negative_gradient = loss.direction_sum(multipliers)
    bound = dual_bound(problem, theta[:-2], _of_pairs(multipliers), negative_gradient[:-2]).bound
    rise, rose, wanted = np.inf, np.inf, state.tolerance * max(evaluation.value, SMALL_OBJECTIVE)
    enough = state.smoothed_value - PART_OF_GAP * wanted
    # If the rises do not decrease, the Hessian is too inaccurate.
    while bound < enough and rise > LITTLE * wanted and rise <= rose:
        correction = method.step(hessian, negative_gradient, theta + step)
        if method.is_too_long(step + correction, theta):
            break
        step = step + correction
        multipliers = loss.linearised(evaluation, step)
        before, negative_gradient = negative_gradient, loss.direction_sum(multipliers)
        if isinstance(hessian, np.ndarray):
            hessian = with_secant(hessian, correction, before - negative_gradient)
        proved = dual_bound(problem, (theta + step)[:-2], _of_pairs(multipliers), negative_gradient[:-2]).bound
        rise, rose, bound = proved - bound, rise, proved
    evaluation.release()
    # The multipliers of a step that is too long may prove a bound although its point is worse.
    measured = [state.measured(theta + step)]
    if measured[0][0] - bound > wanted:
        measured += map(state.measured, [theta, *others])
    objective, coef, intercept = min(measured, key=lambda point: point[0])
    marginals, share_neg = _of_pairs(multipliers), multipliers[2] if len(multipliers) > 2 else None
    certificate, _ = certify(problem.dual_problem(share_neg, marginals[1]), coef, intercept, marginals, objective)
    point = RawSolution(coef, intercept, Status.ITERATION_LIMIT, marginals, share_neg=share_neg)
    return state.consider(point, certificate)


def _by_slopes(state: State, loss: SmoothedLoss, iterate: Iterate, others: list[Array]) -> Certificate:
    """The slopes at the minimum, which can be recomputed from the point; others if these do not prove enough.

    * Those after the step: it may have promised less than rounding.
    * Those at the minimum for other points: it is off the kinks by about the half-width.
    """
    theta = iterate.theta
    step = state.method.step(iterate.hessian, loss.direction_sum(iterate.evaluation.multipliers), theta)
    iterate.evaluation.release()
    found: list[Certificate] = []
    for at, of_slopes in ((theta, theta), (theta + step, theta + step), *((other, theta) for other in others)):
        if found and state.is_certified:
            break
        objective, coef, intercept = state.measured(at)
        scorers = ((1.0, *state.measured(of_slopes)[1:], iterate.half_width),)
        certificate, *_ = certify_scorers(state.problem, coef, objective, scorers)
        point = RawSolution(coef, intercept, Status.ITERATION_LIMIT, scorers=scorers)
        found.append(state.consider(point, certificate))
    return min(found, key=lambda certificate: certificate.gap)


def _of_pairs(multipliers: tuple[Array, ...]) -> tuple[Array, Array]:
    """The multipliers without the r of `PartialLoss`."""
    return multipliers[0], multipliers[1]
