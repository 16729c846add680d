"""Lines that a sweep and a failure end with."""

import io
from collections import Counter

import pytest
from rich.console import Console

from auclab._core.base import AuclabError
from auclab.runs.screen import console as screen
from auclab.runs.tracking.address import TrackingConfig
from auclab.samples.blocks import engines as passes
from auclab.samples.blocks.engines import PassProgress
from auclab.solvers.monitor import SolveProgress, report


@pytest.fixture
def console(monkeypatch):
    console = Console(file=io.StringIO(), width=120, highlight=False)
    monkeypatch.setattr(screen, "out", console)
    return console


def test_a_sweep_ends_with_its_counts(console, tmp_path):
    counts = Counter(FINISHED=3, FAILED=1)
    screen.show_sweep(counts, folder=tmp_path, tracking=TrackingConfig(name="none"), parent=None)
    assert console.file.getvalue().splitlines()[-1] == "sweep: 3 finished, 0 skipped, 1 failed, 0 killed"


def test_a_sweep_ends_with_the_command_that_compares_it(console, tmp_path):
    parent, store = "f73cfe24d8bd426eb50df36d4a34b9b1", str(tmp_path / "my runs")
    last = {"folder": tmp_path, "tracking": TrackingConfig(dir=store), "parent": parent}
    screen.show_sweep(Counter(FINISHED=1, SKIPPED=1), **last)
    lines = console.file.getvalue().splitlines()
    assert f"compare:   auclab compare --sweep f73cfe24 --store '{store}'" in lines
    assert lines[-1] == "sweep: 1 finished, 1 skipped, 0 failed, 0 killed"
    for counts, options in ((Counter(FINISHED=1), {}), (Counter(FINISHED=9), {"comparable": False})):
        console.file.truncate(0)
        screen.show_sweep(counts, **last, **options)
        assert "compare:" not in console.file.getvalue()


def test_a_stopped_sweep_says_how_far_it_came_and_how_to_go_on(console, tmp_path):
    stopped = screen.Stopped(80, "python run.py -m 'split.seed=range(80)' tracking.dir=x")
    for store, skipped in (
        (TrackingConfig(), "what finished is skipped"),
        (TrackingConfig(name="none"), "from the start"),
    ):
        console.file.truncate(0)
        counts = Counter(FINISHED=3, FAILED=1, KILLED=2)
        screen.show_sweep(counts, folder=tmp_path, tracking=store, parent=None, stopped=stopped)
        text = console.file.getvalue()
        assert "stopped:   4 of 80 jobs ended, 2 stopped in the middle, 74 not begun\n" in text
        assert "continue:  python run.py -m 'split.seed=range(80)' tracking.dir=x\n" in text
        assert skipped in text


def test_an_error_is_one_line_whatever_it_contains(capsys):
    with pytest.raises(SystemExit) as end, screen.plain_errors(lambda line: SystemExit(1)):
        raise AuclabError("[red] is not a markup here,\n  " + "and lines " * 30 + "are joined")
    assert end.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: [red] is not a markup here, and lines")


def test_other_errors_are_not_hidden():
    with pytest.raises(ZeroDivisionError), screen.plain_errors(lambda line: SystemExit(1)):
        raise ZeroDivisionError


def test_ctrl_c_is_130(capfd):
    with pytest.raises(SystemExit) as end, screen.plain_errors(lambda line: SystemExit(1)):
        raise KeyboardInterrupt
    assert end.value.code == 130
    assert "KILLED" in capfd.readouterr().err


@pytest.mark.parametrize("width", [60, 120])
def test_progress_is_shown_whole(width, monkeypatch):
    """The name of a run may be longer than the terminal is wide."""
    console = screen.Screen(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    monkeypatch.setattr(screen, "err", console)
    name = "generalized_bauc z=-0.1 l2 · my_file.csv [x] · kfold seed 0"
    with screen.working(name):
        report(SolveProgress(2.0, 0.5, 0.4995, gap=1e-3, tolerance=1e-6))
        passes._passes.report(PassProgress(3, 0.25, 4.2))
    last = console.file.getvalue().split("\x1b[?25h")[0].rpartition("⠋")[2]
    shown = "".join(last.split())
    assert "━" in shown
    assert all(sign in shown for sign in name.replace(" ", ""))
    if width == 120:
        assert "gap 0.001" in last
        assert "pass 3, 25% · 4.2 s a pass · about 2 s left" in " ".join(last.split())
