"""The progress of an iterative solve, sent to a listener if there is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


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
