"""Runs in a database of one's own choice, on an MLflow server and in PostgreSQL: kept, found again, read."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pandas as pd
import pytest

from auclab.cli import main as cli
from auclab.comparison.runs import fetch_files, read_runs
from auclab.pipeline.screen.console import open_command
from auclab.tracking import (
    CODE_TAG,
    HASH_TAG,
    SETTINGS_TAG,
    Record,
    TrackingConfig,
    find_finished,
    fingerprint,
    mark_killed,
    open_run,
)
from auclab.tracking.address import Address, hide_password
from auclab.tracking.store import open_store
from auclab.types import AuclabError
from run_command import SMALL, run
from tracked_runs import DATASET, write_half_and_fail
from waiting import wait_until

SETTINGS = {"split": {"seed": 1}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end(process, word=signal.SIGTERM):
    os.killpg(process.pid, word)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """`mlflow server` with one worker and without its job runner."""
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    options = ["--workers", "1", "--port", str(port), "--backend-store-uri", f"sqlite:///{folder / 'server.db'}"]
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *options, "--artifacts-destination", str(folder / "files")],
            cwd=folder, stdout=log, stderr=log, env=os.environ | quiet, start_new_session=True,
        )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: answers(address), process)
        yield address
    finally:
        end(process)


def answers(address):
    try:
        return urlopen(f"{address}/health", timeout=2).status == 200
    except OSError:
        return False


@pytest.fixture(scope="module")
def postgresql():
    """A PostgreSQL server of its own, which must not belong to root, on a socket in a folder."""
    programs = [*Path("/usr/lib/postgresql").glob("*/bin"), Path(shutil.which("initdb") or "/none").parent]
    place = next((path for path in programs if (path / "initdb").exists()), None)
    if place is None or os.name != "posix":
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    driver = next((name for name in ("psycopg", "psycopg2") if find_spec(name)), None)
    if driver is None:
        pytest.skip("PostgreSQL's driver is not installed (pip install 'auclab[postgresql]')")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    owner = {}
    if os.geteuid() == 0:
        owner = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(folder, "postgres", "postgres")
    initdb = [place / "initdb", "-D", folder / "data", "-U", "me", "-A", "trust", "--no-sync"]
    subprocess.run(initdb, check=True, capture_output=True, cwd=folder, **owner)
    options = ["-D", folder / "data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [place / "postgres", *options], cwd=folder, stdout=log, stderr=log, start_new_session=True, **owner
        )
    try:
        wait_until(lambda: subprocess.run([place / "pg_isready", "-q", "-h", folder]).returncode == 0, process)
        yield f"postgresql+{driver}://me:secret@/postgres?host={folder}"
    finally:
        end(process, signal.SIGINT)  # without waiting for who is connected
        shutil.rmtree(folder, ignore_errors=True)


def keep_a_run(tracking, folder):
    """One that finished, with a file and a metric."""
    folder.mkdir(exist_ok=True)
    tags = {
        SETTINGS_TAG: fingerprint(SETTINGS),
        CODE_TAG: "here",
        "command": f"python run.py tracking.uri={tracking.uri}",
    }
    params = {"dataset": "toy", "split": "holdout", "tracking.uri": str(tracking.uri)}
    with open_run(tracking, name="a run", folder=folder, params=params, tags=tags) as kept:
        (kept.staging / "config.yaml").write_text("split: {seed: 1}", encoding="utf-8")
        kept.keep(Record(DATASET, {"test/auc": 0.1 + 0.2}, {HASH_TAG: fingerprint(SETTINGS, "aa")}))
    return kept


def check_what_is_kept(tracking, kept, folder):
    """Read in three ways: by the tests for resuming, as a table, as files."""
    assert find_finished(tracking, SETTINGS, lambda: "aa", code="here").run_id == kept.run_id
    assert find_finished(tracking, SETTINGS, lambda: "bb", code="here") is None
    table = read_runs(tracking.uri)
    assert table["run_id"].tolist() == [kept.run_id]
    assert table["test/auc"].tolist() == [0.1 + 0.2]
    fetch_files(table, tracking.uri)
    assert (Path(table["folder"].iloc[0]) / "config.yaml").read_text(encoding="utf-8") == "split: {seed: 1}"
    failed = open_run(tracking, name="bad", folder=folder, params={})
    with pytest.raises(RuntimeError), failed:
        write_half_and_fail(failed, RuntimeError("it broke"))
    client = open_store(tracking.dir, tracking.experiment, tracking.uri).client
    assert client.get_run(failed.run_id).info.status == "FAILED"
    assert [item.path for item in client.list_artifacts(failed.run_id)] == ["traceback.txt"]
    assert not [path for path in folder.rglob("*") if "staging-" in path.name]
    return table


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """What is fetched of a server's files stays here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.slow
def test_a_database_of_ones_own_choice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tracking = TrackingConfig(dir="files", experiment="auclab", uri="sqlite:///sub/x.db")
    kept = keep_a_run(tracking, tmp_path / "out")
    check_what_is_kept(tracking, kept, tmp_path / "out")
    assert (tmp_path / "sub" / "x.db").exists()
    assert kept.folder == tmp_path / "files" / "artifacts" / kept.run_id / "artifacts"
    assert not (tmp_path / "files" / "mlflow.db").exists()
    assert open_command(tracking) == "auclab ui --store sqlite:///sub/x.db"
    # Files on another file system than the staging folder are copied.
    real = Path.replace

    def replace(source, target):
        if "staging" in source.parts:
            raise OSError(18, "Invalid cross-device link")
        return real(source, target)

    monkeypatch.setattr(Path, "replace", replace)
    kept = keep_a_run(tracking, tmp_path / "out")
    assert [path.name for path in kept.folder.iterdir()] == ["config.yaml"]
    assert [path.name for path in kept.folder.parent.iterdir()] == ["artifacts"]


