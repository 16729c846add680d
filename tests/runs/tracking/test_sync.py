"""From folders into the store: each run once, whatever happened in between."""

import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from filelock import FileLock, Timeout

from auclab._core.base import AuclabError
from auclab.cli import main as cli
from auclab.runs.compare.runs import open_reader, read_runs
from auclab.runs.sweeps.sweep import _opened
from auclab.runs.tracking import store as store_module
from auclab.runs.tracking import sync
from auclab.runs.tracking.address import Address, TrackingConfig
from auclab.runs.tracking.environment import CODE_TAG, HASH_TAG, capture_environment, code_version, fingerprint
from auclab.runs.tracking.record import RunRecord
from auclab.runs.tracking.sync import (
    ALSO_TAG,
    ID_TAG,
    Pending,
    close_parent,
    computing,
    find_finished,
    join_sweep,
    open_parent,
    send,
    show_progress,
    sync_pending,
    sync_run,
    waiting_in,
    write_finished,
    writing,
)
from links import link
from tracked_runs import SETTINGS, keep_run, record_run


@pytest.fixture
def tracking(tmp_path):
    return TrackingConfig(dir=str(tmp_path / "runs"))


def runs_of(tracking):
    client = open_reader(Address.of_settings(tracking))
    every = [each.experiment_id for each in client.search_experiments()]
    return client, client.search_runs(every, max_results=1000)


def test_a_finished_run_has_everything(tracking, tmp_path):
    kept = keep_run(tmp_path / "out", tracking)
    client, [run] = runs_of(tracking)
    assert run.info.run_id == kept.run_id
    assert (run.info.status, run.info.run_name) == ("FINISHED", "a run")
    assert run.data.params == {"dataset": "toy", "split": "holdout"}
    assert run.data.metrics["test/auc"] == 0.1 + 0.2
    assert run.data.tags[ID_TAG] == kept.id
    assert run.data.tags["python"]
    assert run.info.start_time <= run.info.end_time
    [used] = run.inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.digest) == ("toy", "0123456789abcdef" * 2 + "0123")
    assert sorted(each.path for each in client.list_artifacts(kept.run_id)) == ["config.yaml", "figures"]
    assert (kept.files_folder / "figures" / "roc.txt").exists()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run.json"]
    assert not list(Path(tracking.dir, "pending").iterdir())
    table = read_runs(tracking.dir)
    assert table["test/auc"].tolist() == [0.1 + 0.2]


def test_the_database_alone_has_every_run(tracking, tmp_path):
    """Nothing is left in the write-ahead log, so that a copy of one file is a copy of the store."""
    keep_run(tmp_path / "out", tracking)
    copy = shutil.copy(Path(tracking.dir, "mlflow.db"), tmp_path)
    with closing(sqlite3.connect(copy)) as database:
        assert database.execute("SELECT status FROM runs").fetchall() == [("FINISHED",)]


class BrokenOffError(BaseException):
    """What a kill does: the process is gone, and no handler has run."""


@pytest.mark.parametrize("step", ["create_run", "log_batch", "log_inputs", "set_terminated", "write"])
def test_a_run_is_sent_once_wherever_the_first_attempt_was_broken_off(tracking, tmp_path, monkeypatch, step):
    """After each of the calls that write; the next command sends what is missing."""
    from mlflow import MlflowClient

    with computing(tmp_path / "out", tracking) as pending:
        record_run(tmp_path / "out", tracking)
        with monkeypatch.context() as patch:
            place = (RunRecord, "write") if step == "write" else (MlflowClient, step)
            original = getattr(*place)

            def broken(*given, **named):
                if step != "write":
                    original(*given, **named)
                raise BrokenOffError

            patch.setattr(*place, broken)
            with pytest.raises(BrokenOffError):
                sync_run(pending)
    assert sync_pending(Address.of_settings(tracking)) == 1
    assert sync_pending(Address.of_settings(tracking)) == 0
    client, [run] = runs_of(tracking)
    assert run.info.status == "FINISHED"
    assert run.data.metrics["test/auc"] == 0.1 + 0.2
    assert len(run.inputs.dataset_inputs) == 1
    assert sorted(each.path for each in client.list_artifacts(run.info.run_id)) == ["config.yaml", "figures"]
    assert RunRecord.read(tmp_path / "out").run_id == run.info.run_id


