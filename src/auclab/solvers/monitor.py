"""Decides when a solver stops and keeps its history; Ctrl-C, threads and progress.

Threads of a BLAS that wait for one another in a small product cost fifty times that product on a busy machine
(measured), and gain nothing where the two classes are already computed in parallel (`auclab._core.threads`).
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import cache
from threading import Event
from types import FrameType
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from auclab._core.base import Status
from auclab._core.tolerances import SMALL_OBJECTIVE
from auclab.models.timings import Clock


def one_thread_each() -> AbstractContextManager[Any]:
    """While the context is open, BLAS computes in the calling thread."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    # Finding the loaded libraries takes about 10 ms.
    return ThreadpoolController()


@dataclass(frozen=True)
class SolveProgress:
    """The state of a solve.

    `seconds`: since its start. `objective`, `lower_bound`: the best of either until now. `gap`, `tolerance`: the
    relative gap between them, and the one at which the solve ends.
    """

    seconds: float
    objective: float
    lower_bound: float
    gap: float
    tolerance: float

    @property
    def share(self) -> float:
        """The completed share of the way from a gap of 1 to the tolerance, on a logarithmic scale, in [0, 1].

        Examples
        --------
        >>> SolveProgress(1.0, 0.5, 0.4995, gap=1e-3, tolerance=1e-6).share
        0.5
        """
        if not self.gap > 0:
            return 0.0 if math.isnan(self.gap) else 1.0
        return min(1.0, max(0.0, math.log(self.gap) / math.log(min(self.tolerance, 0.5))))


Listener = Callable[[SolveProgress], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Send the progress of every solve that is run inside to `listener`, from the thread of the solve."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(progress: SolveProgress) -> None:
    """Call the listener, if there is one."""
    listener = _listener.get()
    if listener is not None:
        listener(progress)


T = TypeVar("T")

#: Seconds between two checks for a signal; the end of the work is noticed at once.
POLL_INTERVAL = 0.2
#: Stop events of solves that run in other threads.
_stop_events: list[threading.Event] = []


def interruptible(work: Callable[[], T]) -> T:
    """Return ``work()``, done in a thread, so that KeyboardInterrupt is raised here when Ctrl-C is pressed.

    Python handles signals in its main thread between two instructions, so a solver that computes there for minutes
    delays them that long. For a solver that checks a stop event (`stop_on_interrupt`) the first Ctrl-C sets the event
    and a second one interrupts. After an interrupt the thread computes on; `auclab.runs.sweeps.sweep.sweep_scope` ends
    the process without waiting for it.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="solve")
    try:
        future = pool.submit(copy_context().run, work)
        while not future.done():
            try:
                wait([future], timeout=POLL_INTERVAL)
                # SCS replaces Python's handler by its own, which ends its solve without an exception: put it back.
                signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
            except KeyboardInterrupt:
                if not _request_stop():
                    raise
        return future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def stop_on_interrupt(event: threading.Event) -> Iterator[None]:
    """Let Ctrl-C set an event, for a solver that checks it between its steps; a second Ctrl-C interrupts."""
    if threading.current_thread() is not threading.main_thread():
        _stop_events.append(event)
        try:
            yield
        finally:
            _stop_events.remove(event)
        return
    previous = signal.getsignal(signal.SIGINT)

    def on_interrupt(_number: int, _frame: FrameType | None) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _request_stop() -> bool:
    """Set the stop events that are not set yet; whether there was one."""
    unset = [event for event in _stop_events if not event.is_set()]
    for event in unset:
        event.set()
    return bool(unset)


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
