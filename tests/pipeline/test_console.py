"""Lines that a sweep and a failure end with."""

import io
from collections import Counter

import pytest
from rich.console import Console

from auclab.pipeline import console as screen
from auclab.tracking import TrackingConfig
from auclab.types import AuclabError


@pytest.fixture
def console(monkeypatch):
    console = Console(file=io.StringIO(), width=120, highlight=False)
    monkeypatch.setattr(screen, "out", console)
    return console


def test_a_sweep_ends_with_its_counts(console, tmp_path):
    counts = Counter(FINISHED=3, FAILED=1)
    screen.show_sweep(counts, folder=tmp_path, tracking=TrackingConfig(name="none"), parent=None)
    assert console.file.getvalue().splitlines()[-1] == "sweep: 3 finished, 0 skipped, 1 failed, 0 killed"


def test_an_error_is_one_line_whatever_it_contains(capsys):
    with pytest.raises(SystemExit) as end, screen.plain_errors(lambda line: SystemExit(1)):
        raise AuclabError("[red] is no markup here,\n  " + "and lines " * 30 + "are joined")
    assert end.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: [red] is no markup here, and lines")


def test_other_errors_are_not_hidden():
    with pytest.raises(ZeroDivisionError), screen.plain_errors(lambda line: SystemExit(1)):
        raise ZeroDivisionError


def test_ctrl_c_is_130(capfd):
    with pytest.raises(SystemExit) as end, screen.plain_errors(lambda line: SystemExit(1)):
        raise KeyboardInterrupt
    assert end.value.code == 130
    assert "KILLED" in capfd.readouterr().err
