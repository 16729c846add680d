"""MLflow's store, opened for writing, and names in its registry of models. Importing this module imports MLflow."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from auclab._core.base import AuclabError
from auclab.runs.tracking.address import Address, DeletedExperimentError, TrackingConfig, cannot_keep, reason_of
from auclab.runs.tracking.logged_models import MODEL_NAME, models_of
from auclab.runs.tracking.record import DatasetEntry

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # read when MLflow is imported; "1" would have no effect
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
# No hints about servers on the screen, and no minutes of retries when a server has gone.
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "1")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, RunTag
from mlflow.exceptions import MlflowException
from mlflow.utils.validation import MAX_METRICS_PER_BATCH, MAX_PARAMS_TAGS_PER_BATCH
from sqlalchemy.exc import SQLAlchemyError

# No messages about migrations and retries on the screen; errors arrive as exceptions.
for _name in ("alembic", "mlflow", "urllib3"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

STORE_ERRORS = (OSError, sqlite3.Error, SQLAlchemyError, MlflowException)


@dataclass(frozen=True)
class Store:
    """An open store: the client, the experiment of new runs, and the address."""

    client: MlflowClient
    experiment_id: str
    address: Address

    def log(
        self,
        run_id: str,
        *,
        params: Mapping[str, str],
        metrics: Mapping[str, float],
        time: int,
        step: int = 0,
        model: str | None = None,
        dataset: DatasetEntry | None = None,
    ) -> None:
        """Log parameters and metrics, those of a model on a data set, in as few calls as MLflow allows."""
        of_run = [Param(key, value) for key, value in params.items()]
        data = (None, None) if dataset is None else (dataset.name, dataset.digest)
        numbers = [Metric(key, float(value), time, step, model, *data) for key, value in metrics.items()]
        while of_run or numbers:
            self.client.log_batch(run_id, numbers[:MAX_METRICS_PER_BATCH], of_run[:MAX_PARAMS_TAGS_PER_BATCH])
            of_run, numbers = of_run[MAX_PARAMS_TAGS_PER_BATCH:], numbers[MAX_METRICS_PER_BATCH:]

    def tag(self, run_id: str, tags: Mapping[str, str]) -> None:
        """Set tags."""
        self.client.log_batch(run_id, tags=[RunTag(key, value) for key, value in tags.items()])

    def log_dataset(self, run_id: str, dataset: DatasetEntry | None) -> None:
        """Add the data set that a run was trained on, if there is one."""
        if dataset is not None:
            logged = Dataset(dataset.name, dataset.digest, "local", dataset.source, profile=dataset.profile)
            inputs = [DatasetInput(logged, [InputTag("mlflow.data.context", "training")])]
            try:
                self.client.log_inputs(run_id, inputs)
            except MlflowException:  # another process added it after MLflow had looked for it; now it is found
                self.client.log_inputs(run_id, inputs)

    def settle(self) -> None:
        """Move the write-ahead log of SQLite into the database, so that a copy of that one file is complete."""
        if self.address.file is not None and self.address.file.exists():
            with closing(sqlite3.connect(self.address.file)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def open_tracked(tracking: TrackingConfig) -> Store:
    """Open the store that the configuration names; create folder, database and experiment where they are missing.

    The caller holds the lock of the store (`auclab.runs.tracking.sync.writing`).
    """
    address, experiment = Address.of_settings(tracking), tracking.experiment
    address.require_answer()
    try:
        location = None
        if not address.is_server:
            artifacts = address.directory / "artifacts"
            artifacts.mkdir(parents=True, exist_ok=True)
            location = artifacts.as_uri()
            if address.file is not None and not address.file.exists():
                address.file.parent.mkdir(parents=True, exist_ok=True)
                _create_database(address.file, artifacts)
        client = MlflowClient(tracking_uri=address.uri)
        found = client.get_experiment_by_name(experiment)
        if found is None:
            return Store(client, str(client.create_experiment(experiment, location)), address)
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(address, error)) from error
    if found.lifecycle_stage == "deleted":
        raise DeletedExperimentError(address, experiment, str(found.experiment_id))
    return Store(client, str(found.experiment_id), address)


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
            connection.execute("PRAGMA journal_mode=wal")  # readers, such as MLflow's page, do not wait for a writer
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def check_name(name: str) -> None:
    """Refuse an invalid name of a model.

    Examples
    --------
    >>> check_name("churn")
    """
    if not name.strip() or any(sign in name for sign in "/:@"):
        raise AuclabError(f"{name!r} cannot be the name of a model, because its address is models:/NAME/VERSION")


def register_model(store: Address, run_id: str, name: str) -> int:
    """Register the model of a run as the next version of `name`; the first one makes the name.

    `store`: the store of the run, which has one split. `name`: without ``/`` and ``:``, as the model is then called
    ``models:/NAME/VERSION``. Returns: the version.
    """
    check_name(name)
    client = MlflowClient(tracking_uri=store.uri, registry_uri=store.uri)
    try:
        models = {model.name: model for model in models_of(client, client.get_run(run_id))}
        if MODEL_NAME not in models:
            raise AuclabError(f"run {run_id[:8]} has no model of that name in {store}: run the experiment again")
        try:
            client.create_registered_model(name)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
        model = models[MODEL_NAME]
        version = client.create_model_version(name, model.artifact_location, run_id, model_id=model.model_id)
        return int(version.version)
    except STORE_ERRORS as error:
        raise AuclabError(
            f"the model of run {run_id[:8]} cannot be registered as {name!r} in {store}: {reason_of(error)}"
        ) from error
