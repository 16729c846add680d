"""An address with a password, from the command line and from a file: no file below the working directory has it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from auclab.cli import main as cli
from auclab.cli.passwords import VARIABLE, without_passwords
from run_command import SMALL, run

SECRET = "s3cr3t"
QUICK = (*SMALL, "formulation=ranksvm", "solver=newton", "bounds=none", "metrics=auc")


def files_with_it(folder):
    return [str(path) for path in Path(folder).rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    for number in range(1, 4):
        monkeypatch.delenv(f"{VARIABLE}{number}", raising=False)


def test_words_with_an_address_name_a_variable(monkeypatch):
    words = [
        f"tracking.uri=http://me:{SECRET}@host", f"+dataset.path='http://me:{SECRET}@host'", "split.seed=0,1",
        f'engine.address="tcp://me:{SECRET}@host:1"', "tracking.uri=http://host:5000", "-m",
    ]  # fmt: skip
    found = without_passwords(words)
    assert found == [
        f"tracking.uri=${{oc.env:{VARIABLE}1}}", f"+dataset.path=${{oc.env:{VARIABLE}1}}", "split.seed=0,1",
        f"engine.address=${{oc.env:{VARIABLE}2}}", "tracking.uri=http://host:5000", "-m",
    ]  # fmt: skip
    assert os.environ[f"{VARIABLE}1"] == f"http://me:{SECRET}@host"
    for number in (1, 2):
        monkeypatch.delenv(f"{VARIABLE}{number}")


@pytest.mark.slow
@pytest.mark.parametrize("mode", [(), ("-m", "split.seed=0,1")], ids=["a run", "a sweep"])
def test_no_file_of_a_run_has_it(tmp_path, mode):
    """The database cannot be used; what was computed is in the output folder, with Hydra's own files."""
    answer = run(tmp_path, *mode, *QUICK, f"tracking.uri=postgresql+psycopg2://me:{SECRET}@127.0.0.1:1/runs")
    assert answer.returncode == 1
    assert "postgresql+psycopg2://me:***@127.0.0.1:1/runs" in answer.stderr
    assert SECRET not in answer.stdout + answer.stderr
    assert files_with_it(tmp_path) == []
    if not mode:
        assert list(tmp_path.rglob("overrides.yaml"))


@pytest.mark.slow
def test_no_file_of_a_run_has_it_from_a_file_of_settings(tmp_path):
    own = tmp_path / "own" / "tracking"
    own.mkdir(parents=True)
    settings = f"name: none\nexperiment: x\ndir: mlruns\nuri: postgresql://me:{SECRET}@h/db\n"
    (own / "mine.yaml").write_text(settings, encoding="utf-8")
    for mode in ((), ("-m",)):
        answer = run(tmp_path, "--config-dir", str(own.parent), *mode, *QUICK, "tracking=mine")
        assert answer.returncode == 0, answer.stderr
    assert files_with_it(tmp_path) == [str(own / "mine.yaml")]
    assert [path for path in tmp_path.rglob("config.yaml") if "me:***@h" in path.read_text(encoding="utf-8")]


@pytest.mark.slow
def test_a_misspelt_setting_does_not_repeat_it(tmp_path):
    answer = run(tmp_path, f"tracking.urii=http://me:{SECRET}@host")
    assert answer.returncode == 1
    assert "tracking.urii" in answer.stderr
    assert SECRET not in answer.stdout + answer.stderr


def test_no_command_shows_it(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = f"http://me:{SECRET}@127.0.0.1:1"
    for words in (["runs"], ["compare"], ["report"], ["show", "x"], ["rerun", "x"], ["figures", "x"], ["ui"]):
        with pytest.raises(SystemExit) as end:
            cli.main([*words, "--store", store])
        said = capfd.readouterr()
        assert end.value.code == 1
        assert "http://me:***@127.0.0.1:1" in said.err
        assert SECRET not in said.out + said.err


@pytest.mark.slow
def test_the_page_on_runs_does_not_have_it(store, tmp_path, capfd, monkeypatch):
    """A report is sent to others. SQLite takes parameters in its address, as other databases take passwords."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect(store / "mlflow.db")) as source, closing(sqlite3.connect("x.db")) as copy:
        source.backup(copy)
    monkeypatch.setattr("auclab.tracking.address.Address.file", property(lambda self: None))
    monkeypatch.setattr("auclab.tracking.address._check_database", lambda *_: None)  # SQLAlchemy takes no password here
    address = f"sqlite:///{tmp_path}/x.db?password={SECRET}"
    for module in ("comparison.runs", "comparison.searches", "comparison.sweeps", "report.cards"):
        monkeypatch.setattr(
            f"auclab.{module}.open_reader", lambda _: __import__("mlflow").MlflowClient("sqlite:///x.db")
        )
    with pytest.raises(SystemExit) as end:
        cli.main(["report", "--store", address, "--experiment", "auclab"])
    said = capfd.readouterr()
    assert end.value.code == 0, said.err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert SECRET not in page + said.out + said.err
    assert "password=***" in page