@pytest.mark.slow
def test_a_server_keeps_runs_and_their_files(server, tmp_path):
    tracking = TrackingConfig(dir=str(tmp_path / "unused"), experiment="kept", uri=server)
    kept = keep_a_run(tracking, tmp_path / "out")
    table = check_what_is_kept(tracking, kept, tmp_path / "out")
    assert table["folder"].iloc[0].is_relative_to(tmp_path / "cache")
    assert kept.folder == tmp_path / "out"  # a copy, for the reader of the screen
    assert (kept.folder / "config.yaml").exists()
    assert not (tmp_path / "unused").exists()
    assert open_command(tracking) == server
    assert mark_killed(open_store(**{"directory": "x", "experiment": "kept", "uri": server})) == 0


@pytest.mark.slow
def test_a_sweep_on_a_server_is_resumed_and_compared(server, tmp_path, capsys):
    """From the shell: one run, then a sweep that has it already, over folds whose table the server keeps."""
    words = (*SMALL, "solver=highs", "bounds=none", "metrics=[auc]", "split=kfold", "split.n_folds=2")
    where = (f"tracking.uri={server}", "tracking.experiment=swept")
    first = run(tmp_path, *words, *where)
    assert first.returncode == 0, first.stderr
    assert f"--store {server} · {server}" in first.stdout
    swept = run(tmp_path, "-m", *words, *where, "split.seed=0,1")
    assert swept.returncode == 0, swept.stderr
    assert swept.stdout.splitlines()[-1] == "sweep: 1 finished, 1 skipped, 0 failed, 0 killed"
    assert "View run" not in first.stdout + swept.stdout
    assert not (tmp_path / "mlruns").exists()
    runs = read_runs(server, experiments=["swept"])
    assert runs["fold"].tolist() == ["fold 0", "fold 1"] * 2
    assert runs["test/auc"].notna().all()
    for words in (["compare"], ["show", "last"], ["rerun", "last"], ["ui"]):
        choice = ["--experiment", "swept"] if words == ["compare"] else []
        with pytest.raises(SystemExit) as ended:
            cli.main([*words, *choice, "--store", server])
        assert ended.value.code == 0, capsys.readouterr()
    said = capsys.readouterr().out
    assert f"{runs['test/auc'].mean():.4f}" in said
    assert "the numbers are the same" in said


@pytest.mark.slow
def test_postgresql_keeps_runs_and_no_password(postgresql, tmp_path):
    directory = tmp_path / "mlruns"
    tracking = TrackingConfig(dir=str(directory), experiment="auclab", uri=postgresql)
    kept = keep_a_run(tracking, tmp_path / "out")
    store = open_store(directory, "auclab", postgresql)
    data = store.client.get_run(kept.run_id).data
    assert "secret" not in " ".join([*data.params.values(), *data.tags.values(), open_command(tracking)])
    assert data.params["tracking.uri"].partition("://")[2].startswith("me:***@/postgres")
    assert kept.folder == directory / "artifacts" / kept.run_id / "artifacts"
    check_what_is_kept(tracking, kept, tmp_path / "out")
    wrong = postgresql.replace("me:secret@", f"{getpass.getuser()}x:secret@")
    with pytest.raises(AuclabError, match=r"the database postgresql.* cannot be used") as refused:
        open_store(directory, "auclab", wrong)
    assert "secret" not in str(refused.value)


def test_a_driver_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    with pytest.raises(AuclabError, match=r"needs the driver psycopg2; install it with pip install psycopg2-binary"):
        open_store(tmp_path / "mlruns", "auclab", "postgresql+psycopg2://me@nowhere/x")


def test_a_server_that_is_not_there_is_said_at_once(tmp_path):
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(AuclabError, match=r"no MLflow server responds at http.*refused"):
        open_store(tmp_path / "mlruns", "auclab", address)
    with pytest.raises(AuclabError, match="no MLflow server responds"):
        read_runs(address)
    assert not (tmp_path / "mlruns").exists()


def test_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Address.parse("mlruns") == Address.of(tmp_path / "mlruns")
    assert str(Address.parse("mlruns")) == str(tmp_path / "mlruns")
    assert Address.parse("sqlite:///x.db").file == tmp_path / "x.db"
    assert Address.parse("sqlite:////data/x.db").file == Path("/data/x.db")
    assert Address.parse("https://host/mlflow/").is_server
    for bad in ("file:///data/mlruns", "databricks", "oracle://me@host"):
        with pytest.raises(AuclabError, match=r"tracking\.uri is .* it is a database"):
            Address.of("mlruns", bad)
    with pytest.raises(AuclabError, match=r"no runs are kept in sqlite:///.*x\.db"):
        read_runs("sqlite:///x.db")
    assert list(tmp_path.iterdir()) == []


def test_passwords_are_hidden():
    for text, expected in {
        "tracking.uri=mysql+pymysql://a:b:c@h/d": "tracking.uri=mysql+pymysql://a:***@h/d",
        "https://me:pw@host/x and http://host:5000/y": "https://me:***@host/x and http://host:5000/y",
        "postgresql://me@host:5432/x": "postgresql://me@host:5432/x",
        "a: b @ c": "a: b @ c",
    }.items():
        assert hide_password(text) == expected


def test_a_frame_without_servers_fetches_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tracking = TrackingConfig(dir="mlruns", experiment="auclab", uri=None)
    kept = keep_a_run(tracking, tmp_path / "out")
    table = read_runs("mlruns")
    fetch_files(table, "mlruns")
    assert table["folder"].tolist() == [kept.folder]
    assert not (tmp_path / "cache").exists()
    assert isinstance(table, pd.DataFrame)
