"""The exact end of a smoothed solve: from a point near the optimum by windows (`auclab.solvers.windows`)."""

from __future__ import annotations

from dataclasses import replace

from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.solvers.certificate import certify
from auclab.solvers.monitor import Monitor
from auclab.solvers.raw import RawSolution
from auclab.solvers.windows import solve_windows
from auclab.types import Status

#: The first box of the windows, in changes of the margins: at least this, or this many half-widths of the last band.
_MIN_RADIUS, _RADIUS_PER_HALF_WIDTH = 0.1, 2


def finish_by_windows(
    problem: Problem,
    tolerance: float,
    monitor: Monitor,
    smoothed: RawSolution,
    half_width: float,
) -> RawSolution:
    """Solve on from the point where the smoothing ended.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Relative gap.
    monitor : Monitor
        Takes the history and says when to stop.
    smoothed : RawSolution
        The best point of the smoothed solve.
    half_width : float
        That of the last band: about how far the optimum is, in changes of the margins.
    """
    exact = solve_windows(
        problem,
        tolerance=tolerance,
        time_limit=monitor.remaining,
        start=(smoothed.coef, smoothed.intercept),
        radius=max(_MIN_RADIUS, _RADIUS_PER_HALF_WIDTH * half_width),
        lower_bound=max((entry[2] for entry in smoothed.history), default=0.0),
        stopped=monitor.stopped,
        record=monitor.record,
        call_limit=lambda: monitor.call_limit,
    )
    if exact.status is not Status.OPTIMAL and not _has_better_bound(problem, exact, smoothed):
        # The windows keep the better point, but may have had no time for a bound.
        exact = replace(exact, multipliers=smoothed.multipliers)
    return replace(
        exact,
        iterations=exact.iterations + smoothed.iterations,
        timings=Timings(solve=monitor.seconds),
        history=tuple(monitor.history),
    )


def _has_better_bound(problem: Problem, exact: RawSolution, smoothed: RawSolution) -> bool:
    """Whether the multipliers of `exact` prove at least as much at its point as those of `smoothed` do."""
    bounds = [
        certify(problem, exact.coef, exact.intercept, solution.multipliers)[0].lower_bound
        for solution in (exact, smoothed)
    ]
    return bounds[0] >= bounds[1]
