"""Ctrl-C, threads and the progress of a solve.

Threads of a BLAS that wait for one another in a small product cost fifty times that product on a busy machine
(measured), and gain nothing where the two classes are already computed in parallel (`auclab.compiled.threads`).
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
from types import FrameType
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController


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
    and a second one interrupts. After an interrupt the thread computes on; `auclab.sweeps.sweep.sweep_scope` ends the
    process without waiting for it.
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
