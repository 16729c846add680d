"""Stores that fail for a while: the holder of a lock is named, runs are kept in their folders and pushed later."""

import json
import logging
import math
import os
import runpy
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from auclab.cli import main as cli
from auclab.tracking import AsideRun, Record, Start, TrackingConfig, open_run
from auclab.tracking.address import Address
from auclab.tracking.database_lock import DatabaseHeldError, await_database, hold, holders
from auclab.tracking.job_lock import claim
from auclab.tracking.job_status import PARENT_PROCESS_VARIABLE
from auclab.tracking.kept import KEPT_FILE, KEPT_STATUS, KeptRun, find_kept
from auclab.tracking.processes import this_process
from auclab.tracking.push import KEPT_TAG, push
from auclab.tracking.server import why_silent
from auclab.tracking.store import open_store
from auclab.types import AuclabError
from composed import REPOSITORY
from links import link
from tracked_runs import DATASET, write_half_and_fail
from waiting import HANGS

HOLD_FILE = (
    "import sys; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire(); "
    "print('held', flush=True); sys.stdin.readline()"
)
HOLD = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
    "c.execute(sys.argv[2]); print('held', flush=True); sys.stdin.readline(); c.execute('ROLLBACK')"
)
#: Numbers that JSON has no word for.
METRICS = {"test/auc": 0.1 + 0.2, "gap": math.nan, "up": math.inf, "down": -math.inf}


