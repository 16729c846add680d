"""A sweep: one parent run above the runs of the jobs, and a last line that counts them.

The parent run must exist before the first job starts, also when jobs run in other processes, so a Hydra callback
creates it and an environment variable names it to the jobs. Hydra does not call `on_multirun_end` when a job failed, so
`sweep_scope`, which surrounds the program, closes the parent run.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf
from rich.markup import escape

from auclab._core.base import AuclabError
from auclab._core.files import folders_with
from auclab.runs.config.typed_words import hydra_in_words
from auclab.runs.tracking.address import SWEEP_VARIABLE, Address, TrackingConfig
from auclab.runs.tracking.sync import Pending, computing, sync_pending, waiting_in, writing

if TYPE_CHECKING:
    from auclab.runs.sweeps.watcher import Watcher

#: Environment variable with the command without its overrides; processes that run jobs inherit it.
PROGRAM_VARIABLE = "AUCLAB_PROGRAM"


@dataclass(frozen=True)
class Sweep:
    """A sweep that this process started."""

    folder: Path
    tracking: TrackingConfig
    pending: Pending | None
    watcher: Watcher
    begun: float
    comparable: bool = True


_open: list[Sweep] = []
#: Holds the mark of the open sweep, which says that this process lives.
_marks = ExitStack()


@contextmanager
def _ending_at_faults() -> Iterator[None]:
    """End the process with a traceback at an exception of which Hydra would make a warning, and then run the jobs."""
    try:
        yield
    except Exception:  # noqa: BLE001 - whatever it is, the sweep has not been opened
        traceback.print_exc()
        raise SystemExit(1) from None


class SweepCallback(Callback):
    """Opens the parent run when a sweep starts."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Check the sweep, open its parent run, and ask the store what finished before."""
        from auclab.runs.config.settings import typed
        from auclab.runs.screen.console import plain_errors, show_notes
        from auclab.runs.sweeps.choices import SharedLoader, check_choices
        from auclab.runs.sweeps.jobs import SweepRecord, parse_rerun
        from auclab.runs.sweeps.watcher import Watcher
        from auclab.runs.sweeps.workers import check_launcher, pin_threads, start_server

        show_notes()
        said = plain_errors(lambda line: SystemExit(1), stopped="no job was begun")
        with _ending_at_faults(), said, hydra_in_words(()):
            check_launcher(config.hydra.launcher)
            params = config.hydra.sweeper.get("params") or {}
            fixed = [f"{key}={value!s}" for key, value in params.items()]
            # As typed: a resolved value, such as an address, may contain characters of Hydra's grammar.
            as_typed: Any = OmegaConf.to_container(config.hydra.overrides.task, resolve=False)
            grid = [*fixed, *as_typed]
            tracking = typed(config.tracking, TrackingConfig)
            total = _count_jobs(config.hydra.sweeper, grid)
            sweep_id, folder = uuid.uuid4().hex, Path(config.hydra.sweep.dir).absolute()
            loader = SharedLoader.of_sweep()
            if "study" not in config:
                for line in check_choices(config, grid, sweep_id, loader):
                    _note(line)
            pin_threads(config.hydra.launcher)
            start_server(config.hydra.launcher)
            parse_rerun(config.get("rerun"))
            begun = time.time()
            pending = _marks.enter_context(_opened(folder, tracking, grid))
            SweepRecord(folder, sweep_id, None if pending is None else pending.parent).write()
            os.environ[SWEEP_VARIABLE] = sweep_id
            watcher = Watcher(folder, sweep_id, total=total, pending=pending)
            _open.append(Sweep(folder, tracking, pending, watcher, begun, comparable="study" not in config))
            watcher.start()


@contextmanager
def _opened(folder: Path, tracking: TrackingConfig, grid: list[str]) -> Iterator[Pending | None]:
    """The parent run in the store, and what finished before in the folder of the sweep; None without a store."""
    if tracking.name != "mlflow":
        yield None
        return
    from auclab.runs.tracking.sync import open_parent, write_finished

    sync_pending(Address.of_settings(tracking))  # an interrupted sweep continues below its parent
    command = shlex.join([*program(), *sys.argv[1:]])
    with computing(folder, tracking, parent="") as pending:
        assert pending is not None
        try:
            with writing(tracking) as store:
                parent = open_parent(store, grid=grid, command=command, pending=pending.id)
                pending = replace(pending, parent=parent)
                pending.write()
                write_finished(store, folder)
        except AuclabError:
            if not pending.parent:  # the store refuses runs, but it may be read
                pending.remove()
            raise
        yield pending


