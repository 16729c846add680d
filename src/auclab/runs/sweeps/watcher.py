"""The process of a sweep while its jobs run: a line per job that ended, the time left, and what is sent to the store.

Jobs may run in other processes and on other machines; they write their folders, and only the process of the sweep
writes to the terminal and to the store.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from auclab._core.base import CONVERGED, AuclabError, Status
from auclab._core.files import folders_with
from auclab.runs.screen.console import err, out
from auclab.runs.tracking.record import RECORD_FILE, RunRecord
from auclab.runs.tracking.sync import Pending, join_sweep, send, show_progress, writing

screen = logging.getLogger("auclab.runs.tracking")

OTHER_CODE = "finished runs of other code are computed again; to take them, stop with Ctrl-C and add rerun=false"
#: Seconds between two looks at the folders, two batches for the store, and two attempts if it does not answer.
LOOK_SECONDS, SEND_SECONDS, RETRY_SECONDS = 0.5, 2.0, 5.0


class Watcher:
    """Looks at the folders of a sweep in a thread: prints each job once, and sends its run to the store.

    `folder`: the sweep's output folder. `sweep`: its id. `total`: number of jobs, if it is known. `pending`: names the
    store and the parent run; None without a store.
    """

    def __init__(self, folder: Path, sweep: str, *, total: int | None, pending: Pending | None) -> None:
        self.folder, self.sweep, self.total, self.pending = folder, sweep, total, pending
        self.records: dict[Path, RunRecord] = {}
        self.unsent: list[RunRecord] = []
        self.start_time = time.monotonic()
        self._send_at, self._again = 0.0, False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watch the sweep", daemon=True)
        self._warned: set[str] = set()

    @property
    def counts(self) -> Counter[str]:
        """Number of jobs that have ended, by status."""
        return Counter(record.status for record in self.records.values())

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Print and send what has ended since the last look, and end the thread."""
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        columns = (SpinnerColumn(), BarColumn(bar_width=30), TextColumn("{task.description}"))
        bar = Progress(*columns, console=err, transient=True)
        task = bar.add_task("", total=self.total)
        # Rich below 15 ends even a disabled bar with an empty line, so that without a terminal it is not started.
        with bar if err.is_terminal else nullcontext():
            while not self._stopped.wait(LOOK_SECONDS):
                self._update(bar, task)
            self._send_at = 0.0
            self._update(bar, task)

    def _update(self, bar: Progress, task: TaskID) -> None:
        for place in folders_with(self.folder, RECORD_FILE):
            if place in self.records:
                continue
            record = RunRecord.read(place)
            if record is None or record.sweep != self.sweep:  # half read, or of an earlier sweep in the same folder
                continue
            self.records[place] = record
            self.unsent.append(record)
            if record.other_code is not None and record.status != "SKIPPED":
                self._warn(OTHER_CODE)
            self._print(record, bar)
            bar.update(task, completed=len(self.records), description=self._progress())
        self._send()

    def _send(self) -> None:
        """Send what has ended; if the store does not answer, the jobs continue and it is tried again later."""
        if self.pending is None or not self.unsent or time.monotonic() < self._send_at:
            return
        try:
            with writing(self.pending.tracking) as store:
                while self.unsent:
                    record = self.unsent[0]
                    if record.waits:
                        self.records[record.folder] = send(store, record, again=self._again)
                    elif record.status == "SKIPPED" and record.run_id and self.pending.parent:
                        join_sweep(store, self.pending.parent, record.run_id)
                    del self.unsent[0]
                if self.pending.parent:
                    show_progress(store, self.pending.parent, len(self.records))
            self._send_at = time.monotonic() + SEND_SECONDS
        except AuclabError as error:
            self._warn(f"{error}; the jobs continue, and their runs are sent when the store answers")
            self._send_at, self._again = time.monotonic() + RETRY_SECONDS, True

    def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            screen.warning("%s", text)

    def _print(self, record: RunRecord, bar: Progress) -> None:
        terminal = err if record.status == "FAILED" else out
        if err.is_terminal and terminal.is_terminal:
            bar.console.print(line_of_job(record), soft_wrap=True)  # above the bar
        else:
            terminal.print(f"{line_of_job(record)}  [dim]{self._progress()}[/dim]", soft_wrap=True)

    def _progress(self) -> str:
        done = len(self.records)
        count = f"{done} of {self.total}" if self.total is not None else str(done)
        left = self.seconds_left()
        return count if left is None else f"{count}, {format_duration(left)} left"

    def seconds_left(self) -> float | None:
        """Extrapolated from the jobs computed so far; None before the first, or if the total is unknown."""
        done = len(self.records)
        computed = done - self.counts["SKIPPED"]
        if self.total is None or not computed or self.total <= done:
            return None
        return (time.monotonic() - self.start_time) / computed * (self.total - done)


def line_of_job(record: RunRecord) -> str:
    """One line for a job that ended, in rich's markup.

    Examples
    --------
    >>> line_of_job(RunRecord(Path("0"), "bauc · pima", line="objective 0.5  gap 1e-12"))
    '[green]✓[/green] bauc · pima  [dim]objective 0.5  gap 1e-12[/dim]'
    >>> line_of_job(RunRecord(Path("0"), "bauc · pima", status="SKIPPED", run_id="f73cfe24d8bd"))
    '[dim]· bauc · pima  finished before, run f73cfe24[/dim]'
    """
    name, line = escape(record.name), escape(record.line)
    if record.status == "FINISHED":
        good = record.tags.get("status", Status.OPTIMAL) in CONVERGED and "scorer" not in record.tags
        mark = "[green]✓[/green]" if good else "[yellow]![/yellow]"
        return f"{mark} {name}  [dim]{line}[/dim]"
    if record.status == "SKIPPED" and record.run_id is None:
        return f"[dim]· {name}  {line}[/dim]"
    if record.status == "SKIPPED":
        code = "" if record.other_code is None else " with other code"
        return f"[dim]· {name}  finished before{code}, run {str(record.run_id)[:8]}[/dim]"
    return f"[red]error:[/red] {line}  [dim]{name}[/dim]"


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
