"""The parent run of a sweep; the runs of its jobs have the tag ``mlflow.parentRunId``.

A sweep that was interrupted and is started again continues below the same parent.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from auclab.tracking.address import cannot_keep, hide_password
from auclab.tracking.config import TrackingConfig
from auclab.tracking.environment import capture_environment
from auclab.tracking.job_status import PARENT_VARIABLE
from auclab.tracking.mlflow_run import LONGEST_VALUE
from auclab.tracking.processes import this_process
from auclab.tracking.resume import mark_killed
from auclab.tracking.store import STORE_ERRORS, Store, open_tracked
from auclab.types import AuclabError

#: Tag of a parent with the hash of its grid, by which it is found again.
KEY_TAG = "sweep.key"
#: Tag of a parent with the time of its latest start; MLflow keeps the time of the first.
STARTED_TAG = "sweep.started"
#: Tag of a run with the ids of the sweeps that skipped it as finished, in addition to its parent.
ALSO_TAG = "sweep.also"


def open_parent(tracking: TrackingConfig, *, grid: Sequence[str], command: str, search: Sequence[str] = ()) -> str:
    """Create the parent run, or reopen an unfinished one of the same grid, and return its id.

    Runs whose process is gone are first marked KILLED. Searches over the same settings have separate parents if they
    differ in `search`: seed, metric and the like.

    Raises
    ------
    AuclabError
        The store cannot be opened or written.

    See Also
    --------
    close_parent : Ends it.
    join_sweep : For jobs in other processes.

    Examples
    --------
    >>> import tempfile
    >>> sweep = {"grid": ["split.seed=0,1"], "command": "auclab run -m split.seed=0,1"}
    >>> with tempfile.TemporaryDirectory() as place:
    ...     parent = open_parent(TrackingConfig(dir=place), **sweep)
    ...     close_parent(TrackingConfig(dir=place), parent, "KILLED")
    ...     again = open_parent(TrackingConfig(dir=place), **sweep)
    >>> parent == again  # an unfinished sweep of the same settings continues
    True
    """
    store = open_tracked(tracking)
    grid, command = [hide_password(override) for override in grid], hide_password(command)
    tags = {"sweep.grid": "\n".join(grid), "sweep.command": command, "mlflow.source.name": command}
    key = "\n".join([tags["sweep.grid"], *search])
    tags |= {KEY_TAG: hashlib.sha256(key.encode()).hexdigest()[:16]} | this_process().tags
    tags[STARTED_TAG] = datetime.now(UTC).isoformat()
    try:
        mark_killed(store)
        if (interrupted := _find_interrupted(store, tags[KEY_TAG])) is not None:
            for key, value in tags.items():
                store.client.set_tag(interrupted, key, value)
            store.client.update_run(interrupted, status="RUNNING")
            return interrupted
        name = "sweep " + " ".join(grid)
        return str(
            store.client.create_run(
                store.experiment_id, run_name=name[:250], tags=tags | capture_environment()
            ).info.run_id
        )
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error


def _find_interrupted(store: Store, key: str) -> str | None:
    """The newest parent with the same grid, if it neither finished nor still runs."""
    found = store.client.search_runs([store.experiment_id], f"tags.`{KEY_TAG}` = '{key}'", max_results=1)
    return str(found[0].info.run_id) if found and found[0].info.status in ("FAILED", "KILLED") else None


def join_sweep(tracking: TrackingConfig, run_id: str) -> None:
    """Count a finished run, which the current sweep skipped, among the runs of that sweep.

    Raises
    ------
    AuclabError
        The store cannot be opened or written.

    See Also
    --------
    open_parent : Begins a sweep.
    close_parent : Ends it.

    Examples
    --------
    >>> join_sweep(TrackingConfig(), "f73cfe24")  # outside a sweep there is nothing to join
    """
    if (parent := os.environ.get(PARENT_VARIABLE)) is None:
        return
    store = open_tracked(tracking)
    try:
        tags = store.client.get_run(run_id).data.tags
        joined = tags.get(ALSO_TAG, "").split()
        if parent not in (*joined, tags.get("mlflow.parentRunId")):
            kept = LONGEST_VALUE // len(f"{parent} ")
            store.client.set_tag(run_id, ALSO_TAG, " ".join([*joined, parent][-kept:]))
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error


def close_parent(tracking: TrackingConfig, run_id: str, status: str, counts: Mapping[str, int] | None = None) -> None:
    """End the parent with FINISHED, FAILED or KILLED, and record the number of its jobs by status.

    Raises
    ------
    AuclabError
        The store cannot be opened or written.

    See Also
    --------
    open_parent : Begins it.

    Examples
    --------
    >>> from auclab.types import AuclabError
    >>> try:
    ...     close_parent(TrackingConfig(dir="/dev/null/store"), "f73cfe24", "FINISHED")
    ... except AuclabError as error:
    ...     print(str(error).split(":")[0])
    cannot keep runs in /dev/null/store
    """
    store = open_tracked(tracking)
    try:
        mark_killed(store)
        for name, count in (counts or {}).items():
            store.client.set_tag(run_id, f"sweep.{name.lower()}", str(count))
        store.client.set_terminated(run_id, status)
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error
