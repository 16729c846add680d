"""New stores as copies of one that MLflow made: its migrations take seconds, and the outcome is always the same."""

import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path


def copy_databases():
    """From here on, a new database in this process is a copy of the first; tests/runs/tracking compares the two."""
    from auclab.runs.tracking import store  # with MLflow, in two seconds

    if not hasattr(store._create_database, "original"):
        store._create_database = copying(store._create_database)


def copying(original):
    """What `original` does once, from then on by copying."""

    @cache
    def first():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "mlflow.db"
            original(file, Path(folder) / "artifacts")
            with closing(sqlite3.connect(file)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return file.read_bytes()

    def create(file, artifacts):
        draft = file.with_name(f"{file.name}.new")
        draft.write_bytes(first())
        with closing(sqlite3.connect(draft)) as database:
            # of the one experiment that MLflow makes for itself
            database.execute("UPDATE experiments SET artifact_location = ?", (f"{artifacts.as_uri()}/0",))
            database.commit()
        draft.replace(file)

    create.original = original
    return create
