"""Adaptive search: what is refused, that the best is found, jobs that repeat, fail or are left early."""

import csv
import math
from importlib.util import find_spec

import pytest

from auclab.sweeps.adaptive import SAMPLERS, Outcome, Search, check_search, direction_of
from auclab.sweeps.search_space import space_of
from auclab.types import AuclabError

LAMBDA = "formulation.penalty=tag(log,interval(1e-4,1))"
SWEEPER = {"n_trials": 30, "batch": None, "sampler": "tpe", "seed": 0, "metric": "inner/auc", "prune": False}


def parsed(*words):
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create().parse_overrides(list(words))


def search_over(*words, **options):
    pytest.importorskip("optuna")
    return Search.start(space_of(parsed(*words))[0], **({"sampler": "random", "seed": 0} | options))


def worth(*values, status="FINISHED"):
    return [Outcome(status, value) for value in values]


@pytest.mark.parametrize(
    ("words", "settings", "said"),
    [
        (["dataset=pima", "tune=auto"], {"metric": "tune/score"}, "nothing to search"),
        (["dataset=pima", "kernel=choice(rbf)"], {}, "nothing to search"),
        (["dataset=pima,sonar", "tune=auto"], {"metric": "tune/score"}, "changes the task"),
        (["split.seed=range(3)", "tune=auto", LAMBDA], {"metric": "tune/score"}, "changes the task"),
        ([LAMBDA, "tune=auto"], {"metric": "test/auc"}, "held-out part"),
        ([LAMBDA], {"metric": "train/auc"}, "have not seen"),
        ([LAMBDA], {"metric": "seconds/total"}, "have not seen"),
        ([LAMBDA], {"metric": "tune/score"}, "add tune=auto"),
        ([LAMBDA, "tune=none"], {"metric": "tune/score"}, "add tune=auto"),
        ([LAMBDA], {"metric": "inner/brier"}, "not measured by these runs: use one of inner/auc, inner/bauc"),
        ([LAMBDA], {"metric": "inner/voros"}, r"add it, 'metrics=\[auc,bauc,voros\]', or use one of"),
        ([LAMBDA, "inner.folds=0"], {}, "leave inner.folds=0 out"),
        ([LAMBDA, "inner.folds=3,5"], {}, "changes the task"),
        ([LAMBDA], {"sampler": "annealing"}, "samplers are tpe"),
        ([LAMBDA, "tune=auto"], {"metric": "tune/score", "prune": True}, "between inner folds"),
        ([LAMBDA], {"prune": "median"}, "true or false"),
        ([LAMBDA], {"n_trials": 0}, "at least 1"),
        ([LAMBDA], {"n_trials": -3, "batch": 2}, "at least 1"),
        ([LAMBDA], {"n_trials": "many"}, "n_trials is many; it is a number of jobs"),
        ([LAMBDA], {"n_trials": None}, "n_trials is None"),
        ([LAMBDA], {"n_trials": 2.5}, "n_trials is 2.5"),
        ([LAMBDA], {"batch": 0}, "batch is 0; it is a number of jobs, at least 1, or null"),
        ([LAMBDA], {"seed": None}, "seed is None; it is a whole number"),
        ([LAMBDA], {"seed": -1}, "seed is -1"),
    ],
)
def test_what_cannot_be_searched_is_refused(words, settings, said):
    pytest.importorskip("optuna")
    with pytest.raises(AuclabError, match=said):
        check_search(words, SWEEPER | settings, metrics=["auc", "bauc"])


def test_leaving_jobs_early_needs_a_store():
    pytest.importorskip("optuna")
    with pytest.raises(AuclabError, match="leave tracking=none out"):
        check_search([LAMBDA], SWEEPER | {"prune": True}, tracked=False)


