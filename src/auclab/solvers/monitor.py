"""One solve's record: what was reached when, when to stop and why, and who is told."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from time import perf_counter

from auclab.solvers.certificate import SMALL_OBJECTIVE
from auclab.solvers.interrupt import stop_on_interrupt
from auclab.solvers.progress import Progress, report
from auclab.types import Status


class Monitor:
    """Clock, history and stop sign of a solver that works in steps."""

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
        """Why the solve has to end now with what it has, or None."""
        if self._interrupted.is_set():
            return Status.INTERRUPTED
        return Status.TIME_LIMIT if perf_counter() > self.deadline else None

    def record(self, objective: float, lower_bound: float, seconds: float | None = None) -> None:
        """Note what was reached: the history holds the best of either until then."""
        if self.history:
            _, best, bound = self.history[-1]
            objective, lower_bound = min(objective, best), max(lower_bound, bound)
        seconds = self.seconds if seconds is None else seconds
        self.history.append((seconds, objective, lower_bound))
        gap = (objective - lower_bound) / max(abs(objective), SMALL_OBJECTIVE)
        report(Progress(seconds, objective, lower_bound, gap, self.tolerance))


@contextmanager
def monitored(tolerance: float, time_limit: float | None) -> Iterator[Monitor]:
    """A monitor that hears Ctrl-C while it is open."""
    with stop_on_interrupt() as interrupted:
        yield Monitor(tolerance, time_limit, interrupted)
