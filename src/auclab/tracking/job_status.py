"""Per-job status file, and the environment variables by which a job finds its sweep.

Every job of a sweep writes ``run.json`` into its output folder. The process of the sweep reads only these files,
wherever the jobs run.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auclab.files import replace_file

#: Environment variable with the id of a sweep's parent run; the processes that run jobs inherit it.
PARENT_VARIABLE = "AUCLAB_PARENT_RUN"
#: Environment variable with the id of the sweep: status files of an earlier sweep in the same folder do not count.
SWEEP_VARIABLE = "AUCLAB_SWEEP"
#: Environment variable with the limits of the inner folds of a job: metric, sign, and limits by number of folds.
LIMITS_VARIABLE = "AUCLAB_SEARCH_LIMITS"
#: Environment variable with the process of the sweep, for workers that end with it.
PARENT_PROCESS_VARIABLE = "AUCLAB_SWEEP_PROCESS"

STATUS_FILE = "run.json"


@dataclass(frozen=True)
class JobStatus:
    """How a job ended.

    `folder`: the job's output folder. `status`: FINISHED, FAILED, KILLED, SKIPPED, LEFT_OUT (a library that it needs is
    not installed), PRUNED (a search left it between inner folds), or KEPT: in the folder alone, as the store could not
    be written. `line`: the line for the screen, in rich's markup; None until all files of the job are written.
    `run_id`: the tracked run with its numbers; None without tracking, or if there is none. `other_code`: a FINISHED run
    of the same job whose code was another; None if there is none.
    """

    folder: Path
    status: str
    line: str | None = None
    run_id: str | None = None
    other_code: str | None = None


def write_status(folder: Path, *, name: str, status: str, run_id: str | None, files: Path) -> None:
    """Write how the job ended and where its files are."""
    content = {"name": name, "status": status, "run_id": run_id, "files": str(files)}
    _write(folder, _kept(folder, "other_code") | content)


def add_line(folder: Path, line: str, *, status: str) -> None:
    """Add the line for the screen; `status` is written if the job left none."""
    _write(folder, {"status": status} | _kept(folder) | {"line": line})


def mark_other_code(folder: Path, run_id: str) -> None:
    """Record, before a job computes or once it is skipped, that the run `run_id` finished it with other code."""
    _write(folder, _kept(folder) | {"other_code": run_id})


def in_sweep() -> bool:
    """Whether this process runs jobs of a sweep; the process of the sweep alone writes to the terminal."""
    return SWEEP_VARIABLE in os.environ


def read_statuses(sweep_folder: Path, sweep: str | None = None) -> Iterator[JobStatus]:
    """The jobs of a sweep that began, ordered by folder; a job without a status file was KILLED."""
    for mark in sorted(sweep_folder.rglob(".hydra")):
        yield read_status(mark.parent, sweep)


def read_status(folder: Path, sweep: str | None = None) -> JobStatus:
    """How the job of an output folder ended."""
    found = _read(folder / STATUS_FILE)
    if not found or found.get("sweep") != sweep:
        return JobStatus(folder, "KILLED")
    optional = (found.get(key) for key in ("line", "run_id", "other_code"))
    return JobStatus(folder, found.get("status", "KILLED"), *optional)


def count_jobs(sweep_folder: Path, sweep: str | None = None) -> Counter[str]:
    """Numbers of jobs below the folder of a sweep, by status."""
    return Counter(job.status for job in read_statuses(sweep_folder, sweep))


def count_other_code(sweep_folder: Path, sweep: str | None = None) -> Counter[str]:
    """Numbers by status of the jobs that had finished with other code; SKIPPED: the result was reused."""
    return Counter(job.status for job in read_statuses(sweep_folder, sweep) if job.other_code is not None)


def _kept(folder: Path, *keys: str) -> dict[str, Any]:
    """What this sweep has already written about the job: these keys, or all."""
    found = _read(folder / STATUS_FILE)
    if found.get("sweep") != os.environ.get(SWEEP_VARIABLE):
        return {}
    return {key: value for key, value in found.items() if not keys or key in keys}


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):  # damaged, for example by a power cut: counts as killed
        return {}
    return content if isinstance(content, dict) else {}


def _write(folder: Path, content: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content | {"sweep": os.environ.get(SWEEP_VARIABLE)}, indent=2, ensure_ascii=False)
    with replace_file(folder / STATUS_FILE) as draft:
        draft.write_text(text + "\n", encoding="utf-8")
