"""Writes runs into an existing SQLite database of MLflow with SQL, the rows that MLflow's client would write.

Importing MLflow and SQLAlchemy and opening the store take longer than most solves, and a run through its client a tenth
of a second more. A single run or a job of a sweep needs none of it if the database exists, the experiment is in it, and
its tables have exactly the columns that are listed here; in all other cases MLflow itself writes
(`auclab.tracking.mlflow_recorder`).
"""

from __future__ import annotations

import math
import sqlite3
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import quote, urlsplit

from auclab.tracking.address import Address
from auclab.tracking.database_lock import WAIT_SECONDS, await_database, begin, connect
from auclab.tracking.processes import Process
from auclab.tracking.recorder import DatasetEntry

#: Columns of the tables that a run is written to, of MLflow 3.
COLUMNS = {
    "experiments": "experiment_id name artifact_location lifecycle_stage creation_time last_update_time workspace",
    "runs": "run_uuid name source_type source_name entry_point_name user_id status start_time end_time source_version "
    "lifecycle_stage artifact_uri experiment_id deleted_time",
    "params": "key value run_uuid",
    "tags": "key value run_uuid",
    "metrics": "key value timestamp run_uuid step is_nan",
    "latest_metrics": "key value timestamp step is_nan run_uuid",
    "datasets": "dataset_uuid experiment_id name digest dataset_source_type dataset_source dataset_schema "
    "dataset_profile",
    "inputs": "input_uuid source_type source_id destination_type destination_id step",
    "input_tags": "input_uuid name value",
}


def finished_runs(file: Path, without: Sequence[str]) -> list[str] | None:
    """Ids of the FINISHED runs of a database that have none of these tags, oldest first.

    None if the database has other tables than those that are known, so that MLflow has to read it.
    """
    marks = ", ".join("?" * len(without))
    query = f"""SELECT run_uuid FROM runs WHERE status = 'FINISHED' AND lifecycle_stage = 'active'
                AND experiment_id IN (SELECT experiment_id FROM experiments WHERE lifecycle_stage = 'active')
                AND run_uuid NOT IN (SELECT run_uuid FROM tags WHERE key IN ({marks}))
                ORDER BY start_time, run_uuid DESC"""
    try:
        with closing(connect(file)) as connection:
            for table in ("experiments", "runs", "tags"):
                found = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
                if found != set(COLUMNS[table].split()):
                    return None
            return [str(row[0]) for row in connection.execute(query, tuple(without))]
    except sqlite3.Error:
        return None


@dataclass(frozen=True)
class FoundRun:
    """A run of the store with its tags."""

    run_id: str
    status: str
    tags: Mapping[str, str]


