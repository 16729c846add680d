"""The slip of paper a job leaves in its output folder, and how it finds the sweep it belongs to."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

#: Environment variable with the id of a sweep's parent run; processes that work on jobs inherit it.
PARENT_VARIABLE = "AUCLAB_PARENT_RUN"

SLIP = "run.json"


def leave_slip(folder: Path, *, name: str, status: str, run_id: str | None, files: Path) -> None:
    """Write how the job ended and where its files are."""
    slip = {"name": name, "status": status, "run_id": run_id, "files": str(files)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SLIP).write_text(json.dumps(slip, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def count_jobs(sweep_folder: Path) -> Counter[str]:
    """How many jobs below the folder of a sweep ended in which status; a job without a slip FAILED to start.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for number, status in enumerate(["FINISHED", "FINISHED", "KILLED"]):
    ...     leave_slip(folder / str(number), name="a run", status=status, run_id=None, files=folder)
    ...     (folder / str(number) / ".hydra").mkdir()
    >>> (folder / "3" / ".hydra").mkdir(parents=True)
    >>> dict(count_jobs(folder))
    {'FINISHED': 2, 'KILLED': 1, 'FAILED': 1}
    """
    counts: Counter[str] = Counter()
    for job in sorted(sweep_folder.glob("*/.hydra")):
        slip = job.parent / SLIP
        counts[json.loads(slip.read_text(encoding="utf-8"))["status"] if slip.exists() else "FAILED"] += 1
    return counts
