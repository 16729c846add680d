"""Which process works on a run, and whether it is gone: told for certain, and on its own machine alone."""

from __future__ import annotations

import os
import platform
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

_TAGS = ("process.host", "process.pid", "process.started")


@dataclass(frozen=True)
class Process:
    """A process of some machine; ids are given again, so the time of its start is part of what it is.

    Attributes
    ----------
    host
        The machine's name and, in a container, the number space of its process ids.
    pid
        Process id.
    started
        When it began: on Linux the boot and the clock ticks since, elsewhere what ``ps`` says; "" if unknown.
    """

    host: str
    pid: int
    started: str

    @property
    def tags(self) -> dict[str, str]:
        """As tags of a run."""
        return dict(zip(_TAGS, (self.host, str(self.pid), self.started), strict=True))

    @classmethod
    def from_tags(cls, tags: Mapping[str, str]) -> Self | None:
        """The process that `tags` name; None if they name none."""
        if any(key not in tags for key in _TAGS) or not tags[_TAGS[1]].isdigit():
            return None
        return cls(tags[_TAGS[0]], int(tags[_TAGS[1]]), tags[_TAGS[2]])

    @property
    def is_here(self) -> bool:
        """Whether it belongs to this machine, so that anything can be said of it."""
        return self.host == _host() and self.started != ""

    @property
    def is_gone(self) -> bool:
        """Whether it has surely ended; False for a process of another machine.

        Examples
        --------
        >>> this_process().is_gone, Process("elsewhere", 1, "then").is_gone
        (False, False)
        """
        return self.is_here and _started(self.pid) != self.started


def this_process() -> Process:
    """The process that asks."""
    return Process(_host(), os.getpid(), _started(os.getpid()))


def end_with(other: Process, *, every: float = 0.3) -> None:
    """End this process, without a word and at once, when `other` is gone: a worker without a master works for nobody.

    Does nothing for a process of another machine.
    """

    def watch() -> None:
        while not other.is_gone:
            time.sleep(every)
        os._exit(1)

    if other.is_here:
        threading.Thread(target=watch, name="end with the sweep", daemon=True).start()


@cache
def _host() -> str:
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{platform.node()} {space}".strip()


def _started(pid: int) -> str:
    """When the process began; "" if it does not exist or the system does not tell."""
    if platform.system() == "Linux":
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            # The name in brackets may hold anything; state is the first field behind it, start time the twentieth.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return ""
        return "" if fields[0] in "ZX" else f"{boot} {fields[19]}"
    if os.name != "posix":
        return ""
    line = ["ps", "-o", "lstart=", "-p", str(pid)]
    try:
        return subprocess.run(line, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
