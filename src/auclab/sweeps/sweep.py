"""Sweeps: one parent run above the runs of the jobs, a job that is done already is skipped, a last line counts them.

The parent must exist before the first job starts, also when jobs run in processes of their own, so it is made
by a Hydra callback and found by the jobs through an environment variable. Hydra does not call
`on_multirun_end` when a job failed, so the parent is closed by `sweep_scope`, which surrounds the program.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from auclab.sweeps.workers import check_launcher, pin_threads
from auclab.tracking.config import TrackingConfig
from auclab.tracking.job_status import (
    PARENT_PROCESS_VARIABLE,
    PARENT_VARIABLE,
    SWEEP_VARIABLE,
    add_line,
    count_jobs,
    write_status,
)
from auclab.tracking.processes import Process, end_with, this_process

if TYPE_CHECKING:
    from auclab.pipeline.compose import Experiment
    from auclab.sweeps.watcher import Watcher

log = logging.getLogger(__name__)

# Our choices for joblib's launcher bear the name of its own, as they should.
warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/joblib' is validated against ConfigStore")


@dataclass(frozen=True)
class Sweep:
    """A sweep that this process started."""

    name: str
    folder: Path
    tracking: TrackingConfig
    parent: str | None
    watcher: Watcher


_open: list[Sweep] = []


class SweepCallback(Callback):
    """Opens the parent run when a sweep starts."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Create database and parent run; the jobs inherit the parent's id."""
        from auclab.pipeline.console import plain_errors
        from auclab.pipeline.settings import typed
        from auclab.sweeps.watcher import Watcher

        # Hydra makes a warning of an exception here, and would go on.
        with plain_errors(lambda line: SystemExit(1)):
            check_launcher(config.hydra.launcher)
            pin_threads(config.hydra.launcher)
            folder = Path(config.hydra.sweep.dir).absolute()
            tracking = typed(config.tracking, TrackingConfig)
            params = config.hydra.sweeper.get("params") or {}
            grid = [*(f"{key}={value!s}" for key, value in params.items()), *config.hydra.overrides.task]
            parent = None
            if tracking.name == "mlflow":
                from auclab.tracking import open_parent

                parent = open_parent(tracking, grid=grid, command=" ".join(["python", *sys.argv]))
                os.environ[PARENT_VARIABLE] = parent
            name = uuid.uuid4().hex
            os.environ[SWEEP_VARIABLE] = name
            os.environ[PARENT_PROCESS_VARIABLE] = json.dumps(asdict(this_process()))
            basic = str(config.hydra.sweeper.get("_target_", "")).endswith("BasicSweeper")
            watcher = Watcher(folder, name, total=_count(grid) if basic else None)
            _open.append(Sweep(name, folder, tracking, parent, watcher))
            watcher.start()


def _count(grid: list[str]) -> int:
    """How many jobs the overrides make."""
    overrides = OverridesParser.create().parse_overrides(grid)
    sizes = {it.get_key_element(): len(list(it.sweep_string_iterator())) for it in overrides if it.is_sweep_override()}
    return prod(sizes.values())


@contextmanager
def sweep_scope() -> Iterator[None]:
    """Close the sweep that was opened inside, however it ends, count its jobs and say it in the exit code.

    0: every job finished or was skipped; 1: some failed or were killed; 130: Ctrl-C.
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
            # A solver may still compute in its thread, and an orderly exit would wait for it.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)
    if incomplete:
        raise SystemExit(1)


def tell_jobs() -> None:
    """Tell how the jobs of this process's sweep ended, once all have; what is printed then comes after them."""
    for sweep in _open:
        sweep.watcher.stop()


def _close(sweep: Sweep, stopped: bool) -> bool:
    """Whether a job is missing."""
    from auclab.pipeline.console import show_sweep

    sweep.watcher.stop()
    counts = count_jobs(sweep.folder, sweep.name)
    missing = bool(counts["FAILED"] or counts["KILLED"] or stopped)
    for variable in (PARENT_VARIABLE, SWEEP_VARIABLE, PARENT_PROCESS_VARIABLE):
        os.environ.pop(variable, None)
    if sweep.parent is not None:
        from auclab.tracking import close_parent

        status = "KILLED" if stopped else "FAILED" if missing else "FINISHED"
        close_parent(sweep.tracking, sweep.parent, status, counts)
    show_sweep(counts, folder=sweep.folder, tracking=sweep.tracking, parent=sweep.parent)
    return missing


def run_job(experiment: Experiment, job: Any) -> None:
    """One experiment as a job of a sweep.

    Parameters
    ----------
    experiment : Experiment
        Its ``rerun`` computes what is known already.
    job : DictConfig
        Hydra's own configuration.
    """
    folder = Path(job.runtime.output_dir)

    def checksum() -> str:
        from auclab.pipeline.build import build

        key = json.dumps(experiment.configuration["dataset"], sort_keys=True, default=str)
        if key not in _checksums:
            _checksums[key] = build(experiment.config.dataset).sha256
        return _checksums[key]

    def work() -> None:
        from auclab.pipeline.experiment import run_experiment  # heavy: solvers

        run_experiment(experiment, folder=folder, brief=True)

    attempt(folder, job.job.override_dirname, lambda: Job(experiment.name, experiment.configuration, checksum, work))


@dataclass(frozen=True)
class Job:
    """What a job of a sweep does.

    Attributes
    ----------
    name
        What the reader knows its run by.
    settings
        What decides its numbers, and ``tracking``; with ``rerun`` it is computed even if it is known.
    checksum
        Of the data it reads; asked for only if the settings are known.
    work
        Computes it, keeps it, and leaves a slip and a line in the job's folder.
    """

    name: str
    settings: dict[str, Any]
    checksum: Callable[[], str]
    work: Callable[[], None]


def attempt(folder: Path, name: str, make: Callable[[], Job]) -> None:
    """One job of a sweep: skipped if it finished before, and a failure is its own and no other job's.

    Parameters
    ----------
    folder : Path
        The job's output folder.
    name : str
        What it is called should `make` fail.
    make : callable
        The job.
    """
    _obey_master()
    from auclab.pipeline.console import failed_line, plain_errors, skipped_line

    with plain_errors(lambda line: SystemExit(1)):
        try:
            job = make()
            name = job.name
            if (run_id := _finished_before(job)) is not None:
                write_status(folder, name=name, status="SKIPPED", run_id=run_id, files=folder)
                add_line(folder, skipped_line(name, run_id), status="SKIPPED")
                return
            job.work()
        except Exception as error:  # whatever it is: it is told and kept, and the next job has its turn
            log.exception("the job failed")
            add_line(folder, failed_line(name, error), status="FAILED")


def _finished_before(job: Job) -> str | None:
    tracking = TrackingConfig(**job.settings["tracking"])
    if job.settings.get("rerun") or tracking.name != "mlflow":
        return None
    from auclab.tracking import finished_before, join_sweep

    if (run_id := finished_before(tracking, job.settings, job.checksum)) is not None:
        join_sweep(tracking, run_id)
    return run_id


#: Checksums of the data that this process has read for comparison, by their settings.
_checksums: dict[str, str] = {}


@cache
def _obey_master() -> None:
    """A worker that this sweep started ends when the sweep is gone."""
    if (told := os.environ.get(PARENT_PROCESS_VARIABLE)) and (master := Process(**json.loads(told))) != this_process():
        end_with(master)