def _note(line: str) -> None:
    from auclab.runs.screen.console import err

    err.print(f"[yellow]note:[/yellow] {escape(line)}", soft_wrap=True)


def program() -> list[str]:
    """The command without overrides: ``auclab run`` or ``python run.py``."""
    return os.environ.get(PROGRAM_VARIABLE, "auclab run").split()


def command_of(job: DictConfig) -> str:
    """The command of one run: where its configuration was found, and its settings.

    `job`: Hydra's own configuration of the run.
    """
    folders = [each.path for each in job.runtime.config_sources if each.provider == "command-line"]
    options = [f"--config-dir={folder}" for folder in folders]
    options += [] if job.job.config_name == "config" else [f"--config-name={job.job.config_name}"]
    options += [word for word in job.overrides.hydra if word.startswith("hydra.searchpath=")]
    return shlex.join([*program(), *options, *job.overrides.task])


def _count_jobs(sweeper: DictConfig, grid: list[str]) -> int | None:
    """Number of jobs of a sweep; None for a sweeper that does not say."""
    kind = str(sweeper.get("_target_", "")).rpartition(".")[2]
    return count_grid(grid) if kind == "BasicSweeper" else None


def count_grid(grid: list[str]) -> int:
    """Number of jobs of a grid of overrides."""
    overrides = OverridesParser.create().parse_overrides(grid)
    sizes = {  # the last one of a key counts
        it.get_key_element(): len(list(it.sweep_string_iterator())) if it.is_sweep_override() else 1 for it in overrides
    }
    return prod(sizes.values())


@contextmanager
def sweep_scope() -> Iterator[None]:
    """Close the sweep that was opened in the block, even after an exception, and count its jobs.

    The exit code is 0 if every job finished or was skipped, 1 if some failed or were killed, 130 after Ctrl-C.
    """
    stopped = False
    incomplete = False
    try:
        yield
    except KeyboardInterrupt:
        stopped = True
    except SystemExit as end:
        stopped = end.code == 130
        raise
    finally:
        while _open:
            incomplete |= _close(_open.pop(), stopped)
        if stopped:
            # A solver may still compute in its thread, and a regular exit would wait for it.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)
    if incomplete:
        raise SystemExit(1)


def report_remaining_jobs() -> None:
    """Print the lines of jobs that have not been printed yet, once all jobs have ended."""
    for sweep in _open:
        sweep.watcher.stop()


def _close(sweep: Sweep, stopped: bool) -> bool:
    """Close the parent run and print the summary; return whether a job is missing."""
    from auclab.runs.screen.console import Stopped, show_notes, show_sweep

    show_notes()  # once more: Hydra has configured the loggers
    sweep.watcher.stop()
    counts = sweep.watcher.counts
    counts["KILLED"] += _count_killed(sweep)
    os.environ.pop(SWEEP_VARIABLE, None)
    lost = 0 if stopped or sweep.watcher.total is None else sweep.watcher.total - counts.total()
    missing = bool(counts["FAILED"] or counts["KILLED"] or stopped or lost > 0)
    waiting = ""
    if sweep.pending is not None:
        pending = replace(sweep.pending, status="KILLED" if stopped else "FAILED" if missing else "FINISHED")
        try:
            _end_parent(pending, sweep.watcher, counts)
        except AuclabError as error:
            missing, waiting = True, f"{error}; {waiting_in(pending)}"
        _marks.close()
    show_sweep(
        counts,
        folder=sweep.folder,
        tracking=sweep.tracking,
        parent=None if sweep.pending is None else sweep.pending.parent,
        other_code=Counter(record.status for record in sweep.watcher.records.values() if record.other_code),
        comparable=sweep.comparable,
        stopped=Stopped(sweep.watcher.total, shlex.join([*program(), *sys.argv[1:]])) if stopped else None,
        waiting=waiting,
        lost=max(0, lost),
    )
    return missing


def _end_parent(pending: Pending, watcher: Watcher, counts: Counter[str]) -> None:
    """Close the parent run, if all jobs are in the store; else the next command that reads the store does it."""
    from auclab.runs.tracking.sync import close_parent

    assert pending.parent is not None
    pending.write()
    if watcher.unsent:
        raise AuclabError(f"{len(watcher.unsent)} runs are not in {Address.of_settings(pending.tracking)} yet")
    with writing(pending.tracking) as store:
        close_parent(store, pending.parent, str(pending.status), counts)
    pending.remove()


def _count_killed(sweep: Sweep) -> int:
    """Number of jobs that began and left no record."""
    begun = [job for job in folders_with(sweep.folder, ".hydra") if (job / ".hydra").stat().st_mtime >= sweep.begun]
    return sum(job not in sweep.watcher.records for job in begun)
