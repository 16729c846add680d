"""History and stopping of one run of an iterative solver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from threading import Event

from auclab.models.timings import Clock
from auclab.precision import SMALL_OBJECTIVE
from auclab.solvers.interrupt import SolveProgress, report
from auclab.types import Status

#: A gap reduced to this fraction, or an objective reduced by this fraction, counts as progress.
_LESS_GAP, _LOWER = 0.8, 1e-4
#: Seconds that a part of a solve has at least, near the end of a time limit.
_LEAST_SECONDS = 0.05


@dataclass
class Patience:
    """Ends a run that makes no certified progress while another solver is waiting.

    `seconds`: time without a smaller gap or a lower objective after which the run ends. `ran_out`: whether it did.
    """

    seconds: float = math.inf
    ran_out: bool = False


class OutOfTime(Exception):  # noqa: N818 - no error: the solve ends with what it has
    """A long computation was stopped because the solve has to end."""


class Monitor:
    """Decides when a solver has to stop, and keeps its history.

    `tolerance`: relative gap at which the solver is to stop; reported with the progress. `clock`: that of the solve,
    with its limit. `patience`: time without progress while another solver is waiting. `interrupted`: set by Ctrl-C.
    `history`: seconds, best objective and best bound after each step.
    """

    def __init__(
        self,
        tolerance: float = 1e-6,
        clock: Clock | None = None,
        patience: Patience | None = None,
        interrupted: Event | None = None,
    ) -> None:
        self.tolerance, self.clock = tolerance, clock or Clock()
        self.patience, self.interrupted = patience or Patience(), interrupted or Event()
        self.history: list[tuple[float, float, float]] = []
        self.start()

    def start(self) -> None:
        """Count the seconds of the solver from now; called where loops were compiled before its first step."""
        self.begin = self.clock.seconds
        #: Time of the last progress, with the objective and the gap at that time.
        self._progress = (self.begin, math.inf, math.inf)

    def part(self, tolerance: float, clock: Clock | None = None) -> Monitor:
        """The monitor of a program that is solved on the way, to a tolerance, and within a time, of its own."""
        return Monitor(tolerance, clock or self.clock, self.patience, self.interrupted)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self.clock.seconds - self.begin

    @property
    def remaining(self) -> float | None:
        """Seconds until the limit, at least a little, or None without a limit."""
        left = self.clock.left
        return None if left is None or math.isinf(left) else max(left, _LEAST_SECONDS)

    def stopped(self) -> Status | None:
        """Why the solve has to return its best point now, or None.

        `INTERRUPTED`, `TIME_LIMIT`, or `ITERATION_LIMIT` without progress while another solver is waiting.
        """
        if self.interrupted.is_set():
            return Status.INTERRUPTED
        if self.clock.is_over:
            return Status.TIME_LIMIT
        if self._patience_left <= 0:
            self.patience.ran_out = True
            return Status.ITERATION_LIMIT
        return None

    def check(self) -> None:
        """Raise `OutOfTime` in a long computation if the solve has to end."""
        if self.stopped() is not None:
            raise OutOfTime

    @property
    def call_limit(self) -> float | None:
        """Seconds that one call of a library may take: until the solve has to end if there is no progress."""
        remaining = self.remaining
        seconds = min(math.inf if remaining is None else remaining, self._patience_left)
        return max(seconds, _LEAST_SECONDS) if math.isfinite(seconds) else None

    @property
    def _patience_left(self) -> float:
        # Before its first evaluation on all observations a solver has twice as long.
        times = 1.0 if self.history else 2.0
        return self._progress[0] + times * self.patience.seconds - self.clock.seconds

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
            self._progress = (self.clock.seconds, objective, gap)
        report(SolveProgress(seconds, objective, lower_bound, gap, self.tolerance))
