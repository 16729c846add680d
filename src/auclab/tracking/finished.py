"""Results of earlier sweeps, which need not be computed again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from auclab.tracking.address import cannot_keep
from auclab.tracking.code import CODE_TAG
from auclab.tracking.config import TrackingConfig
from auclab.tracking.environment import HASH_TAG, SETTINGS_TAG, fingerprint
from auclab.tracking.processes import Process
from auclab.tracking.search_tags import PRUNED
from auclab.types import AuclabError

#: Seconds between two queries for a run that another process is computing.
POLL_SECONDS = 0.5


@dataclass(frozen=True)
class FoundRun:
    """A run of the store with its tags."""

    run_id: str
    status: str
    tags: Mapping[str, str]


@dataclass(frozen=True)
class FinishedRun:
    """A FINISHED run with the same settings and data.

    Attributes
    ----------
    run_id
        MLflow's id.
    same_code
        Whether the same code computed it; a run without the tag was made by an earlier version.

    See Also
    --------
    find_finished : Finds it.

    Examples
    --------
    >>> FinishedRun(run_id="f73cfe24", same_code=True).same_code
    True
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
    """The newest FINISHED run of the experiment with the same settings and data, preferably of the same code.

    If a process on this machine is computing such a run, wait until it ends: it belongs to another sweep with the same
    job.

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
        Whether to wait also for a run of other code.

    Returns
    -------
    FinishedRun or None
        None if there is no such run.

    Raises
    ------
    AuclabError
        The store cannot be read; what `data_sha256` raises.

    See Also
    --------
    fingerprint : The value that is compared.
    open_run : Opens a new run.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     find_finished(TrackingConfig(dir=place), {"seed": 0}, lambda: "ab", code="version 0.3") is None
    True
    """
    search = _search_of(tracking, fingerprint(configuration))
    while True:
        runs = search()
        # In this order: a run that ends between the two tests is found in the next round.
        finished = [run for run in runs if run.status == "FINISHED"]
        running = [run for run in runs if run.status == "RUNNING" and _is_alive(run)]
        if finished:
            expected = fingerprint(configuration, data_sha256())
            finished = [run for run in finished if run.tags.get(HASH_TAG) == expected]
        same = [run for run in finished if run.tags.get(CODE_TAG) == code]
        if same:
            return FinishedRun(same[0].run_id, same_code=True)
        if not any_code:
            running = [run for run in running if run.tags.get(CODE_TAG) == code]
        if not running or (finished and any_code):
            return FinishedRun(finished[0].run_id, same_code=False) if finished else None
        time.sleep(POLL_SECONDS)


def find_pruned(
    tracking: TrackingConfig, configuration: Mapping[str, Any], data_sha256: Callable[[], str], *, code: str | None
) -> list[FoundRun]:
    """Pruned runs of the experiment with the same settings, data and code.

    `tracking`, `configuration`, `data_sha256`: as of `find_finished`. `code`: of the runs; None for any.
    """
    runs = [run for run in _search_of(tracking, fingerprint(configuration))() if run.tags.get("status") == PRUNED]
    if not runs:
        return []
    expected = fingerprint(configuration, data_sha256())
    alike = [run for run in runs if run.tags.get(HASH_TAG) == expected]
    return [run for run in alike if code is None or run.tags.get(CODE_TAG) == code]


def _search_of(tracking: TrackingConfig, settings: str) -> Callable[[], list[FoundRun]]:
    """A search for the runs with these settings, newest first."""
    from auclab.tracking.resume import search
    from auclab.tracking.store import STORE_ERRORS, open_tracked

    store = open_tracked(tracking)

    def found() -> list[FoundRun]:
        try:
            runs = list(search(store, f"tags.`{SETTINGS_TAG}` = '{settings}'"))
        except STORE_ERRORS as error:
            raise AuclabError(cannot_keep(store.address, error)) from error
        return [FoundRun(str(run.info.run_id), str(run.info.status), dict(run.data.tags)) for run in runs]

    return found


def _is_alive(run: FoundRun) -> bool:
    process = Process.from_tags(run.tags)
    return process is not None and process.is_alive
