"""Every cell of the table works, says that it makes no difference, or is refused in one line before any work."""

import importlib.util
import re
import sys
import warnings
from dataclasses import replace

import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.cli import main as cli
from auclab.runs.config.checks import check_data, check_settings
from auclab.runs.config.typed_words import hydra_in_words
from auclab.runs.experiment import run_experiment, solve_splits
from auclab.runs.tracking.address import Address
from auclab.runs.tracking.store import register_model
from composed import composed
from matrix.table import COMMANDS, KINDS, SCORERS, SETTINGS, no_effect_of, refusal_of

BASE = (
    "dataset=file",
    "dataset.path=ROWS",
    "dataset.target=y",
    "dataset.positive=1",
    "dataset.drop=[shop,day,grade,days,died]",
)
BASE += ("bounds=none", "decision.probability=none", "metrics=[auc,bauc]")
#: What fits, in every way: none of it may begin in a cell that is refused.
METHODS = ("ProgramMethod", "RankedMethod", "BaselineMethod", "KernelMethod")
WORK = [f"auclab.runs.split.methods.{kind}.{step}" for kind in METHODS for step in ("fit", "tuned")]


def settings_of(place, *words):
    """The base settings less those that are given, and these."""
    given = {word.partition("=")[0] for word in words}
    kept = [word for word in BASE if word.partition("=")[0] not in given]
    places = {"ROWS": rows_of(place), "DATED": str(place / "dated.csv"), "BLOCKS": str(place / "blocks")}
    return [re.sub("|".join(places), lambda found: places[found[0]], word) for word in (*kept, *words)]


def rows_of(place, scorer=None):
    """The file of the rows that a scorer takes."""
    dated = scorer is not None and "dataset.path=DATED" in scorer.words
    return str(place / ("dated.csv" if dated else "rows.csv"))


def cells(uses, first=None):
    """Every pair, and what the table says of it: the first tier has each use with each entry, of scorers those that
    are `first` alone.
    """
    for scorer in SCORERS:
        marks = [] if first is None or scorer.name in first else pytest.mark.weekly
        for use in uses:
            entries = refusal_of(scorer.name, use.name), no_effect_of(scorer.name, use.name)
            yield pytest.param(scorer, use, (use.name, *entries), id=f"{scorer.name}-{use.name}", marks=marks)


def need(*packages):
    for package in filter(None, packages):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")


def never(*_, **__):
    raise AssertionError("work was begun")


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize(("scorer", "use", "outcome"), list(cells(SETTINGS)))
def test_a_setting_of_a_run(scorer, use, outcome, place, monkeypatch):
    need(scorer.needs, use.needs)
    words = settings_of(place, "tracking=none", *scorer.words, *use.words)
    (_, refusal, without), said = outcome, []
    monkeypatch.setattr("auclab.runs.screen.console.show_foreseen", said.extend)

    def job():
        with hydra_in_words(words):
            experiment = composed(words)
        check_settings(experiment)
        check_data(experiment)
        return solve_splits(experiment)

    if refusal is not None:
        for step in WORK:
            monkeypatch.setattr(step, never)
        with pytest.raises(AuclabError, match=refusal.sentence) as raised:
            job()
        assert "\n" not in str(raised.value)
        return
    result = job()
    assert not result.constant
    assert [bool(re.search(without.sentence, note)) for note in said] == [True] if without else said == []


@pytest.fixture(scope="module")
def stored(place):
    """Ids of stored runs by scorer, and their store; each is made when it is first asked for."""
    found = {}

    def run_of(scorer):
        if scorer.name not in found:
            words = settings_of(place, *scorer.words, f"tracking.dir={place / 'mlruns'}")
            experiment = replace(composed(words), command="auclab run")
            check_settings(experiment)
            run_experiment(experiment, folder=place / "out" / scorer.name.replace(" ", ""))
            from auclab.runs import read_runs

            found[scorer.name] = str(read_runs(place / "mlruns")["run_id"].iloc[-1])
        return found[scorer.name]

    return run_of


def _pyfunc(place, run_id, rows):
    """The model as MLflow serves it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow's own
        import mlflow

        mlflow.set_tracking_uri(f"sqlite:///{place / 'mlruns' / 'mlflow.db'}")
        labels = mlflow.pyfunc.load_model(f"runs:/{run_id}/model").predict(pd.read_csv(rows))
    assert len(labels) == 60


def _register(place, run_id, _rows):
    """A version of a name, which another scorer may have had before."""
    assert int(register_model(Address.parse(place / "mlruns"), run_id, "matrix")) >= 1


IN_PYTHON = {"pyfunc": _pyfunc, "register": _register}


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize(("scorer", "use", "outcome"), list(cells(COMMANDS, KINDS)))
def test_a_command_on_a_stored_run(scorer, use, outcome, place, stored, tmp_path, capsys):
    need(scorer.needs, use.needs)
    places = {"RUN": stored(scorer), "ROWS": rows_of(place, scorer), "OUT": str(tmp_path / "out")}
    words = [re.sub("|".join(places), lambda found: places[found[0]], word) for word in use.words]
    if use.name in IN_PYTHON:
        IN_PYTHON[use.name](place, stored(scorer), rows_of(place, scorer))
        return
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        cli.main([*words, "--store", str(place / "mlruns")])
    said = capsys.readouterr()
    _, refusal, _ = outcome
    if refusal is None:
        assert end.value.code == 0, said.err or said.out
        assert all(path.stat().st_size for path in tmp_path.glob("out.*"))
        return
    assert end.value.code in (1, 2)
    lines = (said.err or said.out).strip().splitlines()
    assert len(lines) == 1 or use.name == "check"  # which says what it has checked before
    assert re.search(refusal.sentence, lines[-1])
    assert list(tmp_path.glob("out.*")) == []


def test_the_page_is_that_of_the_table():
    from composed import REPOSITORY
    from matrix.page import page

    text = (REPOSITORY / "docs" / "what_works_together.md").read_text(encoding="utf-8")
    assert text == page(), f"write it again: {sys.executable} tests/matrix/page.py"
