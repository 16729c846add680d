"""What jobs of a search were worth, and whole searches: resumed, with jobs that fail, die or are left early."""

import csv
import json
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace

import pytest
from omegaconf import OmegaConf

from auclab.sweeps.adaptive import Outcome, Search
from auclab.sweeps.search_results import outcome_of, show_search
from auclab.tracking import TrackingConfig
from auclab.tracking.job_status import SWEEP_VARIABLE, JobStatus, add_line, read_status, write_status
from auclab.tracking.search_tags import FOLDS_TAG, METRIC_TAG, KeptSearch, read_values
from auclab.types import AuclabError
from hydra_plugins.auclab_optuna_sweeper import OptunaSweeper
from run_command import SMALL, run, runs_in

LAMBDA = "formulation.penalty=tag(log,interval(1e-4,1))"
SEARCH = ("-m", *SMALL, "formulation=ranksvm", "inner.folds=3", "bounds=none", "hydra/sweeper=optuna")


def table(folder, jobs):
    """Rows of the search.csv with so many jobs, and all but status, which says how this start ended them."""
    (path,) = [
        each
        for each in folder.glob("multirun/*/*/search.csv")
        if each.read_text(encoding="utf-8").count("\n") == jobs + 1
    ]
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_job_that_failed_has_no_value(tmp_path):
    nowhere = TrackingConfig(name="none")
    assert outcome_of(JobStatus(tmp_path, "FAILED"), nowhere, "tune/score") == Outcome("FAILED")
    (tmp_path / "metrics.json").write_text('{"tune/score": 0.75, "test/auc": 0.8}', encoding="utf-8")
    finished = JobStatus(tmp_path, "FINISHED")
    assert outcome_of(finished, nowhere, "tune/score").value == 0.75
    with pytest.raises(AuclabError, match="they have tune/score"):
        outcome_of(finished, nowhere, "tune/auc")


def test_the_end_of_a_search_names_the_metric_as_its_runs_do(tmp_path, capsys):
    """Of censored times inner/auc is the concordance."""
    (tmp_path / "metrics.json").write_text('{"inner/concordance": 0.75}', encoding="utf-8")
    outcome = outcome_of(JobStatus(tmp_path, "FINISHED"), TrackingConfig(name="none"), "inner/auc")
    assert (outcome.value, outcome.metric) == (0.75, "inner/concordance")
    search = Search.start({"x": ("1",)}, sampler="random", seed=0, direction="maximize")
    search.ask(1)
    search.tell([outcome])
    show_search(search, "inner/auc", " ".join)
    assert "best of 1 is job 0, inner/concordance 0.7500" in capsys.readouterr().out


def test_a_worker_that_died_leaves_no_status():
    """Dask gives the error in place of the status, the process launcher nothing."""
    for left in (RuntimeError("killed"), None):
        assert outcome_of(left, TrackingConfig(name="none"), "inner/auc") == Outcome("KILLED")


def test_means_over_folds():
    assert Outcome("FINISHED", 0.5, (0.25, 0.75, 0.5)).running == (0.25, 0.5, 0.5)


def test_a_search_is_read_back_from_its_tags():
    kept = KeptSearch("inner/auc", "maximize", "tpe", ("kernel", "x"), ("0123456789ab", "", "f" * 12), {"kernel": 0.9})
    assert KeptSearch.from_tags(kept.tags) == kept
    many = KeptSearch("inner/auc", "maximize", "tpe", ("x",), tuple(f"{k:012x}" for k in range(1200)))
    assert KeptSearch.from_tags(many.tags) == many
    assert max(map(len, many.tags.values())) <= 8000
    damaged = kept.tags | {"search.importances": "[1"}
    assert KeptSearch.from_tags(damaged).importances == {}
    assert read_values({FOLDS_TAG: "no json"}, "inner/auc") == ()


@pytest.mark.slow
def test_started_again_with_more_jobs_it_takes_those_that_ended(tmp_path):
    """The third start finds runs that were left early, and leaves them again without a solve."""
    pytest.importorskip("optuna")
    words = (*SEARCH, LAMBDA, "preprocess=standard,minmax", "hydra.sweeper.prune=true")
    first = run(tmp_path, *words, "hydra.sweeper.n_trials=8")
    assert first.returncode == 0, first.stderr
    early = [row for row in table(tmp_path, 8) if row["status"] == "pruned"]
    assert early
    assert first.stdout.splitlines()[-1].endswith(f"0 failed, 0 killed, {len(early)} left early")
    second = run(tmp_path, *words, "hydra.sweeper.n_trials=9", "hydra/launcher=processes", "hydra.launcher.workers=1")
    rows = table(tmp_path, 9)
    kept = ("job", "formulation.penalty", "preprocess", "value", "run")
    assert [[row[key] for key in kept] for row in rows[:8]] == [
        [row[key] for key in kept] for row in table(tmp_path, 8)
    ]
    assert f"{8 - len(early)} skipped" in second.stdout.splitlines()[-1]
    client, runs = runs_in(tmp_path)
    jobs = [kept for kept in runs if METRIC_TAG not in kept.data.tags]
    assert len(jobs) == 9
    assert {kept.info.status for kept in jobs if kept.data.tags["status"] == "pruned"} == {"KILLED"}
    values = {kept.info.run_id: kept.data.metrics.get("inner/auc") for kept in jobs}
    assert {row["run"]: float(row["value"]) if row["value"] else None for row in rows} == values
    best = max(value for value in values.values() if value is not None)
    assert f"inner/auc {best:.4f}" in second.stdout
    parent = next(kept for kept in runs if METRIC_TAG in kept.data.tags)  # the newest
    search = KeptSearch.from_tags(parent.data.tags)
    assert search.runs == tuple(row["run"][:12] for row in rows)
    history = client.get_metric_history(parent.info.run_id, "search/best")
    assert [each.value for each in history][-1] == best
    folds = json.loads(next(kept.data.tags[FOLDS_TAG] for kept in jobs if "inner/auc" in kept.data.metrics))
    assert len(folds["auc"]) == 3


