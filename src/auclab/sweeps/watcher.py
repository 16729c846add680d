"""The screen of a running sweep: a line per job that ended, and an estimate of the time left.

Jobs may run in other processes and on other machines; they write status files below the sweep's folder, and only the
process of the sweep writes to the terminal.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from auclab.pipeline.screen.console import err, out
from auclab.tracking.finished import POLL_SECONDS
from auclab.tracking.job_status import JobStatus, read_statuses

OTHER_CODE = "finished runs of other code are computed again; to take them, stop with Ctrl-C and add rerun=false"


class Watcher:
    """Reads the status files of a sweep in a thread, and prints each job once, until it is stopped.

    `folder`: the sweep's output folder. `sweep`: the sweep's id. `total`: number of jobs, if it is known.
    """

    def __init__(self, folder: Path, sweep: str, *, total: int | None) -> None:
        self.folder, self.sweep, self.total = folder, sweep, total
        self.shown: set[Path] = set()
        self.counts: Counter[str] = Counter()
        self.start_time = time.monotonic()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watch the sweep", daemon=True)
        self._warned = False

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Print what has not been printed yet, and end the thread."""
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        columns = (SpinnerColumn(), BarColumn(bar_width=30), TextColumn("{task.description}"))
        bar = Progress(*columns, console=err, transient=True)
        task = bar.add_task("", total=self.total)
        # Rich below 15 ends even a disabled bar with an empty line, so that without a terminal it is not started.
        with bar if err.is_terminal else nullcontext():
            while not self._stopped.wait(POLL_SECONDS):
                self._update(bar, task)
            self._update(bar, task)

    def _update(self, bar: Progress, task: TaskID) -> None:
        for job in read_statuses(self.folder, self.sweep):
            if job.other_code is not None and job.status != "SKIPPED" and not self._warned:
                self._warned = True
                err.print(f"[yellow]{OTHER_CODE}[/yellow]", soft_wrap=True)
            if job.line is not None and job.folder not in self.shown:
                self.shown.add(job.folder)
                self.counts[job.status] += 1
                self._print(job, bar)
        bar.update(task, completed=len(self.shown), description=self._progress())

    def _print(self, job: JobStatus, bar: Progress) -> None:
        terminal = err if job.status in ("FAILED", "KEPT") else out
        if err.is_terminal and terminal.is_terminal:
            bar.console.print(job.line, soft_wrap=True)  # above the bar
        else:
            terminal.print(f"{job.line}  [dim]{self._progress()}[/dim]", soft_wrap=True)

    def _progress(self) -> str:
        done = len(self.shown)
        count = f"{done} of {self.total}" if self.total is not None else str(done)
        left = self.seconds_left()
        return count if left is None else f"{count}, {format_duration(left)} left"

    def seconds_left(self) -> float | None:
        """Extrapolated from the jobs computed so far; None before the first, or if the total is unknown."""
        computed = len(self.shown) - self.counts["SKIPPED"]
        if self.total is None or not computed or self.total <= len(self.shown):
            return None
        return (time.monotonic() - self.start_time) / computed * (self.total - len(self.shown))


def format_duration(seconds: float) -> str:
    """A rounded duration.

    Examples
    --------
    >>> format_duration(8.4), format_duration(200), format_duration(9000)
    ('about 8 s', 'about 3 min', 'about 2.5 h')
    """
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
