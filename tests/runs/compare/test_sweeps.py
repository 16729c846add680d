"""Which sweep is the last one, and which are found by letters."""

import pytest

from auclab._core.base import AuclabError
from auclab.runs.compare.runs import find_sweep, read_runs
from auclab.runs.tracking.address import TrackingConfig
from auclab.runs.tracking.sync import close_parent, open_parent, writing
from tracked_runs import keep_run


def test_the_last_sweep_was_started_last_and_is_there(tmp_path):
    tracking = TrackingConfig(dir=str(tmp_path / "runs"))

    def start(grid):
        with writing(tracking) as store:
            return open_parent(store, grid=[grid], command="auclab run -m", pending="x")

    def close(parent):
        with writing(tracking) as store:
            close_parent(store, parent, "KILLED", {"FINISHED": 0})

    first, second = start("split.seed=0,1"), start("split.seed=2,3")
    assert find_sweep(tracking.dir, "last") == second
    close(first)
    assert start("split.seed=0,1") == first  # it was broken off, and goes on
    assert find_sweep(tracking.dir, "last") == first
    assert find_sweep(tracking.dir, second[:8]) == second
    with writing(tracking) as store:
        store.client.delete_run(first)
    assert find_sweep(tracking.dir, "last") == second
    with pytest.raises(AuclabError, match=r"no sweep is called 'lsat' \(did you mean 'last'\?\); there are "):
        find_sweep(tracking.dir, "lsat")


def test_a_run_alone_is_in_no_sweep(tmp_path):
    tracking = TrackingConfig(dir=str(tmp_path / "runs"))
    kept = keep_run(tmp_path / "out", tracking)
    assert read_runs(tracking.dir)["run_id"].tolist() == [kept.run_id]
    with pytest.raises(AuclabError, match="no sweep is called 'last'; there are none"):
        find_sweep(tracking.dir, "last")
