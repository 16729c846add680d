"""Clock, history and stopping of one iterative solve."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Event
from time import perf_counter

from auclab.precision import SMALL_OBJECTIVE
from auclab.solvers.interrupt import SolveProgress, report, stop_on_interrupt
from auclab.types import Status

#: A gap reduced to this fraction, or an objective reduced by this fraction, counts as progress.
_LESS_GAP, _LOWER = 0.8, 1e-4


@dataclass
class Patience:
    """Ends a solve that makes no certified progress while another solver is waiting.

    `seconds`: time without a smaller gap or a lower objective after which the solve ends. `ran_out`: whether it did.
    """

    seconds: float
    ran_out: bool = False


_patience: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def ends_without_progress(seconds: float) -> Iterator[Patience]:
    """Solves inside end, with the status `ITERATION_LIMIT`, after the given seconds without certified progress."""
    patience = Patience(seconds)
    token = _patience.set(patience)
    try:
        yield patience
    finally:
        _patience.reset(token)


class OutOfTime(Exception):  # noqa: N818 - no error: the solve ends with what it has
    """A long computation was stopped because the solve has to end."""


class Monitor:
    """Clock, history and stopping of an iterative solver.

    `tolerance`: relative gap at which the solver will stop; reported with the progress. `time_limit`: seconds from now.
    `interrupted`: set by Ctrl-C. `history`: seconds, best objective and best bound after each step.
    """

    def __init__(self, tolerance: float, time_limit: float | None, interrupted: Event) -> None:
        self.tolerance = tolerance
        self.begin = perf_counter()
        self.deadline = math.inf if time_limit is None else self.begin + time_limit
        self.history: list[tuple[float, float, float]] = []
        self._interrupted = interrupted
        self._patience = _patience.get()
        #: Time of the last progress, with the objective and the gap at that time.
        self._progress = (self.begin, math.inf, math.inf)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return perf_counter() - self.begin

    @property
    def remaining(self) -> float | None:
        """Seconds until the limit, at least a little, or None without a limit."""
        return max(self.deadline - perf_counter(), 0.05) if math.isfinite(self.deadline) else None

    def stopped(self) -> Status | None:
        """Why the solve has to return its best point now, or None.

        `INTERRUPTED`, `TIME_LIMIT`, or `ITERATION_LIMIT` without progress while another solver is waiting.
        """
        if self._interrupted.is_set():
            return Status.INTERRUPTED
        now = perf_counter()
        if now > self.deadline:
            return Status.TIME_LIMIT
        if self._patience is not None and now > self._end_of_patience:
            self._patience.ran_out = True
            return Status.ITERATION_LIMIT
        return None

    def check(self) -> None:
        """Raise `OutOfTime` in a long computation if the solve has to end."""
        if self.stopped() is not None:
            raise OutOfTime

    @property
    def call_limit(self) -> float | None:
        """Seconds that one call of a library may take: until the solve has to end if there is no progress."""
        end = min(self.deadline, self._end_of_patience)
        return max(end - perf_counter(), 0.05) if math.isfinite(end) else None

    @property
    def _end_of_patience(self) -> float:
        if self._patience is None:
            return math.inf
        # Before its first evaluation on all observations a solver has twice as long.
        return self._progress[0] + (1.0 if self.history else 2.0) * self._patience.seconds

    def record(self, objective: float, lower_bound: float) -> None:
        """Append to the history, and report to the progress listener."""
        if self.history:
            _, best, bound = self.history[-1]
            objective, lower_bound = min(objective, best), max(lower_bound, bound)
        seconds = self.seconds
        self.history.append((seconds, objective, lower_bound))
        gap = (objective - lower_bound) / max(abs(objective), SMALL_OBJECTIVE)
        _, least, smallest = self._progress
        if not (gap > _LESS_GAP * smallest and objective > (1.0 - _LOWER) * least):
            self._progress = (perf_counter(), objective, gap)
        report(SolveProgress(seconds, objective, lower_bound, gap, self.tolerance))


@contextmanager
def monitored(tolerance: float, time_limit: float | None) -> Iterator[Monitor]:
    """A monitor that Ctrl-C stops while the context is open."""
    with stop_on_interrupt() as interrupted:
        yield Monitor(tolerance, time_limit, interrupted)
