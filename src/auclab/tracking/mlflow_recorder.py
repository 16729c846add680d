"""Writes runs with MLflow's client. Importing this module imports MLflow."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from auclab.tracking.address import Address
from auclab.tracking.dataset_entry import DatasetEntry
from auclab.tracking.store import STORE_ERRORS, Store

# After the store, which sets MLflow's environment variables first.
from mlflow.entities import Dataset as LoggedDataset  # isort: skip
from mlflow.entities import DatasetInput, InputTag, Metric, Param, RunTag  # isort: skip


@dataclass(frozen=True)
class MlflowRecorder:
    """Runs of the experiment of an open store."""

    store: Store

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Exceptions that mean that the store cannot be used."""
        return STORE_ERRORS

    @property
    def address(self) -> Address:
        """The address of the store."""
        return self.store.address

    def create(self, name: str, tags: Mapping[str, str], params: Mapping[str, str], start_time: int) -> tuple[str, str]:
        """Create a RUNNING run, which started at `start_time` (milliseconds); return its id and artifact address."""
        client = self.store.client
        run = client.create_run(self.store.experiment_id, start_time=start_time, run_name=name, tags=dict(tags))
        client.log_batch(run.info.run_id, params=[Param(key, value) for key, value in params.items()])
        return run.info.run_id, run.info.artifact_uri

    def log(
        self, run_id: str, metrics: Mapping[str, float], tags: Mapping[str, str], dataset: DatasetEntry | None
    ) -> None:
        """Add metrics, tags and the data set."""
        now = int(time.time() * 1000)
        self.store.client.log_batch(
            run_id,
            metrics=[Metric(key, float(value), now, 0) for key, value in metrics.items()],
            tags=[RunTag(key, value) for key, value in tags.items()],
        )
        if dataset is not None:
            logged = LoggedDataset(dataset.name, dataset.digest, "local", dataset.source, profile=dataset.profile)
            inputs = [DatasetInput(logged, [InputTag("mlflow.data.context", "training")])]
            self.store.client.log_inputs(run_id, inputs)

    def set_tag(self, run_id: str, key: str, value: str) -> None:
        """Set one tag."""
        self.store.client.set_tag(run_id, key, value)

    def end(self, run_id: str, status: str, end_time: int) -> None:
        """Set the status and the time of the end (milliseconds)."""
        self.store.client.set_terminated(run_id, status, end_time)

    def send(self, run_id: str, path: Path) -> None:
        """Send a file, or all files of a folder, to the artifact address."""
        if path.is_dir():
            self.store.client.log_artifacts(run_id, str(path))
        else:
            self.store.client.log_artifact(run_id, str(path))
