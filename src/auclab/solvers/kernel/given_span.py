"""Solves in a span that is not chosen for its bound: that of given landmarks, or of a program without a norm."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab.precision import ROUGH, SOLVED
from auclab.solvers.kernel.dual_points import from_solve, of_zero
from auclab.solvers.kernel.result import Found
from auclab.solvers.kernel.solution import Stage
from auclab.solvers.kernel.solver import LandmarkSolve
from auclab.solvers.kernel.span import Span
from auclab.solvers.kernel.training import Training
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.solver import solve as solve_newton
from auclab.solvers.verification import verify
from auclab.types import Status

#: Solves on the way to the landmarks of a program without a norm.
_ROUNDS = 3


def solve_in_given_span(training: Training, tolerance: float, landmarks: NDArray[np.intp], monitor: Monitor) -> Found:
    """The program in the span of landmarks; its bound is for the whole space if the program has a norm.

    `tolerance`: relative gap of the solve in the span. `landmarks` (n,): numbers of observations in `training.order`.
    """
    span = Span.empty(training.matrix).extended(training.matrix, independent(training, landmarks))
    if not training.program.uses_norm:
        return _in_span(training, tolerance, span, monitor)
    solve = LandmarkSolve(training, tolerance, span.size, monitor)
    if solve.gap > tolerance:
        solve.solve_in(span)
    note = f"the landmarks were given: of the gap, {solve.gap:.2g}, most is what their span lacks"
    status = Status.OPTIMAL if solve.gap <= tolerance else monitor.stopped() or Status.ITERATION_LIMIT
    return solve.found(status, *([] if status is Status.OPTIMAL else [note]))


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
    raw = solve_newton(problem, tolerance=tolerance, time_limit=monitor.remaining)
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


def independent(training: Training, landmarks: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of the landmarks that are linearly independent of the others, by Cholesky with pivoting."""
    gram = training.matrix.block(landmarks, landmarks)
    least = SOLVED * training.matrix.largest
    _, pivots, rank, _ = la.lapack.dpstrf(0.5 * (gram + gram.T), tol=least)
    return np.asarray(landmarks[pivots[: max(1, int(rank))] - 1])
