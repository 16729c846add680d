"""What earlier sweeps left in the store: results that need not be computed again, and runs whose process is gone."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from auclab.tracking.address import cannot_keep
from auclab.tracking.code import CODE_TAG
from auclab.tracking.config import TrackingConfig
from auclab.tracking.environment import HASH_TAG, SETTINGS_TAG, fingerprint
from auclab.tracking.processes import Process
from auclab.tracking.store import STORE_ERRORS, Store, open_tracked
from auclab.types import AuclabError

if TYPE_CHECKING:
    from mlflow.entities import Run

#: Seconds between two queries for a run that another process works on.
POLL_SECONDS = 0.5


@dataclass(frozen=True)
class FinishedRun:
    """A FINISHED run with the same settings and data.

    Attributes
    ----------
    run_id
        MLflow's id.
    same_code
        Whether the same code computed it; a run without the tag was made by an earlier version.
    """

    run_id: str
    same_code: bool


def find_finished(
    tracking: TrackingConfig,
    configuration: Mapping[str, Any],
    data_sha256: Callable[[], str],
    *,
    code: str,
    any_code: bool = False,
) -> FinishedRun | None:
    """The newest FINISHED run of the experiment with the same settings and data, one of the same code before others.

    If a living process of this machine works on such a run, wait until it ends: it belongs to another sweep with the
    same job.

    Parameters
    ----------
    tracking : TrackingConfig
        Names the store.
    configuration : mapping
        The resolved configuration.
    data_sha256 : callable
        Returns the checksum of the data; called only if a run with these settings finished.
    code : str
        The code of this job (`auclab.tracking.code.code_version`).
    any_code : bool
        Whether to wait for a run of other code, too.

    Returns
    -------
    FinishedRun or None
        None if there is no such run.

    Raises
    ------
    AuclabError
        The store cannot be read; what `data_sha256` raises.
    """
    store = open_tracked(tracking)
    condition = f"tags.`{SETTINGS_TAG}` = '{fingerprint(configuration)}'"
    try:
        while True:
            runs = list(_search(store, condition))
            # In this order: a run that ends between the two tests is found in the next round.
            finished = [run for run in runs if run.info.status == "FINISHED"]
            running = [run for run in runs if run.info.status == "RUNNING" and _is_alive(run)]
            if finished:
                expected = fingerprint(configuration, data_sha256())
                finished = [run for run in finished if run.data.tags.get(HASH_TAG) == expected]
            same = [run for run in finished if run.data.tags.get(CODE_TAG) == code]
            if same:
                return FinishedRun(str(same[0].info.run_id), same_code=True)
            if not any_code:
                running = [run for run in running if run.data.tags.get(CODE_TAG) == code]
            if not running or (finished and any_code):
                return FinishedRun(str(finished[0].info.run_id), same_code=False) if finished else None
            time.sleep(POLL_SECONDS)
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error


def mark_killed(store: Store) -> int:
    """Mark RUNNING runs whose process is gone as KILLED, remove their staged files and return their number.

    Only runs of this machine are examined: process ids say nothing about another one.
    """
    count = 0
    try:
        for run in list(_search(store, "attributes.status = 'RUNNING'")):
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


def _is_alive(run: Run) -> bool:
    process = Process.from_tags(run.data.tags)
    return process is not None and process.is_alive


def _search(store: Store, condition: str) -> Iterator[Run]:
    """All runs of the experiment that fulfil the condition, newest first."""
    token = None
    while token != "":
        page = store.client.search_runs([store.experiment_id], condition, max_results=1000, page_token=token)
        yield from page
        token = page.token or ""
