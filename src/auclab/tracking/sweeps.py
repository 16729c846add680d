"""The parent run of a sweep, which the parent process writes, and which of its jobs finished before.

A sweep that was interrupted and is started again continues below the same parent.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab.files import replace_file
from auclab.tracking.environment import CODE_TAG, HASH_TAG, SETTINGS_TAG, capture_environment, fingerprint
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


#: In the folder of a sweep: finished runs of the store, newest first, by the fingerprint of their settings.
FINISHED_FILE = "finished.json"


@dataclass(frozen=True)
class FinishedRun:
    """A FINISHED run with the same settings and data.

    `same_code`: whether the same code computed it. `metrics`: those on inner folds, by which a search compares.
    """

    run_id: str
    same_code: bool
    metrics: Mapping[str, float]


def write_finished(store: Store, folder: Path) -> None:
    """Write the finished runs of the store's experiment to the folder of a sweep."""
    known: dict[str, list[list[Any]]] = {}
    token: str | None = None
    while token != "":
        page = store.client.search_runs(
            [store.experiment_id], "attributes.status = 'FINISHED'", max_results=1000, page_token=token
        )
        for run in page:
            tags = run.data.tags
            if SETTINGS_TAG in tags and HASH_TAG in tags:
                inner = {key: value for key, value in run.data.metrics.items() if key.startswith(("inner/", "tune/"))}
                entry = [str(run.info.run_id), tags[HASH_TAG], tags.get(CODE_TAG, ""), inner]
                known.setdefault(tags[SETTINGS_TAG], []).append(entry)
        token = page.token or ""
    folder.mkdir(parents=True, exist_ok=True)
    with replace_file(folder / FINISHED_FILE) as draft:
        draft.write_text(json.dumps(known), encoding="utf-8")


def find_finished(
    folder: Path, configuration: Mapping[str, Any], data_sha256: Callable[[], str], *, code: str
) -> FinishedRun | None:
    """The newest finished run with the same settings and data, preferably of the same code.

    `folder`: of the sweep. `configuration`: of the job. `data_sha256`: returns the checksum of the data; called only if
    a run with these settings finished. `code`: of the job (`auclab.tracking.environment.code_version`).
    """
    try:
        known = json.loads((folder / FINISHED_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:  # no store
        return None
    found = known.get(fingerprint(configuration), [])
    if not found:
        return None
    expected = fingerprint(configuration, data_sha256())
    alike = [FinishedRun(run_id, by == code, metrics) for run_id, data, by, metrics in found if data == expected]
    return min(alike, key=lambda run: not run.same_code, default=None)  # the newest of several
