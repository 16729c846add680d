"""MLflow's store: opened by one process at a time, used by many. Importing this module imports MLflow."""

from __future__ import annotations

import logging
import os
import sqlite3
import warnings
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, cast

from auclab.tracking.address import Address, cannot_keep
from auclab.tracking.config import TrackingConfig
from auclab.tracking.database_lock import WAIT_SECONDS, await_database, hold
from auclab.tracking.dataset_entry import DatasetEntry
from auclab.tracking.patient_client import PatientClient
from auclab.types import AuclabError

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # read when MLflow is imported; "1" would have no effect
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
# No hints about servers on the screen, and no minutes of retries when a server has gone.
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "1")

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

# No messages about migrations on the screen; errors arrive as exceptions.
for _name in ("alembic", "mlflow"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

STORE_ERRORS = (OSError, sqlite3.Error, SQLAlchemyError, MlflowException)


@dataclass(frozen=True)
class Store:
    """An open store: the client, the experiment of new runs, and the address."""

    client: MlflowClient
    experiment_id: str
    address: Address

    #: Exceptions that mean that the store cannot be used.
    errors: ClassVar[tuple[type[Exception], ...]] = STORE_ERRORS

    @property
    def directory(self) -> Path:
        """The folder with the files of the runs, staged ones included; a server keeps its own."""
        return self.address.directory

    @property
    def uri(self) -> str:
        """What `mlflow ui --backend-store-uri` takes."""
        return self.address.uri

    def log_dataset(self, run_id: str, dataset: DatasetEntry | None) -> None:
        """Add the data set that a run was trained on, if there is one."""
        if dataset is not None:
            logged = Dataset(dataset.name, dataset.digest, "local", dataset.source, profile=dataset.profile)
            inputs = [DatasetInput(logged, [InputTag("mlflow.data.context", "training")])]
            try:
                self.client.log_inputs(run_id, inputs)
            except MlflowException:  # another process added it after MLflow had looked for it; now it is found
                self.client.log_inputs(run_id, inputs)

    def send(self, run_id: str, path: Path, name: str | None = None) -> None:
        """Send a file, or all files of a folder (below `name`), to the artifact address."""
        if path.is_dir():
            self.client.log_artifacts(run_id, str(path), name)
        else:
            self.client.log_artifact(run_id, str(path))

    def end(self, run_id: str, status: str, end_time: int) -> None:
        """Set the status of a run and the time of its end (milliseconds)."""
        self.client.set_terminated(run_id, status, end_time)


def open_tracked(tracking: TrackingConfig) -> Store:
    """Open the store that the configuration names."""
    return open_store(tracking.dir, tracking.experiment, tracking.uri, wait=tracking.wait)


def open_store(
    directory: str | Path, experiment: str = "auclab", uri: str | None = None, *, wait: float = WAIT_SECONDS
) -> Store:
    """Open the store; create folder, database and experiment where they are missing.

    `directory`: holds the files of the runs and, without `uri`, the database. `experiment`: name of the experiment.
    `uri`: another database or an MLflow server, which keeps the files too. `wait`: seconds to wait for another process
    that holds the database, or the lock of the store; reported after two seconds.
    """
    address = Address.of(directory, uri)
    address.require_answer()
    try:
        if address.is_server:
            client = _client(address, wait)
            experiment_id, stage = _experiment(client, experiment, location=None)
        else:
            artifacts = address.directory / "artifacts"
            artifacts.mkdir(parents=True, exist_ok=True)
            with hold(_lock(address), wait), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # MLflow's own use of SQLAlchemy
                if address.file is not None and not address.file.exists():
                    _create_database(address.file, artifacts)
                client = _client(address, wait)
                experiment_id, stage = _experiment(client, experiment, location=artifacts.as_uri())
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(address, error)) from error
    if stage == "deleted":
        raise AuclabError(f"the experiment {experiment!r} in {address} was deleted; choose tracking.experiment=…")
    return Store(client, experiment_id, address)


def _client(address: Address, wait: float) -> MlflowClient:
    """MLflow's client, each call after a check that the store can be used."""
    if address.file is not None and address.file.exists():
        await_database(address.file, wait)  # MLflow connects at once, and retries for a minute
    client = PatientClient(MlflowClient(tracking_uri=address.uri), address, wait)
    return cast(MlflowClient, client)


def _experiment(client: MlflowClient, name: str, *, location: str | None) -> tuple[str, str]:
    """Id and stage of the experiment, which is created if it is missing."""
    if (found := client.get_experiment_by_name(name)) is None:
        try:
            return str(client.create_experiment(name, artifact_location=location)), "active"
        except MlflowException:  # another process created it first
            if (found := client.get_experiment_by_name(name)) is None:
                raise
    return str(found.experiment_id), str(found.lifecycle_stage)


def _lock(address: Address) -> Path:
    """The lock file: next to an SQLite database, else in the folder with the files."""
    if address.is_own or address.file is None:
        return address.directory / ".lock"
    address.file.parent.mkdir(parents=True, exist_ok=True)
    return address.file.with_name(f".{address.file.name}.lock")


def _create_database(file: Path, artifacts: Path) -> None:
    """Create all tables in a second file, which is renamed when it is complete.

    Creation takes seconds; interrupted by Ctrl-C or a full disk it leaves a file that MLflow cannot repair.
    """
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore  # its import emits warnings

    draft = file.with_name(f"{file.name}.new")
    draft.unlink(missing_ok=True)
    try:
        SqlAlchemyStore(f"sqlite:///{draft}", artifacts.as_uri()).engine.dispose()
        with closing(sqlite3.connect(draft)) as connection:
            # Readers do not wait for writers; the mode is stored in the file.
            connection.execute("PRAGMA journal_mode=wal")
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
