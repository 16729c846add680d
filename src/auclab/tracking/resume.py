"""Runs in the store whose process is gone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from auclab.tracking.address import cannot_keep
from auclab.tracking.processes import Process
from auclab.tracking.store import STORE_ERRORS, Store
from auclab.types import AuclabError

if TYPE_CHECKING:
    from mlflow.entities import Run


def mark_killed(store: Store) -> int:
    """Mark RUNNING runs whose process is gone as KILLED, remove their staged files and return their number.

    Only runs of this machine are examined, because process ids of other machines are not known here.

    See Also
    --------
    open_run : Calls it once for a single run.

    Examples
    --------
    >>> import tempfile
    >>> from auclab.tracking import TrackingConfig
    >>> from auclab.tracking.store import open_tracked
    >>> with tempfile.TemporaryDirectory() as place:
    ...     mark_killed(open_tracked(TrackingConfig(dir=place)))  # a new store has no runs
    0
    """
    count = 0
    try:
        for run in list(search(store, "attributes.status = 'RUNNING'")):
            process = Process.from_tags(run.data.tags)
            if process is None or not process.is_gone:
                continue
            run_id = run.info.run_id
            if store.client.get_run(run_id).info.status != "RUNNING":
                continue  # it ended regularly after the search
            # MLflow has refused an id that is a path.
            shutil.rmtree(store.directory / "staging" / run_id, ignore_errors=True)
            store.client.set_tag(run_id, "error", f"its process {process.pid} ended without reporting")
            store.client.set_terminated(run_id, "KILLED")
            count += 1
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error
    return count


def search(store: Store, condition: str) -> Iterator[Run]:
    """All runs of the experiment that fulfil the condition, newest first."""
    token = None
    while token != "":
        page = store.client.search_runs([store.experiment_id], condition, max_results=1000, page_token=token)
        yield from page
        token = page.token or ""
