"""A program with z = 0 and λ = 0, solved and certified in the span of a given number of landmarks."""

from __future__ import annotations

from auclab.precision import ROUGH
from auclab.solvers.kernel.dual_points import from_solve, of_zero
from auclab.solvers.kernel.result import Found
from auclab.solvers.kernel.solution import Stage
from auclab.solvers.kernel.solver import LandmarkSolve
from auclab.solvers.kernel.span import Span
from auclab.solvers.kernel.training import Training
from auclab.solvers.monitor import Monitor
from auclab.solvers.reformulations import run_solver
from auclab.solvers.verification import verify

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
