"""One run: files are written to a staging folder and published in one step, numbers in one batch."""

from __future__ import annotations

import shutil
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from auclab.datasets.records import Dataset
from auclab.tracking.address import hide_password
from auclab.tracking.job_status import write_status

TRACEBACK_FILE = "traceback.txt"


@dataclass(frozen=True)
class Record:
    """What a finished experiment records besides its files.

    Attributes
    ----------
    dataset
        The data set; None if there is none to record.
    metrics
        Numbers by name.
    tags
        Further tags.
    status
        FINISHED, or KILLED for one that was stopped early and has results.

    See Also
    --------
    auclab.tracking.Run : Keeps it.

    Examples
    --------
    >>> Record(metrics={"test/auc": 0.9}).status
    'FINISHED'
    """

    dataset: Dataset | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    status: str = "FINISHED"


class Run(Protocol):
    """A context manager: files go to `staging`, numbers to `keep`; on exit it publishes them or records the failure.

    See Also
    --------
    auclab.tracking.open_run : Opens one.
    auclab.tracking.MlflowRun : In MLflow's store.
    auclab.tracking.FolderRun : In a folder.

    Examples
    --------
    >>> from auclab.tracking import FolderRun
    >>> callable(FolderRun.keep), FolderRun("bauc", Path("outputs")).run_id
    (True, None)
    """

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


class FolderRun:
    """A run without a database: its files appear in Hydra's output folder.

    See Also
    --------
    auclab.tracking.MlflowRun : A run in the store.
    auclab.tracking.open_run : Opens either.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with FolderRun("bauc", Path(place)) as run:
    ...         _ = (run.staging / "metrics.json").write_text("{}")
    ...     (Path(place) / "metrics.json").exists()
    True
    """

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
                (self.folder / TRACEBACK_FILE).write_text(format_traceback(error), encoding="utf-8")
            status = status_of(error, self.record)
            write_status(self.folder, name=self.name, status=status, run_id=None, files=self.folder)
        finally:
            shutil.rmtree(self.staging, ignore_errors=True)

    def keep(self, record: Record) -> None:
        """Set the status; all numbers are in the files too."""
        self.record = record


def status_of(error: BaseException | None, record: Record | None = None) -> str:
    """FINISHED, KILLED or FAILED."""
    if error is None:
        return "FINISHED" if record is None else record.status
    return "KILLED" if isinstance(error, KeyboardInterrupt | SystemExit) else "FAILED"


def format_traceback(error: BaseException) -> str:
    """The traceback as Python prints it, without the passwords of addresses."""
    return hide_password("".join(traceback.format_exception(error)))
