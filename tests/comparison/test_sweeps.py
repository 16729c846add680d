"""Which runs are those of a sweep: made by it, or found finished; and which sweep is the last."""

import pytest
from auclab.comparison.sweeps import choose_sweep
from auclab.tracking.job_status import PARENT_VARIABLE

from auclab.comparison.runs import read_runs
from auclab.tracking import TrackingConfig, close_parent, join_sweep, open_parent, open_run
from auclab.types import AuclabError


@pytest.fixture
def tracking(tmp_path):
    return TrackingConfig(dir=str(tmp_path / "mlruns"))


@pytest.fixture
def job(tracking, tmp_path, monkeypatch):
    """A job of a sweep, by the sweep's id."""

    def work(parent, name):
        monkeypatch.setenv(PARENT_VARIABLE, parent)
        (tmp_path / name).mkdir()
        with open_run(tracking, name=name, folder=tmp_path / name, params={"dataset": "toy"}) as run:
            pass
        return run.run_id

    return work


@pytest.mark.slow
def test_a_sweep_has_what_it_skipped_and_the_last_one_was_started_last(tracking, job, monkeypatch):
    def start(grid):
        return open_parent(tracking, grid=[grid], command="python run.py -m")

    first = start("seed=0,1")
    kept = [job(first, "0"), job(first, "1")]
    close_parent(tracking, first, "FINISHED")

    wider = start("seed=0,1,2,3")
    monkeypatch.setenv(PARENT_VARIABLE, wider)
    for run_id in kept:
        join_sweep(tracking, run_id)
        join_sweep(tracking, run_id)  # twice is once
    kept.append(job(wider, "2"))
    close_parent(tracking, wider, "KILLED")

    other = start("seed=9")
    alone = job(other, "9")
    close_parent(tracking, other, "FINISHED")
    place = tracking.dir
    assert choose_sweep(read_runs(place), "last", place)[0] == other

    assert start("seed=0,1,2,3") == wider  # broken off, goes on
    for run_id in kept:
        monkeypatch.setenv(PARENT_VARIABLE, wider)
        join_sweep(tracking, run_id)
    kept.append(job(wider, "3"))
    close_parent(tracking, wider, "FINISHED")

    runs = read_runs(place)
    name, found = choose_sweep(runs, "last", place)
    assert name == wider
    assert found["run_id"].tolist() == kept
    assert runs.set_index("run_id")["tag.sweep.also"].dropna().to_dict() == dict.fromkeys(kept[:2], wider)
    assert alone not in kept
    assert choose_sweep(runs, first[:8], place)[1]["run_id"].tolist() == kept[:2]
    assert choose_sweep(runs, other, place)[1]["run_id"].tolist() == [alone]
    with pytest.raises(AuclabError, match="no sweep is called 'zzz'"):
        choose_sweep(runs, "zzz", place)


@pytest.mark.slow
def test_a_run_that_is_no_job_joins_nothing(tracking, tmp_path, monkeypatch):
    monkeypatch.delenv(PARENT_VARIABLE, raising=False)
    with open_run(tracking, name="alone", folder=tmp_path, params={}) as run:
        pass
    join_sweep(tracking, run.run_id)
    runs = read_runs(tracking.dir)
    assert "tag.sweep.also" not in runs
    with pytest.raises(AuclabError, match="there are none"):
        choose_sweep(runs, "last", tracking.dir)
