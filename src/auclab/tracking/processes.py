"""The process that computes a run, and whether it has ended.

psutil reports when a process started and whether it is a zombie. This module adds the machine or container that the
process belongs to.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    import psutil

_TAGS = ("process.host", "process.pid", "process.started")

#: Two times of start within this number of seconds are the same: the system's clock may be rounded in between.
TOLERANCE_SECONDS = 2.0


@dataclass(frozen=True)
class Process:
    """A process of some machine; process ids are reused, so the time of its start is part of its identity.

    `host`: the machine's name and, on Linux, its process namespace: every container counts its own process ids. `pid`:
    process id. `started`: seconds from a fixed origin of the machine to its start; None if it is unknown.
    """

    host: str
    pid: int
    started: float | None

    @property
    def tags(self) -> dict[str, str]:
        """As tags of a run."""
        return dict(zip(_TAGS, (self.host, str(self.pid), str(self.started)), strict=True))

    @classmethod
    def from_tags(cls, tags: Mapping[str, str]) -> Self | None:
        """The process in the tags of a run; None if there is none."""
        if any(key not in tags for key in _TAGS) or not tags[_TAGS[1]].isdigit():
            return None
        try:
            started = float(tags[_TAGS[2]])
        except ValueError:
            started = None
        return cls(tags[_TAGS[0]], int(tags[_TAGS[1]]), started)

    @property
    def is_here(self) -> bool:
        """Whether it belongs to this machine, so that its state can be read."""
        return self.host == _host()

    @property
    def is_gone(self) -> bool:
        """Whether it has certainly ended; False for a process of another machine.

        Examples
        --------
        >>> this_process().is_gone, Process("elsewhere", 1, 0.0).is_gone
        (False, False)
        """
        if not self.is_here:
            return False
        exists, started = _state(self.pid)
        return not exists or (None not in (started, self.started) and not self._started_at(started))

    @property
    def is_alive(self) -> bool:
        """Whether it certainly runs now; False for a process of another machine."""
        return self.is_here and self._started_at(_state(self.pid)[1])

    def _started_at(self, started: float | None) -> bool:
        return started is not None and self.started is not None and abs(started - self.started) <= TOLERANCE_SECONDS


def this_process() -> Process:
    """The calling process."""
    return process_of(os.getpid())


def process_of(pid: int) -> Process:
    """The process of this machine with this id."""
    return Process(_host(), pid, _state(pid)[1])


def end_with(other: Process, *, every: float = 0.3) -> None:
    """End this process and those that it has started when `other` is gone: a worker must not outlive its sweep.

    Does nothing for a process of another machine.
    """

    def watch() -> None:
        while not other.is_gone:
            time.sleep(every)
        try:
            for child in _tree(os.getpid())[1:]:
                _tell(child, "kill")
        finally:
            os._exit(1)

    if other.is_here:
        threading.Thread(target=watch, name="end with the sweep", daemon=True).start()


def end_tree(pid: int, seconds: float) -> None:
    """End a process and those that it has started: by SIGTERM first, after `seconds` by SIGKILL.

    Windows has no groups of processes that a signal reaches, so they are found by their parents.
    """
    import psutil

    tree = _tree(pid)
    for process in tree:
        _tell(process, "terminate")
    _, left = psutil.wait_procs(tree, seconds)
    for process in {each for one in left for each in _tree(one.pid)}:
        _tell(process, "kill")
    psutil.wait_procs(left, seconds)


def _tree(pid: int) -> list[psutil.Process]:
    """A process and all below it; none where it has ended."""
    import psutil

    try:
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _tell(process: psutil.Process, what: Literal["terminate", "kill"]) -> None:
    import psutil

    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        getattr(process, what)()


@cache
def _host() -> str:
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{platform.node()} {namespace}".strip()


def _state(pid: int) -> tuple[bool, float | None]:
    """Whether a process exists that is not a zombie, and when it started; None if the system does not report it."""
    import psutil  # imported late: help pages do not need it

    # Linux counts from the start of the machine, and psutil adds the clock time of that start, which moves whenever the
    # clock is set; elsewhere the system keeps the clock time itself. Read first: psutil before 7 remembers it.
    origin = psutil.boot_time() if psutil.LINUX else 0.0
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False, None
        return True, round(process.create_time() - origin, 2)
    except psutil.NoSuchProcess:
        return False, None
    except psutil.AccessDenied:
        return True, None
