"""The folder of a run: its files, and ``run.json`` with all that MLflow will have. That file is written last.

Every run is computed into a folder, in a sweep and alone, wherever it runs; `auclab.runs.tracking.sync` sends whole
folders into the store. This module imports neither MLflow nor a database.
"""

from __future__ import annotations

import getpass
import json
import math
import os
import shutil
import sys
import tempfile
import time
import traceback
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from auclab._core.base import AuclabError
from auclab._core.files import folders_with, replace_file
from auclab.runs.tracking.address import TrackingConfig
from auclab.runs.tracking.environment import CODE_TAG, capture_environment, code_version

if TYPE_CHECKING:
    from auclab.datasets.records import Dataset

RECORD_FILE, TRACEBACK_FILE = "run.json", "traceback.txt"
#: Tag of a run that failed, with the reason.
ERROR_TAG = "error"
#: MLflow refuses longer values; the whole configuration is among the files anyway.
LONGEST_VALUE = 6000
#: How a job ended whose run goes to the store; the others were SKIPPED (finished before).
COMPUTED = ("FINISHED", "FAILED", "KILLED")


@dataclass(frozen=True)
class DatasetEntry:
    """A data set as MLflow stores it."""

    name: str
    digest: str
    source: str
    profile: str

    @classmethod
    def of(cls, dataset: Dataset) -> DatasetEntry:
        """The entry of a data set."""
        n_samples, n_features = dataset.X.shape
        counts: dict[str, int | str] = {"rows": n_samples, "features": n_features}
        if dataset.target.is_of_classes:
            counts |= {"positive": dataset.n_pos, "negative": dataset.n_neg}
        else:
            counts |= {"compared": dataset.census}
        source = json.dumps({"uri": dataset.source, "sha256": dataset.sha256})
        # MLflow's digest is at most 36 characters long; the whole checksum is part of the source.
        return cls(dataset.name, dataset.sha256[:36] or "unknown", source, json.dumps(counts))


