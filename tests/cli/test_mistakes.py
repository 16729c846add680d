"""Mistakes in a command are refused in one line that says what to try, and nothing is left behind.

``python tests/mistakes.py TABLE.csv`` types all of them as commands.
"""

from __future__ import annotations

import re

import pytest
from hydra.core.global_hydra import GlobalHydra

from auclab.cli.run import main
from mistakes import MISTAKES, MOST_SECONDS, type_it, write_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mistakes")
    write_files(place)
    return place


def test_there_are_enough_of_them():
    assert len({one.typed for one in MISTAKES}) == len(MISTAKES) >= 85


@pytest.mark.parametrize("one", MISTAKES, ids=lambda one: one.typed)
def test_a_mistake_is_one_line(one, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    before = set(folder.rglob("*"))
    own = () if "tracking=mlflow" in one.words else ("tracking=none",)
    try:
        with pytest.raises(SystemExit) as ended:
            main([*own, *one.words])
    finally:
        GlobalHydra.instance().clear()
    captured = capsys.readouterr()
    assert ended.value.code == 1
    (line,) = captured.err.splitlines()
    assert line.startswith("error: ")
    assert re.search(one.answer, line), line
    assert captured.out == ""
    assert set(folder.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        "formulation=ranksmv",
        "split.seed=abc",
        "solver=highs formulation=ranksvm",
        "dataset=file dataset.path=dates.csv",
    ],
)
def test_a_mistake_is_refused_before_libraries_are_imported(typed, folder):
    """One of each kind, as a command; the time is that of the processor, whatever else the machine does."""
    one = next(each for each in MISTAKES if each.typed.startswith(typed))
    row = type_it(one, folder)
    assert row["verdict"] == "refused", row
    assert float(str(row["cpu"])) < MOST_SECONDS
