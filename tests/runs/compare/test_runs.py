"""What a store holds, as a table."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.datasets import splits
from auclab.runs import read_runs
from auclab.runs.compare.runs import _only_fold, fetch_files, open_reader, read_run
from auclab.runs.tracking.address import TrackingConfig
from tracked_runs import keep_run


@pytest.fixture(scope="session")
def runs(store):
    return read_runs(store)


def test_a_row_per_split_of_every_finished_run(runs):
    assert runs["fold"].tolist() == ["holdout"] * 6 + ["fold 0", "fold 1"]
    assert runs["formulation"].tolist() == ["ranksvm"] * 3 + ["csvm"] * 5
    assert runs["split.seed"].tolist() == [0, 1, 2, 0, 1, 2, 0, 0]
    assert runs["run_id"].nunique() == 7
    assert runs["started"].is_monotonic_increasing
    assert runs["data_sha256"].nunique() == 1


def test_numbers_are_those_of_the_files(runs):
    for _, row in runs.iterrows():
        kept = json.loads((row["fold_folder"] / "metrics.json").read_text(encoding="utf-8"))
        assert {"objective", "gap", "test/auc", "seconds/solve"} <= kept.keys()
        for key, value in kept.items():
            assert row[key] == value or (value is None and np.isnan(row[key]))
    assert runs["formulation.penalty"].tolist() == [0.01] * 8
    assert runs["solver.time_limit"].isna().all()


def test_parents_of_sweeps_are_no_runs_but_are_named(runs, store):
    sweep = runs[runs["fold"] == "holdout"]["parent_id"]
    assert sweep.nunique() == 1
    assert not runs["run_id"].isin(sweep).any()
    assert runs[runs["fold"] != "holdout"]["parent_id"].isna().all()
    assert set(read_runs(store, status=None)["run_status"]) == {"FINISHED", "FAILED"}


def test_runs_are_chosen_by_experiment_filter_and_status(store):
    assert len(read_runs(store, experiments=["folds"])) == 2
    found = read_runs(store, filter="params.formulation = 'ranksvm' and metrics.`test/auc` > 0")
    assert found["formulation"].tolist() == ["ranksvm"] * 3
    [failed] = read_runs(store, status="FAILED")["tag.error"]
    assert "test_size is 7" in failed
    nothing = read_runs(store, filter="params.formulation = 'nobody'")
    assert nothing.empty
    assert "run_id" in nothing


def test_what_cannot_be_read_is_said(store, tmp_path):
    with pytest.raises(AuclabError, match=r"no runs are kept in .*start one with auclab run"):
        read_runs(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(AuclabError, match=r"no experiment other .* auclab, folds"):
        read_runs(store, experiments=["other"])
    with pytest.raises(AuclabError, match=r"cannot read the runs .* filter"):
        read_runs(store, filter="all of them")


def test_a_store_that_was_moved_is_read_where_it_is(store, runs, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(store, moved)
    shutil.move(store / "artifacts", store / "away")
    try:
        again = read_runs(moved)
        assert all(folder.is_relative_to(moved) and folder.exists() for folder in again["fold_folder"])
        pd.testing.assert_series_equal(again["test/auc"], runs["test/auc"])
        shutil.rmtree(moved / "artifacts")
        with pytest.raises(AuclabError, match=r"folds\.csv is gone"):
            read_runs(moved)
    finally:
        shutil.move(store / "away", store / "artifacts")


def test_a_run_is_found_by_id_letters_name_and_place(store, runs):
    last = runs["run_id"].iloc[-1]
    for name in (last, last[:8], "last"):
        assert read_run(store, name, status="FINISHED")["run_id"].tolist() == [last, last]
    name = "ranksvm λ=0.01 l2 · breast_cancer · seed 1 · newton"
    assert read_run(store, name)["split.seed"].tolist() == [1]
    assert read_run(store, "csvm λ=0.01 l2 · breast_cancer · kfold seed 0 · newton")["fold"].tolist() == [
        "fold 0", "fold 1",
    ]  # fmt: skip
    with pytest.raises(AuclabError, match=r"no run is called 'lst' \(did you mean 'last'"):
        read_run(store, "lst")
    sweep = runs["parent_id"].iloc[0]
    with pytest.raises(AuclabError, match=f"{sweep[:8]} is a sweep; auclab compare --sweep {sweep[:8]} compares its"):
        read_run(store, sweep[:8])


def test_runs_of_one_name_are_told_apart_by_their_ids(tmp_path):
    tracking = TrackingConfig(dir=str(tmp_path / "runs"))
    ids = {keep_run(tmp_path / name, tracking).run_id for name in ("one", "two")}
    with pytest.raises(AuclabError, match="2 runs are called 'a run'; say which by its id: ") as told:
        read_run(tracking.dir, "a run")
    assert all(each[:8] in str(told.value) for each in ids)


def test_a_split_in_a_run_of_its_own_has_the_name_it_has_among_others():
    y = [0, 1] * 10
    for fold in range(3):
        [split] = splits.kfold(y, n_folds=3, fold=fold)
        assert _only_fold({"split": "kfold", "split.fold": str(fold)}) == split.name
    assert _only_fold({"split": "repeated"}) == splits.repeated(y, n_repeats=1)[0].name
    assert _only_fold({"split": "holdout"}) == splits.holdout(y)[0].name
    assert _only_fold({"split": "none"}) == splits.none(y)[0].name


def test_files_that_are_here_are_not_asked_for(runs, store, monkeypatch):
    """The store knows 5,000 runs, and a question for each takes a minute."""
    monkeypatch.setattr("auclab.runs.compare.runs.open_reader", None)
    fetch_files(runs, store)


def test_runs_of_others_in_the_store_are_no_runs(runs, store, tmp_path):
    """`mlflow.models.evaluate` puts its runs beside the run whose model it measures."""
    shutil.copytree(store, moved := tmp_path / "mlruns")
    client = open_reader(moved)
    other = client.create_run(client.search_experiments()[0].experiment_id)
    client.log_metric(other.info.run_id, "accuracy_score", 0.5)
    client.set_terminated(other.info.run_id)
    assert set(read_runs(moved, status=None)["run_id"]) == set(read_runs(store, status=None)["run_id"])
    assert other.info.run_id not in set(read_run(moved, "last")["run_id"])
