"""The best point and the best lower bound of an interior-point method so far."""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.solvers.certificate import certify, relative_gap
from auclab.solvers.monitor import Monitor
from auclab.solvers.raw import RawSolution
from auclab.types import Array, Status

Multipliers = tuple[Array, Array]


class Best:
    """The best point and the best multipliers, which may belong to different steps."""

    def __init__(self, problem: Problem, tolerance: float, monitor: Monitor):
        self.problem, self.tolerance, self.monitor = problem, tolerance, monitor
        null = RawSolution.null(problem, Status.ITERATION_LIMIT)
        self.point, self.objective = (null.coef, null.intercept), problem.objective(null.coef, null.intercept)
        self.multipliers: Multipliers | None = None
        self.share_neg: Array | None = None
        self.bound = 0.0
        self.steps, self.is_late = 0, False

    @property
    def gap(self) -> float:
        """The certified gap."""
        return relative_gap(self.objective, self.bound)

    @property
    def is_found(self) -> bool:
        """Whether the gap is small enough, with a reserve for the rounding errors that the verification subtracts."""
        return self.gap <= 0.9 * self.tolerance

    def consider(self, coef: Array, intercept: float, multipliers: Multipliers, share_neg: Array | None) -> bool:
        """Keep the better point and bound; whether either improved."""
        if not all(np.isfinite(part).all() for part in (coef, *multipliers)):
            return False
        before, objective_before = self.gap, self.objective
        dual = self.problem.dual_problem(share_neg, multipliers[1])
        objective = self.problem.objective(coef, intercept)
        certificate, _ = certify(dual, coef, intercept, multipliers, objective)
        if objective < self.objective:
            self.point, self.objective = (coef, intercept), objective
        if certificate.lower_bound > self.bound or self.multipliers is None:
            self.bound, self.multipliers, self.share_neg = certificate.lower_bound, multipliers, share_neg
        self.monitor.record(self.objective, self.bound)
        return self.gap < before or self.objective < objective_before

    def solution(self) -> RawSolution:
        """The solution that is to be verified."""
        # Whether it is, the verification says: of w = 0 by multipliers of its own.
        reached = Status.OPTIMAL
        if self.gap > self.tolerance:
            reached = Status.TIME_LIMIT if self.is_late else self.monitor.stopped() or reached
        return RawSolution(
            *self.point,
            reached,
            self.multipliers,
            share_neg=self.share_neg,
            iterations=self.steps,
            timings=Timings(solve=self.monitor.seconds),
            history=tuple(self.monitor.history),
        )
