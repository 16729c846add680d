"""What tuned runs tried on inner folds, as paths of the page."""

import pandas as pd
import pytest

from auclab.runs.report.paths import tuning_paths


@pytest.fixture
def runs(tmp_path):
    """Two formulations on two seeds that tried three values each, and one run that was not tuned."""
    rows = []
    for formulation, lift in (("ranksvm", 0.0), ("csvm", 0.1)):
        for seed in range(2):
            folder = tmp_path / f"{formulation}{seed}"
            folder.mkdir()
            score = [0.6 + lift + seed / 10, 0.7 + lift, float("nan")]
            pd.DataFrame({"value": [0.01, 0.1, 1.0], "mean": score}).to_csv(folder / "tuning.csv", index=False)
            rows.append({"formulation": formulation, "split.seed": seed, "fold_folder": folder})
    runs = pd.DataFrame(rows).assign(**{"dataset": "toy", "tune": "penalty", "tune.parameter": "penalty"})
    runs["tune.metric"] = "bauc"
    plain = pd.DataFrame([{"formulation": "bauc", "split.seed": 0, "dataset": "toy", "fold_folder": tmp_path}])
    return pd.concat([runs, plain], ignore_index=True)


def test_points_are_means_over_seeds_by_configuration(runs):
    first, second = tuning_paths(runs)
    assert (first["symbol"], first["metric"], first["name"]) == ("λ", "bauc, inner folds", "toy ranksvm")
    assert second["name"] == "toy csvm"
    assert [point["at"] for point in first["points"]] == [0.01, 0.1]  # at 1.0 there was no score
    assert first["points"][0]["mean"] == pytest.approx(0.65)
    assert first["points"][0]["deviation"] == pytest.approx(0.1 / 2**0.5)
    assert (first["points"][1]["mean"], first["points"][1]["count"]) == (pytest.approx(0.7), 2)
    assert second["points"][1]["mean"] == pytest.approx(0.8)


def test_a_kernel_has_a_path_per_gamma(tmp_path):
    tried = {"gamma": [0.1, 0.1, 2.0, 2.0], "value": [0.01, 0.1] * 2, "mean": [0.6, 0.7, 0.8, 0.9]}
    pd.DataFrame(tried).to_csv(tmp_path / "tuning.csv", index=False)
    row = {"formulation": "ranksvm", "formulation.penalty": "tuned", "split.seed": 0, "fold_folder": tmp_path}
    runs = pd.DataFrame([row]).assign(**{"dataset": "toy", "tune.parameter": "kernel", "tune.metric": "auc"})
    first, second = tuning_paths(runs)
    assert (first["symbol"], first["name"], second["name"]) == ("λ", "toy ranksvm γ=0.1", "toy ranksvm γ=2")
    assert [(point["at"], point["mean"]) for point in second["points"]] == [(0.01, 0.8), (0.1, 0.9)]


def test_a_file_that_is_gone_is_left_out(runs):
    (runs["fold_folder"].iloc[0] / "tuning.csv").unlink()
    first, _ = tuning_paths(runs)
    assert [point["count"] for point in first["points"]] == [1, 1]
    assert tuning_paths(runs[runs["formulation"] == "bauc"]) == []
    assert tuning_paths(runs.drop(columns="tune.parameter")) == []
