"""Mistakes in a command are refused in one line, what it says to try works, and nothing is left behind.

``python tests/mistakes.py TABLE.csv`` types all of them as commands.
"""

from __future__ import annotations

import re

import pytest

from mistakes import MISTAKES, type_it, write_files
from refused import check_refused


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mistakes")
    write_files(place)
    return place


def test_there_are_enough_of_them():
    assert len({one.typed for one in MISTAKES}) == len(MISTAKES) >= 80
    assert sum(bool(one.mended) for one in MISTAKES) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("one", MISTAKES, ids=lambda one: one.typed)
def test_a_mistake_is_one_line_and_its_fix_works(one, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    check_refused(one, folder, capsys)


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        "formulation=ranksmv",
        pytest.param("split.seed=abc", marks=pytest.mark.weekly),
        pytest.param("solver=highs formulation=ranksvm formulation.norm=l2", marks=pytest.mark.weekly),
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
