"""One run: files are written to a staging folder and become visible in one move, numbers in one batch."""

from __future__ import annotations

import errno
import getpass
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from mlflow.entities import Dataset as LoggedDataset
from mlflow.entities import DatasetInput, InputTag, Metric, Param, RunTag

from auclab.datasets.records import Dataset
from auclab.tracking.address import hide_password
from auclab.tracking.config import TrackingConfig
from auclab.tracking.earlier import mark_killed
from auclab.tracking.environment import capture_environment
from auclab.tracking.files import RunFiles
from auclab.tracking.job_status import PARENT_VARIABLE, in_sweep, write_status
from auclab.tracking.processes import this_process
from auclab.tracking.store import STORE_ERRORS, Store, cannot_keep, open_tracked
from auclab.types import AuclabError

#: MLflow refuses longer values; the whole configuration is an artifact anyway.
LONGEST_PARAM, LONGEST_TAG = 6000, 8000

TRACEBACK_FILE = "traceback.txt"

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True)
class Record:
    """What a finished experiment leaves besides its files; KILLED is the status of one that was stopped early."""

    dataset: Dataset | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    status: str = "FINISHED"


class Run(Protocol):
    """A context: files go to `staging`, numbers to `keep`; leaving it publishes or records the failure."""

    name: str
    output: Path
    staging: Path
    folder: Path
    run_id: str | None

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def keep(self, record: Record) -> None:
        """Set what is to be recorded on success."""
        ...


def open_run(
    tracking: TrackingConfig,
    *,
    name: str,
    folder: str | Path,
    params: Mapping[str, str],
    tags: Mapping[str, str] | None = None,
) -> Run:
    """The run that the configuration asks for: ``tracking.name`` is ``mlflow`` or ``none``.

    Parameters
    ----------
    tracking : TrackingConfig
        Where the run is recorded.
    name : str
        What the reader knows the run by.
    folder : path
        Hydra's output folder; without MLflow the files end there.
    params : mapping
        Flat settings, logged at the start so that a failed run shows them too.
    tags : mapping, optional
        Tags from the start on.

    Raises
    ------
    AuclabError
        An unknown name, or a store that cannot be written.
    """
    if tracking.name == "mlflow":
        store = open_tracked(tracking)
        if not in_sweep():  # a sweep has looked, at its start
            mark_killed(store)
        return MlflowRun(store, name, Path(folder), params, tags or {})
    if tracking.name == "none":
        return FolderRun(name, Path(folder))
    raise AuclabError(f"tracking.name is {tracking.name!r}; mlflow and none are known")


class FolderRun:
    """A run without a database: its files appear in Hydra's output folder."""

    run_id: str | None = None

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.output, self.folder = name, folder, folder
        self.record: Record | None = None

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=self.folder))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                for path in sorted(self.staging.iterdir()):
                    path.replace(self.folder / path.name)
            else:
                (self.folder / TRACEBACK_FILE).write_text(_traceback(error), encoding="utf-8")
            status = _status(error, self.record)
            write_status(self.folder, name=self.name, status=status, run_id=None, files=self.folder)
        finally:
            shutil.rmtree(self.staging, ignore_errors=True)

    def keep(self, record: Record) -> None:
        """Only the status matters: all numbers are in the files too."""
        self.record = record


