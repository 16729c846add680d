"""Adaptive search: what may be searched, that the best is found, and that a second start takes what finished."""

import csv
import math

import pytest

from auclab.sweeps.adaptive import SAMPLERS, Interval, Search, check_search, direction_of, space_of, value_of
from auclab.tracking import TrackingConfig
from auclab.tracking.job_status import JobStatus
from auclab.types import AuclabError
from run_command import SMALL, run, runs_in

LAMBDA = "formulation.penalty=tag(log,interval(1e-4,1))"


def parsed(*words):
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create().parse_overrides(list(words))


def test_space_keeps_what_all_jobs_share():
    space, fixed = space_of(parsed("tune=auto", "preprocess=standard,minmax", "tune.folds=range(2,5)", LAMBDA))
    assert fixed == ["tune=auto"]
    assert space == {
        "preprocess": ("standard", "minmax"),
        "tune.folds": ("2", "3", "4"),
        "formulation.penalty": Interval(1e-4, 1.0, log=True),
    }
    assert space_of(parsed("solver.cuts=int(interval(1,9))"))[0] == {"solver.cuts": Interval(1, 9, whole=True)}


@pytest.mark.parametrize(
    ("words", "sampler", "metric", "said"),
    [
        (["dataset=pima", "tune=auto"], "tpe", "tune/score", "nothing to search"),
        (["dataset=pima,sonar", "tune=auto"], "tpe", "tune/score", "another task"),
        (["split.seed=range(3)", "tune=auto", LAMBDA], "tpe", "tune/score", "another task"),
        ([LAMBDA, "tune=auto"], "tpe", "test/auc", "held-out part"),
        ([LAMBDA], "tpe", "train/auc", "have not seen"),
        ([LAMBDA], "tpe", "seconds/total", "have not seen"),
        ([LAMBDA], "tpe", "tune/score", "add tune=auto"),
        ([LAMBDA, "tune=none"], "tpe", "tune/score", "add tune=auto"),
        ([LAMBDA, "inner.folds=3,5"], "tpe", "inner/auc", "another task"),
        ([LAMBDA, "tune=auto"], "annealing", "tune/score", "samplers are tpe"),
        (["formulation.penalty=interval(1,0.1)", "tune=auto"], "tpe", "tune/score", "the smaller one first"),
        (["formulation.penalty=tag(log,interval(0,1))", "tune=auto"], "tpe", "tune/score", "above 0"),
    ],
)
def test_what_cannot_be_searched_is_refused(words, sampler, metric, said):
    pytest.importorskip("optuna")
    with pytest.raises(AuclabError, match=said):
        check_search(words, sampler, metric)


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_the_same_results_lead_to_the_same_proposals_and_near_the_optimum(sampler, tmp_path):
    """The value −(log₁₀ λ + 2)² is largest at λ = 0.01."""
    pytest.importorskip("optuna")
    space, _ = space_of(parsed(LAMBDA, "preprocess=standard,minmax"))

    def value(words):
        choices = dict(word.split("=") for word in words)
        bonus = 0.1 if choices["preprocess"] == "standard" else 0.0
        return bonus - (math.log10(float(choices["formulation.penalty"])) + 2) ** 2

    def search(count, batch):
        found = Search.start(space, sampler=sampler, seed=1)
        while len(found.values) < count:
            found.tell([value(words) for words in found.ask(batch)])
        return found

    once, longer = search(20, 2), search(40, 2)
    assert [once.settings(k) for k in range(20)] == [longer.settings(k) for k in range(20)]
    assert longer.values[longer.best] == max(longer.values)
    assert longer.values[longer.best] > -0.05
    longer.save(tmp_path / "search.csv")
    with (tmp_path / "search.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == longer.values
    assert float(rows[3]["formulation.penalty"]) == longer.trials[3].params["formulation.penalty"]


def test_the_smallest_value_is_the_best_of_a_metric_that_falls():
    pytest.importorskip("optuna")
    space = space_of(parsed(LAMBDA))[0]
    search = Search.start(space, sampler="random", seed=0, direction=direction_of("inner/auc_threshold"))
    search.ask(3)
    search.tell([0.5, 0.2, 0.3])
    assert search.best == 1


@pytest.mark.parametrize(("n_trials", "batch"), [(0, None), (-3, 2), (4, 0), (4, -1)])
def test_numbers_of_jobs_are_at_least_one(n_trials, batch):
    pytest.importorskip("optuna")
    with pytest.raises(AuclabError, match="at least 1"):
        check_search([LAMBDA], "tpe", "inner/auc", n_trials, batch)


def test_a_failed_job_is_never_the_best():
    pytest.importorskip("optuna")
    search = Search.start(space_of(parsed(LAMBDA))[0], sampler="random", seed=0)
    search.ask(3)
    search.tell([None, math.nan, 0.2])
    assert search.best == 2
    search.ask(1)
    search.tell([0.2])
    assert search.best == 2  # the first of equals


def test_a_job_that_failed_has_no_value(tmp_path):
    assert value_of(JobStatus(tmp_path, "FAILED"), TrackingConfig(name="none"), "tune/score") is None
    (tmp_path / "metrics.json").write_text('{"tune/score": 0.75, "test/auc": 0.8}')
    finished = JobStatus(tmp_path, "FINISHED")
    assert value_of(finished, TrackingConfig(name="none"), "tune/score") == 0.75
    with pytest.raises(AuclabError, match="they have tune/score"):
        value_of(finished, TrackingConfig(name="none"), "tune/auc")


def test_samplers_are_optunas():
    optuna = pytest.importorskip("optuna")
    assert all(issubclass(getattr(optuna.samplers, name), optuna.samplers.BaseSampler) for name in SAMPLERS.values())


@pytest.mark.slow
def test_started_again_with_more_jobs_it_takes_those_that_finished(tmp_path):
    pytest.importorskip("optuna")
    words = ("-m", *SMALL, "formulation=ranksvm", "inner.folds=3", "hydra/sweeper=optuna", LAMBDA, "bounds=none")
    first = run(tmp_path, *words, "hydra.sweeper.n_trials=3")
    assert first.returncode == 0, first.stderr
    second = run(tmp_path, *words, "hydra.sweeper.n_trials=4")
    assert second.stdout.splitlines()[-1] == "sweep: 1 finished, 3 skipped, 0 failed, 0 killed"
    _, runs = runs_in(tmp_path)
    scores = [kept.data.metrics["inner/auc"] for kept in runs if "inner/auc" in kept.data.metrics]
    assert len(scores) == 4
    assert f"inner/auc {max(scores):.4f}" in second.stdout
    (table,) = [path for path in tmp_path.glob("multirun/*/*/search.csv") if path.read_text().count("\n") == 5]
    with table.open(newline="") as file:
        assert {float(row["value"]) for row in csv.DictReader(file)} == set(scores)
