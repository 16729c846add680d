"""What the person sees of a sweep while it runs: a line for every job that ended, and the time that is left.

The jobs may run in other processes and on other machines, so they write slips into the sweep's folder, and the
process of the sweep alone writes to the terminal.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from auclab.pipeline.console import err, out
from auclab.tracking.job_status import JobStatus, read_statuses

#: Seconds between two looks at the folder.
PATIENCE = 0.5


class Watcher:
    """Reads the slips of a sweep in a thread of its own, until it is stopped.

    Parameters
    ----------
    folder : Path
        The sweep's output folder.
    name : str
        The sweep's own word.
    total : int, optional
        How many jobs there are, if it is known.
    """

    def __init__(self, folder: Path, name: str, *, total: int | None) -> None:
        self.folder, self.name, self.total = folder, name, total
        self.told: set[Path] = set()
        self.counts: Counter[str] = Counter()
        self.begin = time.monotonic()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watch the sweep", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Tell what has not been told, and end."""
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        columns = (SpinnerColumn(), BarColumn(bar_width=30), TextColumn("{task.description}"))
        with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
            task = bar.add_task("", total=self.total)
            while not self._end.wait(PATIENCE):
                self._look(bar, task)
            self._look(bar, task)

    def _look(self, bar: Progress, task: TaskID) -> None:
        for slip in read_statuses(self.folder, self.name):
            if slip.line is not None and slip.folder not in self.told:
                self.told.add(slip.folder)
                self.counts[slip.status] += 1
                self._tell(slip, bar)
        bar.update(task, completed=len(self.told), description=self._standing())

    def _tell(self, slip: JobStatus, bar: Progress) -> None:
        terminal = err if slip.status == "FAILED" else out
        if err.is_terminal and terminal.is_terminal:
            bar.console.print(slip.line, soft_wrap=True)  # above the bar
        else:
            terminal.print(f"{slip.line}  [dim]{self._standing()}[/dim]", soft_wrap=True)

    def _standing(self) -> str:
        done = len(self.told)
        count = f"{done} of {self.total}" if self.total is not None else str(done)
        left = self.seconds_left()
        return count if left is None else f"{count}, {in_words(left)} left"

    def seconds_left(self) -> float | None:
        """At the pace of the jobs that were worked on; None while there is none, or no end is known."""
        worked = len(self.told) - self.counts["SKIPPED"]
        if self.total is None or not worked or self.total <= len(self.told):
            return None
        return (time.monotonic() - self.begin) / worked * (self.total - len(self.told))


def in_words(seconds: float) -> str:
    """A duration as a person says it.

    Examples
    --------
    >>> in_words(8.4), in_words(200), in_words(9000)
    ('about 8 s', 'about 3 min', 'about 2.5 h')
    """
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
