"""A sweep: one parent run above the runs of the jobs, and a last line that counts them.

The parent run must exist before the first job starts, also when jobs run in other processes, so a Hydra callback
creates it and an environment variable names it to the jobs. Hydra does not call `on_multirun_end` when a job failed, so
`sweep_scope`, which surrounds the program, closes the parent run.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf
from rich.markup import escape

from auclab.pipeline.config.typed_words import hydra_in_words
from auclab.sweeps.choices import check_choices
from auclab.sweeps.jobs import parse_rerun
from auclab.sweeps.workers import check_launcher, pin_threads, start_server
from auclab.tracking.config import TrackingConfig
from auclab.tracking.job_status import (
    PARENT_PROCESS_VARIABLE,
    PARENT_VARIABLE,
    SWEEP_VARIABLE,
    count_jobs,
    count_other_code,
)
from auclab.tracking.processes import this_process

if TYPE_CHECKING:
    from auclab.sweeps.watcher import Watcher

#: Environment variable with the command without its overrides; processes that run jobs inherit it.
PROGRAM_VARIABLE = "AUCLAB_PROGRAM"
#: Settings that distinguish two searches over the same space.
_OF_SEARCH = ("sampler", "seed", "metric", "prune")


@dataclass(frozen=True)
class Sweep:
    """A sweep that this process started."""

    id: str
    folder: Path
    tracking: TrackingConfig
    parent: str | None
    watcher: Watcher
    comparable: bool = True


_open: list[Sweep] = []


class SweepCallback(Callback):
    """Opens the parent run when a sweep starts."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Create database and parent run; the jobs inherit its id."""
        from auclab.pipeline.config.settings import typed
        from auclab.pipeline.screen.console import plain_errors
        from auclab.pipeline.screen.notes import show_notes
        from auclab.sweeps.watcher import Watcher

        show_notes()
        # Hydra turns an exception raised here into a warning and continues.
        with plain_errors(lambda line: SystemExit(1), stopped="no job was begun"), hydra_in_words(()):
            check_launcher(config.hydra.launcher)
            params = config.hydra.sweeper.get("params") or {}
            fixed = [f"{key}={value!s}" for key, value in params.items()]
            # As typed: a resolved value, such as an address, may contain characters of Hydra's grammar.
            as_typed: Any = OmegaConf.to_container(config.hydra.overrides.task, resolve=False)
            tracking = typed(config.tracking, TrackingConfig)
            adaptive = _is_adaptive(config.hydra.sweeper)
            if adaptive:
                total: int | None = _check_search(config, [*fixed, *as_typed], tracking)
            else:
                total = _count_jobs(config.hydra.sweeper, [*fixed, *as_typed])
            sweep_id = uuid.uuid4().hex
            if "study" not in config:
                for line in check_choices(config, [*fixed, *as_typed], sweep_id):
                    _note(line)
            pin_threads(config.hydra.launcher)
            start_server(config.hydra.launcher)
            folder = Path(config.hydra.sweep.dir).absolute()
            parse_rerun(config.get("rerun"))
            grid = [*fixed, *config.hydra.overrides.task]
            parent = None
            if tracking.name == "mlflow":
                from auclab.tracking import open_parent

                command = " ".join([*program(), *sys.argv[1:]])
                search = [f"{key}={config.hydra.sweeper[key]}" for key in _OF_SEARCH] if adaptive else []
                parent = open_parent(tracking, grid=grid, command=command, search=search)
                os.environ[PARENT_VARIABLE] = parent
            os.environ[SWEEP_VARIABLE] = sweep_id
            os.environ[PARENT_PROCESS_VARIABLE] = json.dumps(asdict(this_process()))
            watcher = Watcher(folder, sweep_id, total=total)
            _open.append(Sweep(sweep_id, folder, tracking, parent, watcher, comparable="study" not in config))
            watcher.start()


def _note(line: str) -> None:
    from auclab.pipeline.screen.console import err

    err.print(f"[yellow]note:[/yellow] {escape(line)}", soft_wrap=True)


def _is_adaptive(sweeper: DictConfig) -> bool:
    return str(sweeper.get("_target_", "")).endswith(".OptunaSweeper")


def _check_search(config: DictConfig, grid: list[str], tracking: TrackingConfig) -> int:
    """Check a search and return its largest number of jobs."""
    from auclab.sweeps.adaptive import check_search
    from auclab.sweeps.search_space import advice_on, space_of

    metrics = config.get("metrics")
    names = [str(name) for name in metrics] if isinstance(metrics, DictConfig) else None
    total = check_search(grid, config.hydra.sweeper, metrics=names, tracked=tracking.name == "mlflow")
    for line in advice_on(space_of(OverridesParser.create().parse_overrides(grid))[0]):
        _note(line)
    return total


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
    sizes = {it.get_key_element(): len(list(it.sweep_string_iterator())) for it in overrides if it.is_sweep_override()}
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
    from auclab.pipeline.screen.console import Stopped, plain_errors, show_sweep
    from auclab.pipeline.screen.notes import show_notes

    show_notes()  # once more: Hydra has configured the loggers
    sweep.watcher.stop()
    counts = count_jobs(sweep.folder, sweep.id)
    other_code = count_other_code(sweep.folder, sweep.id)
    missing = bool(counts["FAILED"] or counts["KILLED"] or counts["KEPT"] or stopped)
    for variable in (PARENT_VARIABLE, SWEEP_VARIABLE, PARENT_PROCESS_VARIABLE):
        os.environ.pop(variable, None)
    if sweep.parent is not None:
        from auclab.tracking import close_parent

        status = "KILLED" if stopped else "FAILED" if missing else "FINISHED"
        try:
            with plain_errors(lambda line: SystemExit(1)):
                close_parent(sweep.tracking, sweep.parent, status, counts)
        except SystemExit:  # reported; the next start of the sweep marks the parent and continues below it
            missing = True
    show_sweep(
        counts,
        folder=sweep.folder,
        tracking=sweep.tracking,
        parent=sweep.parent,
        other_code=other_code,
        comparable=sweep.comparable,
        stopped=Stopped(sweep.watcher.total, shlex.join([*program(), *sys.argv[1:]])) if stopped else None,
    )
    return missing
