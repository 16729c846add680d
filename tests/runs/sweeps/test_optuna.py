"""hydra/sweeper=optuna: Optuna proposes, the jobs evaluate, its own storage keeps the study."""

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from auclab._core.base import AuclabError
from auclab.runs.tracking.record import RunRecord
from hydra_plugins.auclab_optuna_sweeper import check_metric, search_space, value_of
from run_command import SMALL, run, runs_in

optuna = pytest.importorskip("optuna")

SEARCH = ("-m", *SMALL, "bounds=none", "metrics=[auc]", "formulation=ranksvm", "solver=newton", "hydra/sweeper=optuna")
PENALTY = "formulation.penalty=tag(log,interval(1e-3,1))"


def space(*words):
    return search_space(OverridesParser.create().parse_overrides(list(words)))


def test_the_space_is_that_of_the_overrides():
    found, fixed = space(PENALTY, "kernel=none,rbf", "tune.folds=int(interval(2,9))", "dataset=pima")
    assert found["formulation.penalty"] == optuna.distributions.FloatDistribution(1e-3, 1.0, log=True)
    assert found["kernel"] == optuna.distributions.CategoricalDistribution(("none", "rbf"))
    assert found["tune.folds"] == optuna.distributions.IntDistribution(2, 9)
    assert fixed == ["dataset=pima"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dataset=pima",), "has nothing to search"),
        (("dataset=pima,sonar",), "dataset changes the task"),
        (("split.seed=1,2",), r"split\.seed changes the task"),
        (("formulation.penalty=interval(1,0)",), "low"),
        (("formulation.penalty=tag(log,interval(0,1))",), "low"),
    ],
)
def test_what_cannot_be_searched_is_refused(words, said):
    with pytest.raises(AuclabError, match=said):
        space(*words)


@pytest.mark.parametrize(
    ("metric", "fixed", "said"),
    [
        ("test/auc", (), "not measured on folds of the training part"),
        ("train/auc", (), "not measured on folds of the training part"),
        ("tune/score", (), "needs tune=auto"),
        ("inner/auc", ("inner.folds=0",), "needs inner folds"),
    ],
)
def test_a_metric_that_would_choose_by_the_test_part_is_refused(metric, fixed, said):
    with pytest.raises(AuclabError, match=said):
        check_metric(metric, fixed)


def test_the_value_of_a_job_is_that_of_its_record(tmp_path):
    assert value_of(tmp_path, "inner/auc") is None  # its worker died
    RunRecord(tmp_path, "a").keep(status="FAILED", metrics={"inner/auc": 0.9})
    assert value_of(tmp_path, "inner/auc") is None
    RunRecord(tmp_path, "a").keep(metrics={"inner/concordance": 0.9})
    assert value_of(tmp_path, "inner/auc") == 0.9
    with pytest.raises(AuclabError, match="inner/bauc is not measured by these runs; they have inner/concordance"):
        value_of(tmp_path, "inner/bauc")


@pytest.mark.slow
def test_the_same_command_continues_its_study(tmp_path):
    first = run(tmp_path, *SEARCH, PENALTY, "hydra.sweeper.n_trials=3")
    assert first.returncode == 0, first.stderr
    assert "search:    best of 3 is trial" in first.stdout
    again = run(tmp_path, *SEARCH, PENALTY, "hydra.sweeper.n_trials=5")
    assert again.returncode == 0, again.stderr
    assert "search:    best of 5 is trial" in again.stdout
    assert again.stdout.splitlines()[-1].startswith("sweep: 2 finished, 0 skipped")
    storage = f"sqlite:///{tmp_path / 'mlruns' / 'optuna.db'}"
    [summary] = optuna.get_all_study_summaries(storage)
    study = optuna.load_study(study_name=summary.study_name, storage=storage)
    values = {trial.value for trial in study.trials}
    runs = [each for each in runs_in(tmp_path)[1] if "sweep.grid" not in each.data.tags]
    assert {each.data.metrics["inner/auc"] for each in runs} == values
    assert study.best_value == max(values)


@pytest.mark.slow
def test_a_repeated_proposal_takes_the_known_value_and_a_failed_job_has_none(tmp_path):
    words = ("formulation.penalty=1,0.1,-1", "hydra.sweeper.n_trials=9", "hydra.sweeper.sampler=RandomSampler")
    answer = run(tmp_path, *SEARCH, *words)
    assert "search:    best of" in answer.stdout
    finished = [each for each in runs_in(tmp_path)[1] if each.info.status == "FINISHED" and each.data.params]
    assert len(finished) <= 2
