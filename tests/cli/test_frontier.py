"""`auclab frontier`: the table on the screen, the csv file and the figure have the same numbers."""

import numpy as np
import pandas as pd
import pytest

from auclab.cli import main as cli
from auclab.datasets import load
from auclab.pipeline.split.frontier import trace_frontier
from auclab.solvers.guaranteed import least_norm
from auclab.types import AuclabError
from composed import composed


def call(capsys, *words):
    with pytest.raises(SystemExit) as end:
        cli.main(["frontier", *words])
    said = capsys.readouterr()
    return end.value.code, said.out, said.err


def test_table_csv_and_figure(capsys, tmp_path):
    files = [str(tmp_path / "new" / "frontier.csv"), str(tmp_path / "frontier.png")]
    code, text, _ = call(capsys, "dataset=breast_cancer", "--points", "3", "--out", files[0], "--out", files[1])
    table = pd.read_csv(files[0])
    assert code == 0
    assert len(table) == 3
    assert table["norm"].is_monotonic_increasing
    assert (table["bauc"] >= table["at_least"]).all()
    assert (table["status"] == "optimal").all()
    coef = table.filter(like="coef:").to_numpy()
    assert coef.shape == (3, 30)
    assert np.abs(coef).sum(axis=1) == pytest.approx(table["norm"].to_numpy(), rel=1e-9)
    assert (np.count_nonzero(coef, axis=1) == table["features_used"]).all()
    for _, row in table.iterrows():
        assert f"{row['at_least']:.4f}" in text
        assert f"{row['test_auc']:.4f}" in text
    assert (tmp_path / "frontier.png").read_bytes()[:4] == b"\x89PNG"
    assert "(proved)" in text


def test_levels_on_all_rows_are_those_of_the_function():
    experiment = composed(["dataset=breast_cancer", "split=none", "preprocess=none"])
    found = trace_frontier(experiment, levels=[0.5, 0.8])
    data = load("breast_cancer")
    alone = least_norm(np.asarray(data.X, float), data.y, 0.8)
    assert found.frontier.norms[1] == pytest.approx(alone.norm, rel=2e-6)
    assert "test_auc" not in found.table
    assert found.title.startswith("breast_cancer · all rows")


def test_constraints_of_the_command_hold_in_the_units_of_the_data():
    words = ["dataset=breast_cancer", "split=none", "constraints=signs", "constraints.nonpositive=[mean radius]"]
    with pytest.raises(AuclabError, match="mean"):
        trace_frontier(composed([*words[:3], "constraints.nonpositive=[nothing]"]), levels=[0.5])
    found = trace_frontier(composed(words), levels=[0.5, 0.9])
    assert (found.table.filter(like="radius").iloc[:, 0] <= 0).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "frontier.doc"], "has to end in one of .csv"),
        (["--levels", "0.5", "1.5"], "above 0 and below 1"),
        (["dataset=breast_canser"], "did you mean 'breast_cancer'"),
        (["split.seed=x"], "whole number"),
        (["preprocess=standard,minmax"], "preprocess=standard,minmax has several values, and a frontier takes one;"),
        (["--points", "0"], "n_points must be at least 1"),
    ],
)
def test_mistakes_are_told_in_words(capsys, words, message):
    code, _, err = call(capsys, *words)
    assert code == 1
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "setting",
    [
        *("formulation=csvm", "solver.time_limit=3", "tune=penalty", "+kernel=rbf"),
        *("class_weight=balanced", "inner.folds=2", "bounds=default", "metrics=auc", "figures=all"),
    ],
)
def test_settings_that_a_frontier_does_not_have_are_refused(capsys, setting):
    code, _, said = call(capsys, "dataset=breast_cancer", setting)
    assert code != 0
    assert said.startswith(f"error: {setting}: a frontier minimises ‖w‖₁ subject to bAUC ≥ α")
