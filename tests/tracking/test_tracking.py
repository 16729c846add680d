"""The store: created once by many, written in one go, honest about failures."""

import errno
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from auclab.tracking.mlflow_run import LONGEST_VALUE
from mlflow import MlflowClient
from sqlalchemy import event
from sqlalchemy.orm import Session

from auclab.tracking import (
    CODE_TAG,
    HASH_TAG,
    SETTINGS_TAG,
    FinishedRun,
    Record,
    TrackingConfig,
    close_parent,
    find_finished,
    fingerprint,
    mark_killed,
    open_parent,
    open_run,
)
from auclab.tracking import store as store_module
from auclab.tracking.address import Address
from auclab.tracking.dataset_entry import DatasetEntry
from auclab.tracking.environment import capture_environment
from auclab.tracking.processes import Process, this_process
from auclab.tracking.registry import register_model
from auclab.tracking.store import open_store
from auclab.types import AuclabError
from tracked_runs import DATASET, write_half_and_fail


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One store for the tests of this file: making one takes seconds."""
    return tmp_path_factory.mktemp("tracked") / "mlruns"


@pytest.fixture
def tracking(place):
    return TrackingConfig(dir=str(place))


def client_of(place: Path) -> MlflowClient:
    return MlflowClient(tracking_uri=Address.of(place).uri)


def leave_a_run(tracking, folder, *, text="hello", metrics=None):
    folder.mkdir(exist_ok=True)
    with open_run(tracking, name="a run λ=1", folder=folder, params={"solver": "highs"}) as run:
        (run.staging / "note.txt").write_text(text, encoding="utf-8")
        run.keep(Record(DATASET, metrics or {"test/auc": 0.75}, {"config.hash": "feed"}))
    return run


@pytest.mark.slow
def test_a_finished_run_has_everything(tracking, place, tmp_path):
    run = leave_a_run(tracking, tmp_path / "out", metrics={"test/auc": 0.75, "gap": float("nan")})
    client = client_of(place)
    kept = client.get_run(run.run_id)
    assert kept.info.status == "FINISHED"
    assert kept.info.run_name == "a run λ=1"
    assert kept.data.params == {"solver": "highs"}
    assert kept.data.metrics["test/auc"] == 0.75
    assert np.isnan(kept.data.metrics["gap"])
    assert kept.data.tags["config.hash"] == "feed"
    assert {"python", "cpu", "threads", "version.numpy"} <= set(kept.data.tags)
    assert [item.path for item in client.list_artifacts(run.run_id)] == ["note.txt"]
    assert Path(client.download_artifacts(run.run_id, "note.txt")).read_text(encoding="utf-8") == "hello"
    (logged,) = kept.inputs.dataset_inputs
    assert logged.dataset.name == "toy"
    assert logged.dataset.digest == DATASET.sha256[:36]
    assert json.loads(logged.dataset.source)["sha256"] == DATASET.sha256
    assert json.loads(logged.dataset.profile) == {"rows": 3, "features": 1, "positive": 2, "negative": 1}
    assert json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))["run_id"] == run.run_id
    assert not list((place / "staging").iterdir())


@pytest.mark.parametrize(("error", "status"), [(RuntimeError("it broke"), "FAILED"), (KeyboardInterrupt(), "KILLED")])
def test_a_failed_run_keeps_its_traceback_and_no_files(tracking, place, tmp_path, error, status):
    run = open_run(tracking, name="bad", folder=tmp_path, params={"a": "1"})
    with pytest.raises(type(error)), run:
        write_half_and_fail(run, error)
    client = client_of(place)
    kept = client.get_run(run.run_id)
    assert kept.info.status == status
    assert kept.data.params == {"a": "1"}
    assert kept.data.tags["error"].startswith(type(error).__name__)
    assert [item.path for item in client.list_artifacts(run.run_id)] == ["traceback.txt"]
    assert "in write_half_and_fail" in Path(client.download_artifacts(run.run_id, "traceback.txt")).read_text(
        encoding="utf-8"
    )
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["status"] == status
    assert not list((place / "staging").iterdir())


def test_long_parameters_are_cut(tracking, place, tmp_path):
    with open_run(tracking, name="long", folder=tmp_path, params={"text": "x" * 9000}) as run:
        pass
    assert len(client_of(place).get_run(run.run_id).data.params["text"]) == LONGEST_VALUE


def test_children_know_their_parent(tracking, place, tmp_path, monkeypatch):
    parent = open_parent(tracking, grid=["solver=a,b"], command="python run.py -m solver=a,b")
    monkeypatch.setenv("AUCLAB_PARENT_RUN", parent)
    child = leave_a_run(tracking, tmp_path / "out")
    close_parent(tracking, parent, "FAILED")
    client = client_of(place)
    assert client.get_run(child.run_id).data.tags["mlflow.parentRunId"] == parent
    kept = client.get_run(parent)
    assert kept.info.status == "FAILED"
    assert kept.info.run_name == "sweep solver=a,b"
    assert kept.data.tags["sweep.command"] == "python run.py -m solver=a,b"


def test_an_obstacle_in_the_place_of_the_folder_is_one_clear_error(tmp_path):
    (tmp_path / "mlruns").write_text("I am a file", encoding="utf-8")
    with pytest.raises(AuclabError, match=r"cannot keep runs in .*mlruns.*tracking\.dir=.*tracking=none"):
        open_store(tmp_path / "mlruns")


def test_a_damaged_database_is_one_clear_error(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(b"this is no database, " * 100)
    with pytest.raises(AuclabError, match="cannot keep runs in"):
        open_store(tmp_path)


def test_files_that_cannot_be_published_fail_the_run(tracking, place, tmp_path):
    """A folder that is not empty stands where the files should go."""

    def write_and_block(run):
        (run.staging / "a.txt").write_text("a", encoding="utf-8")
        run.folder.mkdir(parents=True)
        (run.folder / "stranger.txt").write_text("here first", encoding="utf-8")

    run = open_run(tracking, name="blocked", folder=tmp_path, params={})
    with pytest.raises(AuclabError, match="cannot keep runs in"), run:
        write_and_block(run)
    kept = client_of(place).get_run(run.run_id)
    assert kept.info.status == "FAILED"
    assert not (run.folder / "a.txt").exists()
    assert not list((place / "staging").iterdir())


def test_a_full_disk_is_one_clear_error(tracking, place, tmp_path):
    run = open_run(tracking, name="full", folder=tmp_path, params={})
    with pytest.raises(AuclabError, match=r"cannot keep runs in .*No space left on device"), run:
        write_half_and_fail(run, OSError(errno.ENOSPC, "No space left on device"))
    assert client_of(place).get_run(run.run_id).info.status == "FAILED"


def test_without_a_database_the_files_are_the_run(tmp_path):
    run = leave_a_run(TrackingConfig(name="none"), tmp_path / "out")
    assert run.run_id is None
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["note.txt", "run.json"]
    run = open_run(TrackingConfig(name="none"), name="bad", folder=tmp_path / "bad", params={})
    with pytest.raises(RuntimeError), run:
        write_half_and_fail(run, RuntimeError("it broke"))
    assert sorted(path.name for path in (tmp_path / "bad").iterdir()) == ["run.json", "traceback.txt"]


def test_an_unknown_tracking_is_refused(tmp_path):
    with pytest.raises(AuclabError, match="it is mlflow or none"):
        open_run(TrackingConfig(name="wandb"), name="x", folder=tmp_path, params={})


FOUR_AT_ONCE = """
import multiprocessing, pathlib, sys
from auclab.tracking import TrackingConfig, open_run

