"""`auclab doctor` finds what is wrong with an installation, and says how to fix it."""

import os

import pytest

from auclab.cli import doctor
from auclab.cli.main import main


@pytest.mark.parametrize(
    ("needs", "code", "said"),
    [
        (["numpy>=1.0"], 0, ["pip install 'auclab[more]'", "no problems found"]),
        (
            ["numpy>=1.0", "scipy>=99", "no-such-library>=2"],
            1,
            [
                "no-such-library is missing; pip install 'no-such-library>=2'",
                "too old; pip install 'scipy>=99'",
                "2 of these must be fixed",
            ],
        ),
    ],
)
def test_what_is_missing_or_too_old_has_its_command(needs, code, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "requires", lambda name: [*needs, "no-such-extra>=1; extra == 'more'"])
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    screen = capsys.readouterr().out
    assert ended.value.code == code
    assert all(part in screen for part in said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="every folder can be written here")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    *_, (_, text, style) = doctor.environment(str(tmp_path / "mlruns"))
    assert style == doctor.WRONG
    assert "cannot be written" in text


def test_folders_of_data(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCLAB_DATA", str(tmp_path))
    found = {what: text for what, text, _ in doctor.environment("mlruns")}
    assert found["data"].startswith(f"searched in {tmp_path}")
