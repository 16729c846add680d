"""Two classes, two threads; and libraries that would start more are told to keep to one.

Threads of a linear-algebra library that wait for one another in a small product cost fifty times that product on a
machine that has other work to do (measured), and bring nothing where the classes are already worked on side by side.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_POOL = ThreadPoolExecutor(max_workers=2, thread_name_prefix="classes")


def in_parallel(work: Any, *arguments: tuple[Any, ...], threads: bool) -> list[Any]:
    """``work(*a)`` for the arguments of either class, in two threads where that pays."""
    if not threads:
        return [work(*a) for a in arguments]
    return [future.result() for future in [_POOL.submit(work, *a) for a in arguments]]


def one_thread_each() -> AbstractContextManager[Any]:
    """While it is open, linear algebra runs in the thread that asks for it."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes some 10 ms, once.
    return ThreadpoolController()
