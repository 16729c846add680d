"""A job of a sweep: computed, or skipped if a run with the same settings, data and code has finished."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab.sweeps.workers import leave_libraries_out_of_collections
from auclab.tracking.code import code_version
from auclab.tracking.config import TrackingConfig
from auclab.tracking.environment import fingerprint
from auclab.tracking.job_lock import claim
from auclab.tracking.job_status import (
    LIMITS_VARIABLE,
    PARENT_PROCESS_VARIABLE,
    SWEEP_VARIABLE,
    JobStatus,
    add_line,
    mark_other_code,
    read_status,
    write_status,
)
from auclab.tracking.processes import Process, end_with, this_process
from auclab.tracking.search_tags import read_values
from auclab.types import AuclabError

if TYPE_CHECKING:
    from auclab.pipeline.config.compose import Experiment
    from auclab.pipeline.split.inner_limits import Limits
    from auclab.tracking.finished import FinishedRun, FoundRun

log = logging.getLogger(__name__)
#: Status messages other than the line of a job.
screen = logging.getLogger("auclab.tracking")


class Rerun(StrEnum):
    """Which jobs of a sweep are recomputed although a run with the same settings and data has finished."""

    #: Those whose run was computed by other code.
    STALE = "stale"
    #: None of them.
    FALSE = "false"
    #: All of them.
    TRUE = "true"


def parse_rerun(value: Any) -> Rerun:
    """The setting ``rerun``."""
    try:
        return Rerun(str(value).lower())
    except ValueError:
        raise AuclabError(f"rerun is {value!r}; it is one of stale, false and true") from None


def run_job(experiment: Experiment, job: Any) -> JobStatus:
    """One experiment as a job of a sweep; returns how it ended.

    `experiment`: ``rerun`` of its configuration says which finished runs make it unnecessary. `job`: Hydra's own
    configuration.
    """
    folder = Path(job.runtime.output_dir)
    limits = _limits()

    def checksum() -> str:
        from auclab.pipeline.config.build import load_dataset

        return load_dataset(experiment).sha256

    def work() -> None:
        _say_once(experiment, folder.parent)
        from auclab.pipeline.experiment import run_experiment  # heavy: solvers

        run_experiment(experiment, folder=folder, brief=True, limits=limits)

    def make() -> Job:
        configuration = experiment.configuration
        rerun = parse_rerun(configuration.get("rerun"))
        lacks = lacking_library(configuration["formulation"])
        found = (experiment.name, configuration, experiment.tracking, rerun, code_version(), checksum, work, lacks)
        return Job(*found, limits)

    attempt(folder, job.job.override_dirname, make)
    leave_libraries_out_of_collections()
    return read_status(folder, os.environ.get(SWEEP_VARIABLE))


@dataclass(frozen=True)
class Job:
    """A job of a sweep.

    `name`: the name of its run. `configuration`: the settings that determine its numbers, besides data and code.
    `tracking`: where runs are recorded. `rerun`: which finished runs make it unnecessary. `code`: identifies the code
    that computes it. `checksum`: returns the checksum of its data; called only if a run with these settings finished.
    `work`: computes and stores it, and writes the status file with its line. `lacks`: why it cannot be computed here,
    such as a library that is not installed: it is then left out, not failed. `limits`: of its inner folds, in a search
    with pruning.
    """

    name: str
    configuration: dict[str, Any]
    tracking: TrackingConfig
    rerun: Rerun
    code: str
    checksum: Callable[[], str]
    work: Callable[[], None]
    lacks: str = ""
    limits: Limits | None = None

    @property
    def key(self) -> str:
        """Identifies the same job in other sweeps: settings, and the code if it matters."""
        code = "" if self.rerun is Rerun.FALSE else self.code
        return f"{self.tracking.experiment} {fingerprint(self.configuration)} {code}"


def attempt(folder: Path, name: str, make: Callable[[], Job]) -> None:
    """Run one job of a sweep, or skip it if it finished before; an exception ends this job only.

    `folder`: the job's output folder. `name`: name of the job should `make` fail. `make`: returns the job.
    """
    _end_with_sweep()
    from auclab.pipeline.screen.console import failed_line, left_out_line, plain_errors, pruned_line, skipped_line
    from auclab.pipeline.screen.notes import show_notes
    from auclab.pipeline.split.inner_limits import PrunedError

    show_notes()
    with plain_errors(lambda line: SystemExit(1)):
        try:
            job = make()
            name = job.name
            if job.lacks:
                write_status(folder, name=name, status="LEFT_OUT", run_id=None, files=folder)
                add_line(folder, left_out_line(name, job.lacks), status="LEFT_OUT")
                return
            # If two sweeps have the same job, the second waits for the first and then looks for its finished run.
            with nullcontext() if job.rerun is Rerun.TRUE else claim(job.tracking, job.key):
                earlier = _find_finished(job)
                other_code = earlier is not None and not earlier.same_code
                if earlier is not None and (earlier.same_code or job.rerun is Rerun.FALSE):
                    from auclab.tracking import join_sweep

                    join_sweep(job.tracking, earlier.run_id)
                    write_status(folder, name=name, status="SKIPPED", run_id=earlier.run_id, files=folder)
                    if other_code:  # after the status: the watcher warns of jobs that are computed again
                        mark_other_code(folder, earlier.run_id)
                    add_line(folder, skipped_line(name, earlier.run_id, same_code=earlier.same_code), status="SKIPPED")
                elif (left := _find_pruned(job)) is not None:
                    from auclab.tracking import join_sweep

                    join_sweep(job.tracking, left.run_id)
                    write_status(folder, name=name, status="PRUNED", run_id=left.run_id, files=folder)
                    add_line(folder, pruned_line(name, left.tags.get("error", "left early")), status="PRUNED")
                else:
                    if earlier is not None and other_code:
                        mark_other_code(folder, earlier.run_id)
                    job.work()
        except PrunedError as end:
            kept = read_status(folder, os.environ.get(SWEEP_VARIABLE))
            write_status(folder, name=name, status="PRUNED", run_id=kept.run_id, files=folder)
            add_line(folder, pruned_line(name, str(end)), status="PRUNED")
        except Exception as error:  # any error: it is logged and shown, and the next job starts
            log.exception("the job failed")
            try:
                add_line(folder, failed_line(name, error), status="FAILED")
            except OSError as second:  # a full disk: the sweep counts the job as killed
                screen.warning("%s failed (%s), and its folder cannot be written: %s", name, error, second)


def lacking_library(formulation: Mapping[str, Any]) -> str:
    """Why a baseline cannot be fitted here; empty if its library is installed, and for formulations."""
    from auclab.pipeline.config.run_name import is_baseline

    if not is_baseline(formulation):
        return ""
    from auclab.estimators import baselines

    try:
        kind = getattr(baselines, str(formulation["_target_"]).rpartition(".")[2])
        kind().library  # noqa: B018  checks for the package
    except baselines.MissingLibraryError as error:
        return str(error)
    return ""


def _say_once(experiment: Experiment, sweep_folder: Path) -> None:
    """Print notes on the data, once per sweep: in the first job that uses them."""
    from auclab.pipeline.config.checks import check_data
    from auclab.pipeline.screen.data_screen import data_notes

    key = fingerprint({name: experiment.configuration[name] for name in ("dataset", "preprocess")})
    try:
        (sweep_folder / f".data-{key}").touch(exist_ok=False)
        dataset, columns = check_data(experiment)
    except (FileExistsError, AuclabError):  # already printed; or the run itself raises it
        return
    for word, text in data_notes(dataset, columns):
        screen.warning("%s", text if word == "note:" else f"{dataset.name}: {text}")


def _find_finished(job: Job) -> FinishedRun | None:
    """The finished run of the same job, by this code or other code."""
    if job.rerun is Rerun.TRUE or job.tracking.name != "mlflow":
        return None
    from auclab.tracking import find_finished

    any_code = job.rerun is Rerun.FALSE
    return find_finished(job.tracking, job.configuration, job.checksum, code=job.code, any_code=any_code)


def _limits() -> Limits | None:
    """The limits of the search that this job belongs to; None without limits."""
    if not (text := os.environ.get(LIMITS_VARIABLE)):
        return None
    from auclab.pipeline.split.inner_limits import Limits

    metric, sign, *values = json.loads(text)
    return Limits(metric, tuple(values), sign)


def _find_pruned(job: Job) -> FoundRun | None:
    """A pruned run of the same job that would be pruned again."""
    if job.limits is None or job.rerun is Rerun.TRUE or job.tracking.name != "mlflow":
        return None
    from auclab.tracking.finished import find_pruned

    any_code = job.rerun is Rerun.FALSE
    found = find_pruned(job.tracking, job.configuration, job.checksum, code=None if any_code else job.code)
    name = f"inner/{job.limits.metric}"
    return next((run for run in found if job.limits.refuse(read_values(run.tags, name))), None)


@cache
def _end_with_sweep() -> None:
    """End a worker process when the sweep that started it has ended."""
    described = os.environ.get(PARENT_PROCESS_VARIABLE)
    if described and (parent := Process(**json.loads(described))) != this_process():
        end_with(parent)