@contextmanager
def holding(file):
    """Another process holds the lock of a database, or of another file, until it reads a line."""
    script = [HOLD, str(file), "BEGIN IMMEDIATE"] if file.suffix == ".db" else [HOLD_FILE, str(file)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", *script], text=True, **pipes)
    assert process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def release(process):
    """Have it let go."""
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store without runs."""
    folder = tmp_path_factory.mktemp("empty") / "mlruns"
    open_store(folder)
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


@pytest.fixture
def tracking(made, tmp_path):
    """A store of its own for every test, and a second of waiting."""
    folder = tmp_path / "mlruns"
    shutil.copytree(made, folder)
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        location = (folder / "artifacts").as_uri()
        database.execute("UPDATE experiments SET artifact_location = ? WHERE name = 'auclab'", (location,))
        database.commit()
    return TrackingConfig(dir=str(folder), wait=1.5)


def keep_aside(tracking, folder, *, run_id=None, name="a run λ=1"):
    """A run that is kept in its folder."""
    run = AsideRun(
        tracking, name=name, folder=folder, params={"solver": "highs", "password": "http://me:secret@host"},
        tags={"config.hash": "feed"}, start=Start(1000.0, time.monotonic()), reason=OSError("disk full"), run_id=run_id,
    )  # fmt: skip
    with run:
        (run.staging / "note.txt").write_text("hello", encoding="utf-8")
        (run.staging / "model").mkdir()
        (run.staging / "model" / "MLmodel").write_text("{}", encoding="utf-8")
        run.keep(Record(DATASET, METRICS, {"status": "optimal"}))
    return KeptRun.read(folder)


def runs_of(tracking):
    """The runs in the store."""
    store = open_store(tracking.dir, tracking.experiment, tracking.uri)
    return store.client, list(store.client.search_runs([store.experiment_id]))


# Locks.


@pytest.mark.slow
def test_the_holder_of_a_lock_is_named_and_the_limit_is_kept(tracking, caplog):
    file = Address.of(tracking.dir).file
    with holding(file) as process:
        begin = time.monotonic()
        with pytest.raises(DatabaseHeldError, match=rf"mlflow\.db is held by process {process.pid} \(.*python"):
            await_database(file, 3.0)
        assert time.monotonic() - begin >= 3.0
        assert f"process {process.pid} (" in holders(file)
    (record,) = caplog.records
    assert record.getMessage().startswith(f"waiting for {file}, held by process {process.pid}")
    assert "for up to 3 s (tracking.wait)" in record.getMessage()
    await_database(file, 0.0)


@pytest.mark.slow
def test_workers_of_one_sweep_wait_for_each_other_without_a_word(tracking, caplog, monkeypatch):
    monkeypatch.setenv(PARENT_PROCESS_VARIABLE, json.dumps(asdict(this_process())))
    monkeypatch.setattr("auclab.tracking.database_lock.SAY_AFTER_KIN", HANGS)
    file = Address.of(tracking.dir).file
    with holding(file) as process:  # a child of this process, as a worker is
        threading.Timer(2.5, release, [process]).start()
        await_database(file, HANGS)
    assert not caplog.records


def test_a_lock_released_while_its_holder_is_looked_up_is_not_reported(tracking, caplog, monkeypatch):
    def released_meanwhile(file):
        release(process)
        process.wait()
        return False

    monkeypatch.setattr("auclab.tracking.database_lock.SAY_AFTER", 0.0)
    monkeypatch.setattr("auclab.tracking.database_lock._is_kin", released_meanwhile)
    file = Address.of(tracking.dir).file
    with holding(file) as process:
        await_database(file, HANGS)
    assert not caplog.records


@pytest.mark.slow
def test_a_lock_that_is_released_in_time_costs_nothing(tracking, tmp_path, caplog, monkeypatch):
    file = Address.of(tracking.dir).file
    patient = TrackingConfig(dir=tracking.dir, wait=HANGS)
    with holding(file) as process:
        told = logging.Handler()
        told.addFilter(lambda record: record.getMessage().startswith("waiting for"))
        told.emit = lambda record: release(process)
        monkeypatch.setattr(logging.getLogger("auclab.tracking.database_lock"), "handlers", [told])
        with open_run(patient, name="patient", folder=tmp_path / "out", params={}) as run:
            run.keep(Record(DATASET, {"test/auc": 0.75}))
    (kept,) = runs_of(tracking)[1]
    assert (kept.info.status, kept.data.metrics) == ("FINISHED", {"test/auc": 0.75})
    words = [record.getMessage() for record in caplog.records]
    assert words[0].startswith("waiting for")
    assert "is free again after" in words[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlflow.db", ".lock"])
def test_mlflow_itself_waits_no_longer_than_it_says(tracking, name):
    """Opening the store, and a call of MLflow's client."""
    store = open_store(tracking.dir, wait=1.5)
    run_id = store.client.create_run(store.experiment_id).info.run_id
    with holding(Path(tracking.dir) / name) as process:
        with pytest.raises(AuclabError, match=rf"{name} is held by process {process.pid}"):
            open_store(tracking.dir, wait=1.5)
        if name == "mlflow.db":
            with pytest.raises(DatabaseHeldError):
                store.client.set_tag(run_id, "a", "b")


CLAIM = (
    "import sys, time; from auclab.tracking import TrackingConfig; from auclab.tracking.job_lock import claim\n"
    "with claim(TrackingConfig(dir=sys.argv[1]), sys.argv[2]): print('held', flush=True); time.sleep(1000)"
)


def test_one_process_at_a_time_works_on_a_job(tracking):
    process = subprocess.Popen([sys.executable, "-c", CLAIM, tracking.dir, "a"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    with claim(tracking, "b"):  # another job
        pass
    killed = []
    threading.Timer(1.0, lambda: (killed.append(process.pid), process.kill())).start()
    with claim(tracking, "a"):
        assert killed
    process.communicate()
    assert not list(Path(tracking.dir).glob(".mlflow.db.locks/*"))


def test_a_lock_ends_with_its_process(tmp_path):
    with holding(tmp_path / "lock") as process:
        held = pytest.raises(DatabaseHeldError, match=f"lock is held by process {process.pid}")
        with held, hold(tmp_path / "lock", 0.0):
            pass
        process.kill()
        process.wait()
        with hold(tmp_path / "lock", HANGS):
            pass


def test_a_holder_that_is_not_listed_is_another_process(tmp_path, monkeypatch):
    monkeypatch.setattr("auclab.tracking.database_lock._locking", lambda file: None)
    monkeypatch.setattr("psutil.process_iter", lambda: iter(()))
    assert holders(tmp_path / "x.db") == "another process"
    monkeypatch.undo()
    monkeypatch.setattr("auclab.tracking.database_lock._locking", lambda file: None)
    with holding(tmp_path / "x.db") as process:  # of those that have the file open
        assert f"process {process.pid}" in holders(tmp_path / "x.db")


# Damage.


@pytest.mark.parametrize(("start", "words"), [(0, "file is not a database"), (4096, "malformed")])
def test_a_damaged_database_is_said_at_once(tracking, tmp_path, start, words):
    file = Address.of(tracking.dir).file
    with file.open("r+b") as stream:
        stream.seek(start)
        stream.write(os.urandom(file.stat().st_size - start))
    patient = replace(tracking, wait=HANGS)
    with pytest.raises(AuclabError, match=f"cannot keep runs in .*{words}"):
        open_run(patient, name="x", folder=tmp_path / "out", params={})


def test_an_error_of_the_work_is_not_hidden_by_one_of_the_store(tracking, tmp_path, caplog):
    run = open_run(tracking, name="bad", folder=tmp_path / "out", params={})

    def damage_and_fail():
        Address.of(tracking.dir).file.write_bytes(b"no database" * 1000)
        write_half_and_fail(run, RuntimeError("it broke"))

    with pytest.raises(RuntimeError, match="it broke"), run:
        damage_and_fail()
    assert "could not be recorded" in caplog.text


def test_an_output_folder_that_cannot_be_written_does_not_fail_the_run(tracking, tmp_path, caplog):
    """A file in the place of the folder; a full disk in benchmarks/faults.py."""
    (tmp_path / "out").write_text("in the way", encoding="utf-8")
    with open_run(tracking, name="x", folder=tmp_path / "out", params={}) as run:
        run.keep(Record(DATASET))
    assert "the run is in the store, but its output folder" in caplog.text
    (kept,) = runs_of(tracking)[1]
    assert kept.info.status == "FINISHED"


def test_a_clock_that_is_set_changes_no_duration(tracking, tmp_path, monkeypatch):
    real = time.time
    with open_run(tracking, name="x", folder=tmp_path / "out", params={}):
        monkeypatch.setattr(time, "time", lambda: real() - 86_400.0)
    monkeypatch.undo()
    (kept,) = runs_of(tracking)[1]
    assert 0 <= kept.info.end_time - kept.info.start_time < 10_000


# Runs that are kept in their folders.


def test_a_kept_run_is_whole_and_holds_no_password(tracking, tmp_path):
    server = TrackingConfig(dir=tracking.dir, uri="http://me:secret@host:5000")
    kept = keep_aside(server, tmp_path / "out")
    assert sorted(kept.files) == ["model", "note.txt"]
    assert kept.metrics["test/auc"] == METRICS["test/auc"]
    assert math.isnan(kept.metrics["gap"])
    assert (kept.metrics["up"], kept.metrics["down"]) == (math.inf, -math.inf)
    assert kept.dataset.name == "toy"
    assert (kept.start_time, kept.status, kept.reason) == (1_000_000, "FINISHED", "disk full")
    assert 0 <= kept.end_time - kept.start_time < 60_000
    text = (tmp_path / "out" / KEPT_FILE).read_text(encoding="utf-8")
    assert "secret" not in text
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))["status"] == KEPT_STATUS
    assert not list((tmp_path / "out").glob(".staging*"))
    with pytest.raises(AuclabError, match="the password of http://me:\\*\\*\\*@host:5000 was not kept"):
        push(kept)


def test_a_pushed_run_is_what_the_store_would_have(tracking, tmp_path):
    kept = keep_aside(tracking, tmp_path / "out")
    sent = push(kept)
    client, (run,) = runs_of(tracking)
    assert (sent.run_id, sent.before) == (run.info.run_id, False)
    assert (run.info.status, run.info.run_name, run.info.start_time) == ("FINISHED", "a run λ=1", 1_000_000)
    assert run.info.end_time == kept.end_time
    assert run.data.params == {"solver": "highs", "password": "http://me:***@host"}
    assert run.data.metrics["test/auc"] == METRICS["test/auc"]
    assert math.isnan(run.data.metrics["gap"])
    assert {"config.hash": "feed", "status": "optimal", KEPT_TAG: kept.id}.items() <= run.data.tags.items()
    assert run.inputs.dataset_inputs[0].dataset.name == "toy"
    assert [item.path for item in client.list_artifacts(run.info.run_id)] == ["model", "note.txt"]
    assert Path(client.download_artifacts(run.info.run_id, "model/MLmodel")).read_text(encoding="utf-8") == "{}"
    assert KeptRun.read(tmp_path / "out").pushed == run.info.run_id
    assert json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))["run_id"] == run.info.run_id


