"""Adaptive searches of a store: their jobs in order, the best so far, and what show, best and compare say of them."""

import math

import pytest

from auclab.cli.main import main
from auclab.comparison.runs import read_runs
from auclab.comparison.searches import find_searches, read_search
from searched_store import LAMBDAS, make_search


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("searched")
    with pytest.MonkeyPatch.context() as patch:
        parent, ids = make_search(folder, patch)
    return folder / "mlruns", parent, ids


def typed(words):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0


def test_jobs_are_in_the_order_of_the_search(made):
    store, parent, ids = made
    runs = read_runs(store, status=None)
    search = read_search(store, parent, runs)
    assert [job.run_id for job in search.jobs] == ids
    assert [job.settings for job in search.jobs][:3] == [(penalty,) for penalty in LAMBDAS]
    assert [job.status for job in search.jobs] == ["finished"] * 3 + ["failed", "pruned"]
    values = runs.set_index("run_id")["inner/auc"]
    assert [job.value for job in search.jobs[:3]] == [values[each] for each in ids[:3]]
    assert all(math.isnan(job.value) for job in search.jobs[3:])
    assert search.best.value == max(values.dropna())
    assert [at for at, _ in search.best_so_far] == [0, 1, 2]
    assert [best for _, best in search.best_so_far] == [max(values[ids[: k + 1]]) for k in range(3)]


def test_other_sweeps_are_no_searches(made):
    store, parent, _ = made
    runs = read_runs(store, status=None)
    assert list(find_searches(store, runs)) == [parent]
    assert read_search(store, "0" * 32, runs) is None


def test_a_job_whose_run_is_gone_has_no_value(made):
    store, parent, ids = made
    runs = read_runs(store, status=None)
    search = read_search(store, parent, runs[runs["run_id"] != ids[0]])
    assert (search.jobs[0].status, search.jobs[0].run_id) == ("no run", "")
    assert search.jobs[1].leads


def test_show_lists_the_jobs_with_what_they_were_worth(made, capsys):
    store, parent, ids = made
    typed(["show", parent[:8], "--store", str(store)])
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines()]
    (best,) = [line for line in lines if "best" in line and "finished" in line]
    values = read_runs(store).set_index("run_id")["inner/auc"]
    assert best[2] == f"{values.max():.4f}"
    assert best[-1] == values.idxmax()[:8]
    assert "5 jobs proposed by tpe for the largest inner/auc" in said
    assert "formulation.penalty 100 % of the variance of inner/auc" in said
    assert f"auclab best --sweep {parent[:8]}" in said
    assert [line[-1] for line in lines if "pruned" in line] == [ids[4][:8]]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["best", "compare"])
def test_a_search_is_compared_by_what_it_chose_by(made, capsys, command):
    store, parent, _ = made
    typed([command, "--sweep", parent[:8], "--store", str(store)])
    said = capsys.readouterr().out
    assert "inner/auc" in said
    assert "the largest of 5 values of the held-out part would be too high (--metric test/auc shows them)" in said
    runs = read_runs(store)
    best = runs.loc[runs["inner/auc"].idxmax()]
    if command == "best":
        assert f"test/auc {best['test/auc']:.4f}" in said
        assert f"python run.py formulation.penalty={best['formulation.penalty']}" in said
    typed([command, "--sweep", parent[:8], "--store", str(store), "--metric", "test/auc"])
    assert "inner/auc" not in capsys.readouterr().out.replace("compared by what it chose by", "")
