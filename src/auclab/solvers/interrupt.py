"""Ctrl-C while compiled code runs: it interrupts, or stops an iterative solver at its best point."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from types import FrameType
from typing import TypeVar

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
def stop_on_interrupt() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, for a solver that checks it between its steps; a second Ctrl-C interrupts."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        _stop_events.append(event)
        try:
            yield event
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
        yield event
    finally:
        signal.signal(signal.SIGINT, previous)


def _request_stop() -> bool:
    """Set the stop events that are not set yet; whether there was one."""
    unset = [event for event in _stop_events if not event.is_set()]
    for event in unset:
        event.set()
    return bool(unset)