class MlflowRun:
    """A run in MLflow's store.

    The run exists, with its parameters, as soon as it is entered. Its files become visible when it ends well, and it
    is called finished after that. Passwords in settings and commands are not kept.
    """

    staging: Path
    folder: Path

    def __init__(
        self, store: Store, name: str, output: Path, params: Mapping[str, str], tags: Mapping[str, str]
    ) -> None:
        self.store, self.name, self.output, self.params, self.tags = store, name, output, params, tags
        self.run_id: str | None = None
        self.record: Record | None = None
        self.files: RunFiles | None = None

    def __enter__(self) -> Self:
        tags = (
            capture_environment()
            | this_process().tags
            | {
                **{key: hide_password(value) for key, value in self.tags.items()},
                "mlflow.user": _user(),
                "mlflow.source.type": "LOCAL",
                "mlflow.source.name": Path(sys.argv[0]).name,
            }
        )
        if parent := os.environ.get(PARENT_VARIABLE):
            tags["mlflow.parentRunId"] = parent
        client = self.store.client
        try:
            run = client.create_run(self.store.experiment_id, run_name=self.name, tags=tags)
            self.run_id = run.info.run_id
            self.files = RunFiles(self.store, run, self.output)
            self.folder, self.staging = self.files.folder, self.files.staging
            self.staging.mkdir(parents=True)
            params = [Param(key, hide_password(value)[:LONGEST_PARAM]) for key, value in self.params.items()]
            client.log_batch(self.run_id, params=params)
        except STORE_ERRORS as error:
            failure = AuclabError(cannot_keep(self.store.address, error))
            if self.run_id is not None:
                self.__exit__(type(failure), failure, None)
            raise failure from error
        return self

    def keep(self, record: Record) -> None:
        """Set what is to be recorded on success."""
        self.record = record

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._finish()
            else:
                self._fail(error)
                if isinstance(error, OSError) and error.errno in NO_ROOM:
                    raise AuclabError(cannot_keep(self.store.address, error)) from error
        except STORE_ERRORS as reason:
            failure = AuclabError(cannot_keep(self.store.address, reason))
            with suppress(*STORE_ERRORS):  # a full disk may refuse this too
                self._fail(failure)
            raise failure from error or reason
        finally:
            self._clear()

    def _clear(self) -> None:
        if self.files is not None:
            self.files.clear()

    def _finish(self) -> None:
        if self.record is not None:
            self._log(self.record)
        if self.files is not None:
            self.files.publish()
        status = _status(None, self.record)
        self.store.client.set_terminated(self.run_id, status)
        write_status(self.output, name=self.name, status=status, run_id=self.run_id, files=self.folder)

    def _log(self, record: Record) -> None:
        now = int(time.time() * 1000)
        self.store.client.log_batch(
            self.run_id,
            metrics=[Metric(key, float(value), now, 0) for key, value in record.metrics.items()],
            tags=[RunTag(key, hide_password(value)[:LONGEST_TAG]) for key, value in record.tags.items()],
        )
        if record.dataset is not None:
            self.store.client.log_inputs(self.run_id, [_dataset_input(record.dataset)])

    def _fail(self, error: BaseException) -> None:
        """Leave the status first, then the traceback where the run is looked at."""
        self._clear()  # first, as it may be room that is lacking
        self.store.client.set_terminated(self.run_id, _status(error))
        message = f"{type(error).__name__}: {error}"
        self.store.client.set_tag(self.run_id, "error", hide_password(message)[:LONGEST_TAG])
        if self.files is not None:
            self.files.add(TRACEBACK_FILE, _traceback(error))
        write_status(self.output, name=self.name, status=_status(error), run_id=self.run_id, files=self.folder)


def _status(error: BaseException | None, record: Record | None = None) -> str:
    if error is None:
        return "FINISHED" if record is None else record.status
    return "KILLED" if isinstance(error, KeyboardInterrupt | SystemExit) else "FAILED"


def _traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _dataset_input(dataset: Dataset) -> DatasetInput:
    n_samples, n_features = dataset.X.shape
    counts = {"rows": n_samples, "features": n_features, "positive": dataset.n_pos, "negative": dataset.n_neg}
    source = json.dumps({"uri": dataset.source, "sha256": dataset.sha256})
    # MLflow's digest is at most 36 characters long; the whole checksum is part of the source.
    digest = dataset.sha256[:36] or "unknown"
    logged = LoggedDataset(dataset.name, digest, "local", source, profile=json.dumps(counts))
    return DatasetInput(logged, [InputTag("mlflow.data.context", "training")])


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # an account without a name
        return "unknown"
