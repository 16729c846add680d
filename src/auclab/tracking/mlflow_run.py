"""A run in MLflow's store. Importing this module imports MLflow."""

from __future__ import annotations

import errno
import getpass
import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from auclab.datasets.records import Dataset
from auclab.tracking.address import hide_password
from auclab.tracking.code import CODE_TAG, code_version
from auclab.tracking.environment import capture_environment
from auclab.tracking.files import RunFiles
from auclab.tracking.job_status import PARENT_VARIABLE, write_status
from auclab.tracking.processes import this_process
from auclab.tracking.runs import TRACEBACK_FILE, Record, format_traceback, status_of
from auclab.tracking.store import STORE_ERRORS, Store, cannot_keep
from auclab.types import AuclabError

# After the store, which sets MLflow's environment variables first.
from mlflow.entities import Dataset as LoggedDataset  # isort: skip
from mlflow.entities import DatasetInput, InputTag, Metric, Param, RunTag  # isort: skip

#: MLflow refuses longer values; the whole configuration is among the files anyway.
LONGEST_PARAM, LONGEST_TAG = 6000, 8000

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class MlflowRun:
    """A run in MLflow's store.

    The run exists, with its parameters, from the start of the context. If it succeeds, its files are published first
    and its status is set to FINISHED after that. Passwords in settings and commands are not kept.
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
        began: float | None = None,
    ) -> None:
        self.began = time.time() if began is None else began
        self.store, self.name, self.output, self.params, self.tags = store, name, output, params, tags
        self.run_id: str | None = None
        self.record: Record | None = None
        self.files: RunFiles | None = None

    def __enter__(self) -> Self:
        tags = (
            capture_environment()
            | this_process().tags
            | {
                CODE_TAG: code_version(),
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
            run = client.create_run(
                self.store.experiment_id, start_time=int(1000 * self.began), run_name=self.name, tags=tags
            )
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
                if isinstance(error, OSError) and error.errno in NO_SPACE:
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
        status = status_of(None, self.record)
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
        """Record the status, then the error and the traceback."""
        self._clear()  # first: the disk may be full
        self.store.client.set_terminated(self.run_id, status_of(error))
        message = f"{type(error).__name__}: {error}"
        self.store.client.set_tag(self.run_id, "error", hide_password(message)[:LONGEST_TAG])
        if self.files is not None:
            self.files.add(TRACEBACK_FILE, format_traceback(error))
        write_status(self.output, name=self.name, status=status_of(error), run_id=self.run_id, files=self.folder)


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
    except (OSError, KeyError):  # the account has no name
        return "unknown"
