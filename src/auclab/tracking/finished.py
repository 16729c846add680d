"""Which jobs of a sweep finished before: the parent asks the store once, the jobs read its answer from a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab.files import replace_file
from auclab.tracking.code import CODE_TAG
from auclab.tracking.environment import HASH_TAG, SETTINGS_TAG, fingerprint

if TYPE_CHECKING:
    from auclab.tracking.store import Store

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
    a run with these settings finished. `code`: of the job (`auclab.tracking.code.code_version`).
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
