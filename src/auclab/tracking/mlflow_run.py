"""A run in MLflow's store, written by a recorder."""

from __future__ import annotations

import errno
import getpass
import logging
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from auclab.tracking.address import cannot_keep, hide_password
from auclab.tracking.clock import Start
from auclab.tracking.code import CODE_TAG, code_version
from auclab.tracking.database_lock import DatabaseHeldError
from auclab.tracking.dataset_entry import DatasetEntry
from auclab.tracking.environment import capture_environment
from auclab.tracking.files import RunFiles
from auclab.tracking.job_status import PARENT_VARIABLE, write_status
from auclab.tracking.processes import this_process
from auclab.tracking.runs import TRACEBACK_FILE, Record, format_traceback, status_of
from auclab.tracking.server import ServerSilentError
from auclab.types import AuclabError

if TYPE_CHECKING:
    from auclab.tracking.store import Store

log = logging.getLogger(__name__)

#: Tag of a run that failed, with the reason.
ERROR_TAG = "error"
#: MLflow refuses longer values; the whole configuration is among the files anyway.
LONGEST_VALUE = 6000

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class MlflowRun:
    """A run in MLflow's store.

    The run exists, with its parameters, from the start of the context. If it succeeds, its files are published first
    and its status is set to FINISHED after that. Passwords in settings and commands are not kept.

    See Also
    --------
    auclab.tracking.open_run : Opens it.
    auclab.tracking.FolderRun : A run without a store.

    Examples
    --------
    >>> import tempfile
    >>> from auclab.tracking import Record, TrackingConfig, open_run
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with open_run(TrackingConfig(dir=place), name="bauc", folder=f"{place}/out", params={}) as run:
    ...         run.keep(Record(metrics={"test/auc": 0.9}))
    ...     isinstance(run, MlflowRun), len(run.run_id)
    (True, 32)
    """

    staging: Path
    folder: Path

    def __init__(
        self,
        store: Store,
        name: str,
        output: Path,
        params: Mapping[str, str],
        tags: Mapping[str, str],
        *,
        start: Start | None = None,
    ) -> None:
        self.start = start or Start.now()
        self.store, self.name, self.output, self.params, self.tags = store, name, output, params, tags
        self.run_id: str | None = None
        self.record: Record | None = None
        self.files: RunFiles | None = None

    def __enter__(self) -> Self:
        try:
            client, start_time = self.store.client, self.start.milliseconds
            made = client.create_run(self.store.experiment_id, start_time, run_tags(self.tags), self.name).info
            self.run_id = made.run_id
            client.log_batch(made.run_id, params=entities("Param", run_params(self.params)))
            self.files = RunFiles(self.store, made.run_id, made.artifact_uri, self.output)
            self.folder, self.staging = self.files.folder, self.files.staging
            self.staging.mkdir(parents=True)
        except self.store.errors as error:
            failure = AuclabError(cannot_keep(self.store.address, error))
            if self.run_id is not None:
                with suppress(AuclabError, *self.store.errors):
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
        except self.store.errors as reason:
            words = cannot_keep(self.store.address, reason)
            if error is not None and not _is_full(error):
                log.warning("this failure could not be recorded: %s", words)
                return  # the user needs the original error
            failure = AuclabError(words)
            if not isinstance(reason, DatabaseHeldError | ServerSilentError):  # it would be waited for again
                with suppress(*self.store.errors):  # a full disk may refuse this too
                    self._fail(failure)
            raise failure from error or reason
        finally:
            self._clear()
        if error is not None and _is_full(error):
            raise AuclabError(cannot_keep(self.store.address, error)) from error

    def _clear(self) -> None:
        if self.files is not None:
            self.files.clear()

    def _finish(self) -> None:
        assert self.run_id is not None
        if self.record is not None:
            tags = {key: hide_password(value)[:LONGEST_VALUE] for key, value in self.record.tags.items()}
            metrics = entities("Metric", self.record.metrics, int(time.time() * 1000), 0)
            self.store.client.log_batch(self.run_id, metrics=metrics, tags=entities("RunTag", tags))
            dataset = self.record.dataset
            self.store.log_dataset(self.run_id, None if dataset is None else DatasetEntry.of(dataset))
        if self.files is not None:
            self.files.publish()
        status = status_of(None, self.record)
        self.store.end(self.run_id, status, self.start.present)
        self._write_status(status)

    def _fail(self, error: BaseException) -> None:
        """Record the status, then the error and the traceback."""
        self._clear()  # first, because the disk may be full
        assert self.run_id is not None
        self.store.end(self.run_id, status_of(error), self.start.present)
        message = f"{type(error).__name__}: {error}"
        self.store.client.set_tag(self.run_id, ERROR_TAG, hide_password(message)[:LONGEST_VALUE])
        if self.files is not None:
            self.files.add(TRACEBACK_FILE, format_traceback(error))
        self._write_status(status_of(error))

    def _write_status(self, status: str) -> None:
        """Write the status file; as the run is already in the store, a failure is only a warning."""
        try:
            write_status(self.output, name=self.name, status=status, run_id=self.run_id, files=self.folder)
        except OSError as error:
            log.warning("the run is in the store, but its output folder %s cannot be written: %s", self.output, error)


def entities(kind: str, values: Mapping[str, Any], *rest: int) -> list[Any]:
    """The parameters, tags or metrics of MLflow for some values; `rest`: time and step of metrics."""
    import mlflow.entities

    make = getattr(mlflow.entities, kind)
    return [make(key, float(value), *rest) if rest else make(key, value) for key, value in values.items()]


def run_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The initial tags of a run: those given, and its environment; passwords are removed."""
    found = capture_environment() | this_process().tags | {CODE_TAG: code_version()}
    found |= {key: hide_password(value) for key, value in tags.items()}
    found |= {"mlflow.user": _user(), "mlflow.source.type": "LOCAL", "mlflow.source.name": Path(sys.argv[0]).name}
    if parent := os.environ.get(PARENT_VARIABLE):
        found["mlflow.parentRunId"] = parent
    return found


def run_params(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a run without passwords, none longer than MLflow takes."""
    return {key: hide_password(value)[:LONGEST_VALUE] for key, value in params.items()}


def _is_full(error: BaseException | None) -> bool:
    """Whether the disk refused to take the files of a run."""
    return isinstance(error, OSError) and error.errno in NO_SPACE


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # the account has no name
        return "unknown"
