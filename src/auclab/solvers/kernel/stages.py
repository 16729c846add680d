"""The solve in stages: in the span of landmarks, with more landmarks, until the gap over the whole space is proved.

1. Landmarks are chosen for the current dual point (`span_choice`), and the program is solved in their span, where it is
   linear (`span`), by newton from the last point.
2. Its marginals give a lower bound for every function of the space (`space_bound`), and show which observations are
   missing.
3. Both are repeated until the gap is within the tolerance or a limit on landmarks, memory or time is reached. The gap
   is that of the solve in the span plus, to first order, ``‖h‖/(2‖g‖)`` times the squared distance of g to the span;
   each stage aims to divide that by ten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, Status
from auclab._core.tolerances import SMALL_OBJECTIVE
from auclab.solvers.certificate import relative_gap
from auclab.solvers.kernel.solution import Found, Stage
from auclab.solvers.kernel.space_bound import DualPoint, best_between, mixed
from auclab.solvers.kernel.span import PROGRESS, Span, SpanChoice, from_solve, of_zero, residual_of
from auclab.solvers.kernel.training import Training
from auclab.solvers.monitor import Monitor
from auclab.solvers.reformulations import run_solver, with_scaled_parameters
from auclab.solvers.solution import RawSolution
from auclab.solvers.verification import verify

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
#: The part of a gap, or of a step, that does not count.
LITTLE = 0.1
#: The gap of a first, rough solve, which others refine.
ROUGH = 1e-2
#: Gains over a constant scorer up to which they count as 0.
_LEAST_GAIN_OF_ALL = 1e-5
#: The z of a strictly feasible dual point is at least this fraction of z.
_LEAST_THRESHOLD = 0.5


@dataclass(frozen=True)
class Point:
    """A scorer on landmarks and its objective."""

    landmarks: NDArray[np.intp]
    coefficients: Array
    intercept: float
    objective: float


class LandmarkSolve:
    """One solve.

    `tolerance`: relative gap at which to stop. `most`: landmarks. `start`: a finished one on the same sample, with
    another λ or z: its span, its scorer and its dual point are where this one begins. `of_gain`: whether the tolerance
    is also relative to what the objective gains over a constant scorer, where that is less than the objective: with a
    large λ a constant one is within any other tolerance.
    """

    def __init__(
        self,
        training: Training,
        tolerance: float,
        most: int,
        monitor: Monitor,
        *,
        start: LandmarkSolve | None = None,
        of_gain: bool = False,
    ) -> None:
        self.training, self.monitor = training, monitor
        self._tolerance, self._of_gain = tolerance, of_gain
        self.program, self.matrix = training.program, training.matrix
        self.choice, labels = SpanChoice(training, most), training.labels
        self.intercept = training.program.null.intercept(labels)
        null = training.program.null.value(labels)
        self.point = Point(self.choice.span.landmarks, self.choice.coef, self.intercept, null)
        self.bound, self.best = 0.0, of_zero(training)
        self.iterations = 0
        self.stages: list[Stage] = []
        self._is_exact, self._solve_part = False, LITTLE
        self._raise_bound(self.best)
        self._is_started = start is not None and start.choice.span.size > 0
        if start is not None and self._is_started:
            self._begin_at(start)

    def _begin_at(self, start: LandmarkSolve) -> None:
        """Start from the span, scorer and dual point for the same sample at another λ or z."""
        span, coef, self.intercept = start.choice.span, start.choice.coef, start.intercept
        self.choice.take(span, coef)
        objective = self.training.in_features(span.features).objective(coef, self.intercept)
        self._lower_objective(coef, objective)
        self._raise_bound(start.best)  # a dual point of one λ is one of every λ

    def solve(self) -> Found:
        """Stage after stage."""
        if self.gap <= self.tolerance:
            return self.found(Status.OPTIMAL)
        dual = last = self.best
        choice = self.choice
        while True:
            before = self.gap
            # The g of another program says little about missing landmarks: the first solve is in its span.
            added = self._is_started or choice.change(dual, self.tolerance * self._unit, self.gap)
            if not added and last is not dual:  # the best bound's g lies in the span, and that of the solve may not
                added = choice.change(last, self.tolerance * self._unit, self.gap)
            self._is_started = False
            raw, dual = self._solve_in_span()
            last = dual
            choice.judge(dual)
            self._raise_bound(self._repaired(dual))
            if self.bound > 0 and choice.cost(self.best) < choice.cost(dual):
                dual = self.best
            self.monitor.record(self.point.objective, self.bound)
            self.stages.append(Stage(self.choice.span.size, self.monitor.seconds, self.point.objective, self.bound))
            if self.gap <= self.tolerance:
                return self.found(Status.OPTIMAL)
            reason = self.monitor.stopped() or (Status.INTERRUPTED if raw.status is Status.INTERRUPTED else None)
            if reason is not None:
                return self.found(reason)
            if added and (choice.span.size < choice.most or self.gap <= (1.0 - LITTLE) * before):
                continue
            if not self._is_exact:
                self._is_exact = True  # the solves in the span are what can still be better
            elif added or choice.most < self.matrix.size:
                note = f"the budget of {choice.most} landmarks is spent; raise max_landmarks or loosen tolerance"
                return self.found(Status.ITERATION_LIMIT, note)
            elif self._solve_part <= LITTLE**3:
                return self.found(Status.ITERATION_LIMIT, "no observation is left that is not in the span already")
            else:
                self._solve_part *= 0.1

    def add_landmarks(self, number: int, *, solving: bool = True) -> None:
        """Landmarks for the component outside the span of the g of the last dual point; and a solve in the span."""
        self.choice.add(self.best, number)
        if solving:
            self.best = self._solve_in_span()[1]

    @property
    def gap(self) -> float:
        """Relative gap to the optimum over the whole space."""
        return relative_gap(self.point.objective, self.bound)

    @property
    def tolerance(self) -> float:
        """Relative gap at which to stop, from the current bounds."""
        if not self._of_gain:
            return self._tolerance
        gain = max(self.training.program.null.value(self.training.labels) - self.bound, _LEAST_GAIN_OF_ALL)
        return self._tolerance * min(1.0, gain / self._unit)

    @property
    def _unit(self) -> float:
        """The number that the gap is divided by."""
        return max(self.point.objective, SMALL_OBJECTIVE)

    def _solve_in_span(self, threshold: float | None = None) -> tuple[RawSolution, DualPoint]:
        """Solve the program in the span, with its own or another z, from the current point.

        If it ends without multipliers, the best dual point so far is returned.
        """
        if not self.choice.span.size:  # g = 0 up to rounding: it says nothing about where to look
            first = np.array([self.matrix.diagonal.argmax()])
            self.choice.take(self.choice.span.extended(self.matrix, first))
        problem = self.training.in_features(self.choice.span.features)
        if threshold is not None:
            program = with_scaled_parameters(self.program, threshold / self.program.threshold)
            problem = type(problem)(program, problem.sample)
        reached = relative_gap(self.point.objective, self.bound) / PROGRESS
        tolerance = self._solve_part * (self.tolerance if self._is_exact else max(self.tolerance, min(reached, 0.1)))
        coef = self.choice.coef
        start = (coef, self.intercept) if coef.any() else None
        raw = run_solver("newton", problem, self.monitor.part(tolerance), start)
        self.iterations += raw.iterations
        if threshold is None:
            self.choice.coef, self.intercept = raw.coef, raw.intercept
            self._lower_objective(raw.coef, problem.objective(raw.coef, raw.intercept))
        return raw, from_solve(self.training, problem, raw, self.choice.span) or self.best

    def _lower_objective(self, coef: Array, objective: float) -> None:
        """Keep a scorer in the span if it is the best so far."""
        span = self.choice.span
        if objective < self.point.objective:
            self.point = Point(span.landmarks, span.coefficients(coef), self.intercept, objective)

    def _repaired(self, dual: DualPoint) -> DualPoint:
        """The dual point, or with z < 0 its mixture with that of a z nearer to 0, which has something to spare."""
        program = self.program
        if program.regulariser.weight > 0 or dual.slack(program.threshold) >= 0 or dual.total == 0:
            return dual
        lacking = residual_of(self.choice.span, dual.dual, dual.product).square
        violation = dual.length**2 - (program.threshold * dual.total) ** 2
        problem, found = self.training.without_features, None
        margin = (2.0 * max(lacking, violation) + 1e-14 * dual.length**2) / dual.total**2
        for _ in range(FEW_STEPS):
            nearer = program.threshold**2 - margin
            if found is not None or nearer < (_LEAST_THRESHOLD * program.threshold) ** 2:
                break
            spare = self._solve_in_span(-math.sqrt(nearer))[1]
            found = mixed(problem, self.matrix, dual, spare)
            if found is None and spare.slack(program.threshold) >= 0:
                found = spare  # it is feasible by itself
            margin *= 10.0
        return found or dual

    def _raise_bound(self, dual: DualPoint) -> None:
        if self.program.regulariser.weight > 0 and self.stages:
            problem = self.training.without_features
            dual = best_between(problem, self.matrix, self.best, dual)
        bound = dual.value(self.program)
        if bound > self.bound or not self.stages:
            self.bound, self.best = bound, dual

    def found(self, status: Status, *notes: str) -> Found:
        """The best point and the best bound so far."""
        return Found(
            landmarks=self.point.landmarks,
            coefficients=self.point.coefficients,
            intercept=self.point.intercept,
            status=status,
            dual=self.best,
            bound=self.bound,
            iterations=self.iterations,
            stages=tuple(self.stages),
            history=tuple(self.monitor.history),
            seconds=self.monitor.seconds,
            notes=notes,
        )


#: Solves on the way to the landmarks of a program without a norm.
_ROUNDS = 3


def solve_without_norm(training: Training, tolerance: float, most: int, monitor: Monitor) -> Found:
    """A program with z = 0 and λ = 0 in the span of `most` landmarks, chosen for the duals of smaller spans.

    Without a norm a bound for the whole space needs ``Σ q d = 0`` there, which only observations of both classes with
    equal rows allow: with a kernel such as "rbf" the infimum over the space is their weight, mostly 0. So what is
    certified is the optimum in the span, and the number of landmarks is what limits the scorer.
    """
    solve = LandmarkSolve(training, ROUGH, most, monitor)
    for k in range(1, _ROUNDS):
        solve.add_landmarks(max(1, most * k // _ROUNDS) - solve.choice.span.size)
        if monitor.stopped() or solve.point.objective <= ROUGH:
            break
    solve.add_landmarks(most - solve.choice.span.size, solving=False)
    return _in_span(training, tolerance, solve.choice.span, monitor)


def _in_span(training: Training, tolerance: float, span: Span, monitor: Monitor) -> Found:
    """The solve in a span with the certificate of a linear program there."""
    problem = training.in_features(span.features)
    raw = run_solver("newton", problem, monitor.part(tolerance))
    solution = verify(problem, raw, "newton", tolerance)
    note = (
        f"{training.program.name} has no norm: the optimum is certified among the scorers in the span of the "
        f"{span.size} landmarks, and max_landmarks limits them"
    )
    return Found(
        landmarks=span.landmarks,
        coefficients=span.coefficients(solution.coef),
        intercept=solution.intercept,
        status=solution.status,
        dual=from_solve(training, problem, raw, span) or of_zero(training),
        bound=solution.lower_bound,
        iterations=solution.iterations,
        stages=(Stage(span.size, monitor.seconds, solution.objective, solution.lower_bound),),
        history=solution.history,
        seconds=monitor.seconds,
        notes=(note, *solution.notes),
        space="span",
        norm_bound=solution.certificate.norm_bound,
    )
