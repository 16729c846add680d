"""The slip of paper a job leaves in its output folder, and how it finds the sweep it belongs to."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Environment variable with the id of a sweep's parent run; processes that work on jobs inherit it.
PARENT_VARIABLE = "AUCLAB_PARENT_RUN"
#: Environment variable with the sweep's own word, so that slips of an earlier sweep in the same folder do not count.
SWEEP_VARIABLE = "AUCLAB_SWEEP"
#: Environment variable with the process of the sweep, for workers that are to end with it.
PARENT_PROCESS_VARIABLE = "AUCLAB_SWEEP_PROCESS"

STATUS_FILE = "run.json"


@dataclass(frozen=True)
class JobStatus:
    """How a job ended.

    Attributes
    ----------
    folder
        The job's output folder.
    status
        FINISHED, FAILED, KILLED or SKIPPED.
    line
        What the reader is told of it, in rich's markup; None as long as the job is not done with its files.
    run_id
        The tracked run that has its numbers; None without tracking, or if it has none.
    """

    folder: Path
    status: str
    line: str | None = None
    run_id: str | None = None


def write_status(folder: Path, *, name: str, status: str, run_id: str | None, files: Path) -> None:
    """Write how the job ended and where its files are."""
    slip = {"name": name, "status": status, "run_id": run_id, "files": str(files)}
    _write(folder, slip | {"sweep": os.environ.get(SWEEP_VARIABLE)})


def add_line(folder: Path, line: str, *, status: str) -> None:
    """Tell the sweep in one line how the job ended; a job that left no slip gets one with `status`."""
    usual = {"status": status, "sweep": os.environ.get(SWEEP_VARIABLE)}
    found = _read(folder / STATUS_FILE)
    own = found if found.get("sweep") == usual["sweep"] else {}
    _write(folder, usual | own | {"line": line})


def in_sweep() -> bool:
    """Whether this process works on jobs of a sweep, which alone writes to the terminal."""
    return SWEEP_VARIABLE in os.environ


def read_statuses(sweep_folder: Path, sweep: str | None = None) -> Iterator[JobStatus]:
    """The jobs of a sweep that began, in the order of their names; one without a slip was KILLED at its work.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for number, status in enumerate(["FINISHED", "SKIPPED"]):
    ...     write_status(folder / str(number), name="a run", status=status, run_id=None, files=folder)
    ...     (folder / str(number) / ".hydra").mkdir()
    >>> (folder / "2" / ".hydra").mkdir(parents=True)
    >>> [slip.status for slip in read_statuses(folder)]
    ['FINISHED', 'SKIPPED', 'KILLED']
    """
    for mark in sorted(sweep_folder.rglob(".hydra")):
        found = _read(mark.parent / STATUS_FILE)
        if found.get("sweep") == sweep and found:
            yield JobStatus(mark.parent, found["status"], found.get("line"), found.get("run_id"))
        else:
            yield JobStatus(mark.parent, "KILLED")


def count_jobs(sweep_folder: Path, sweep: str | None = None) -> Counter[str]:
    """How many jobs below the folder of a sweep ended in which status."""
    return Counter(slip.status for slip in read_statuses(sweep_folder, sweep))


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return content


def _write(folder: Path, slip: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{STATUS_FILE}.{os.getpid()}"
    draft.write_text(json.dumps(slip, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(folder / STATUS_FILE)  # whoever looks sees all of it or nothing
