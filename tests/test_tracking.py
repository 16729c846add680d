"""The store: created once by many, written in one go, honest about failures."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient

from auclab.tracking import Record, close_parent, fingerprint, open_parent, open_run
from auclab.tracking.environment import capture_environment
from auclab.tracking.runs import LONGEST_PARAM
from auclab.tracking.store import database_uri, open_store
from auclab.types import AuclabError, Dataset

DATASET = Dataset(
    "toy",
    pd.DataFrame({"a": [0.0, 1.0, 2.0]}),
    np.array([0, 1, 1]),
    sha256="0123456789abcdef" * 4,
    source="made here",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One store for the tests of this file: making one takes seconds."""
    return tmp_path_factory.mktemp("tracked") / "mlruns"


@pytest.fixture
def tracking(place):
    return {"name": "mlflow", "dir": str(place), "experiment": "auclab"}


def client_of(place: Path) -> MlflowClient:
    return MlflowClient(tracking_uri=database_uri(place.absolute()))


def leave_a_run(tracking, folder, *, text="hello", metrics=None):
    folder.mkdir(exist_ok=True)
    with open_run(tracking, name="a run λ=1", folder=folder, params={"solver": "highs"}) as run:
        (run.staging / "note.txt").write_text(text)
        run.keep(Record(DATASET, metrics or {"test/auc": 0.75}, {"config.hash": "feed"}))
    return run


def write_half_and_fail(run, error):
    (run.staging / "half.txt").write_text("half")
    raise error


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
    assert Path(client.download_artifacts(run.run_id, "note.txt")).read_text() == "hello"
    (logged,) = kept.inputs.dataset_inputs
    assert logged.dataset.name == "toy"
    assert logged.dataset.digest == DATASET.sha256[:36]
    assert json.loads(logged.dataset.source)["sha256"] == DATASET.sha256
    assert json.loads(logged.dataset.profile) == {"rows": 3, "features": 1, "positive": 2, "negative": 1}
    assert json.loads((tmp_path / "out" / "run.json").read_text())["run_id"] == run.run_id
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
    assert "in write_half_and_fail" in Path(client.download_artifacts(run.run_id, "traceback.txt")).read_text()
    assert json.loads((tmp_path / "run.json").read_text())["status"] == status
    assert not list((place / "staging").iterdir())


def test_long_parameters_are_cut(tracking, place, tmp_path):
    with open_run(tracking, name="long", folder=tmp_path, params={"text": "x" * 9000}) as run:
        pass
    assert len(client_of(place).get_run(run.run_id).data.params["text"]) == LONGEST_PARAM


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
    (tmp_path / "mlruns").write_text("I am a file")
    with pytest.raises(AuclabError, match=r"cannot keep runs in .*mlruns.*tracking\.dir=.*tracking=none"):
        open_store(tmp_path / "mlruns")


def test_a_damaged_database_is_one_clear_error(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(b"this is no database, " * 100)
    with pytest.raises(AuclabError, match="cannot keep runs in"):
        open_store(tmp_path)


def test_files_that_cannot_be_published_fail_the_run(tracking, place, tmp_path):
    """A folder that is not empty stands where the files should go."""

    def write_and_block(run):
        (run.staging / "a.txt").write_text("a")
        run.folder.mkdir(parents=True)
        (run.folder / "stranger.txt").write_text("here first")

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
    run = leave_a_run({"name": "none"}, tmp_path / "out")
    assert run.run_id is None
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["note.txt", "run.json"]
    run = open_run({"name": "none"}, name="bad", folder=tmp_path / "bad", params={})
    with pytest.raises(RuntimeError), run:
        write_half_and_fail(run, RuntimeError("it broke"))
    assert sorted(path.name for path in (tmp_path / "bad").iterdir()) == ["run.json", "traceback.txt"]


def test_an_unknown_tracking_is_refused(tmp_path):
    with pytest.raises(AuclabError, match="mlflow and none are known"):
        open_run({"name": "wandb"}, name="x", folder=tmp_path, params={})


FOUR_AT_ONCE = """
import multiprocessing, pathlib, sys
from auclab.tracking import open_run

def work(number):
    tracking = {"name": "mlflow", "dir": sys.argv[1] + "/mlruns", "experiment": "auclab"}
    output = pathlib.Path(sys.argv[1], str(number))
    output.mkdir()
    with open_run(tracking, name="worker", folder=output, params={}):
        pass

workers = [multiprocessing.get_context("fork").Process(target=work, args=(number,)) for number in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
raise SystemExit(sum(worker.exitcode for worker in workers))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks four processes, which this system cannot")
def test_four_processes_make_one_database(tmp_path):
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db.new").write_text("left by a process that was stopped")
    subprocess.run([sys.executable, "-c", FOUR_AT_ONCE, str(tmp_path)], check=True, timeout=120)
    store = open_store(tmp_path / "mlruns")
    runs = store.client.search_runs([store.experiment_id])
    assert [run.info.status for run in runs] == ["FINISHED"] * 4
    assert not (tmp_path / "mlruns" / "mlflow.db.new").exists()


def test_fingerprint_follows_settings_and_data_only():
    settings = {"solver": {"name": "highs"}, "tracking": {"name": "mlflow"}, "data_dir": None}
    base = fingerprint(settings, "aa")
    assert fingerprint(settings | {"tracking": {"name": "none"}, "data_dir": "/x"}, "aa") == base
    assert fingerprint(settings | {"solver": {"name": "scs"}}, "aa") != base
    assert fingerprint(settings, "bb") != base
    assert len(base) == 16


def test_environment_names_versions_and_machine():
    tags = capture_environment()
    assert tags["version.numpy"] == np.__version__
    assert int(tags["threads"]) >= 1
    assert tags["cpu"]
