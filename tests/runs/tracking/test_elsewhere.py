"""Runs in a database of one's own choice, on an MLflow server and in PostgreSQL: kept, found again, read."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest
import sqlalchemy

from auclab._core.base import AuclabError
from auclab.cli import main as cli
from auclab.runs.compare.runs import fetch_files, open_reader, read_runs
from auclab.runs.screen.console import open_command
from auclab.runs.tracking import address as address_module
from auclab.runs.tracking.address import Address, TrackingConfig, refuse_password
from run_command import SMALL, run
from tracked_runs import keep_run
from waiting import wait_until


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


def start_server(folder, port):
    """`mlflow server` with one worker and without its job runner."""
    options = ["--workers", "1", "--port", str(port), "--backend-store-uri", f"sqlite:///{folder / 'server.db'}"]
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    with (folder / "log.txt").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *options, "--artifacts-destination", str(folder / "files")],
            cwd=folder, stdout=log, stderr=log, env=os.environ | quiet, start_new_session=True,
        )  # fmt: skip
    wait_until(lambda: answers(f"http://127.0.0.1:{port}"), process)
    return process


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    port = free_port()
    process = start_server(tmp_path_factory.mktemp("server"), port)
    try:
        yield f"http://127.0.0.1:{port}"
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
        yield f"postgresql+{driver}://me@/postgres?host={folder}"
    finally:
        end(process, signal.SIGINT)  # without waiting for who is connected
        shutil.rmtree(folder, ignore_errors=True)


def check_what_is_kept(tracking, kept):
    """Read as a table and as files."""
    table = read_runs(tracking.uri)
    assert table["run_id"].tolist() == [kept.run_id]
    assert table["test/auc"].tolist() == [0.1 + 0.2]
    fetch_files(table, tracking.uri)
    assert (Path(table["folder"].iloc[0]) / "config.yaml").read_text(encoding="utf-8") == "split: {seed: 1}"
    return table


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """What is fetched of a server's files stays here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.slow
def test_a_database_of_ones_own_choice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tracking = TrackingConfig(dir="files", experiment="auclab", uri="sqlite:///sub/x.db")
    kept = keep_run(tmp_path / "out", tracking)
    check_what_is_kept(tracking, kept)
    assert (tmp_path / "sub" / "x.db").exists()
    assert kept.files_folder == tmp_path / "files" / "artifacts" / kept.run_id / "artifacts"
    assert not (tmp_path / "files" / "mlflow.db").exists()
    assert open_command(tracking) == "auclab ui --store sqlite:///sub/x.db"


@pytest.mark.slow
def test_a_server_keeps_runs_and_their_files(server, tmp_path):
    tracking = TrackingConfig(dir=str(tmp_path / "here"), experiment="kept", uri=server)
    kept = keep_run(tmp_path / "out", tracking)
    table = check_what_is_kept(tracking, kept)
    assert table["folder"].iloc[0].is_relative_to(tmp_path / "cache")
    assert kept.files_folder == tmp_path / "out"  # a copy, for the reader of the screen
    assert (kept.files_folder / "config.yaml").exists()
    assert open_command(tracking) == server


@pytest.mark.weekly
def test_a_server_that_dies_in_a_sweep_loses_no_job_and_doubles_none(tmp_path):
    """All jobs are computed; the command that is printed sends them to the server that was started again."""
    port, place = free_port(), tmp_path / "server"
    place.mkdir()
    process, address = start_server(place, port), f"http://127.0.0.1:{port}"
    words = [sys.executable, "-m", "auclab", "run", "-m", *SMALL, "solver=highs", "bounds=none", "metrics=[auc]"]
    words += [f"tracking.uri={address}", "split.seed=range(8)"]
    sweep = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: list(tmp_path.glob("multirun/*/*/0/run.json")), sweep, every=0.01)
    finally:
        end(process, signal.SIGKILL)
    said, cried = sweep.communicate()
    assert sweep.returncode == 1
    assert said.splitlines()[-1] == "sweep: 8 finished, 0 skipped, 0 failed, 0 killed"
    assert "Traceback" not in cried
    assert f"auclab runs --store {address} sends it" in cried
    process = start_server(place, port)
    try:
        answer = run(tmp_path, *words[5:], "-m")
        assert answer.returncode == 0, answer.stderr
        assert answer.stdout.splitlines()[-1] == "sweep: 0 finished, 8 skipped, 0 failed, 0 killed"
        client = open_reader(address)
        runs = client.search_runs([each.experiment_id for each in client.search_experiments()])
        seeds = sorted(each.data.params["split.seed"] for each in runs if "sweep.grid" not in each.data.tags)
        assert seeds == [str(seed) for seed in range(8)]
        assert {each.info.status for each in runs} == {"FINISHED"}
    finally:
        end(process)