@pytest.mark.slow
def test_jobs_that_fail_are_recorded_and_the_search_goes_on(tmp_path):
    """Boosted trees have no kernel: every such job fails."""
    pytest.importorskip("optuna")
    words = ("-m", *SMALL, "inner.folds=2", "bounds=none", "hydra/sweeper=optuna", "hydra.sweeper.n_trials=9")
    answer = run(tmp_path, *words, "formulation=ranksvm,logistic", "kernel=none,rbf", "hydra.sweeper.batch=2")
    assert answer.returncode == 1
    rows = table(tmp_path, 4)  # all there are
    failed = [row for row in rows if row["status"] == "failed"]
    assert [(row["formulation"], row["kernel"], row["value"]) for row in failed] == [("logistic", "rbf", "")]
    assert answer.stdout.splitlines()[-1] == "sweep: 3 finished, 0 skipped, 1 failed, 0 killed"
    assert "best of 4 is job" in answer.stdout
    assert "1 without a value" in answer.stdout


def _job(folder, deadly):
    if deadly:
        os._exit(9)  # as if the system had killed it for its memory
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.json").write_text('{"inner/auc": 0.75}', encoding="utf-8")
    write_status(folder, name="a job", status="FINISHED", run_id=None, files=folder)
    add_line(folder, "a job", status="FINISHED")
    return read_status(folder, os.environ.get(SWEEP_VARIABLE))


class Pool:
    """As the process launcher: one death breaks the whole pool."""

    def __init__(self, folder):
        self.folder, self.launched = folder, []

    def launch(self, jobs, initial_job_idx):
        self.launched.append(len(jobs))
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            parts = [
                pool.submit(_job, self.folder / str(at), "deadly" in words)
                for at, words in enumerate(jobs, initial_job_idx)
            ]
            return [SimpleNamespace(return_value=part.result()) for part in parts]


def test_a_job_by_which_its_worker_dies_has_no_value_and_the_others_do(tmp_path):
    """Four jobs in one process: the first ends, the second kills it, and all but the first run again, alone."""
    pytest.importorskip("optuna")
    # Not by its __init__: Hydra imports the module of its base class anew when it looks for plug-ins in other tests.
    sweeper = OptunaSweeper.__new__(OptunaSweeper)
    sweeper.n_trials, sweeper.batch, sweeper.sampler, sweeper.seed, sweeper.metric = 4, 4, "tpe", 0, "inner/auc"
    sweeper.config = OmegaConf.create({"hydra": {"sweep": {"dir": str(tmp_path)}}})
    sweeper.launcher = Pool(tmp_path)
    jobs = [["a"], ["deadly"], ["b"], ["c"]]
    outcomes = sweeper._launch(jobs, 0, [], TrackingConfig(name="none"))
    assert [each.value for each in outcomes] == [0.75, None, 0.75, 0.75]
    assert outcomes[1].status == "KILLED"
    assert sweeper.launcher.launched == [4, 1, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "formulation.penalty=interval(0.1,1)"), "add -m hydra/sweeper=optuna"),
        (("hydra/sweeper=optuna", LAMBDA), "-m"),
        ((*SEARCH, LAMBDA, "hydra.sweeper.n_trials=many"), "n_trials is many"),
        ((*SEARCH, LAMBDA, "tracking.dir=/proc/nowhere"), "/proc/nowhere"),
    ],
)
def test_what_cannot_begin_says_why_in_a_line(tmp_path, words, said):
    pytest.importorskip("optuna")
    answer = run(tmp_path, *words)
    assert answer.returncode == 1
    (line,) = answer.stderr.splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_values_of_inner_folds_are_read_from_the_tags():
    tags = {FOLDS_TAG: json.dumps({"auc": [0.5, 0.75]})}
    assert read_values(tags, "inner/auc") == (0.5, 0.75)
    assert read_values(tags, "inner/bauc") == ()
    assert read_values({}, "inner/auc") == ()
