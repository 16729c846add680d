"""Ctrl-C is heard while compiled code runs, and a solver that works in steps may end with what it has."""

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

#: Seconds between two looks; the end of the work is noticed at once.
PATIENCE = 0.2
#: The stop signs of solves that run in other threads.
_signs: list[threading.Event] = []


def interruptible(work: Callable[[], T]) -> T:
    """Return ``work()``, done in a thread, so that KeyboardInterrupt is raised here when Ctrl-C is pressed.

    Python handles signals in its main thread between two instructions; a solver that computes there for minutes
    is deaf that long. A solver that waits for a stop sign (`stop_on_interrupt`) is given it first and a second Ctrl-C
    interrupts. After an interrupt the thread computes on; `auclab.sweeps.sweep.sweep_scope` ends the process without
    waiting for it.

    Examples
    --------
    >>> interruptible(lambda: 6 * 7)
    42
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="solve")
    try:
        future = pool.submit(copy_context().run, work)
        while not future.done():
            try:
                wait([future], timeout=PATIENCE)
                # SCS puts a handler of its own in place of Python's, which ends its solve and tells nobody.
                signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
            except KeyboardInterrupt:
                if not _ask_to_stop():
                    raise
        return future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """A stop sign that Ctrl-C sets, for a solver that looks at it between its steps; a second Ctrl-C interrupts."""
    sign = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        _signs.append(sign)
        try:
            yield sign
        finally:
            _signs.remove(sign)
        return
    usual = signal.getsignal(signal.SIGINT)

    def ask(_number: int, _frame: FrameType | None) -> None:
        if sign.is_set():
            raise KeyboardInterrupt
        sign.set()

    signal.signal(signal.SIGINT, ask)
    try:
        yield sign
    finally:
        signal.signal(signal.SIGINT, usual)


def _ask_to_stop() -> bool:
    """Set the stop signs that are not set yet; whether there was one."""
    unset = [sign for sign in _signs if not sign.is_set()]
    for sign in unset:
        sign.set()
    return bool(unset)
