"""A program over a whole reproducing-kernel space, solved in the span of landmarks until that is proved to be enough.

1. Landmarks are chosen for the dual point at hand (`landmarks`), and the program is solved in their span, where it is a
   linear one (`span`), by newton from the point before.
2. Its marginals give a lower bound for every function of the space (`bound`), and say which observations are missing.
3. Until the gap is within the tolerance or the landmarks, the memory or the time are spent, from 1. The gap is that of
   the solve in the span and, to first order, ``‖h‖/(2‖g‖)`` times the squared distance of g to the span; each stage is
   to make that ten times smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab.solvers.certificate import SMALL_OBJECTIVE, feasible_multipliers, relative_gap
from auclab.solvers.kernel.bound import DualPoint, best_between, dual_point, mixed
from auclab.solvers.kernel.landmarks import Residual, extend, residual_of, superfluous
from auclab.solvers.kernel.result import Found
from auclab.solvers.kernel.solution import Stage
from auclab.solvers.kernel.span import Span
from auclab.solvers.kernel.training import Training
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.solver import solve as solve_newton
from auclab.solvers.raw import RawSolution
from auclab.solvers.scaling import with_scaled_parameters
from auclab.types import Array, Status

#: Landmarks of the first stage, and how many times as many a later one has at least and at most.
_FIRST, _LEAST_GROWTH, _GROWTH = 100, 1.4, 2.5
#: By what each stage is to divide the part of the gap that is due to the span.
_PROGRESS = 10.0
#: Of the tolerance: what the span may cost at the end, and the gap of a solve in it.
_SPAN_PART, _SOLVE_PART = 0.6, 0.2
#: More landmarks are chosen than needed, until their cost is this part of what is allowed, and the worst left out; with
#: a gap above the second number the dual point does not tell which those are.
_OVERSHOOT, _POOR = 0.5, 0.2
#: A dual point whose part outside of the span costs more than this many times what was expected does not tell which
#: landmarks can be left out.
_TRUSTED = 3.0
#: With this part of the observations in the span, the others are added too: none is superfluous then.
_NEARLY_ALL = 0.75
#: At the largest number of landmarks this part of them is exchanged until the gap falls by less than the second number.
_EXCHANGED, _LEAST_GAIN = 0.3, 0.1
#: Gains over a constant scorer that are taken for none.
_LEAST_GAIN_OF_ALL = 1e-5
#: How much smaller than the tolerance the gap of a solve in the span is made where that is what is left.
_LEAST_SOLVE = 1e-3
#: z of the dual point with something to spare is at least this part of z.
_LEAST_THRESHOLD = 0.5
#: Such points that are tried, each with ten times as much to spare.
_SPARES = 4


@dataclass(frozen=True)
class Point:
    """A scorer on landmarks and its objective."""

    landmarks: NDArray[np.intp]
    coefficients: Array
    intercept: float
    objective: float


class LandmarkSolve:
    """One solve.

    Parameters
    ----------
    training : Training
    tolerance : float
        Relative gap at which to stop.
    most : int
        Landmarks.
    monitor : Monitor
    start : LandmarkSolve, optional
        A finished one on the same sample, with another λ or z: its span, its scorer and its dual point are where this
        one begins.
    of_gain : bool
        Whether the tolerance is also relative to what the objective gains over a constant scorer, where that is less
        than the objective: with a large λ a constant one is within any other tolerance.

    See Also
    --------
    auclab.solvers.kernel.solve.solve_kernel : The public function.
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
        self.training, self.most, self.monitor = training, most, monitor
        self._tolerance, self._of_gain = tolerance, of_gain
        self.program, self.matrix = training.program, training.matrix
        self.span = Span.empty(training.matrix)
        labels = training.labels
        self.coef, self.intercept = np.empty(0), training.program.null_intercept(labels)
        self.point = Point(self.span.landmarks, self.coef, self.intercept, training.program.null_value(labels))
        self.bound, self.best = 0.0, self._null_point()
        self.iterations = 0
        self._is_trusted, self._expected, self._is_exact = True, math.inf, False
        self.stages: list[Stage] = []
        self._span_part, self._solve_part = _SPAN_PART, _SOLVE_PART
        self._raise_bound(self.best)
        self._is_started = start is not None and start.span.size > 0
        if start is not None and self._is_started:
            self._begin_at(start)

    def _begin_at(self, start: LandmarkSolve) -> None:
        """What is known of the same sample at another λ or z."""
        self.span, self.coef, self.intercept = start.span, start.coef, start.intercept
        objective = self.training.in_features(self.span.features).objective(self.coef, self.intercept)
        if objective < self.point.objective:
            self.point = Point(self.span.landmarks, self.span.coefficients(self.coef), self.intercept, objective)
        self._raise_bound(start.best)  # a dual point of one λ is one of every λ

    def solve(self) -> Found:
        """Stage after stage."""
        if self.gap <= self.tolerance:
            return self.found(Status.OPTIMAL)
        dual = self.best
        while True:
            before = self.gap
            # What a span lacks of another program's g tells little: the first solve is in that span.
            added = self._is_started or self._choose(residual_of(self.span, dual.dual, dual.product), dual)
            self._is_started = False
            raw = self._solve_in_span()
            dual = self.point_of(raw)
            self._is_trusted = self._cost(dual) <= _TRUSTED * self._expected
            self._raise_bound(self._repaired(raw, dual))
            if self.bound > 0 and self._cost(self.best) < self._cost(dual):
                dual = self.best
            self._record()
            if self.gap <= self.tolerance:
                return self.found(Status.OPTIMAL)
            reason = self.monitor.stopped() or (Status.INTERRUPTED if raw.status is Status.INTERRUPTED else None)
            if reason is not None:
                return self.found(reason)
            if added and (self.span.size < self.most or self.gap <= (1.0 - _LEAST_GAIN) * before):
                continue
            if not self._is_exact:
                self._is_exact = True  # the solves in the span are what can still be better
            elif added or self.most < self.matrix.size:
                note = f"the budget of {self.most} landmarks is spent; raise max_landmarks or loosen tolerance"
                return self.found(Status.ITERATION_LIMIT, note)
            elif self._solve_part <= _LEAST_SOLVE:
                return self.found(Status.ITERATION_LIMIT, "no observation is left that is not in the span already")
            else:
                self._solve_part *= 0.1

    def solve_in(self, span: Span) -> None:
        """The program in a given span, and the bound of its dual point for the whole space."""
        self.span, self.coef = span, np.zeros(span.size)
        raw = self._solve_in_span()
        self._raise_bound(self._repaired(raw, self.point_of(raw)))
        self._record()

    def add_landmarks(self, number: int, *, solving: bool = True) -> None:
        """Landmarks for what the span lacks of the g of the last dual point; and a solve in the span."""
        residual = residual_of(self.span, self.best.dual, self.best.product)
        self.span, _ = extend(self.matrix, self.span, residual, 0.0, number)
        self.coef = np.r_[self.coef, np.zeros(self.span.size - self.coef.size)]
        if solving:
            self.best = self.point_of(self._solve_in_span())

    @property
    def gap(self) -> float:
        """Relative gap to the optimum over the whole space."""
        return relative_gap(self.point.objective, self.bound)

    @property
    def tolerance(self) -> float:
        """Relative gap at which to stop, as far as is known now."""
        if not self._of_gain:
            return self._tolerance
        gain = max(self.training.program.null_value(self.training.labels) - self.bound, _LEAST_GAIN_OF_ALL)
        return self._tolerance * min(1.0, gain / self._unit)

    @property
    def _unit(self) -> float:
        """What the gap is relative to."""
        return max(self.point.objective, SMALL_OBJECTIVE)

    def _null_point(self) -> DualPoint:
        """Every margin with its full weight, where the sums of the classes agree."""
        labels = self.training.labels
        pos, neg = (labels.share_pos, labels.share_neg) if self.program.over == "pairs" else labels.point_weights
        problem = self.training.in_features(np.zeros((self.matrix.size, 1)))
        share = self.program.worst_negatives(np.arange(float(labels.n_neg)), labels)
        if share is not None:
            neg = share
        proving = problem.dual_problem(share, neg)
        return dual_point(proving, self.matrix, *feasible_multipliers(proving, pos, neg), share)

    def _choose(self, residual: Residual, dual: DualPoint) -> bool:
        """Change the span: landmarks for what it lacks of g, less those that it does not need for that."""
        price = self._price(dual)
        goal = self._span_part * self.tolerance * self._unit
        target = max(goal, residual.square * price / _PROGRESS)
        if target < 2.0 * goal:
            # What the dual of the next solve makes of it may be more: then less is allowed.
            target, self._span_part = goal, 0.5 * self._span_part
        if not self._is_trusted:
            target = goal = 0.0
        before, size = self.span.landmarks, self.span.size
        room = self.most + (max(1, int(_EXCHANGED * self.most)) if size else 0) - size
        left = residual
        for growth, allowed in ((_LEAST_GROWTH, goal), (_GROWTH if self._is_trusted else _LEAST_GROWTH, target)):
            count = (int(growth * size) if size else _FIRST) - self.span.size
            left_room = room - (self.span.size - size)
            self.span, left = extend(self.matrix, self.span, left, _OVERSHOOT * allowed / price, min(count, left_room))
        everything = self.most >= self.matrix.size and self.span.size >= _NEARLY_ALL * self.matrix.size
        if everything:
            self.span, left = extend(self.matrix, self.span, left, 0.0, self.matrix.size - self.span.size)
        self.coef = np.r_[self.coef, np.zeros(self.span.size - self.coef.size)]
        added = self.span.size > size
        if size and added and not everything:
            self._leave_out(dual, math.inf, self.span.size - self.most)
            if self.gap <= _POOR and self._is_trusted:
                self._leave_out(dual, target / price - left.square, self.span.size - 1)
        self._expected = max(target, left.square * price)
        return added and not np.array_equal(np.sort(before), np.sort(self.span.landmarks))

    def _leave_out(self, dual: DualPoint, allowed: float, most: int) -> None:
        if most <= 0 or allowed <= 0:
            return
        kept = superfluous(self.span, self.span.values @ dual.dual, allowed, most)
        if not kept.all():
            self.span, Q = self.span.reduced(self.matrix, kept)
            self.coef = Q.T @ self.coef

    def _cost(self, dual: DualPoint) -> float:
        """What the bound loses, to first order, because the span lacks a part of g."""
        return residual_of(self.span, dual.dual, dual.product).square * self._price(dual)

    def _price(self, dual: DualPoint) -> float:
        """What a unit of ``‖r‖²`` costs the bound, to first order."""
        program = self.program
        if program.penalty > 0 and program.squared:
            return 1.0 / (4.0 * program.penalty)
        if program.penalty > 0:
            return max(dual.total, 1e-3) / (2.0 * program.penalty**2)
        length = float(np.linalg.norm(self.coef)) or 1.0 / math.sqrt(self.matrix.largest)
        return length / max(2.0 * dual.length, 1e-300)

    def _solve_in_span(self, threshold: float | None = None) -> RawSolution:
        """The program in the span, or that with another z, from the point at hand."""
        problem = self.training.in_features(self.span.features)
        if threshold is not None:
            program = with_scaled_parameters(self.program, threshold / self.program.threshold)
            problem = type(problem)(program, problem.sample)
        reached = relative_gap(self.point.objective, self.bound) / _PROGRESS
        tolerance = self._solve_part * (self.tolerance if self._is_exact else max(self.tolerance, min(reached, 0.1)))
        start = (self.coef, self.intercept) if self.coef.any() else None
        raw = solve_newton(problem, tolerance=tolerance, time_limit=self.monitor.remaining, start=start)
        self.iterations += raw.iterations
        if threshold is None:
            self.coef, self.intercept = raw.coef, raw.intercept
            objective = problem.objective(raw.coef, raw.intercept)
            if objective < self.point.objective:
                coefficients = self.span.coefficients(raw.coef)
                self.point = Point(self.span.landmarks, coefficients, raw.intercept, objective)
        return raw

    def point_of(self, raw: RawSolution) -> DualPoint:
        """The dual point of a solve in a span."""
        if raw.multipliers is None or not all(np.isfinite(part).all() for part in raw.multipliers):
            return self.best
        problem = self.training.in_features(np.zeros((self.matrix.size, 1)))
        proving = problem.dual_problem(raw.share_neg, raw.multipliers[1])
        share = proving.sample.share_neg if raw.share_neg is not None else None
        return dual_point(proving, self.matrix, *feasible_multipliers(proving, *raw.multipliers), share)

    def _repaired(self, raw: RawSolution, dual: DualPoint) -> DualPoint:
        """The dual point, or with z < 0 its mixture with that of a z nearer to 0, which has something to spare."""
        program = self.program
        if program.penalty > 0 or dual.slack(program.threshold) >= 0 or dual.total == 0:
            return dual
        lacking = residual_of(self.span, dual.dual, dual.product).square
        violation = dual.length**2 - (program.threshold * dual.total) ** 2
        problem, found = self.training.in_features(np.zeros((self.matrix.size, 1))), None
        margin = (2.0 * max(lacking, violation) + 1e-14 * dual.length**2) / dual.total**2
        for _ in range(_SPARES):
            nearer = program.threshold**2 - margin
            if found is not None or nearer < (_LEAST_THRESHOLD * program.threshold) ** 2:
                break
            spare = self.point_of(self._solve_in_span(-math.sqrt(nearer)))
            found = mixed(problem, self.matrix, dual, spare)
            margin *= 10.0
        return found or dual

    def _raise_bound(self, dual: DualPoint) -> None:
        if self.program.penalty > 0 and self.stages:
            problem = self.training.in_features(np.zeros((self.matrix.size, 1)))
            dual = best_between(problem, self.matrix, self.best, dual)
        bound = dual.value(self.program)
        if bound > self.bound or not self.stages:
            self.bound, self.best = bound, dual

    def _record(self) -> None:
        self.monitor.record(self.point.objective, self.bound)
        self.stages.append(Stage(self.span.size, self.monitor.seconds, self.point.objective, self.bound))

    def found(self, status: Status, *notes: str) -> Found:
        """The best point and the best bound until now."""
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
