"""MLflow's SQLite store: opened by one process at a time, used by many."""

from __future__ import annotations

import logging
import os
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from auclab.types import AuclabError

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # read when MLflow is imported; "1" would have no effect
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

# Migrations and hints are not news to the reader of the screen, and errors arrive as exceptions.
for _name in ("alembic", "mlflow"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

LOCK_SECONDS = 120.0

STORE_ERRORS = (OSError, sqlite3.Error, SQLAlchemyError, MlflowException)


@dataclass(frozen=True)
class Store:
    """An open store: the client, the experiment new runs belong to, and the folder of it all."""

    client: MlflowClient
    experiment_id: str
    directory: Path

    @property
    def uri(self) -> str:
        """What `mlflow ui --backend-store-uri` takes."""
        return database_uri(self.directory)


def database_uri(directory: Path) -> str:
    """URI of the database below `directory`."""
    return f"sqlite:///{directory / 'mlflow.db'}"


def open_store(directory: str | Path, experiment: str = "auclab") -> Store:
    """Open the store below `directory`; create folder, database and experiment where they are missing.

    Raises
    ------
    AuclabError
        The folder cannot be written, the database is damaged or belongs to another version of MLflow.
    """
    place = Path(directory).absolute()
    try:
        (place / "artifacts").mkdir(parents=True, exist_ok=True)
        with _alone(place / ".lock"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # MLflow's own use of SQLAlchemy
            if not (place / "mlflow.db").exists():
                _create_database(place)
            client = MlflowClient(tracking_uri=database_uri(place))
            found = client.get_experiment_by_name(experiment)
            if found is None:
                location = (place / "artifacts").as_uri()
                experiment_id = client.create_experiment(experiment, artifact_location=location)
            else:
                experiment_id = found.experiment_id
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(place, error)) from error
    if found is not None and found.lifecycle_stage == "deleted":
        raise AuclabError(f"the experiment {experiment!r} in {place} was deleted; choose tracking.experiment=…")
    return Store(client, experiment_id, place)


def cannot_keep(place: Path, error: BaseException) -> str:
    """The message for a store that refuses."""
    reason = " ".join(str(error).partition("(Background on this error")[0].split()) or type(error).__name__
    return f"cannot keep runs in {place}: {reason}; choose another place with tracking.dir=…, or tracking=none"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock that the operating system releases if the process dies: SQLite's own, on a file beside.

    Several processes that create MLflow's tables at once break the database.
    """
    with closing(sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            lock.execute("ROLLBACK")


def _create_database(place: Path) -> None:
    """Make all tables in a file beside, which takes its place when it is complete.

    Creation takes seconds; stopped half-way, by Ctrl-C or a full disk, it leaves a file MLflow cannot repair.
    """
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore  # warns of itself when it is imported

    draft = place / "mlflow.db.new"
    draft.unlink(missing_ok=True)
    try:
        SqlAlchemyStore(f"sqlite:///{draft}", (place / "artifacts").as_uri()).engine.dispose()
        with closing(sqlite3.connect(draft)) as connection:
            # Readers no longer wait for writers; the mode is stored in the file.
            connection.execute("PRAGMA journal_mode=wal")
        draft.replace(place / "mlflow.db")
    finally:
        draft.unlink(missing_ok=True)
