"""Mistakes in a command are refused in one line that says what to try, and nothing is left behind.

``python tests/mistakes.py TABLE.csv`` types all of them as commands.
"""

from __future__ import annotations

import re

import pytest
from hydra.core.global_hydra import GlobalHydra

from auclab.cli.run import main
from mistakes import MISTAKES, type_it, write_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mistakes")
    write_files(place)
    return place


def test_there_are_enough_of_them():
    assert len({one.typed for one in MISTAKES}) == len(MISTAKES) >= 85


@pytest.mark.slow
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
    """One of each kind, as a command: settings are checked without tables, tables without what solves or keeps."""
    one = next(each for each in MISTAKES if each.typed.startswith(typed))
    answer, _ = type_it(one, folder, "-X", "importtime")
    lines = answer.stderr.splitlines()
    assert re.fullmatch(f"error: .*{one.answer}.*", lines[-1])
    imported = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    assert len(imported) > 200
    of_settings = {"pandas", "pyarrow", "scipy", "highspy", "clarabel", "numba"}
    of_formulations = {"pandas", "pyarrow"}
    later = {"mlflow", "sqlalchemy", "sklearn", "matplotlib", "cvxpy", "pyomo", "skops", "optuna", "scipy.stats"}
    kind = typed.partition("=")[0]
    unused = later | {"solver": of_formulations, "dataset": set()}.get(kind, of_settings)
    assert not unused & imported
