"""One thread for each class, and one thread for the linear algebra in it.

Threads of a BLAS that wait for one another in a small product cost fifty times that product on a busy machine
(measured), and gain nothing where the two classes are already computed in parallel.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_POOL = ThreadPoolExecutor(max_workers=2, thread_name_prefix="classes")


def in_parallel(work: Any, *arguments: tuple[Any, ...], threads: bool) -> list[Any]:
    """``work(*a)`` for the arguments of either class, in two threads if `threads`, else one after the other."""
    if not threads:
        return [work(*a) for a in arguments]
    return [future.result() for future in [_POOL.submit(work, *a) for a in arguments]]


def one_thread_each() -> AbstractContextManager[Any]:
    """While the context is open, BLAS computes in the calling thread."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    # Finding the loaded libraries takes about 10 ms.
    return ThreadpoolController()
