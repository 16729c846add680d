"""`auclab doctor` finds what is wrong with an installation, and says how to fix it."""

import os
import tomllib
from importlib import metadata

import pytest

from auclab.cli import doctor
from auclab.cli.main import main
from composed import REPOSITORY

NEEDS = ["numpy>=1.0", "scipy>=99", "no-such-library>=2", "no-such-extra>=1; extra == 'more'"]


def test_an_installation_without_faults(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "requires", lambda name: ["numpy>=1.0", "no-such-extra>=1; extra == 'more'"])
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    screen = capsys.readouterr().out
    assert ended.value.code == 0
    assert "pip install 'auclab[more]'" in screen
    assert "no runs yet" in screen
    assert "no problems found" in screen
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_or_too_old_has_its_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "requires", lambda name: NEEDS)
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    screen = capsys.readouterr().out
    assert ended.value.code == 1
    assert "missing; pip install 'no-such-library>=2'" in screen
    assert "is here; pip install 'scipy>=99'" in screen
    assert "2 of these must be fixed" in screen


def test_a_full_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "LITTLE_SPACE", 1 << 62)
    (finding,) = doctor.store(str(tmp_path / "mlruns"))
    assert finding.state == "wrong"
    assert "MB are free" in finding.text


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="every folder can be written here")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    (finding,) = doctor.store(str(tmp_path / "mlruns"))
    assert finding.state == "wrong"
    assert "cannot be written" in finding.text


def test_folders_of_data(tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_text("a,y\n", encoding="utf-8")
    monkeypatch.setenv("AUCLAB_DATA", str(tmp_path))
    first, *_, last = doctor.data_folders()
    assert (first.state, first.text) == ("ok", f"1 file in {tmp_path.resolve()}")
    assert "AUCLAB_DATA names" not in last.text


def test_a_folder_that_is_named_twice_has_one_line(tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_text("a,y\n", encoding="utf-8")
    monkeypatch.setattr(doctor, "search_path", lambda: (tmp_path, tmp_path / "elsewhere" / ".."))
    (tmp_path / "elsewhere").mkdir()
    assert [finding.text for finding in doctor.data_folders()][:-1] == [f"2 files in {tmp_path.resolve()}"]


def test_every_extra_says_what_it_adds():
    names = {extra for line in metadata.requires("auclab") or () for extra in doctor._extras_of(line)}
    assert set(doctor.ADDS) >= names
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(doctor.ADDS) == set(declared["project"]["optional-dependencies"])
