"""When a single run is in the store, and what is left of it."""

import sqlite3

import pytest

from auclab.pipeline import experiment as story
from auclab.pipeline.record import keep
from auclab.types import AuclabError
from composed import run_here
from waiting import wait_until

SMALL = ("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=2", "bounds=none")


def statuses(folder):
    file = folder / "mlruns" / "mlflow.db"
    if not file.exists():
        return []
    with sqlite3.connect(file) as connection:
        rows = connection.execute("SELECT status FROM runs").fetchall()
    connection.close()
    return [row[0] for row in rows]


def tracked(folder):
    return ("tracking=mlflow", f"tracking.dir={folder / 'mlruns'}", *SMALL)


@pytest.mark.slow
def test_a_long_run_is_in_the_store_while_it_works(tmp_path, monkeypatch):
    seen = []
    solve = story.solve_splits

    def long_work(experiment):
        wait_until(lambda: statuses(tmp_path))
        seen.extend(statuses(tmp_path))
        return solve(experiment)

    monkeypatch.setattr(keep, "OPEN_AFTER", 0.0)
    monkeypatch.setattr(story, "solve_splits", long_work)
    run_here(tmp_path / "out", *tracked(tmp_path))
    assert seen == ["RUNNING"]
    assert statuses(tmp_path) == ["FINISHED"]


@pytest.mark.slow
def test_a_short_run_is_in_the_store_once_it_is_done(tmp_path, monkeypatch):
    seen = []
    solve = story.solve_splits

    def short_work(experiment):
        seen.extend(statuses(tmp_path))
        return solve(experiment)

    monkeypatch.setattr(story, "solve_splits", short_work)
    run_here(tmp_path / "out", *tracked(tmp_path))
    assert seen == []
    assert statuses(tmp_path) == ["FINISHED"]


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.0, 60.0])
def test_a_failure_is_recorded_once(tmp_path, monkeypatch, after):
    monkeypatch.setattr(keep, "OPEN_AFTER", after)
    with pytest.raises(AuclabError, match="test_size is 7"):
        run_here(tmp_path / "out", *tracked(tmp_path), "split.test_size=7")
    assert statuses(tmp_path) == ["FAILED"]
