"""A run in MLflow's store, written by a recorder."""

from __future__ import annotations

import errno
import getpass
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from auclab.tracking.address import cannot_keep, hide_password
from auclab.tracking.code import CODE_TAG, code_version
from auclab.tracking.environment import capture_environment
from auclab.tracking.files import RunFiles
from auclab.tracking.job_status import PARENT_VARIABLE, write_status
from auclab.tracking.processes import this_process
from auclab.tracking.recorder import Recorder
from auclab.tracking.runs import TRACEBACK_FILE, Record, format_traceback, status_of
from auclab.types import AuclabError

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
        recorder: Recorder,
        name: str,
        output: Path,
        params: Mapping[str, str],
        tags: Mapping[str, str],
        *,
        began: float | None = None,
    ) -> None:
        self.began = time.time() if began is None else began
        self.recorder, self.name, self.output, self.params, self.tags = recorder, name, output, params, tags
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
        params = {key: hide_password(value)[:LONGEST_PARAM] for key, value in self.params.items()}
        try:
            self.run_id, artifact_uri = self.recorder.create(self.name, tags, params, int(1000 * self.began))
            self.files = RunFiles(self.recorder, self.run_id, artifact_uri, self.output)
            self.folder, self.staging = self.files.folder, self.files.staging
            self.staging.mkdir(parents=True)
        except self.recorder.errors as error:
            failure = AuclabError(cannot_keep(self.recorder.address, error))
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
                    raise AuclabError(cannot_keep(self.recorder.address, error)) from error
        except self.recorder.errors as reason:
            failure = AuclabError(cannot_keep(self.recorder.address, reason))
            with suppress(*self.recorder.errors):  # a full disk may refuse this too
                self._fail(failure)
            raise failure from error or reason
        finally:
            self._clear()

    def _clear(self) -> None:
        if self.files is not None:
            self.files.clear()

    def _finish(self) -> None:
        assert self.run_id is not None
        if self.record is not None:
            tags = {key: hide_password(value)[:LONGEST_TAG] for key, value in self.record.tags.items()}
            self.recorder.log(self.run_id, self.record.metrics, tags, self.record.dataset)
        if self.files is not None:
            self.files.publish()
        status = status_of(None, self.record)
        self.recorder.end(self.run_id, status)
        write_status(self.output, name=self.name, status=status, run_id=self.run_id, files=self.folder)

    def _fail(self, error: BaseException) -> None:
        """Record the status, then the error and the traceback."""
        self._clear()  # first: the disk may be full
        assert self.run_id is not None
        self.recorder.end(self.run_id, status_of(error))
        message = f"{type(error).__name__}: {error}"
        self.recorder.set_tag(self.run_id, "error", hide_password(message)[:LONGEST_TAG])
        if self.files is not None:
            self.files.add(TRACEBACK_FILE, format_traceback(error))
        write_status(self.output, name=self.name, status=status_of(error), run_id=self.run_id, files=self.folder)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # the account has no name
        return "unknown"
