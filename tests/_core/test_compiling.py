"""What is compiled: the families that a solve needs, each loop for one layout and type of its arguments; it is told."""

import csv
import json
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from auclab._core.compiling import _CALLS, compile_loops, compiling_to
from auclab.runs.screen import console

#: Prints how many specialisations each loop has after a solve over points, and after one over pairs.
SOLVES = """
import importlib, json, pkgutil
import numpy as np
import auclab, auclab._core

def found():
    counts = {}
    for module in pkgutil.iter_modules(auclab._core.__path__):
        for name, each in vars(importlib.import_module(f"auclab._core.{module.name}")).items():
            if hasattr(each, "signatures") and each.__module__.endswith(f".{module.name}"):
                counts[name] = len(each.signatures)
    return counts

rng = np.random.default_rng(0)
X, y = rng.normal(size=(80, 3)), np.arange(80) % 2
auclab.solve(auclab.CSVM(0.1, squared=True), X, y, solver="newton")
points = found()
solution = auclab.solve(auclab.RankSVM(0.1, squared=True), X, y, solver="newton")
auclab.estimate(y, solution.decision_function(X), "auc")
auclab.estimate(y, solution.decision_function(X), "bauc")
print(json.dumps([points, found()]))
"""


@pytest.mark.slow
def test_a_solve_compiles_what_it_needs_for_one_layout():
    """In a process of its own, in which nothing else was called: 3 s."""
    done = subprocess.run([sys.executable, "-c", SOLVES], capture_output=True, text=True, check=True)
    points, pairs = json.loads(done.stdout)
    over_pairs = ("pair_piece_sums", "opposite_piece_slopes", "add_window_rows")
    assert points["point_piece_sums"] == 1
    assert [points[name] for name in over_pairs] == [0, 0, 0]
    assert [pairs[name] for name in over_pairs] == [1, 1, 1]
    assert [pairs[name] for name in ("_active_opposite", "_weighted_concordance", "sweep_pos")] == [0, 0, 0]
    assert {name: count for name, count in pairs.items() if count > 1} == {}


def test_families_are_ready_the_second_time():
    families = tuple(_CALLS)
    compile_loops(*families)
    assert compile_loops(*families) == 0.0


def test_the_outermost_loop_is_told():
    told = []
    inner = njit(lambda x: x * 2.0)
    outer = njit(lambda x: inner(x) + 1.0)
    with compiling_to(told.append):
        assert outer(3.0) == 7.0
        assert outer(4.0) == 9.0  # ready
        with pytest.raises(TypingError):
            outer("three")
    assert told == [True, False, True, False]
    outer(np.float32(1.0))  # nobody listens
    assert len(told) == 4


def test_the_screen_says_that_loops_are_compiled(monkeypatch):
    shown = []

    class Terminal(console.Screen):
        is_terminal = True

    monkeypatch.setattr(console, "err", Terminal(stderr=True, quiet=True))
    update = console.Bar.update
    monkeypatch.setattr(
        console.Bar, "update", lambda self, task, **news: (shown.append(news), update(self, task, **news))[1]
    )
    with console.working("solving"):
        njit(lambda x: x - 1.0)(3.0)
    assert shown == [{"description": f"solving · {console.COMPILING}"}, {"description": "solving"}]


def test_the_first_run_takes_what_the_changelog_says():
    root = Path(__file__).parents[2]
    lines = (root / "docs" / "first_run.csv").read_text(encoding="utf-8").splitlines()
    rounds = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    before, now = (statistics.median(float(each[side]) for each in rounds) for side in ("before", "now"))
    told = " ".join((root / "CHANGELOG.md").read_text(encoding="utf-8").split())
    assert f"takes {now / before:.2f} of the CPU seconds (docs/first_run.csv)" in told