@dataclass(frozen=True)
class RunRecord:
    """The contents of ``run.json``.

    `folder`: the output folder. `id`: of the record; the run in the store has it as a tag, and is sent once. `name`: of
    the run. `status`: FINISHED, FAILED, KILLED (also one that was stopped early and has results), SKIPPED (`run_id`
    finished before). `start_time`, `end_time`: milliseconds since the epoch.
    `tracking`: the store; None without one. `sweep`, `parent`: ids of the sweep and of its parent run. `line`: result
    or error in a few words, for the screen of a sweep. `params`, `tags`, `metrics`, `dataset`: as the store will have
    them. `files`: names of files and folders of the run. `place`: the folder of the store to which they were moved;
    None while they are in `folder`. `run_id`: the run in the store; None while it waits. `other_code`: a FINISHED run
    of the same job by other code.
    """

    folder: Path
    name: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    status: str = "FINISHED"
    start_time: int = 0
    end_time: int = 0
    tracking: TrackingConfig | None = None
    sweep: str | None = None
    parent: str | None = None
    line: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    dataset: DatasetEntry | None = None
    files: tuple[str, ...] = ()
    place: str | None = None
    run_id: str | None = None
    other_code: str | None = None

    @property
    def waits(self) -> bool:
        """Whether it has yet to be sent to the store."""
        return self.tracking is not None and self.run_id is None and self.status in COMPUTED

    @property
    def files_folder(self) -> Path:
        """The folder that has the files."""
        return self.folder if self.place is None else Path(self.place)

    def keep(self, **values: Any) -> None:
        """Write the record of a job without a run, with some fields set."""
        now = int(1000 * time.time())
        replace(self, start_time=now, end_time=now, **values).write()

    def write(self) -> None:
        """Write ``run.json``, in one step."""
        content = asdict(self)
        del content["folder"]
        # JSON has no NaN and no infinity.
        content["metrics"] = {key: value if math.isfinite(value) else str(value) for key, value in self.metrics.items()}
        self.folder.mkdir(parents=True, exist_ok=True)
        with replace_file(self.folder / RECORD_FILE) as draft:
            draft.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The record of a folder; None if there is none, or if it is damaged: the run is not whole."""
        try:
            content = json.loads((folder / RECORD_FILE).read_text(encoding="utf-8"))
            content["metrics"] = {key: float(value) for key, value in content["metrics"].items()}
            content["files"] = tuple(content["files"])
            for name, kind in (("tracking", TrackingConfig), ("dataset", DatasetEntry)):
                content[name] = None if content[name] is None else kind(**content[name])
            return cls(folder=folder, **content)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def read_records(folder: Path) -> Iterator[RunRecord]:
    """The records of a folder and of those below it, ordered by folder."""
    for place in folders_with(folder, RECORD_FILE):
        if (record := RunRecord.read(place)) is not None:
            yield record


@dataclass
class Draft:
    """A run in progress: files go to `staging`, the rest to `record`."""

    record: RunRecord
    staging: Path

    def keep(self, **values: Any) -> None:
        """Set fields of the record; `tags` are added to those that are there."""
        tags = {**self.record.tags, **values.pop("tags", {})}
        self.record = replace(self.record, tags=tags, **values)


@contextmanager
def recording(
    folder: Path,
    *,
    name: str,
    tracking: TrackingConfig | None,
    params: Mapping[str, str],
    tags: Mapping[str, str],
    sweep: str | None = None,
    parent: str | None = None,
) -> Iterator[Draft]:
    """Compute a run in the block; its folder is whole afterwards, also if it failed.

    Files appear in `folder` in one step each, then ``run.json`` says that the run is whole. After an exception it says
    FAILED, or KILLED after Ctrl-C, with the traceback as the only file. A killed process leaves no ``run.json``.
    """
    begun, clock = time.time(), time.monotonic()  # the wall clock may be set while the run computes
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD_FILE).unlink(missing_ok=True)  # of an earlier attempt in the same folder
    draft = Draft(
        RunRecord(
            folder,
            name,
            start_time=int(1000 * begun),
            tracking=tracking,
            sweep=sweep,
            parent=parent,
            params={key: value[:LONGEST_VALUE] for key, value in params.items()},
            tags=_environment_tags() | {**tags},
        ),
        Path(tempfile.mkdtemp(prefix=".staging-", dir=folder)),
    )
    try:
        yield draft
    except BaseException as error:  # Ctrl-C too; it is recorded and raised again
        for path in draft.staging.iterdir():  # half a run is not kept
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        text = "".join(traceback.format_exception(error))
        (draft.staging / TRACEBACK_FILE).write_text(text, encoding="utf-8")
        status = "KILLED" if isinstance(error, KeyboardInterrupt | SystemExit) else "FAILED"
        message = " ".join(f"{type(error).__name__}: {error}".split())
        draft.keep(status=status, line=describe(error), tags={ERROR_TAG: message[:LONGEST_VALUE]})
        raise
    finally:
        try:
            end_time = int(1000 * (begun + time.monotonic() - clock))
            names = sorted(path.name for path in draft.staging.iterdir())
            for each in names:
                target = folder / each
                if target.is_dir():
                    shutil.rmtree(target)
                (draft.staging / each).replace(target)
            draft.keep(files=tuple(names), end_time=end_time)
            draft.record.write()
        finally:
            shutil.rmtree(draft.staging, ignore_errors=True)


def describe(error: BaseException) -> str:
    """An error in one line; one that is not a user error with its type."""
    message = " ".join(str(error).split())
    if isinstance(error, AuclabError | OSError | MemoryError) and message:
        return message
    return f"{type(error).__name__}: {message}".rstrip(": ")


def _environment_tags() -> dict[str, str]:
    """Versions, machine, code and user."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # the account has no name
        user = "unknown"
    source = {"mlflow.user": user, "mlflow.source.type": "LOCAL", "mlflow.source.name": os.path.basename(sys.argv[0])}
    return capture_environment() | source | {CODE_TAG: code_version()}
