"""From the weights of the cuts in the master to the multipliers that prove its lower bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.precision import HALF_OF_DIGITS
from auclab.solvers.certificate import certify, certify_scorers
from auclab.solvers.cutting_plane.cuts import Cut, cut_multipliers
from auclab.solvers.monitor import Monitor
from auclab.solvers.raw import RawSolution
from auclab.solvers.verified.scorers import proves_by_slopes
from auclab.types import Array, Status

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
