"""The parent run of a sweep; its children carry the tag ``mlflow.parentRunId``.

A sweep that was broken off and is started again goes on below the parent it had.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from auclab.tracking.address import hide_password
from auclab.tracking.config import TrackingConfig
from auclab.tracking.earlier import mark_killed
from auclab.tracking.environment import capture_environment
from auclab.tracking.job_status import PARENT_VARIABLE
from auclab.tracking.processes import this_process
from auclab.tracking.store import STORE_ERRORS, Store, cannot_keep, open_tracked
from auclab.types import AuclabError

#: Tag of a parent with the hash of its grid, to find it again by.
KEY_TAG = "sweep.key"
#: Tag of a parent with the time of its latest start; MLflow keeps that of the first.
STARTED_TAG = "sweep.started"
#: Tag of a run with the ids of the sweeps that found it finished, beside the parent it has.
ALSO_TAG = "sweep.also"
#: So many of them are kept.
MOST_SWEEPS = 200


def open_parent(tracking: TrackingConfig, *, grid: Sequence[str], command: str) -> str:
    """Create the parent run, or open again that of the same grid which did not finish, and return its id.

    Runs whose process is gone are marked KILLED first.

    Raises
    ------
    AuclabError
        The store cannot be opened or written.
    """
    store = open_tracked(tracking)
    grid, command = [hide_password(word) for word in grid], hide_password(command)
    tags = {"sweep.grid": "\n".join(grid), "sweep.command": command, "mlflow.source.name": command}
    tags |= {KEY_TAG: hashlib.sha256(tags["sweep.grid"].encode()).hexdigest()[:16]} | this_process().tags
    tags[STARTED_TAG] = datetime.now(UTC).isoformat()
    try:
        mark_killed(store)
        if (broken_off := _broken_off(store, tags[KEY_TAG])) is not None:
            for key, value in tags.items():
                store.client.set_tag(broken_off, key, value)
            store.client.update_run(broken_off, status="RUNNING")
            return broken_off
        name = "sweep " + " ".join(grid)
        return str(
            store.client.create_run(
                store.experiment_id, run_name=name[:250], tags=tags | capture_environment()
            ).info.run_id
        )
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error


def _broken_off(store: Store, key: str) -> str | None:
    """The youngest parent with the same grid, unless it finished or is still at work."""
    found = store.client.search_runs([store.experiment_id], f"tags.`{KEY_TAG}` = '{key}'", max_results=1)
    return str(found[0].info.run_id) if found and found[0].info.status in ("FAILED", "KILLED") else None


def join_sweep(tracking: TrackingConfig, run_id: str) -> None:
    """A run that finished before is one of the sweep that is at work, which had it in its grid and skipped it.

    Raises
    ------
    AuclabError
        The store cannot be opened or written.
    """
    if (parent := os.environ.get(PARENT_VARIABLE)) is None:
        return
    store = open_tracked(tracking)
    try:
        tags = store.client.get_run(run_id).data.tags
        known = tags.get(ALSO_TAG, "").split()
        if parent not in (*known, tags.get("mlflow.parentRunId")):
            store.client.set_tag(run_id, ALSO_TAG, " ".join([*known, parent][-MOST_SWEEPS:]))
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error


def close_parent(tracking: TrackingConfig, run_id: str, status: str, counts: Mapping[str, int] | None = None) -> None:
    """End the parent with FINISHED, FAILED or KILLED, and say how many of its jobs ended how.

    Raises
    ------
    AuclabError
        The store cannot be opened or written.
    """
    store = open_tracked(tracking)
    try:
        mark_killed(store)
        for word, count in (counts or {}).items():
            store.client.set_tag(run_id, f"sweep.{word.lower()}", str(count))
        store.client.set_terminated(run_id, status)
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error