def test_there_are_no_more_jobs_than_settings():
    pytest.importorskip("optuna")
    assert check_search(["kernel=none,rbf", "preprocess=standard,minmax"], SWEEPER) == 4
    assert check_search(["kernel=none,rbf", LAMBDA], SWEEPER) == 30


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_the_same_results_lead_to_the_same_proposals_and_near_the_optimum(sampler, tmp_path):
    """The value −(log₁₀ λ + 2)² is largest at λ = 0.01."""

    def value(words):
        choices = dict(word.split("=") for word in words)
        bonus = 0.1 if choices["preprocess"] == "standard" else 0.0
        return bonus - (math.log10(float(choices["formulation.penalty"])) + 2) ** 2

    def search(count, batch):
        found = search_over(LAMBDA, "preprocess=standard,minmax", sampler=sampler, seed=1)
        while len(found.values) < count:
            found.tell(worth(*(value(words) for words in found.ask(batch))))
        return found

    once, longer = search(20, 2), search(40, 2)
    assert [job.words for job in once.jobs] == [job.words for job in longer.jobs[:20]]
    assert longer.values[longer.best] == max(longer.values)
    assert longer.values[longer.best] > -0.05
    importances = longer.importances
    assert sum(importances.values()) == pytest.approx(1)
    assert importances["formulation.penalty"] > 0.5 > importances["preprocess"]
    longer.save(tmp_path / "search.csv")
    with (tmp_path / "search.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == longer.values
    assert {row["status"] for row in rows} == {"finished"}
    assert f"formulation.penalty={rows[3]['formulation.penalty']}" in longer.jobs[3].words


def test_the_smallest_value_is_the_best_of_a_metric_that_falls():
    search = search_over(LAMBDA, direction=direction_of("inner/auc_threshold"))
    search.ask(3)
    search.tell(worth(0.5, 0.2, 0.3))
    assert search.best == 1


def test_a_failed_job_is_never_the_best():
    search = search_over(LAMBDA)
    search.ask(4)
    search.tell([Outcome("FAILED"), *worth(math.nan, 0.2), Outcome("KILLED")])
    assert search.values == [None, None, 0.2, None]
    assert search.best == 2
    search.ask(1)
    search.tell(worth(0.2))
    assert search.best == 2  # the first of equals


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_settings_are_proposed_once_and_all_of_them_where_there_is_an_end(sampler):
    search = search_over("kernel=none,rbf,laplacian", "solver.cuts=int(interval(1,4))", sampler=sampler)
    while asked := search.ask(5):
        search.tell(worth(*(float("rbf" in words[0]) for words in asked)))
    assert len({job.words for job in search.jobs}) == len(search.jobs) == 12
    assert all(job.outcome is not None for job in search.jobs)


def test_limits_are_medians_of_jobs_with_all_folds():
    search = search_over(LAMBDA)
    search.ask(6)
    folds = [(0.5, 0.7, 0.9), (0.6, 0.6, 0.6), (0.7, 0.9, 0.5), (0.8, 0.8, 0.8)]
    search.tell([Outcome("FINISHED", sum(each) / 3, each) for each in folds] + [Outcome("FAILED")] * 2)
    assert search.limits == ()  # of four
    search.ask(2)
    search.tell([Outcome("FINISHED", 0.9, (0.9, 0.9, 0.9)), Outcome("PRUNED", None, (0.1,))])
    assert search.limits == pytest.approx((0.7, 0.8))  # means 0.5 0.6 0.7 0.8 0.9, and 0.6 0.6 0.8 0.8 0.9
    states = [trial.state.name for trial in search.study.trials]
    assert states == ["COMPLETE"] * 4 + ["FAIL"] * 2 + ["COMPLETE", "PRUNED"]
    assert search.study.trials[-1].intermediate_values == {1: 0.1}


@pytest.mark.parametrize(("sampler", "module"), [("gp", "torch"), ("cmaes", "cmaes")])
def test_samplers_with_needs_of_their_own_name_them_or_propose(sampler, module):
    if find_spec(module) is None:
        with pytest.raises(AuclabError, match=f"needs {module}; install it with pip install {module}, or use tpe"):
            search_over(LAMBDA, sampler=sampler)
        return
    search = search_over(LAMBDA, sampler=sampler)
    for number in range(12):
        search.ask(1)
        search.tell(worth(number / 12))
    assert len({job.words for job in search.jobs}) == 12


def test_samplers_are_optunas():
    optuna = pytest.importorskip("optuna")
    assert all(issubclass(getattr(optuna.samplers, name), optuna.samplers.BaseSampler) for name in SAMPLERS.values())


def test_without_optuna_its_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)  # as if it were not installed
    with pytest.raises(AuclabError, match=r"pip install 'auclab\[optuna\]'"):
        check_search([LAMBDA], SWEEPER)
