"""From the folders of runs into MLflow: by one process at a time, each run once, however often it is tried.

A run that is computed is whole in its folder (`auclab.runs.tracking.record`). The process that started it, of a sweep
the parent alone, sends it: at the end of a single run, and as the jobs of a sweep finish. Until all of it is in the
store, a file below ``<tracking.dir>/pending`` names the folder, locked while its process lives. What a crash or a dead
server left there, the next command that reads the store sends.

A sweep that was interrupted and is started again continues below the same parent.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import sqlite3
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from auclab._core.base import AuclabError
from auclab._core.files import replace_file
from auclab.runs.tracking.address import (
    Address,
    DeletedExperimentError,
    TrackingConfig,
    cannot_keep,
    is_known,
    is_local,
    local_path,
    wrong_schema,
)
from auclab.runs.tracking.environment import CODE_TAG, HASH_TAG, SETTINGS_TAG, capture_environment, fingerprint
from auclab.runs.tracking.record import COMPUTED, LONGEST_VALUE, RunRecord, read_records

if TYPE_CHECKING:
    from mlflow.entities import Run

    from auclab.runs.tracking.store import Store

#: Tag of a run in the store with the id of its record; of a parent, of the file that names it as pending.
ID_TAG = "auclab.id"
#: Seconds that another process may take to send what it has.
PATIENCE = 60.0


@dataclass(frozen=True)
class Pending:
    """A folder with runs that may not be in the store yet.

    `file`: names it. `folder`: of a run or a sweep. `tracking`: the store. `parent`: the parent run of a sweep; empty
    while it is opened. `status`: of a sweep that has ended; None while it runs.
    """

    file: Path
    folder: Path
    tracking: TrackingConfig
    parent: str | None = None
    status: str | None = None

    @classmethod
    def begin(cls, folder: Path, tracking: TrackingConfig, *, parent: str | None = None) -> Self:
        """That of a run or a sweep before anything is computed; its file is not written yet."""
        address = Address.of_settings(tracking)
        # Absolute: a job may change the working directory while the process of the sweep sends runs.
        there = replace(tracking, dir=str(address.directory), uri=tracking.uri and address.uri)
        return cls(_pending_folder(address) / f"{uuid.uuid4().hex}.json", folder.absolute(), there, parent)

    @property
    def id(self) -> str:
        """Its parent run has it as a tag."""
        return self.file.stem

    def write(self) -> None:
        """Write or replace the file."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        content = {"folder": str(self.folder), "tracking": asdict(self.tracking)}
        with replace_file(self.file) as draft:
            draft.write_text(json.dumps(content | {"parent": self.parent, "status": self.status}), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Self | None:
        """That of a file; None if another process has removed it, or if it is damaged."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            tracking = TrackingConfig(**content["tracking"])
            return cls(file, Path(content["folder"]), tracking, content["parent"], content["status"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def lock(self) -> FileLock:
        """Held while the process that computes lives; the system releases it when that is killed."""
        return FileLock(self.file.with_suffix(".lock"))

    def remove(self) -> None:
        """Everything is in the store."""
        self.file.unlink(missing_ok=True)
        self.file.with_suffix(".lock").unlink(missing_ok=True)


def _pending_folder(address: Address) -> Path:
    return address.directory / "pending"


@contextmanager
def computing(folder: Path, tracking: TrackingConfig, *, parent: str | None = None) -> Iterator[Pending | None]:
    """Note that the runs of `folder` are on their way to the store, for as long as this process lives.

    None without a store. The file stays if it is not removed in the block, and another command sends what is whole.
    """
    if tracking.name != "mlflow":
        yield None
        return
    _check(Address.of_settings(tracking), tracking.experiment)
    try:
        pending = Pending.begin(folder, tracking, parent=parent)
        lock = pending.lock().acquire()  # first: a file without a lock is one whose process is gone
        pending.write()
    except OSError as error:
        raise AuclabError(cannot_keep(Address.of_settings(tracking), error)) from error
    with lock:
        yield pending


def _check(address: Address, experiment: str) -> None:
    """Refuse, before anything is computed, a wrong address, a deleted experiment, a database of another MLflow.

    An SQLite file is read without MLflow.
    """
    address.require_answer()
    if address.file is None or not address.file.is_file():
        return
    question = "SELECT experiment_id, lifecycle_stage FROM experiments WHERE name = ?"
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{address.file.as_uri()}?mode=ro", uri=True)) as file:
        revision = file.execute("SELECT version_num FROM alembic_version").fetchone()
        found = file.execute(question, (experiment,)).fetchone()
        if revision is not None and not is_known(revision[0]):
            raise AuclabError(cannot_keep(address, AuclabError(wrong_schema(revision[0]))))
        if found is not None and found[1] == "deleted":
            raise DeletedExperimentError(address, experiment, found[0])


@contextmanager
def writing(tracking: TrackingConfig) -> Iterator[Store]:
    """The store, which no other process of auclab writes to meanwhile."""
    address = Address.of_settings(tracking)
    try:
        address.directory.mkdir(parents=True, exist_ok=True)
        lock = FileLock(address.directory / ".sync.lock", timeout=PATIENCE)
        with lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # MLflow's own use of SQLAlchemy
            from auclab.runs.tracking.store import STORE_ERRORS, open_tracked  # MLflow

            store = open_tracked(tracking)
            try:
                yield store
            except STORE_ERRORS as error:
                raise AuclabError(cannot_keep(address, error)) from error
            finally:
                store.settle()
    except Timeout as error:
        raise AuclabError(
            f"cannot keep runs in {address}: another process of auclab has been writing there for {PATIENCE:.0f} s"
        ) from error
    except OSError as error:
        raise AuclabError(cannot_keep(address, error)) from error


def send(store: Store, record: RunRecord, *, again: bool = False) -> RunRecord:
    """Send a run to the store, and note its id in its folder.

    `again`: an earlier process may have sent a part of it, or all.
    """
    from auclab.runs.tracking.logged_models import MODEL_NAME, log_models

    client, experiment = store.client, store.experiment_id
    found = _find(store, ID_TAG, record.id) if again else []
    tags = dict(record.tags) | ({"mlflow.parentRunId": record.parent} if record.parent else {}) | {ID_TAG: record.id}
    run = found[0] if found else client.create_run(experiment, record.start_time, tags, record.name)
    run_id = str(run.info.run_id)
    place = record.place
    if run.info.status != record.status:  # the status is set last
        finished = record.status == "FINISHED"
        models = log_models(client, run, record.params, record.folder, again=bool(found)) if finished else {}
        model = models.get(MODEL_NAME)
        of_model: dict[str, Any] = {"time": record.end_time, "model": model, "dataset": record.dataset}
        store.log(run_id, params=record.params, metrics=record.metrics, **of_model)
        store.log_dataset(run_id, record.dataset)
        place = _send_files(store, run_id, str(run.info.artifact_uri), record)
        client.set_terminated(run_id, record.status, record.end_time)
    elif is_local(run.info.artifact_uri):
        place = str(local_path(run.info.artifact_uri))
    sent = replace(record, run_id=run_id, place=place)
    sent.write()
    return sent


def _find(store: Store, tag: str, value: str) -> list[Run]:
    """The newest run with a tag, if there is one."""
    return list(store.client.search_runs([store.experiment_id], f"tags.`{tag}` = '{value}'", max_results=1))


def _send_files(store: Store, run_id: str, artifact_uri: str, record: RunRecord) -> str | None:
    """Move the files to the run's folder in the store, where they appear in one step, or send copies to a server."""
    for name in record.files:  # the folder may be of a store that somebody else has made
        if Path(name).name != name or (record.folder / name).is_symlink():
            raise AuclabError(f"{record.folder} lists {name!r}, which is not a file or folder of the run in it")
    if not is_local(artifact_uri):
        for name in record.files:
            path = record.folder / name
            if path.is_dir():
                store.client.log_artifacts(run_id, str(path), name)
            else:
                store.client.log_artifact(run_id, str(path))
        return None
    target = local_path(artifact_uri)
    if not target.exists():
        draft = target.with_name(f".{target.name}.draft")
        draft.mkdir(parents=True, exist_ok=True)  # with what was moved before a crash
        for name in record.files:
            if (record.folder / name).exists():
                shutil.move(record.folder / name, draft / name)
        draft.replace(target)
    return str(target)


def sync_run(pending: Pending | None) -> RunRecord | None:
    """Send the run of a single experiment; None without a store, or if it is not whole."""
    if pending is None:
        return None
    record = RunRecord.read(pending.folder)
    if record is not None and record.waits:
        try:
            with writing(pending.tracking) as store:
                record = send(store, record)
        except AuclabError as error:
            raise AuclabError(f"{error}; nothing is lost: {waiting_in(pending)}") from error
    pending.remove()
    return record


def waiting_in(pending: Pending) -> str:
    """Where runs wait, and what sends them."""
    store = Address.of_settings(pending.tracking)
    option = "" if store == Address.of("mlruns") else f" --store {shlex.quote(store.option)}"
    return f"what was computed is in {pending.folder}, and auclab runs{option} sends it once the store can be written"


def sync_pending(address: Address) -> int:
    """Send what processes that are gone have left for a store; returns the number of runs."""
    count = 0
    for file in sorted(_pending_folder(address).glob("*.json")):
        pending = Pending.read(file)
        if pending is None or Address.of_settings(pending.tracking) != address:
            continue
        try:
            with pending.lock().acquire(blocking=False):
                count += _recover(pending)
                pending.remove()
        except Timeout:  # its process lives, and sends it itself
            continue
    return count


def _recover(pending: Pending) -> int:
    """Send the whole runs of a folder whose process is gone, and end the parent run."""
    records = list(read_records(pending.folder))
    if not any(record.waits for record in records) and pending.parent is None:
        return 0
    with writing(pending.tracking) as store:
        waiting = [record for record in records if record.waits]
        for record in waiting:
            send(store, record, again=True)
        opened = [str(run.info.run_id) for run in _find(store, ID_TAG, pending.id)] if pending.parent == "" else []
        for parent in [pending.parent] if pending.parent else opened:
            for record in records:
                if record.status == "SKIPPED" and record.run_id is not None:
                    join_sweep(store, parent, record.run_id)
            close_parent(store, parent, pending.status or "KILLED", count_jobs(records))
    return len(waiting)


def count_jobs(records: list[RunRecord]) -> Mapping[str, int]:
    """Number of jobs by status."""
    return {status: number for status in (*COMPUTED, "SKIPPED")
            if (number := sum(record.status == status for record in records))}  # fmt: skip


#: Tag of a parent with its grid, and with the hash of it, by which the parent is found again.
GRID_TAG, KEY_TAG = "sweep.grid", "sweep.key"
#: Tag of a parent with the time of its latest start; MLflow keeps the time of the first.
STARTED_TAG = "sweep.started"
#: Tag of a run with the ids of the sweeps that skipped it as finished, in addition to its parent.
ALSO_TAG = "sweep.also"


def open_parent(store: Store, *, grid: Sequence[str], command: str, pending: str) -> str:
    """Create the parent run, or reopen an unfinished one of the same grid, and return its id.

    `pending`: the id by which the next command finds and ends it if this process is killed before it knows the run.
    """
    text = "\n".join(grid)
    tags = {GRID_TAG: text[:LONGEST_VALUE], "sweep.command": command, "mlflow.source.name": command, ID_TAG: pending}
    tags |= {KEY_TAG: hashlib.sha256(text.encode()).hexdigest()[:16], STARTED_TAG: datetime.now(UTC).isoformat()}
    found = _find(store, KEY_TAG, tags[KEY_TAG])
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
    a run with these settings finished. `code`: of the job (`auclab.runs.tracking.environment.code_of`).
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
