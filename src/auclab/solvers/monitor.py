"""Clock, history and stopping of one iterative solve."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from time import perf_counter

from auclab.solvers.certificate import SMALL_OBJECTIVE
from auclab.solvers.interrupt import stop_on_interrupt
from auclab.solvers.progress import SolveProgress, report
from auclab.types import Status


class Monitor:
    """Clock, history and stopping of an iterative solver.

    Parameters
    ----------
    tolerance : float
        Relative gap at which the solver will stop; reported with the progress.
    time_limit : float or None
        Seconds from now.
    interrupted : Event
        Set by Ctrl-C.

    Attributes
    ----------
    history : list of (seconds, objective, lower_bound)
        The best of either until then.
    """

    def __init__(self, tolerance: float, time_limit: float | None, interrupted: Event) -> None:
        self.tolerance = tolerance
        self.begin = perf_counter()
        self.deadline = math.inf if time_limit is None else self.begin + time_limit
        self.history: list[tuple[float, float, float]] = []
        self._interrupted = interrupted

    @property
    def seconds(self) -> float:
        """Since the start."""
        return perf_counter() - self.begin

    @property
    def remaining(self) -> float | None:
        """Seconds until the limit, at least a little, or None without a limit."""
        return max(self.deadline - perf_counter(), 0.05) if math.isfinite(self.deadline) else None

    def stopped(self) -> Status | None:
        """`INTERRUPTED` or `TIME_LIMIT` if the solve has to return its best point now, else None."""
        if self._interrupted.is_set():
            return Status.INTERRUPTED
        return Status.TIME_LIMIT if perf_counter() > self.deadline else None

    def record(self, objective: float, lower_bound: float, seconds: float | None = None) -> None:
        """Append to the history, and report to the progress listener; `seconds` is now if left out."""
        if self.history:
            _, best, bound = self.history[-1]
            objective, lower_bound = min(objective, best), max(lower_bound, bound)
        seconds = self.seconds if seconds is None else seconds
        self.history.append((seconds, objective, lower_bound))
        gap = (objective - lower_bound) / max(abs(objective), SMALL_OBJECTIVE)
        report(SolveProgress(seconds, objective, lower_bound, gap, self.tolerance))


@contextmanager
def monitored(tolerance: float, time_limit: float | None) -> Iterator[Monitor]:
    """A monitor that Ctrl-C stops while the context is open."""
    with stop_on_interrupt() as interrupted:
        yield Monitor(tolerance, time_limit, interrupted)