def work(number):
    tracking = TrackingConfig(dir=sys.argv[1] + "/mlruns")
    output = pathlib.Path(sys.argv[1], str(number))
    output.mkdir()
    for _ in range(5):
        with open_run(tracking, name="worker", folder=output, params={"a": "1", "b": "2"}):
            pass

workers = [multiprocessing.get_context("fork").Process(target=work, args=(number,)) for number in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
raise SystemExit(sum(worker.exitcode for worker in workers))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks four processes, which this system cannot")
def test_four_processes_make_one_database_and_write_into_it(tmp_path):
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db.new").write_text("left by a process that was stopped", encoding="utf-8")
    subprocess.run([sys.executable, "-c", FOUR_AT_ONCE, str(tmp_path)], check=True)
    store = open_store(tmp_path / "mlruns")
    runs = store.client.search_runs([store.experiment_id])
    assert [(run.info.status, run.data.params) for run in runs] == [("FINISHED", {"a": "1", "b": "2"})] * 20
    assert not (tmp_path / "mlruns" / "mlflow.db.new").exists()
    with closing(sqlite3.connect(tmp_path / "mlruns" / "mlflow.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@contextmanager
def meanwhile(act):
    """Something happens between MLflow's look into the database and its next write."""
    left = [act]
    listener = lambda *_: left and left.pop()()  # noqa: E731
    event.listen(Session, "before_flush", listener)
    yield
    event.remove(Session, "before_flush", listener)
    assert not left


def test_a_data_set_that_another_process_adds_meanwhile_is_taken(tmp_path):
    store = open_store(tmp_path / "mlruns")
    mine, theirs = (store.client.create_run(store.experiment_id).info.run_id for _ in range(2))
    entry = DatasetEntry.of(DATASET)
    with meanwhile(lambda: store.log_dataset(theirs, entry)):
        store.log_dataset(mine, entry)
    first, second = (store.client.get_run(run_id).inputs.dataset_inputs for run_id in (mine, theirs))
    assert [each.dataset for each in first] == [each.dataset for each in second]
    assert len(first) == 1


def test_a_name_of_a_model_that_another_process_adds_meanwhile_is_taken(tmp_path):
    store = open_store(tmp_path / "mlruns")
    run_id = store.client.create_run(store.experiment_id).info.run_id
    with meanwhile(lambda: store.client.create_registered_model("churn")):
        assert register_model(store.address, run_id, "churn") == 1
    assert register_model(store.address, run_id, "churn") == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # MLflow's own use of SQLAlchemy
def test_the_databases_of_the_tests_are_those_that_mlflow_makes(tmp_path):
    """Copies of the first one: the same tables and rows but for the times."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    store_module._create_database.original(tmp_path / "a" / "mlflow.db", tmp_path / "artifacts")
    store_module._create_database(tmp_path / "b" / "mlflow.db", tmp_path / "artifacts")
    found = []
    for name in ("a", "b"):
        with closing(sqlite3.connect(tmp_path / name / "mlflow.db")) as database:
            (mode,) = database.execute("PRAGMA journal_mode").fetchone()
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            columns = {name: database.execute(f"PRAGMA table_info({name})").fetchall() for name in sorted(tables)}
            rows = {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
            indices = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
            (experiment,) = rows.pop("experiments")
            places = [cell for cell in experiment if isinstance(cell, str)]
            found.append((mode, columns, rows, indices, places))
    assert found[0] == found[1]
    assert found[0][0] == "wal"
    assert f"{(tmp_path / 'artifacts').as_uri()}/0" in found[0][4]


def test_fingerprint_follows_settings_and_data_only():
    settings = {"solver": {"name": "highs"}, "tracking": {"name": "mlflow"}, "data_dir": None}
    base = fingerprint(settings, "aa")
    assert fingerprint(settings | {"tracking": {"name": "none"}, "data_dir": "/x"}, "aa") == base
    assert fingerprint(settings | {"solver": {"name": "scs"}}, "aa") != base
    assert fingerprint(settings, "bb") != base
    assert len(base) == 16


def test_fingerprint_holds_nothing_of_the_machine_or_of_spelling(monkeypatch):
    data = {"name": "mine", "path": "a.csv", "data_dir": None}
    settings = {"dataset": data, "formulation": {"penalty": 1.0}, "rerun": False}
    base = fingerprint(settings, "aa")
    moved = settings | {"dataset": {"name": "mine", "path": "/other/a.csv", "data_dir": "/x"}, "rerun": True}
    assert fingerprint(moved, "aa") == base
    assert fingerprint(settings | {"formulation": {"penalty": 1}}, "aa") == base
    assert fingerprint(settings | {"formulation": {"penalty": 1.5}}, "aa") != base
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert fingerprint(settings, "aa") == base


def finish(tracking, folder, settings, sha256, code="code 1"):
    tags = {SETTINGS_TAG: fingerprint(settings), CODE_TAG: code}
    with open_run(tracking, name="job", folder=folder, params={}, tags=tags) as run:
        run.keep(Record(DATASET, {}, {HASH_TAG: fingerprint(settings, sha256)}))
    return run.run_id


def begin(tracking, settings, process, code="code 1"):
    """A run that `process` works on."""
    store = open_store(tracking.dir, tracking.experiment)
    tags = {SETTINGS_TAG: fingerprint(settings), CODE_TAG: code} | process.tags
    return store, store.client.create_run(store.experiment_id, tags=tags).info.run_id


def test_only_the_same_settings_and_data_finished_before(tracking, tmp_path):
    settings = {"split": {"seed": 101}, "dataset": {"name": "toy"}}
    calls = []

    def find(settings, sha256, tracking=tracking, code="code 1"):
        return find_finished(tracking, settings, lambda: calls.append(sha256) or sha256, code=code)

    assert find(settings, "aa") is None
    assert calls == []  # data are read only if a run with these settings finished
    run_id = finish(tracking, tmp_path, settings, "aa")
    assert find(settings, "aa") == FinishedRun(run_id, same_code=True)
    assert find(settings, "bb") is None
    assert calls == ["aa", "bb"]
    assert find(settings | {"split": {"seed": 102}}, "aa") is None
    assert find(settings, "aa", replace(tracking, experiment="another")) is None


def test_the_same_settings_and_data_with_other_code_are_distinguished_from_no_run(tracking, tmp_path):
    settings = {"split": {"seed": 106}}

    def find(code):
        return find_finished(tracking, settings, lambda: "aa", code=code)

    first = finish(tracking, tmp_path, settings, "aa", code="code 1")
    assert find("code 2") == FinishedRun(first, same_code=False)
    second = finish(tracking, tmp_path, settings, "aa", code="code 2")
    assert find("code 1") == FinishedRun(first, same_code=True)
    assert find("code 2") == FinishedRun(second, same_code=True)
    assert find("code 3").same_code is False
    open_store(tracking.dir, tracking.experiment).client.delete_tag(second, CODE_TAG)  # as auclab 0.1 left it
    assert find("code 2").same_code is False


def test_a_run_that_failed_did_not_finish(tracking, tmp_path):
    settings = {"split": {"seed": 103}}
    tags = {SETTINGS_TAG: fingerprint(settings), HASH_TAG: fingerprint(settings, "aa")}
    run = open_run(tracking, name="bad", folder=tmp_path, params={}, tags=tags)
    with pytest.raises(RuntimeError), run:
        write_half_and_fail(run, RuntimeError("it broke"))
    assert find_finished(tracking, settings, lambda: "aa", code="code 1") is None


def test_a_run_at_which_a_living_process_works_is_waited_for(tracking, monkeypatch):
    settings = {"split": {"seed": 104}}
    store, run_id = begin(tracking, settings, this_process())
    waited = []

    def end(seconds):
        waited.append(seconds)
        store.client.set_tag(run_id, HASH_TAG, fingerprint(settings, "aa"))
        store.client.set_terminated(run_id, "FINISHED")

    monkeypatch.setattr("auclab.tracking.finished.time.sleep", end)
    # Not for one of other code, unless its result would be taken.
    assert find_finished(tracking, settings, lambda: "aa", code="code 2") is None
    assert waited == []
    found = find_finished(tracking, settings, lambda: "aa", code="code 2", any_code=True)
    assert found == FinishedRun(run_id, same_code=False)
    assert len(waited) == 1
    store, run_id = begin(tracking, settings, this_process(), code="code 3")
    assert find_finished(tracking, settings, lambda: "aa", code="code 3") == FinishedRun(run_id, same_code=True)
    assert len(waited) == 2


def test_runs_of_dead_processes_are_killed_and_no_others(tracking, place):
    own = this_process()
    settings = {"split": {"seed": 105}}
    store, dead = begin(tracking, settings, Process(own.host, own.pid, 17.0))
    _, living = begin(tracking, settings, own)
    _, foreign = begin(tracking, settings, Process("elsewhere", own.pid, 17.0))
    unknown = store.client.create_run(store.experiment_id).info.run_id
    _, of_old_version = begin(tracking, settings, own)
    store.client.set_tag(of_old_version, "process.started", "95d3f1a2-6c5e-4f9b-8a35-0e0f9b8a7c6d 12345")
    (place / "staging" / dead).mkdir(parents=True)
    (place / "staging" / dead / "half.txt").write_text("half", encoding="utf-8")
    assert mark_killed(store) == 1
    status = {name: store.client.get_run(name).info.status for name in (dead, living, foreign, unknown, of_old_version)}
    assert status == {dead: "KILLED"} | dict.fromkeys((living, foreign, unknown, of_old_version), "RUNNING")
    assert store.client.get_run(dead).data.tags["error"] == f"its process {own.pid} ended without reporting"
    assert not (place / "staging" / dead).exists()
    assert mark_killed(store) == 0
    store.client.set_tag(of_old_version, "process.pid", "4194304")  # larger than any process id
    assert mark_killed(store) == 1
    for name in (living, foreign, unknown):
        store.client.set_terminated(name, "KILLED")


def test_a_sweep_that_did_not_finish_goes_on_below_its_parent(tracking, place):
    grid = ["split.seed=range(7)", "formulation='x y'"]
    first = open_parent(tracking, grid=grid, command="python run.py -m")
    assert open_parent(tracking, grid=grid, command="python run.py -m") != first  # the first is at work
    for status in ("KILLED", "FAILED"):
        parent = open_parent(tracking, grid=["one", status], command="python run.py -m")
        close_parent(tracking, parent, status, {"FINISHED": 3, "SKIPPED": 1})
        assert client_of(place).get_run(parent).data.tags["sweep.skipped"] == "1"
        assert open_parent(tracking, grid=["one", status], command="python run.py -m") == parent
        assert client_of(place).get_run(parent).info.status == "RUNNING"
        close_parent(tracking, parent, "FINISHED")
        assert open_parent(tracking, grid=["one", status], command="python run.py -m") != parent


def test_environment_names_versions_and_machine():
    tags = capture_environment()
    assert tags["version.numpy"] == np.__version__
    assert int(tags["threads"]) >= 1
    assert tags["cpu"]
