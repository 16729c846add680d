"""A program with so few margins that one window holds them all: exact by one small linear or conic program."""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.window_finish import finish_by_windows
from auclab.solvers.raw import RawSolution
from auclab.solvers.windows import MIN_CONIC_WINDOW, MIN_WINDOW
from auclab.types import Array, Status

#: Entries of the rows of the small program up to which it takes no longer than the smoothed method.
_MAX_ENTRIES = 200_000
#: Half of the first box, in changes of the margins: that of most optima.
_HALF_BOX = 5.0


def fits_one_window(problem: Problem) -> bool:
    """Whether the first window holds all margins, and the small program has few enough entries."""
    if problem.program.over_hardest or problem.sample.in_blocks:
        return False
    most = MIN_WINDOW if problem.program.is_linear else MIN_CONIC_WINDOW
    return problem.n_margins <= min(most, _MAX_ENTRIES // problem.sample.n_features)


def solve_in_one_window(
    problem: Problem, tolerance: float, monitor: Monitor, start: tuple[Array, float] | None
) -> RawSolution | None:
    """The optimum; None where the small program did not prove it, and there is time to go on.

    Parameters
    ----------
    problem : Problem
        With `fits_one_window`.
    tolerance : float
        Relative gap.
    monitor : Monitor
    start : (array of shape (n_features,), float), optional
        The centre of the first box; w = 0 if left out.
    """
    sample = problem.sample
    coef, intercept = start or (np.zeros(sample.n_features), problem.null_intercept())
    nothing = np.zeros(sample.n_pos), np.zeros(sample.n_neg)
    first = RawSolution(coef, intercept, Status.ITERATION_LIMIT, nothing)
    solution = finish_by_windows(problem, tolerance, monitor, first, _HALF_BOX)
    return solution if solution.status is Status.OPTIMAL or monitor.stopped() is not None else None
