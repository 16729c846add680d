"""The state of a solve: its last minimum, the best certificate, and the remaining finishes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.solvers.certificate import relative_gap
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.damped_newton import DampedNewton
from auclab.solvers.raw import RawSolution
from auclab.solvers.smoothed.evaluation import Evaluation
from auclab.solvers.solution import Certificate
from auclab.types import Array, Status


class Finish(Protocol):
    """A way to end a solve, tried before the first step, at every minimum over all observations, and at the end."""

    def may(self, state: State) -> bool:
        """Whether it applies here."""

    def attempt(self, state: State) -> RawSolution | None:
        """The solution, or None if the solve continues, perhaps from a better point; called once."""


@dataclass(frozen=True)
class Best:
    """The point of least objective and the multipliers of the largest bound, which may belong to different minima.

    The multipliers of a converged minimum prove a bound close to the optimum while its point, slightly off the kinks,
    is still far from optimal; in a very narrow band rounding makes the multipliers worse again.
    """

    point: RawSolution
    proof: RawSolution
    objective: float
    bound: float

    @classmethod
    def of(cls, before: Best | None, solution: RawSolution, certificate: Certificate) -> Best:
        """The better of the previous best and another solution."""
        found = cls(solution, solution, certificate.objective, certificate.lower_bound)
        if before is None:
            return found
        least, largest = min(before, found, key=lambda b: b.objective), max(before, found, key=lambda b: b.bound)
        return cls(least.point, largest.proof, least.objective, largest.bound)

    @property
    def gap(self) -> float:
        """The relative gap of the point with the multipliers."""
        return relative_gap(self.objective, self.bound)


@dataclass
class State:
    """The state of a running solve.

    `tolerance`: relative gap. `finishes`: those that have not been attempted. `start`: a point near the optimum that
    was given. `theta` (n_features + 2,): ``(w, b, ‖w‖)``, the last minimum. `half_width`: that of its band, or of the
    next one. `evaluation`: the smoothed loss at the last minimum, of all observations or of a subsample; None before
    the first step. `hessian` (n_features + 2, n_features + 2): what of a subsample's Hessian may serve in place of that
    of more observations. `best`: what has been certified. `ended`: whether the band narrows no more.
    """

    problem: Problem
    tolerance: float
    monitor: Monitor
    method: DampedNewton
    finishes: list[Finish]
    start: tuple[Array, float] | None
    theta: Array
    half_width: float
    evaluation: Evaluation | None = None
    hessian: Array | None = None
    best: Best | None = None
    ended: bool = False

    def finished(self) -> RawSolution | None:
        """The solution of the first finish that applies and succeeds."""
        for finish in list(self.finishes):
            if finish.may(self):
                self.finishes.remove(finish)
                solution = finish.attempt(self)
                if solution is not None:
                    return solution
        return None

    @property
    def smoothed_value(self) -> float:
        """The smoothed objective at the last minimum."""
        assert self.evaluation is not None
        return self.evaluation.value + self.method.penalty(self.theta)

    @property
    def gap(self) -> float:
        """The certified relative gap; infinite before the first certificate."""
        return math.inf if self.best is None else self.best.gap

    @property
    def is_certified(self) -> bool:
        """Whether the best point has the gap that is wanted."""
        return self.gap <= self.tolerance

    def solution(self) -> RawSolution:
        """The best point with the multipliers of the largest bound."""
        assert self.best is not None
        status = Status.OPTIMAL if self.is_certified else self.monitor.stopped() or Status.ITERATION_LIMIT
        return replace(
            self.best.proof,
            coef=self.best.point.coef,
            intercept=self.best.point.intercept,
            status=status,
            iterations=self.method.iterations,
            timings=Timings(solve=self.monitor.seconds),
            history=tuple(self.monitor.history),
        )

    def measured(self, theta: Array) -> tuple[float, Array, float]:
        """The objective at the feasible point nearest to one, and its w and b."""
        theta = self.method.feasible(theta)
        coef, intercept = theta[:-2], float(theta[-2])
        return self.problem.objective(coef, intercept), coef, intercept

    def consider(self, point: RawSolution, certificate: Certificate) -> Certificate:
        """Keep the point and the bound if they are better; returns the certificate."""
        self.monitor.record(certificate.objective, certificate.lower_bound)
        if not point.scorers:
            self.best = Best.of(self.best, point, certificate)
        elif self.best is None or certificate.gap < self.best.gap:
            self.best = Best.of(None, point, certificate)  # which is proved by its own slopes
        return certificate
