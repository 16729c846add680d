"""Send runs that are kept in folders into the store.

A run is sent once, however often `push` is repeated: the run in the store has the tag ``kept.id``, is completed if an
earlier attempt was interrupted, and is FINISHED last.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from auclab.tracking.address import Address, cannot_keep, is_local, local_path
from auclab.tracking.database_lock import WAIT_SECONDS, hold
from auclab.tracking.job_status import write_status
from auclab.tracking.kept import KEPT_TAG, KeptRun
from auclab.tracking.mlflow_run import ERROR_TAG, LONGEST_VALUE, entities
from auclab.tracking.processes import this_process
from auclab.tracking.runs import TRACEBACK_FILE
from auclab.tracking.store import STORE_ERRORS, Store, open_store
from auclab.types import AuclabError

# After the store, which sets MLflow's environment variables first.
from mlflow.entities import Run  # isort: skip
from mlflow.exceptions import MlflowException  # isort: skip
from mlflow.utils.validation import MAX_METRICS_PER_BATCH, MAX_PARAMS_TAGS_PER_BATCH  # isort: skip

#: Tag of a pushed run with the time at which all of it was there.
SENT_TAG = "kept.sent"
#: Name of the lock in the folder of a run, so that two processes do not send it at once.
LOCK_FILE = ".push.lock"


@dataclass(frozen=True)
class Pushed:
    """A run that is in the store.

    `run_id`: its id there. `store`: the store in words. `before`: whether it had been there already.
    """

    run_id: str
    store: str
    before: bool


def push(kept: KeptRun, store: str | None = None, *, wait: float = WAIT_SECONDS) -> Pushed:
    """Send one run to the store, and record that in its folder.

    `kept`: a run in its folder. `store`: a folder or an address; the store for which it was computed if not given.
    `wait`: seconds that a locked database is waited for.
    """
    address = _address(kept, store)
    missing = [name for name in kept.files if not _inside(kept.folder, name)]
    if missing:
        raise AuclabError(f"{kept.folder} lacks {missing[0]!r}, a file of {kept.name}; it was not sent")
    target = open_store(address.directory, kept.experiment, None if address.is_own else address.uri, wait=wait)
    try:
        with hold(kept.folder / LOCK_FILE, wait):
            run = _find(target, kept)
            before = run is not None and run.info.status == kept.status and SENT_TAG in run.data.tags
            run_id = run.info.run_id if run is not None and before else _send(target, kept, run)
            replace(kept, pushed=run_id).write()
            write_status(kept.folder, name=kept.name, status=kept.status, run_id=run_id, files=kept.folder)
    except STORE_ERRORS as error:
        raise AuclabError(f"{cannot_keep(address, error)}; {kept.name} still waits in {kept.folder}") from error
    finally:
        with suppress(OSError):
            (kept.folder / LOCK_FILE).unlink(missing_ok=True)
    return Pushed(run_id, str(address), before)


def _address(kept: KeptRun, store: str | None) -> Address:
    if store is not None:
        return Address.parse(store)
    if kept.uri is not None and ":***@" in kept.uri:
        raise AuclabError(f"the password of {kept.uri} was not kept; name the store with --store")
    return Address.of(kept.directory, kept.uri)


def _inside(folder: Path, name: str) -> bool:
    """Whether the file exists in the folder, and not elsewhere through ``..`` or a link."""
    path = folder / name
    return path.exists() and path.resolve().parent == folder.resolve() and not path.is_symlink()


def _find(store: Store, kept: KeptRun) -> Run | None:
    """The run in the store: from an earlier attempt to send it, or created when it was computed."""
    found = store.client.search_runs([store.experiment_id], f"tags.`{KEPT_TAG}` = '{kept.id}'", max_results=1)
    if found:
        return found[0]
    if not kept.begun:
        return None
    try:
        run = store.client.get_run(kept.id)
    except MlflowException as error:
        if error.error_code == "RESOURCE_DOES_NOT_EXIST":  # another store, or it was deleted
            return None
        raise
    return run if run.info.lifecycle_stage == "active" and run.info.experiment_id == store.experiment_id else None


def _send(store: Store, kept: KeptRun, run: Run | None) -> str:
    """Send everything and set the status last, so that an incomplete run is never FINISHED."""
    client = store.client
    tags = kept.tags | this_process().tags | {KEPT_TAG: kept.id, "kept.reason": kept.reason[:LONGEST_VALUE]}
    if run is None:
        run = client.create_run(
            store.experiment_id,
            start_time=kept.start_time,
            run_name=kept.name,
            tags=this_process().tags | {KEPT_TAG: kept.id},
        )
    run_id: str = run.info.run_id
    params = {key: value for key, value in kept.params.items() if key not in run.data.params}
    metrics = {key: value for key, value in kept.metrics.items() if key not in run.data.metrics}
    for what, entries, most in (
        ("params", entities("Param", params), MAX_PARAMS_TAGS_PER_BATCH),
        ("tags", entities("RunTag", tags), MAX_PARAMS_TAGS_PER_BATCH),
        ("metrics", entities("Metric", metrics, kept.end_time, 0), MAX_METRICS_PER_BATCH),
    ):
        for start in range(0, len(entries), most):
            client.log_batch(run_id, **{what: entries[start : start + most]})
    if not run.inputs.dataset_inputs:
        store.log_dataset(run_id, kept.dataset)
    _send_files(store, kept, run)
    if ERROR_TAG in run.data.tags:
        client.delete_tag(run_id, ERROR_TAG)
    client.set_tag(run_id, SENT_TAG, datetime.now(UTC).isoformat())
    client.set_terminated(run_id, kept.status, kept.end_time)
    return run_id


def _send_files(store: Store, kept: KeptRun, run: Run) -> None:
    """Copy the files into the run's folder, which then appears in one step, or send them one by one."""
    if not is_local(run.info.artifact_uri):
        for name in kept.files:
            store.send(run.info.run_id, kept.folder / name, name)
        return
    target = local_path(run.info.artifact_uri)
    draft = target.with_name(f".{target.name}.pushed")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    try:
        for name in kept.files:
            source = kept.folder / name
            if source.is_dir():
                shutil.copytree(source, draft / name, symlinks=True)
            else:
                shutil.copy2(source, draft / name)
        if target.exists():
            (target / TRACEBACK_FILE).unlink(missing_ok=True)  # of the attempt that failed
            shutil.rmtree(target)
        draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