@pytest.mark.weekly
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
    assert not (tmp_path / "mlruns" / "mlflow.db").exists()
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


@pytest.mark.weekly
def test_postgresql_keeps_runs(postgresql, tmp_path):
    tracking = TrackingConfig(dir=str(tmp_path / "mlruns"), experiment="auclab", uri=postgresql)
    kept = keep_run(tmp_path / "out", tracking)
    assert kept.files_folder == tmp_path / "mlruns" / "artifacts" / kept.run_id / "artifacts"
    check_what_is_kept(tracking, kept)
    wrong = postgresql.replace("me@", f"{getpass.getuser()}x@")
    with pytest.raises(AuclabError, match=r"the database postgresql.* cannot be used"):
        keep_run(tmp_path / "other", replace(tracking, uri=wrong))
    assert not (tmp_path / "other").exists()  # refused before anything is computed


def test_a_driver_that_is_missing_is_named(monkeypatch):
    for name in ("psycopg", "psycopg2", "MySQLdb"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(address_module, "_check_driver", address_module._check_driver.__wrapped__)
    default = (
        sqlalchemy.make_url("postgresql://").get_dialect().driver
    )  # SQLAlchemy 2.1 changed it from psycopg2 to psycopg
    for uri, words in {
        "postgresql+psycopg2://me@nowhere/x": "needs the driver psycopg2; install it with pip install psycopg2-binary",
        "postgresql://me@nowhere/x": rf"postgresql:// needs the driver {default};",
        "postgresql+psycopg://me@nowhere/x": r"the driver psycopg; install it with pip install 'auclab\[postgresql\]'",
        "postgresql+nosuch://me@nowhere/x": r"tracking.uri is 'postgresql\+nosuch.*Can't load plugin",
        "mysql://me@nowhere/x": "needs the driver MySQLdb; install it with pip install mysqlclient",
    }.items():
        with pytest.raises(AuclabError, match=words):
            Address.of("mlruns", uri)


def test_a_server_that_is_not_there_is_said_at_once(tmp_path):
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(AuclabError, match=r"no MLflow server responds at http.*refused"):
        keep_run(tmp_path / "out", TrackingConfig(dir=str(tmp_path / "mlruns"), uri=address))
    with pytest.raises(AuclabError, match="no MLflow server responds"):
        read_runs(address)
    assert list(tmp_path.iterdir()) == []


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


@pytest.mark.parametrize(
    "text",
    [
        "tracking.uri=postgresql://me:secret@host/runs",
        "+x='mysql+pymysql://a:b:c@h/d'",
        "https://me:pw@host/x",
        "https://token@host/x.csv",
        "s3://key:secret@bucket/rows",
        "tracking.uri=postgresql://me:${oc.env:PASSWORD}@host/runs",
    ],
)
def test_an_address_with_a_password_is_refused_before_it_is_written(text, tmp_path, monkeypatch, capsys):
    with pytest.raises(AuclabError, match=r"PGPASSWORD or ~/\.pgpass"):
        refuse_password(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", "dataset=breast_cancer", text if "=" in text else f"tracking.uri={text}"])
    assert ended.value.code == 1
    assert "secret" not in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    ["postgresql://me@host:5432/x", "http://host:5000/a@b", "a: b @ c", "dataset.path=me:you@here.csv", "x=1e-3:2@3"],
)
def test_what_is_not_a_password_is_accepted(text):
    refuse_password(text)
