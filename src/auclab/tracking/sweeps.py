"""The parent run of a sweep; the runs of its jobs have the tag ``mlflow.parentRunId``. The parent process writes it.

A sweep that was interrupted and is started again continues below the same parent.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from auclab.tracking.environment import capture_environment
from auclab.tracking.record import LONGEST_VALUE

if TYPE_CHECKING:
    from auclab.tracking.store import Store

#: Tag of a parent with its grid, and with the hash of it, by which the parent is found again.
GRID_TAG, KEY_TAG = "sweep.grid", "sweep.key"
#: Tag of a parent with the time of its latest start; MLflow keeps the time of the first.
STARTED_TAG = "sweep.started"
#: Tag of a run with the ids of the sweeps that skipped it as finished, in addition to its parent.
ALSO_TAG = "sweep.also"


def open_parent(store: Store, *, grid: Sequence[str], command: str) -> str:
    """Create the parent run, or reopen an unfinished one of the same grid, and return its id."""
    text = "\n".join(grid)
    tags = {GRID_TAG: text[:LONGEST_VALUE], "sweep.command": command, "mlflow.source.name": command}
    tags |= {KEY_TAG: hashlib.sha256(text.encode()).hexdigest()[:16], STARTED_TAG: datetime.now(UTC).isoformat()}
    found = store.client.search_runs([store.experiment_id], f"tags.`{KEY_TAG}` = '{tags[KEY_TAG]}'", max_results=1)
    if found and found[0].info.status in ("FAILED", "KILLED"):
        parent = str(found[0].info.run_id)
        store.tag(parent, tags)
        store.client.update_run(parent, status="RUNNING")
        return parent
    name = "sweep " + " ".join(grid)
    made = store.client.create_run(store.experiment_id, run_name=name[:250], tags=tags | capture_environment())
    return str(made.info.run_id)


def show_progress(store: Store, parent: str, jobs: int) -> None:
    """Log the number of jobs that have ended, which MLflow's page draws over time."""
    store.log(parent, params={}, metrics={"sweep/jobs": jobs}, time=int(1000 * time.time()), step=jobs)


def join_sweep(store: Store, parent: str, run_id: str) -> None:
    """Count a finished run, which the sweep skipped, among the runs of that sweep."""
    tags = store.client.get_run(run_id).data.tags
    joined = tags.get(ALSO_TAG, "").split()
    if parent not in (*joined, tags.get("mlflow.parentRunId")):
        kept = LONGEST_VALUE // len(f"{parent} ")
        store.client.set_tag(run_id, ALSO_TAG, " ".join([*joined, parent][-kept:]))


def close_parent(store: Store, parent: str, status: str, counts: Mapping[str, int]) -> None:
    """End the parent with FINISHED, FAILED or KILLED, and record the number of its jobs by status."""
    store.tag(
        parent, {f"sweep.{name.lower()}": str(count) for name, count in counts.items()} or {"sweep.finished": "0"}
    )
    store.client.set_terminated(parent, status)