def test_files_that_were_moved_in_part_arrive_whole(tracking, tmp_path, monkeypatch):
    moved = []
    original = shutil.move

    def one_only(source, target):
        if moved:
            raise BrokenOffError
        moved.append(original(source, target))

    with computing(tmp_path / "out", tracking) as pending:
        record_run(tmp_path / "out", tracking)
        with monkeypatch.context() as patch:
            patch.setattr(sync.shutil, "move", one_only)
            with pytest.raises(BrokenOffError):
                sync_run(pending)
    sync_pending(Address.of_settings(tracking))
    client, [run] = runs_of(tracking)
    assert sorted(each.path for each in client.list_artifacts(run.info.run_id)) == ["config.yaml", "figures"]


def test_reading_the_store_sends_what_waits(tracking, tmp_path):
    keep_run(tmp_path / "first", tracking)
    with computing(tmp_path / "out", tracking):
        record_run(tmp_path / "out", tracking, name="left behind")
    assert sorted(read_runs(tracking.dir)["run"]) == ["a run", "left behind"]


def test_what_a_living_process_computes_is_left_to_it(tracking, tmp_path):
    keep_run(tmp_path / "first", tracking)
    script = f"""
import sys
from pathlib import Path
from auclab.runs.tracking.address import TrackingConfig
from auclab.runs.tracking.sync import computing
with computing(Path({str(tmp_path / "out")!r}), TrackingConfig(dir={tracking.dir!r})):
    print("computing", flush=True)
    sys.stdin.read()
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "computing\n"
    record_run(tmp_path / "out", tracking, name="of the other")
    assert read_runs(tracking.dir)["run"].tolist() == ["a run"]
    process.kill()
    process.communicate()
    assert sorted(read_runs(tracking.dir)["run"]) == ["a run", "of the other"]


def test_what_is_named_is_locked_already(tracking, tmp_path, monkeypatch):
    """Else another process would take it for that of a process which is gone, and remove it."""

    def write(self):
        with pytest.raises(Timeout):
            self.lock().acquire(blocking=False)
        written.append(self)

    written: list[Pending] = []
    monkeypatch.setattr(Pending, "write", write)
    with computing(tmp_path / "out", tracking) as pending:
        assert written == [pending]


def test_a_store_that_cannot_be_written_loses_nothing(tracking, tmp_path, monkeypatch):
    from mlflow import MlflowClient

    def full(*_, **__):
        raise sqlite3.OperationalError("disk I/O error")

    with computing(tmp_path / "out", tracking) as pending:
        record_run(tmp_path / "out", tracking)
        with monkeypatch.context() as patch:
            patch.setattr(MlflowClient, "log_batch", full)
            with pytest.raises(AuclabError, match=r"runs: disk I/O error .*; nothing is lost: .*out, and auclab runs"):
                sync_run(pending)
    assert read_runs(tracking.dir)["run"].tolist() == ["a run"]


@pytest.mark.parametrize(("folder", "uri"), [("mlruns", None), ("my runs", None), ("my runs", "sqlite:///other.db")])
def test_the_command_that_is_named_sends_what_waits(tmp_path, monkeypatch, capsys, folder, uri):
    monkeypatch.chdir(tmp_path)
    tracking = TrackingConfig(dir=folder, uri=uri)
    with computing(tmp_path / "out", tracking) as pending:
        record_run(tmp_path / "out", tracking, name="left behind")
    _, *words = shlex.split(waiting_in(pending).partition(", and ")[2].partition(" sends it")[0])
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 0
    assert "left behind" in capsys.readouterr().out
    assert not list(Path(folder, "pending").iterdir())


def test_one_process_at_a_time_writes(tracking, monkeypatch):
    monkeypatch.setattr(sync, "PATIENCE", 0.1)
    Path(tracking.dir).mkdir()
    with (
        FileLock(Path(tracking.dir, ".sync.lock")),
        pytest.raises(AuclabError, match="another process of auclab has been writing there for 0 s"),
        writing(tracking),
    ):
        pass


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "link"])
def test_nothing_outside_the_folder_is_sent(tracking, tmp_path, name):
    """The folder may be of a store that somebody else has made."""
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    record = record_run(tmp_path / "out", tracking)
    link(tmp_path / "out" / "link", tmp_path / "secret.txt")
    with pytest.raises(AuclabError, match="which is not a file or folder of the run"), writing(tracking) as store:
        send(store, replace(record, files=(name,)))
    assert (tmp_path / "secret.txt").exists()


def test_a_folder_for_another_store_is_not_sent(tracking, tmp_path):
    keep_run(tmp_path / "first", tracking)
    other = TrackingConfig(dir=str(tmp_path / "other"))
    planted = Pending(Path(tracking.dir, "pending", "x.json"), tmp_path / "out", other)
    planted.write()
    record_run(tmp_path / "out", other)
    assert read_runs(tracking.dir)["run"].tolist() == ["a run"]
    assert RunRecord.read(tmp_path / "out").waits


def test_a_deleted_experiment_names_the_ways_out(tracking, tmp_path):
    keep_run(tmp_path / "first", tracking)
    client, [run] = runs_of(tracking)
    client.delete_experiment(run.info.experiment_id)
    with pytest.raises(
        AuclabError, match=r"was deleted: restore it with .* mlflow experiments restore --experiment-id"
    ):
        keep_run(tmp_path / "out", tracking)


def test_without_a_store_the_folder_is_the_run(tmp_path):
    with computing(tmp_path / "out", TrackingConfig(name="none", dir=str(tmp_path / "runs"))) as pending:
        record_run(tmp_path / "out", None)
        assert sync_run(pending) is None
    assert not (tmp_path / "runs").exists()
    assert (tmp_path / "out" / "config.yaml").exists()


# Sweeps


def test_a_sweep_that_did_not_finish_goes_on_below_its_parent(tracking):
    grid = {"grid": ["split.seed=0,1"], "command": "auclab run -m split.seed=0,1", "pending": "x"}
    with writing(tracking) as store:
        parent = open_parent(store, **grid)
        show_progress(store, parent, 1)
        close_parent(store, parent, "KILLED", {"FINISHED": 1, "KILLED": 1})
        assert open_parent(store, **grid) == parent
        close_parent(store, parent, "FINISHED", {"FINISHED": 2})
        assert open_parent(store, **grid) != parent
        found = store.client.get_run(parent)
    assert (found.info.status, found.data.tags["sweep.finished"]) == ("FINISHED", "2")
    assert found.data.metrics["sweep/jobs"] == 1


def test_a_sweep_whose_process_is_gone_is_ended_by_the_next_command(tracking, tmp_path):
    earlier = keep_run(tmp_path / "earlier", tracking)
    with writing(tracking) as store:
        parent = open_parent(store, grid=["split.seed=0,1,2"], command="auclab run -m", pending="x")
    with computing(tmp_path / "sweep", tracking, parent=parent):
        for number in range(2):
            record_run(tmp_path / "sweep" / str(number), tracking, name=f"job {number}", sweep="s", parent=parent)
        RunRecord(tmp_path / "sweep" / "2", "job 2", sweep="s").keep(status="SKIPPED", run_id=earlier.run_id)
    assert sync_pending(Address.of_settings(tracking)) == 2
    _, runs = runs_of(tracking)
    found = {run.info.run_id: run for run in runs}
    assert found[parent].info.status == "KILLED"
    assert found[parent].data.tags["sweep.finished"] == "2"
    assert Counter(run.data.tags.get("mlflow.parentRunId") for run in runs) == {parent: 2, None: 2}
    assert found[earlier.run_id].data.tags[ALSO_TAG] == parent
    assert len(read_runs(tracking.dir, sweep=parent)) == 3


def test_a_parent_whose_process_was_killed_as_it_opened_it_is_ended(tracking, tmp_path, monkeypatch):
    def killed_at_the_parent(self):
        if self.parent:
            raise KeyboardInterrupt
        write(self)

    write, grid = Pending.write, ["split.seed=0,1"]
    with monkeypatch.context() as patch:
        patch.setattr(Pending, "write", killed_at_the_parent)
        with pytest.raises(KeyboardInterrupt), _opened(tmp_path / "sweep", tracking, grid):
            pass
    _, [run] = runs_of(tracking)
    assert run.info.status == "KILLED"
    with _opened(tmp_path / "sweep", tracking, grid) as pending:
        assert pending.parent == run.info.run_id


def test_a_sweep_that_the_store_refuses_leaves_nothing_that_waits(tracking, tmp_path, monkeypatch):
    from mlflow import MlflowClient

    keep_run(tmp_path / "first", tracking)
    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "create_run", mock.Mock(side_effect=sqlite3.OperationalError("readonly database")))
        with pytest.raises(AuclabError, match="readonly database"), _opened(tmp_path / "sweep", tracking, ["a=1,2"]):
            pass
    assert not list(Path(tracking.dir, "pending").iterdir())


def test_a_skipped_run_joins_a_sweep_once(tracking, tmp_path):
    kept = keep_run(tmp_path / "out", tracking)
    with writing(tracking) as store:
        for parent in ("a", "b", "a"):
            join_sweep(store, parent, kept.run_id)
        assert store.client.get_run(kept.run_id).data.tags[ALSO_TAG] == "a b"


# What finished before


def test_only_the_same_settings_data_and_code_finished_before(tracking, tmp_path):
    old = keep_run(tmp_path / "old", tracking, code="old")
    new = keep_run(tmp_path / "new", tracking, code="new")
    record = record_run(tmp_path / "failed", tracking, settings={"split": {"seed": 2}}, code="new")
    replace(record, status="FAILED").write()
    with computing(tmp_path / "failed", tracking) as pending:
        sync_run(pending)
    with writing(tracking) as store:
        write_finished(store, tmp_path / "sweep")

    def find(settings=SETTINGS, data="aa", code="new"):
        return find_finished(tmp_path / "sweep", settings, lambda: data, code=code)

    assert (find().run_id, find().same_code) == (new.run_id, True)
    assert (find(code="old").run_id, find(code="old").same_code) == (old.run_id, True)
    assert (find(code="newer").run_id, find(code="newer").same_code) == (new.run_id, False)  # the newest
    assert find(data="bb") is None
    assert find({"split": {"seed": 2}}) is None  # it failed
    assert find_finished(tmp_path / "no sweep", SETTINGS, lambda: "aa", code="new") is None


def test_the_data_are_read_only_where_the_settings_finished(tracking, tmp_path):
    keep_run(tmp_path / "out", tracking)
    with writing(tracking) as store:
        write_finished(store, tmp_path / "sweep")
    assert find_finished(tmp_path / "sweep", {"other": 1}, lambda: pytest.fail("was read"), code="here") is None


def test_fingerprint_follows_settings_and_data_only():
    one = fingerprint({"seed": 0, "tracking": {"name": "mlflow"}, "dataset": {"path": "a.csv", "target": "y"}}, "aa")
    assert one == fingerprint({"seed": 0.0, "dataset": {"target": "y", "path": "b.csv"}}, "aa")
    assert one != fingerprint({"seed": 0, "dataset": {"target": "z", "path": "a.csv"}}, "aa")
    assert one != fingerprint({"seed": 0, "dataset": {"target": "y"}}, "bb")


def test_environment_names_versions_machine_and_code(tracking, tmp_path):
    assert {"python", "platform", "cpu", "threads", "version.auclab", "version.numpy"} <= set(capture_environment())
    assert record_run(tmp_path / "out", tracking, code=code_version()).tags[CODE_TAG] == code_version()
    assert HASH_TAG in RunRecord.read(tmp_path / "out").tags


# Databases


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # MLflow's own use of SQLAlchemy
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


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a folder without the right to write")
def test_an_obstacle_in_the_place_of_the_folder_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with (
        pytest.raises(AuclabError, match=r"cannot keep runs in .*file"),
        writing(TrackingConfig(dir=f"{tmp_path}/file")),
    ):
        pass


@pytest.mark.parametrize("uri", [None, "sqlite:///other.db"])
def test_the_store_of_what_is_pending_stays_where_it_was_if_a_job_changes_the_working_directory(
    tmp_path, monkeypatch, uri
):
    monkeypatch.chdir(tmp_path)
    tracking = TrackingConfig(name="mlflow", dir="runs", uri=uri)
    here = Address.of_settings(tracking)
    pending = Pending.begin(Path("out"), tracking)
    pending.write()
    (tmp_path / "job").mkdir()
    monkeypatch.chdir(tmp_path / "job")
    assert Address.of_settings(pending.tracking) == here
    found = Pending.read(pending.file)
    assert found is not None
    assert Address.of_settings(found.tracking) == here
