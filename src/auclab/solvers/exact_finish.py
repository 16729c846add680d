"""If a bound does not hold for every w, a small linear program is solved again in rational arithmetic."""

from __future__ import annotations

from dataclasses import replace

from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.precision import TOLERANCE
from auclab.samples.memory import moved_intercept
from auclab.solvers.budget import SECONDS_FOR_MORE
from auclab.solvers.rational_simplex import is_small_linear, solve_exactly
from auclab.solvers.solution import RawSolution, Solution, Step
from auclab.solvers.verification import verify
from auclab.types import Status

#: What may become OPTIMAL.
_UNPROVED = (Status.OPTIMAL_WITHIN, Status.ITERATION_LIMIT, Status.FAILED)


def finish_exactly(problem: Problem, solution: Solution, tolerance: float, clock: Clock) -> Solution:
    """The solution, or the exact one where it is proved to be better or for more w.

    `solution`: what a solver found; one that is OPTIMAL for every w, or that a limit ended, is returned as it is.
    `tolerance`: largest relative gap of the status OPTIMAL. `clock`: of the solve; the simplex method
    stops after 10 s in any case.
    """
    if solution.status not in _UNPROVED or not is_small_linear(problem):
        return solution
    begin = clock.seconds
    exact = solve_exactly(problem, clock.until(SECONDS_FOR_MORE))
    if exact is None:
        return solution
    # If no hinge is left, none is left either for a w that is longer by more than its rounding.
    longer = 1.0 if exact.value > 0 else 1.0 + TOLERANCE
    note = "solved once more in rational arithmetic: the bound is that over every w"
    raw = RawSolution(
        exact.coef * longer,
        exact.intercept * longer,
        Status.OPTIMAL,
        exact.multipliers,
        solution.iterations,
        solution.timings,
        (*solution.notes, note),
        solution.history,
        bound=exact.value,
        steps=(*solution.steps, Step("solved in rational arithmetic", clock.seconds - begin)),
    )
    found = verify(problem, raw, solution.solver, tolerance)
    if found.status is Status.OPTIMAL:
        return found
    if solution.status is Status.OPTIMAL_WITHIN:
        # Only a w so long that its scores lose their digits does better.
        longest = float(abs(exact.coef).max())
        note = f"over every w the optimum is {exact.value:.6g}, at coefficients up to {longest:.1g}"
        return replace(solution, notes=(*solution.notes, note))
    if found.objective <= solution.objective:
        return found
    intercept = moved_intercept(solution.intercept, solution.coef, problem.sample.offset, 1.0)
    same_point = replace(raw, coef=solution.coef, intercept=intercept)
    return verify(problem, same_point, solution.solver, tolerance)
