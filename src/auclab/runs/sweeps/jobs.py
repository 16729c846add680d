"""A job of a sweep: computed, or skipped if a run with the same settings, data and code has finished."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from auclab._core.base import AuclabError
from auclab._core.files import replace_file
from auclab.runs.sweeps.workers import leave_libraries_out_of_collections
from auclab.runs.tracking.environment import code_of, fingerprint
from auclab.runs.tracking.record import Draft, RunRecord, describe
from auclab.runs.tracking.sync import FinishedRun, find_finished

if TYPE_CHECKING:
    from auclab.runs.config.compose import Experiment

log = logging.getLogger(__name__)
#: Status messages other than the line of a job.
screen = logging.getLogger("auclab.runs.tracking")

SWEEP_FILE = "sweep.json"


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
    from auclab.runs.config.settings import RunConfig

    return Rerun(str(RunConfig(rerun=value).rerun).lower())


@dataclass(frozen=True)
class SweepRecord:
    """What jobs know of their sweep, by a file in its folder: its id, and that of the parent run in the store."""

    folder: Path
    id: str
    parent: str | None = None

    def write(self) -> None:
        """Write ``sweep.json``, before the first job starts."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replace_file(self.folder / SWEEP_FILE) as draft:
                draft.write_text(json.dumps({"id": self.id, "parent": self.parent}), encoding="utf-8")
        except OSError as error:
            raise AuclabError(
                f"the output folder {self.folder} cannot be written: {error.strerror or error}; free space, or choose "
                "another folder with hydra.run.dir=… (of a sweep: hydra.sweep.dir=…)"
            ) from error

    @classmethod
    def read(cls, folder: Path) -> Self:
        """That of a sweep."""
        try:
            return cls(folder, **json.loads((folder / SWEEP_FILE).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise AuclabError(
                f"{folder} is not the folder of a sweep as this process sees it ({error}): a worker needs the folder "
                "of the command, under the same path"
            ) from error


@dataclass(frozen=True)
class Job:
    """A job of a sweep.

    `name`: the name of its run. `configuration`: the settings that determine its numbers, besides data and code.
    `rerun`: which finished runs make it unnecessary. `code`: identifies the code that computes it. `checksum`: returns
    the checksum of its data; called only if a run with these settings finished. `record`: opens the record of its run,
    given the sweep. `work`: computes it into that record.
    """

    name: str
    configuration: Mapping[str, Any]
    rerun: Rerun
    code: str
    checksum: Callable[[], str]
    record: Callable[[SweepRecord], AbstractContextManager[Draft]]
    work: Callable[[Draft], None]


def run_job(experiment: Experiment, job: Any) -> None:
    """One experiment as a job of a sweep; `job` is Hydra's own configuration."""
    # With hydra.job.chdir=true the process is in the folder of the job.
    folder, sweep_folder = Path(job.runtime.output_dir), Path(job.runtime.cwd, job.sweep.dir)

    def checksum() -> str:
        from auclab.runs.config.compose import load_dataset

        return load_dataset(experiment).sha256

    def record(sweep: SweepRecord) -> AbstractContextManager[Draft]:
        from auclab.runs.record.artifacts import record_run

        return record_run(experiment, folder, sweep=sweep.id, parent=sweep.parent)

    def work(run: Draft) -> None:
        _say_once(experiment, sweep_folder)
        from auclab.runs.config.checks import check_settings
        from auclab.runs.experiment import solve_splits  # heavy: solvers
        from auclab.runs.record.artifacts import write_run

        check_settings(experiment)
        result = solve_splits(experiment)
        write_run(result, experiment, run)
        if result.interrupted:
            raise KeyboardInterrupt

    def make() -> Job:
        configuration = experiment.configuration
        rerun = parse_rerun(configuration.get("rerun"))
        return Job(experiment.name, configuration, rerun, code_of(configuration), checksum, record, work)

    attempt(folder, sweep_folder, job.job.override_dirname, make)
    leave_libraries_out_of_collections()


def attempt(folder: Path, sweep_folder: Path, name: str, make: Callable[[], Job]) -> None:
    """Run one job of a sweep, or skip it if it finished before; an exception ends this job only.

    `folder`: the job's output folder. `sweep_folder`: that of the sweep. `name`: name of the job should `make` fail.
    `make`: returns the job.
    """
    from auclab.runs.screen.console import plain_errors, show_notes

    show_notes()
    with plain_errors(lambda line: SystemExit(1)):
        sweep = SweepRecord.read(sweep_folder)
        done = RunRecord.read(folder)
        if done is not None and done.sweep == sweep.id and done.status in ("FINISHED", "SKIPPED"):
            return  # the launcher repeats a job whose worker died after the job had ended
        try:
            job = make()
            name, ended = job.name, RunRecord(folder, job.name, sweep=sweep.id)
            earlier = _find_finished(job, sweep)
            other_code = None if earlier is None or earlier.same_code else earlier.run_id
            if earlier is not None and (earlier.same_code or job.rerun is Rerun.FALSE):
                ended.keep(status="SKIPPED", run_id=earlier.run_id, other_code=other_code, metrics=earlier.metrics)
            elif not _is_first(job, sweep, folder):
                ended.keep(status="SKIPPED", line="has the settings of another job of this sweep")
            else:
                with job.record(sweep) as run:
                    run.keep(other_code=other_code)
                    job.work(run)
        except Exception as error:  # any error: it is logged and shown, and the next job starts
            log.exception("the job failed")
            found = RunRecord.read(folder)
            if found is None or found.sweep != sweep.id or found.status != "FAILED":
                try:
                    RunRecord(folder, name, sweep=sweep.id).keep(status="FAILED", line=describe(error))
                except OSError as second:  # a full disk: the sweep counts the job as killed
                    screen.warning("%s failed (%s), and its folder cannot be written: %s", name, error, second)


def _find_finished(job: Job, sweep: SweepRecord) -> FinishedRun | None:
    """The finished run of the same job, by this code or other code."""
    if job.rerun is Rerun.TRUE:
        return None
    return find_finished(sweep.folder, job.configuration, job.checksum, code=job.code)


def _is_first(job: Job, sweep: SweepRecord, folder: Path) -> bool:
    """Whether no other job of the sweep has the same settings, such as one that a setting has no effect on.

    A job that is repeated because its worker died finds its own `folder`.
    """
    mark = sweep.folder / f".job-{sweep.id}-{fingerprint(job.configuration)}"
    try:
        with mark.open("x", encoding="utf-8") as file:
            file.write(str(folder))
    except FileExistsError:
        return mark.read_text(encoding="utf-8") == str(folder)
    return True


def _say_once(experiment: Experiment, sweep_folder: Path) -> None:
    """Print notes on the data, once per sweep: in the first job that uses them."""
    from auclab.runs.config.checks import check_data
    from auclab.runs.screen.console import data_notes

    key = fingerprint({name: experiment.configuration[name] for name in ("dataset", "preprocess")})
    try:
        (sweep_folder / f".data-{key}").touch(exist_ok=False)
        dataset, columns = check_data(experiment)
    except (FileExistsError, AuclabError):  # already printed; or the run itself raises it
        return
    for word, text in data_notes(dataset, columns):
        screen.warning("%s", text if word == "note:" else f"{dataset.name}: {text}")
