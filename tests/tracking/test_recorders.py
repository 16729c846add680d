"""SQL writes the rows that MLflow writes, and only where it knows the tables."""

import math
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from auclab.datasets.records import Dataset
from auclab.tracking import Record, Start, TrackingConfig, open_run
from auclab.tracking.address import Address
from auclab.tracking.mlflow_recorder import MlflowRecorder
from auclab.tracking.mlflow_run import MlflowRun
from auclab.tracking.processes import Process, this_process
from auclab.tracking.sqlite_recorder import COLUMNS, SqliteRecorder
from auclab.tracking.store import open_store
from tracked_runs import DATASET, write_half_and_fail

START = Start(17.5, time.monotonic())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store without runs; making one takes seconds."""
    folder = tmp_path_factory.mktemp("empty") / "mlruns"
    open_store(folder)
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """A store of its own for every test, as MLflow keeps connections to files that it knows."""
    folder = tmp_path / "mlruns"
    shutil.copytree(made, folder)
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        location = (folder / "artifacts").as_uri()
        database.execute("UPDATE experiments SET artifact_location = ? WHERE name = 'auclab'", (location,))
        database.commit()
    return folder


def rows_in(folder):
    """All rows by table, without ids and times of the clock."""
    ids = {"run_uuid", "dataset_uuid", "input_uuid", "source_id", "destination_id", "timestamp", "end_time"}
    found = {}
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        database.row_factory = sqlite3.Row
        for table in COLUMNS:
            rows = [dict(row) for row in database.execute(f"SELECT * FROM {table}")]
            for row in rows:
                for key in ids & row.keys():
                    row[key] = row[key] is not None
                if table == "runs":
                    row["artifact_uri"] = row["artifact_uri"].rpartition("/artifacts/")[0].rpartition("/")[0]
            found[table] = sorted(rows, key=str)
    return found


def write(recorder, tmp_path):
    """A run that finished, one that failed, and a second one on the same data."""
    metrics = {"test/auc": 0.1 + 0.2, "gap": math.nan, "up": math.inf, "down": -math.inf, "count": 3}
    params = {"formulation": "ranksvm", "long": "λ" * 9000, "none": "None"}
    for number in range(2):
        run = MlflowRun(recorder, f"run {number} λ=1", tmp_path / "out", params, {"config.hash": "a"}, start=START)
        with run:
            (run.staging / "note.txt").write_text("hello")
            run.keep(Record(DATASET, metrics, {"config.hash": "b", "status": "optimal"}))
        assert (run.folder / "note.txt").read_text() == "hello"
    failed = MlflowRun(recorder, "bad", tmp_path / "out", {}, {}, start=START)
    with pytest.raises(RuntimeError), failed:
        write_half_and_fail(failed, RuntimeError("it broke"))
    X = pd.DataFrame({"a": np.zeros(4)})
    with MlflowRun(recorder, "other data", tmp_path / "out", {}, {}, start=START) as run:
        run.keep(Record(Dataset("other", X, np.array([0, 1, 1, 1]))))


def test_sql_writes_the_rows_that_mlflow_writes(folder, tmp_path):
    address = Address.of(folder)
    write(MlflowRecorder(open_store(folder)), tmp_path)
    expected = rows_in(folder)
    assert [len(expected[table]) for table in ("runs", "datasets", "inputs")] == [4, 2, 3]
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        for table in COLUMNS:
            if table != "experiments":
                database.execute(f"DELETE FROM {table}")
        database.commit()
    recorder = SqliteRecorder.open(address, "auclab")
    assert recorder is not None
    write(recorder, tmp_path)
    found = rows_in(folder)
    for table in COLUMNS:
        assert found[table] == expected[table], table


def test_a_run_written_with_sql_is_read_by_mlflow(folder, tmp_path):
    run = open_run(TrackingConfig(dir=str(folder)), name="quick", folder=tmp_path / "out", params={"a": "1"})
    assert isinstance(run.recorder, SqliteRecorder)
    with run:
        (run.staging / "note.txt").write_text("hello")
        run.keep(Record(DATASET, {"test/auc": 0.75, "gap": math.nan}))
    client = open_store(folder).client
    kept = client.get_run(run.run_id)
    assert (kept.info.status, kept.info.run_name, kept.data.params) == ("FINISHED", "quick", {"a": "1"})
    assert kept.data.metrics["test/auc"] == 0.75
    assert math.isnan(kept.data.metrics["gap"])
    assert kept.inputs.dataset_inputs[0].dataset.name == "toy"
    assert [item.path for item in client.list_artifacts(run.run_id)] == ["note.txt"]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE runs ADD COLUMN new_column TEXT",
        "ALTER TABLE params RENAME COLUMN value TO text",
        "UPDATE experiments SET lifecycle_stage = 'deleted' WHERE name = 'auclab'",
        "DELETE FROM experiments WHERE name = 'auclab'",
    ],
)
def test_other_tables_and_missing_experiments_are_left_to_mlflow(folder, change):
    assert SqliteRecorder.open(Address.of(folder), "auclab") is not None
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        database.execute(change)
        database.commit()
    assert SqliteRecorder.open(Address.of(folder), "auclab") is None


def test_databases_that_are_not_there_or_not_sqlite_are_left_to_mlflow(tmp_path):
    assert SqliteRecorder.open(Address.of(tmp_path), "auclab") is None
    assert not list(tmp_path.iterdir())
    assert SqliteRecorder.open(Address.of(tmp_path, "http://127.0.0.1:5000"), "auclab") is None
    (tmp_path / "mlflow.db").write_text("no database")
    assert SqliteRecorder.open(Address.of(tmp_path), "auclab") is None


def test_runs_of_dead_processes_are_left_to_mlflow_which_marks_them(folder, tmp_path):
    recorder, own = SqliteRecorder.open(Address.of(folder), "auclab"), this_process()
    recorder.create("alive", own.tags, {}, 0)
    recorder.create("elsewhere", Process("elsewhere", 1, 17.0).tags, {}, 0)
    assert not recorder.has_dead_runs()
    dead, _ = recorder.create("dead", Process(own.host, own.pid, 17.0).tags, {}, 0)
    assert recorder.has_dead_runs()
    run = open_run(TrackingConfig(dir=str(folder)), name="next", folder=tmp_path, params={})
    assert isinstance(run.recorder, MlflowRecorder)
    assert open_store(folder).client.get_run(dead).info.status == "KILLED"
    assert not recorder.has_dead_runs()


def test_a_single_run_in_a_store_that_is_there_imports_neither_mlflow_nor_sqlalchemy(folder, tmp_path):
    script = (
        "import sys\n"
        "from auclab.tracking import Record, Start, TrackingConfig, open_run\n"
        "with open_run(TrackingConfig(dir=sys.argv[1]), name='x', folder=sys.argv[2], params={}) as run:\n"
        "    run.keep(Record(metrics={'a': 1.0}))\n"
        "print(sorted(sys.modules.keys() & {'mlflow', 'sqlalchemy', 'alembic'}))\n"
    )
    command = [sys.executable, "-c", script, str(folder), str(tmp_path / "out")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