@dataclass(frozen=True)
class SqliteRecorder:
    """Runs of one experiment of a database."""

    address: Address
    file: Path
    experiment_id: int
    artifact_location: str
    #: Seconds that a lock of another process is waited for.
    wait: float = WAIT_SECONDS

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Exceptions that mean that the store cannot be used."""
        return (OSError, sqlite3.Error)

    @classmethod
    def open(cls, address: Address, experiment: str, wait: float = WAIT_SECONDS) -> Self | None:
        """The recorder of an experiment; None if MLflow has to open the store.

        Raises
        ------
        DatabaseHeldError
            Another process holds the database for longer than `wait` seconds.
        """
        file = address.file
        if file is None or not file.exists():
            return None
        try:
            await_database(file, wait)
            with closing(connect(file)) as connection:
                for table, columns in COLUMNS.items():
                    found = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
                    if found != set(columns.split()):
                        return None
                query = """SELECT experiment_id, artifact_location, workspace FROM experiments
                           WHERE name = ? AND lifecycle_stage = 'active'"""
                rows = connection.execute(query, (experiment,)).fetchall()
        except sqlite3.Error:
            return None
        if len(rows) != 1 or rows[0][2] != "default" or urlsplit(rows[0][1]).query:
            return None
        return cls(address, file, rows[0][0], rows[0][1], wait)

    def has_dead_runs(self) -> bool:
        """Whether a RUNNING run of the experiment belongs to a process that is gone."""
        query = """SELECT runs.run_uuid, tags.key, tags.value FROM runs JOIN tags ON tags.run_uuid = runs.run_uuid
                   WHERE runs.experiment_id = ? AND runs.status = 'RUNNING' AND tags.key LIKE 'process.%'"""
        tags: dict[str, dict[str, str]] = {}
        with closing(connect(self.file)) as connection:
            for run_id, key, value in connection.execute(query, (self.experiment_id,)):
                tags.setdefault(run_id, {})[key] = value
        processes = (Process.from_tags(each) for each in tags.values())
        return any(process is not None and process.is_gone for process in processes)

    def find(self, key: str, value: str) -> list[FoundRun]:
        """The runs of the experiment that have a tag with this value, newest first."""
        query = """SELECT runs.run_uuid, runs.status, every.key, every.value FROM runs
                   JOIN tags AS one ON one.run_uuid = runs.run_uuid AND one.key = ? AND one.value = ?
                   JOIN tags AS every ON every.run_uuid = runs.run_uuid
                   WHERE runs.experiment_id = ? AND runs.lifecycle_stage = 'active'
                   ORDER BY runs.start_time DESC, runs.run_uuid"""
        found: dict[tuple[str, str], dict[str, str]] = {}
        with closing(connect(self.file)) as connection:
            for run_id, status, tag, text in connection.execute(query, (key, value, self.experiment_id)):
                found.setdefault((run_id, status), {})[tag] = text
        return [FoundRun(*run, tags) for run, tags in found.items()]

    def create(self, name: str, tags: Mapping[str, str], params: Mapping[str, str], start_time: int) -> tuple[str, str]:
        """Create a RUNNING run, which started at `start_time` (milliseconds); return its id and artifact address."""
        run_id = uuid.uuid4().hex
        artifact_uri = f"{self.artifact_location.rstrip('/')}/{quote(run_id)}/artifacts"
        row = {
            "run_uuid": run_id,
            "name": name,
            "source_type": "UNKNOWN",
            "source_name": "",
            "entry_point_name": "",
            "user_id": tags.get("mlflow.user", "unknown"),
            "status": "RUNNING",
            "start_time": start_time,
            "end_time": None,
            "source_version": "",
            "lifecycle_stage": "active",
            "artifact_uri": artifact_uri,
            "experiment_id": self.experiment_id,
            "deleted_time": None,
        }
        with self._transaction() as connection:
            _insert(connection, "runs", row)
            for key, value in {**tags, "mlflow.runName": name}.items():
                _insert(connection, "tags", {"key": key, "value": value, "run_uuid": run_id})
            for key, value in params.items():
                _insert(connection, "params", {"key": key, "value": value, "run_uuid": run_id})
        return run_id, artifact_uri

    def log(
        self, run_id: str, metrics: Mapping[str, float], tags: Mapping[str, str], dataset: DatasetEntry | None
    ) -> None:
        """Add metrics, tags and the data set."""
        now = int(time.time() * 1000)
        with self._transaction() as connection:
            for key, value in metrics.items():
                row = {"key": key, "value": _finite(float(value)), "timestamp": now, "step": 0}
                row |= {"is_nan": math.isnan(value), "run_uuid": run_id}
                _insert(connection, "metrics", row)
                _insert(connection, "latest_metrics", row)
            for key, text in tags.items():
                _set_tag(connection, run_id, key, text)
            if dataset is not None:
                self._log_dataset(connection, run_id, dataset)

    def _log_dataset(self, connection: sqlite3.Connection, run_id: str, entry: DatasetEntry) -> None:
        query = "SELECT dataset_uuid FROM datasets WHERE experiment_id = ? AND name = ? AND digest = ?"
        found = connection.execute(query, (self.experiment_id, entry.name, entry.digest)).fetchone()
        dataset_id = found[0] if found else uuid.uuid4().hex
        if not found:
            row = {"dataset_uuid": dataset_id, "experiment_id": self.experiment_id, "name": entry.name}
            row |= {"digest": entry.digest, "dataset_source_type": "local", "dataset_source": entry.source}
            _insert(connection, "datasets", row | {"dataset_schema": None, "dataset_profile": entry.profile})
        input_id = uuid.uuid4().hex
        row = {"input_uuid": input_id, "source_type": "DATASET", "source_id": dataset_id}
        _insert(connection, "inputs", row | {"destination_type": "RUN", "destination_id": run_id, "step": 0})
        _insert(connection, "input_tags", {"input_uuid": input_id, "name": "mlflow.data.context", "value": "training"})

    def set_tag(self, run_id: str, key: str, value: str) -> None:
        """Set one tag."""
        with self._transaction() as connection:
            _set_tag(connection, run_id, key, value)

    def end(self, run_id: str, status: str, end_time: int) -> None:
        """Set the status and the time of the end (milliseconds)."""
        with self._transaction() as connection:
            update = "UPDATE runs SET status = ?, end_time = ? WHERE run_uuid = ?"
            connection.execute(update, (status, end_time, run_id))

    def send(self, run_id: str, path: Path) -> None:
        """Not used: the files of such a database are on this machine."""
        raise NotImplementedError(f"{self.artifact_location} is a folder of this machine")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(connect(self.file)) as connection:
            begin(connection, "BEGIN IMMEDIATE", self.file, self.wait)
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def _insert(connection: sqlite3.Connection, table: str, row: Mapping[str, object]) -> None:
    columns = ", ".join(f'"{column}"' for column in row)
    connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def _set_tag(connection: sqlite3.Connection, run_id: str, key: str, value: str) -> None:
    connection.execute('DELETE FROM tags WHERE run_uuid = ? AND "key" = ?', (run_id, key))
    _insert(connection, "tags", {"key": key, "value": value, "run_uuid": run_id})


def _finite(value: float) -> float:
    """As MLflow stores a metric: 0 for NaN, which has a column of its own, and the largest float for infinity."""
    if math.isnan(value):
        return 0.0
    return math.copysign(sys.float_info.max, value) if math.isinf(value) else value