@pytest.mark.parametrize("step", ["log_batch", "log_inputs", "set_tag", "set_terminated"])
def test_a_push_that_was_interrupted_is_completed(tracking, tmp_path, monkeypatch, step):
    """At any step; the second attempt makes no second run."""
    from mlflow import MlflowClient

    kept = keep_aside(tracking, tmp_path / "out")

    def interrupt(*arguments, **named):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            push(kept)
    assert KeptRun.read(tmp_path / "out").pushed is None
    assert [run.info.status for run in runs_of(tracking)[1]] == ["RUNNING"]
    assert not push(kept).before
    assert push(kept).before  # kept.json of the first attempt: as if it could not be written
    client, (run,) = runs_of(tracking)
    assert (run.info.status, len(run.data.metrics)) == ("FINISHED", len(METRICS))
    assert len(run.inputs.dataset_inputs) == 1
    assert [item.path for item in client.list_artifacts(run.info.run_id)] == ["model", "note.txt"]


def test_a_run_that_was_begun_in_the_store_is_completed_there(tracking, tmp_path):
    run = open_run(tracking, name="begun", folder=tmp_path / "out", params={"solver": "highs"})
    with pytest.raises(RuntimeError), run:
        write_half_and_fail(run, RuntimeError("it broke"))
    sent = push(keep_aside(tracking, tmp_path / "out", run_id=run.run_id))
    client, (kept,) = runs_of(tracking)
    assert sent.run_id == kept.info.run_id == run.run_id
    assert kept.info.status == "FINISHED"
    assert "error" not in kept.data.tags
    assert [item.path for item in client.list_artifacts(run.run_id)] == ["model", "note.txt"]


