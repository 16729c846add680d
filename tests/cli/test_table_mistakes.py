"""Mistakes with tables of one's own and with commands: one line each, and what it proposes works when it is typed."""

from __future__ import annotations

import re
import shlex

import pytest

from auclab.cli import main as cli
from composed import run_here
from refused import check_refused
from table_mistakes import COMMAND_MISTAKES, TABLE_MISTAKES, write_tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The tables, and a store with one run on left.csv."""
    place = tmp_path_factory.mktemp("tables")
    write_tables(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        own = ("dataset=file", "dataset.path=left.csv", "dataset.target=left", "dataset.positive=yes", "bounds=none")
        run_here(place / "out", *own, "formulation=ranksvm", "formulation.penalty=0.1", "solver=newton",
                 "tracking=mlflow", "tracking.dir=mlruns")  # fmt: skip
    return place


def test_there_are_sixty_and_more():
    typed = {one.typed for one in TABLE_MISTAKES} | {one.words for one in COMMAND_MISTAKES}
    assert len(typed) >= 60
    assert sum(bool(one.fix) for one in (*TABLE_MISTAKES, *COMMAND_MISTAKES)) >= 25


@pytest.mark.slow
@pytest.mark.parametrize("one", TABLE_MISTAKES, ids=lambda one: f"{one.typed} · {' '.join(one.fix)}")
def test_a_mistake_with_a_table_is_one_line_and_its_fix_works(one, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    check_refused(one, folder, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("one", COMMAND_MISTAKES, ids=lambda one: one.words)
def test_a_mistake_with_a_command_is_one_line_and_its_fix_works(one, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    code, out, err = typed(one.words, capsys)
    assert (code, out) == (one.code, "")
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    assert re.search(one.answer, line), line
    if one.fix:
        code, out, err = typed(one.fix, capsys)
        assert (code, "error" in err) == (0, False), err


def typed(words, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(shlex.split(words))
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err
