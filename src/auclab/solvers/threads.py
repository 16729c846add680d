"""One thread for the linear algebra in a solver.

Threads of a BLAS that wait for one another in a small product cost fifty times that product on a busy machine
(measured), and gain nothing where the two classes are already computed in parallel (`auclab.compiled.threads`).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread_each() -> AbstractContextManager[Any]:
    """While the context is open, BLAS computes in the calling thread."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    # Finding the loaded libraries takes about 10 ms.
    return ThreadpoolController()
