"""What earlier starts left in the store: results that need not be computed again, and runs whose process is gone."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from auclab.tracking.config import TrackingConfig
from auclab.tracking.environment import HASH_TAG, SETTINGS_TAG, fingerprint
from auclab.tracking.processes import Process
from auclab.tracking.store import STORE_ERRORS, Store, cannot_keep, open_tracked
from auclab.types import AuclabError

if TYPE_CHECKING:
    from mlflow.entities import Run

#: Seconds between two looks at a run that another process works on.
PATIENCE = 0.5


def finished_before(
    tracking: TrackingConfig, settings: Mapping[str, Any], data_sha256: Callable[[], str]
) -> str | None:
    """Id of a FINISHED run of the experiment with the same settings, data and package version; None if there is none.

    One that a living process of this machine works on is waited for; it is the other half of a sweep that was
    killed, or of one that runs in the next window.

    Parameters
    ----------
    tracking : TrackingConfig
        Names the store.
    settings : mapping
        The resolved configuration.
    data_sha256 : callable
        The checksum of the data, asked for only if the settings are known.

    Raises
    ------
    AuclabError
        The store cannot be read; what `data_sha256` raises.
    """
    store = open_tracked(tracking)
    words = f"tags.`{SETTINGS_TAG}` = '{fingerprint(settings)}'"
    try:
        while True:
            known = list(_search(store, words))
            # Looked at in this order: what ends between the two looks is seen at the next round.
            done = [run for run in known if run.info.status == "FINISHED"]
            at_work = [run for run in known if run.info.status == "RUNNING" and _lives(run)]
            if done:
                wanted = fingerprint(settings, data_sha256())
                for run in done:
                    if run.data.tags.get(HASH_TAG) == wanted:
                        return str(run.info.run_id)
            if not at_work:
                return None
            time.sleep(PATIENCE)
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error


def mark_killed(store: Store) -> int:
    """Mark RUNNING runs KILLED whose process is gone, remove what they had staged, and say how many they were.

    Only runs of this machine are judged, as the ids of processes say nothing about those of another.
    """
    count = 0
    try:
        for run in list(_search(store, "attributes.status = 'RUNNING'")):
            worker = Process.from_tags(run.data.tags)
            if worker is None or not worker.is_gone:
                continue
            run_id = run.info.run_id
            if store.client.get_run(run_id).info.status != "RUNNING":
                continue  # it ended in good order after it was listed
            shutil.rmtree(store.directory / "staging" / run_id, ignore_errors=True)
            store.client.set_tag(run_id, "error", f"its process {worker.pid} ended without a word")
            store.client.set_terminated(run_id, "KILLED")
            count += 1
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error
    return count


def _lives(run: Run) -> bool:
    worker = Process.from_tags(run.data.tags)
    return worker is not None and worker.is_here and not worker.is_gone


def _search(store: Store, words: str) -> Iterator[Run]:
    token = None
    while token != "":
        page = store.client.search_runs([store.experiment_id], words, max_results=1000, page_token=token)
        yield from page
        token = page.token or ""
