"""Ctrl-C is heard while compiled code runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")

#: Seconds between two looks; the end of the work is noticed at once.
PATIENCE = 0.2


def interruptible(work: Callable[[], T]) -> T:
    """Return ``work()``, done in a thread, so that KeyboardInterrupt is raised here when Ctrl-C is pressed.

    Python handles signals in its main thread between two instructions; a solver that computes there for minutes
    is deaf that long. After an interrupt the thread computes on; `auclab.sweep.sweep_scope` ends the
    process without waiting for it.

    Examples
    --------
    >>> interruptible(lambda: 6 * 7)
    42
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="solve")
    try:
        future = pool.submit(work)
        while not wait([future], timeout=PATIENCE).done:
            # SCS puts a handler of its own in place of Python's, which ends its solve and tells nobody.
            signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
        return future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
