"""Exact finishes by windows (`auclab.solvers.windows`): where few margins are left, the optimum is nearly a vertex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.precision import FARTHER
from auclab.solvers.certificate import certify
from auclab.solvers.newton.state import State
from auclab.solvers.raw import RawSolution
from auclab.solvers.registry import PARTS
from auclab.solvers.windows import least_window, solve_windows
from auclab.types import Status

#: Entries of the rows of a small program up to which it takes no longer than the smoothed method.
_MAX_ENTRIES = 200_000
#: The first box, in changes of the margins: that of most optima, and the least one near a smoothed minimum.
_LEAST_BOX = 0.1


def fits_one_window(problem: Problem) -> bool:
    """Whether the first window holds all margins, and the small program has few enough entries."""
    if PARTS["windows"].why_not(problem.program, problem.constraints) is not None or problem.sample.in_blocks:
        return False
    return problem.n_margins <= min(least_window(problem.program), _MAX_ENTRIES // problem.sample.n_features)


class OneWindow:
    """A program with so few margins that one window holds them all, before any step."""

    def may(self, state: State) -> bool:
        """Whether they are so few."""
        return state.evaluation is None and fits_one_window(state.problem)

    def attempt(self, state: State) -> RawSolution | None:
        """The optimum; None where the small program did not prove it, and there is time to continue."""
        sample = state.problem.sample
        nothing = np.zeros(sample.n_pos), np.zeros(sample.n_neg)
        coef, intercept = state.start or (np.zeros(sample.n_features), state.problem.null_intercept())
        solution = _by_windows(state, RawSolution(coef, intercept, Status.ITERATION_LIMIT, nothing), FARTHER)
        return solution if solution.status is Status.OPTIMAL or state.monitor.stopped() is not None else None


class Windows:
    """Windows from the last minimum, if the band cannot be narrowed further and the gap is not certified."""

    def may(self, state: State) -> bool:
        """Whether this is the case, and windows support the loss."""
        if not state.ended or state.monitor.stopped() is not None:
            return False
        if PARTS["windows"].why_not(state.problem.program, state.problem.constraints) is not None:
            return False
        return not (state.is_certified or state.method.by_products)

    def attempt(self, state: State) -> RawSolution:
        """The exact optimum, or a better point or bound."""
        return _by_windows(state, state.solution(), max(_LEAST_BOX, 2.0 * state.half_width))


def _by_windows(state: State, first: RawSolution, radius: float) -> RawSolution:
    """Solve on from a point; `radius` is about how far the optimum is, in changes of the margins."""
    problem, monitor = state.problem, state.monitor
    exact = solve_windows(
        problem,
        monitor,
        start=(first.coef, first.intercept),
        radius=radius,
        lower_bound=max((entry[2] for entry in first.history), default=0.0),
    )
    if exact.status is not Status.OPTIMAL and not _bound(state, exact, exact) >= _bound(state, exact, first):
        # Windows keep the better point, but may run out of time for a bound.
        exact = replace(exact, multipliers=first.multipliers)
    return replace(
        exact,
        iterations=exact.iterations + first.iterations,
        timings=Timings(solve=monitor.seconds),
        history=tuple(monitor.history),
    )


def _bound(state: State, point: RawSolution, proof: RawSolution) -> float:
    """What the multipliers of one solution prove at the point of another."""
    return certify(state.problem, point.coef, point.intercept, proof.multipliers)[0].lower_bound