def test_nothing_outside_the_folder_is_sent(tracking, tmp_path):
    kept = keep_aside(tracking, tmp_path / "out")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    link(tmp_path / "out" / "link", tmp_path / "secret.txt")
    content = json.loads((tmp_path / "out" / KEPT_FILE).read_text(encoding="utf-8"))
    for name in ("../secret.txt", str(tmp_path / "secret.txt"), "link", "gone.txt"):
        (tmp_path / "out" / KEPT_FILE).write_text(json.dumps(content | {"files": [name]}), encoding="utf-8")
        with pytest.raises(AuclabError, match="it was not sent"):
            push(KeptRun.read(kept.folder))
    assert runs_of(tracking)[1] == []


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 2}', '{"format": 1, "metrics": {}, "dataset": null}'])
def test_a_kept_file_that_is_damaged_is_one_error(tmp_path, text):
    (tmp_path / KEPT_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(AuclabError, match=r"kept\.json cannot be read"):
        list(find_kept(tmp_path))


def test_the_command_lists_and_sends(tracking, tmp_path, monkeypatch, capsys):
    def type_in(*words):
        with pytest.raises(SystemExit) as ended:
            cli.main(["push", *words])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    monkeypatch.chdir(tmp_path)
    assert type_in()[:2] == (0, "no run waits below ./outputs and ./multirun\n")
    first = keep_aside(tracking, tmp_path / "outputs" / "day" / "1", name="first")
    keep_aside(tracking, tmp_path / "multirun" / "day" / "2" / "0", name="second")
    code, out, _ = type_in()
    assert code == 0
    assert f"{first.id[:8]}  " in out
    assert "outputs/day/1 → " in out
    assert "2 waiting" in out
    code, _, err = type_in("third")
    assert (code, "no folder and no run is called 'third'" in err) == (1, True)
    assert type_in(first.id[:6])[0] == 0
    code, out, _ = type_in("all")
    assert code == 0
    assert "first: sent before" in out
    assert "pushed 1 of 1" in out
    assert sorted(run.info.run_name for run in runs_of(tracking)[1]) == ["first", "second"]
    shutil.rmtree(tmp_path / "outputs")
    gone = keep_aside(tracking, tmp_path / "elsewhere")
    (gone.folder / "note.txt").unlink()
    code, out, err = type_in("elsewhere")
    assert code == 1
    assert "lacks 'note.txt'" in err
    assert "pushed 0 of 1, 1 still wait" in out


def test_why_a_server_is_silent():
    assert "refused" in why_silent("http://127.0.0.1:9")
    assert "refused" in why_silent("http://me:pass:word@127.0.0.1:9/mlflow")


def test_a_data_set_is_not_needed(tracking, tmp_path):
    """A run without a data set, as those of studies."""
    run = AsideRun(
        tracking, name="x", folder=tmp_path / "out", params={}, tags={}, start=Start.now(), reason=OSError("gone")
    )
    with run:
        run.keep(Record(metrics={"claim": 1.0}, status="KILLED"))
    push(KeptRun.read(tmp_path / "out"))
    (kept,) = runs_of(tracking)[1]
    assert (kept.info.status, kept.data.metrics) == ("KILLED", {"claim": 1.0})
    assert not kept.inputs.dataset_inputs


def test_the_table_of_faults_is_that_of_the_results():
    """docs/reliability.md shows what benchmarks/faults.py measured, and nothing was lost."""
    script = runpy.run_path(str(REPOSITORY / "docs" / "reliability.py"))
    results = json.loads((REPOSITORY / "docs" / "reliability" / "faults.json").read_text(encoding="utf-8"))
    page = (REPOSITORY / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert script["fill"](page, results) == page
    lost = {name: fault["lost"] for name, fault in results["now"].items() if fault["lost"] != "nothing"}
    assert lost.keys() == {"disk_full_both"}  # no disk takes anything
    assert "the screen has its numbers" in lost["disk_full_both"]
