"""The same work for both classes, in two threads where that pays; what is computed does not depend on their number."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from numbers import Integral
from threading import local
from typing import Any

from auclab._core.base import AuclabError

#: Numbers of a class from which a second thread pays: it costs 0.1 ms, in which NumPy sorts 10⁴ of them.
LARGE = 2**16
#: How many threads there are at most: one for each class.
_CLASSES = 2

_limit: ContextVar[int | None] = ContextVar("threads", default=None)
_here = local()


def in_parallel(work: Callable[..., Any], *arguments: tuple[Any, ...], threads: bool) -> list[Any]:
    """``work(*a)`` for the arguments of either class, in two threads if `threads`, else one after the other.

    NumPy and the compiled loops release the interpreter's lock, so that two threads use two cores. Each class is summed
    by one thread, in the order of its rows: the digits are those of one thread.
    """
    if not threads or allowed_threads() < _CLASSES or getattr(_here, "is_second", False):
        return [work(*a) for a in arguments]
    others = [_pool().submit(_as_second, work, a) for a in arguments[1:]]
    return [work(*arguments[0]), *(other.result() for other in others)]


def allowed_threads() -> int:
    """How many threads a computation may use: what `limit_threads` says, ``OMP_NUM_THREADS``, or one for each core."""
    limit = _limit.get()
    if limit is not None:
        return limit
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return int(given) if given.isdecimal() and int(given) > 0 else _cores()


@contextmanager
def limit_threads(count: int | None) -> Iterator[None]:
    """Use at most `count` threads in this context; None changes nothing."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, Integral) or count < 1):
        raise AuclabError(f"threads must be a whole number of at least 1, or None for one per core, got {count!r}")
    token = _limit.set(_limit.get() if count is None else int(count))
    try:
        yield
    finally:
        _limit.reset(token)


def _as_second(work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Work inside which no thread is started: it would wait for its own place in the pool."""
    _here.is_second = True
    return work(*arguments)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=_CLASSES, thread_name_prefix="classes")


@cache
def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
