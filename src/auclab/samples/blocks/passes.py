"""The progress of passes over blocks: their number, the completed share of the current one, and the time of one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class PassProgress:
    """A pass over the blocks of a table.

    `number`: from 1. `share` in [0, 1]: of its blocks that are done. `seconds`: of the last pass over all blocks; 0 in
    the first.
    """

    number: int
    share: float
    seconds: float


Report = Callable[[PassProgress], None]


class _Passes:
    """Counts passes for the progress report; another thread may end a block."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self.number, self.seconds = 0, 0.0
        self.lock = threading.Lock()


_passes = _Passes()


@contextmanager
def passes_to(report: Report) -> Iterator[None]:
    """Call `report` whenever blocks are done, in every pass over rows in blocks within the context.

    Only the innermost of nested contexts reports.

    Parameters
    ----------
    report : callable
        Takes a `PassProgress`: the number of the pass, the share of its blocks that is done, seconds.

    See Also
    --------
    auclab.samples.blocks.open_parquet : Rows that are read in passes.

    Examples
    --------
    >>> with passes_to(lambda done: print(done.number, done.share)):
    ...     pass  # auclab.solve(program, table, y)
    """
    before = _passes.report, _passes.number, _passes.seconds
    _passes.report, _passes.number, _passes.seconds = report, 0, 0.0
    try:
        yield
    finally:
        _passes.report, _passes.number, _passes.seconds = before


def number_of_passes() -> int:
    """Passes that have begun since `passes_to` was entered."""
    return _passes.number


def begun_pass(total: int) -> Callable[[int], None]:
    """Count a pass over `total` blocks; returns a function to call with the number of newly finished blocks."""
    begin, finished = perf_counter(), 0
    with _passes.lock:
        _passes.number += 1
        number = _passes.number

    def done(count: int) -> None:
        nonlocal finished
        with _passes.lock:
            finished += count
            if finished >= total:
                _passes.seconds = perf_counter() - begin
            report, progress = _passes.report, PassProgress(number, min(finished / max(total, 1), 1.0), _passes.seconds)
        if report is not None:
            report(progress)

    return done
