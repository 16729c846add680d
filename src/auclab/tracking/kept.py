"""Runs that could not be written into the store: kept in their output folder, to be pushed later.

The output folder has the files of the run, and ``kept.json`` with everything that the store would have: parameters,
metrics, tags, the data set, times, and the names of the files. The file is written last, in one step, so that a folder
with it is complete. `auclab.tracking.push` sends such runs into a store.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self

from auclab.files import replace_file
from auclab.tracking.address import Address, hide_password
from auclab.tracking.clock import Start
from auclab.tracking.dataset_entry import DatasetEntry
from auclab.tracking.job_status import write_status
from auclab.tracking.runs import Record
from auclab.types import AuclabError

#: Name of the file.
KEPT_FILE = "kept.json"
#: Tag of a pushed run with the id under which it was kept, by which it is found again.
KEPT_TAG = "kept.id"
#: Status of a job whose run is in its folder only, not in the store.
KEPT_STATUS = "KEPT"
#: Version of the format.
FORMAT = 1


class KeptInFolderError(AuclabError):
    """The store could not be written; the run is in its output folder, and `auclab push` sends it."""


@dataclass(frozen=True)
class KeptRun:
    """A run that waits in a folder.

    `folder`: the output folder, with the files. `id`: the id of the run in the store if it was begun there, else one of
    its own. `name`: name of the run. `directory`, `uri`, `experiment`: the store that could not be written
    (`tracking.dir`, `tracking.uri`, `tracking.experiment`); no passwords. `status`: FINISHED, or KILLED for one that
    was stopped early and has results. `start_time`, `end_time`: milliseconds since the epoch. `reason`: why the store
    could not be written. `params`, `tags`, `metrics`: as the store would have them. `dataset`: the data set; None if
    there is none to record. `files`: files and folders of the run, relative to `folder`. `begun`: whether a run with
    this id was begun in the store. `pushed`: id of the run in the store since it was sent; None while it waits.
    """

    folder: Path
    id: str
    name: str
    directory: str
    uri: str | None
    experiment: str
    status: str
    start_time: int
    end_time: int
    reason: str
    params: Mapping[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    dataset: DatasetEntry | None = None
    files: Sequence[str] = ()
    begun: bool = False
    pushed: str | None = None

    @property
    def store(self) -> str:
        """The store in words."""
        return str(Address.of(self.directory, self.uri))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The run that is kept in a folder."""
        path = folder / KEPT_FILE
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content.pop("format") != FORMAT:
                raise ValueError("it has another format")
            content["metrics"] = {key: float(value) for key, value in content["metrics"].items()}
            entry = content["dataset"]
            content["dataset"] = None if entry is None else DatasetEntry(**entry)
            return cls(folder=folder, **content)
        except FileNotFoundError as error:
            raise AuclabError(f"{folder} has no {KEPT_FILE}; auclab push lists the runs that are kept") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise AuclabError(f"{path} cannot be read: {error}; the files next to it are those of the run") from error

    def write(self) -> None:
        """Write ``kept.json``, in one step."""
        content = {"format": FORMAT} | asdict(self)
        del content["folder"]
        content["metrics"] = {key: value if math.isfinite(value) else str(value) for key, value in self.metrics.items()}
        with replace_file(self.folder / KEPT_FILE) as draft:
            draft.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def with_record(self, record: Record | None, start: Start) -> Self:
        """The run with its results, ended now."""
        if record is None:
            return replace(self, end_time=start.present)
        return replace(
            self,
            status=record.status,
            end_time=start.present,
            metrics={key: float(value) for key, value in record.metrics.items()},
            tags={**self.tags, **{key: hide_password(value) for key, value in record.tags.items()}},
            dataset=None if record.dataset is None else DatasetEntry.of(record.dataset),
        )

    def publish(self, staging: Path) -> None:
        """Move the staged files into the folder, then write ``kept.json`` and the status of the job."""
        self.folder.mkdir(parents=True, exist_ok=True)
        names = sorted(path.name for path in staging.iterdir())
        for name in names:
            target = self.folder / name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)  # of an earlier attempt
            shutil.move(staging / name, target)
        kept = replace(self, files=names)
        kept.write()
        write_status(self.folder, name=self.name, status=KEPT_STATUS, run_id=None, files=self.folder)

    @property
    def advice(self) -> str:
        """The message for the user."""
        folder = os.path.relpath(self.folder) if self.folder.is_relative_to(Path.cwd()) else str(self.folder)
        return f"nothing is lost: its files are in {folder}, and auclab push {folder} sends them to the store"


def new_id() -> str:
    """An id for a run that was not begun in the store."""
    return uuid.uuid4().hex


def find_kept(place: Path) -> Iterator[KeptRun]:
    """The runs that are kept in a folder or below it, sent ones included, ordered by folder."""
    for path in sorted(place.rglob(KEPT_FILE)):
        yield KeptRun.read(path.parent)


def describe(error: BaseException) -> str:
    """The reason that is kept with the run."""
    return hide_password(" ".join(str(error).split())) or type(error).__name__
