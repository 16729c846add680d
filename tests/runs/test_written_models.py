"""The models that solver.export writes: HiGHS on each file has the objective of its split."""

import json

import highspy
import numpy as np
import pytest

from auclab import solve
from auclab._core.base import AuclabError
from auclab.formulations import CSVM
from auclab.formulations.problem import Problem
from auclab.models.pyomo_model import write_model
from auclab.runs.config.checks import check_settings
from auclab.samples.as_sample import as_sample
from composed import composed, run_here
from ranked_tables import settings

SMALL = ["dataset=artificial", "dataset.n_pos=30", "dataset.n_neg=40", "dataset.n_features=3", "solver=highs"]
FOLDS = ["split=kfold", "split.n_folds=2", "bounds=none"]


def optimum(path):
    """The least value of a model, and the values of its variables by name."""
    highs = highspy.Highs()
    highs.silent()
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.run()
    return highs.getInfo().objective_function_value, dict(
        zip(highs.getLp().col_names_, highs.getSolution().col_value, strict=True)
    )


def stored(folder):
    """The objective of a split."""
    return json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["objective"]


@pytest.mark.parametrize(
    "given",
    [
        ["formulation=bauc", "decision.probability=sigmoid", "inner.folds=2"],
        ["formulation=ranksvm", "formulation.norm=l1", "tune=penalty", "tune.values=[0.01,0.1]", "tune.folds=2"],
        ["formulation=csvm", "formulation.norm=linf", "class_weight=balanced"],
        ["formulation=ecsvm", "formulation.norm=l1", "class_weight={negative: 1, positive: 5}"],
        ["formulation=partial_auc", "formulation.norm=l1", "formulation.penalty=0.01"],
        ["formulation=bauc", "constraints=rules", "constraints.upper={x1: -3}"],
        ["formulation=generalized_bauc", "formulation.norm=l1", "formulation.threshold=-0.2", "preprocess=none"],
    ],
    ids=lambda given: given[0].partition("=")[2],
)
def test_the_model_of_each_split_is_that_of_its_solution(tmp_path, given):
    run_here(tmp_path / "run", *SMALL, *FOLDS, *given, f"solver.export={tmp_path / 'new' / 'm.lp'}")
    for number in range(2):
        folder = tmp_path / "run" / f"fold_{number}"
        value, names = optimum(folder / "m.lp")
        assert value == pytest.approx(stored(folder), rel=1e-6)
        assert {name for name in names if name.startswith("coef")} == {"coef(x1)", "coef(x2)", "coef(x3)"}
        assert (tmp_path / "new" / f"m_fold_{number}.lp").read_bytes() == (folder / "m.lp").read_bytes()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["m_fold_0.lp", "m_fold_1.lp"]


@pytest.mark.parametrize("kind", ["groups", "groups alike", "grades", "graded groups", "times", "strata"])
def test_a_model_has_the_pairs_that_are_compared(tmp_path, kind):
    given = [*settings(tmp_path, kind), "solver=highs", f"solver.export={tmp_path / 'm.mps'}", "formulation=bauc"]
    result = run_here(tmp_path / "run", *given, "split.test_size=0.6", "bounds=none")
    value, names = optimum(tmp_path / "m.mps")
    assert value == pytest.approx(stored(tmp_path / "run"), rel=1e-6)
    pairs = result.folds[0].parts["train"].part.ranked_by.pairs
    assert sum(name.startswith("loss") for name in names) == pairs.n_pairs
    assert "coef(a)" in names


def test_jobs_of_a_sweep_keep_their_models_with_the_runs(tmp_path):
    run_here(tmp_path / "run", *SMALL, f"solver.export={tmp_path / 'm.lp'}", parent="a sweep")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert optimum(tmp_path / "run" / "m.lp")[0] == pytest.approx(stored(tmp_path / "run"), rel=1e-6)


@pytest.mark.parametrize("suffix", ["lp", "mps"])
def test_names_of_columns_may_be_any_text(tmp_path, suffix):
    """On rows far from 0, which a solver moves: scores and intercept are those of the rows as they are."""
    rng, y = np.random.default_rng(0), np.arange(20) % 2
    X, path = 1e3 + rng.normal(size=(20, 4)) + y[:, None], tmp_path / f"m.{suffix}"
    sample = as_sample(X, y)
    assert sample.offset is not None
    write_model(Problem(CSVM(0.1, "l1"), sample), path, ["a b", "a_b", "λ <= 3", "age"])
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    value, found = optimum(path)
    solution = solve(CSVM(0.1, "l1"), X, y, solver="highs")
    assert value == pytest.approx(solution.objective, rel=1e-6)
    names = ["coef(a_b_0)", "coef(a_b_1)", "coef(_____3)", "coef(age)"]
    assert [found[name] for name in names] == pytest.approx(solution.coef)
    assert found["intercept"] == pytest.approx(solution.intercept)
    assert found["score_pos(0)"] == pytest.approx(X[1] @ solution.coef)


Z_ABOVE_0 = ["formulation=generalized_bauc", "formulation.threshold=0.2", "formulation.norm=l1"]


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        (Z_ABOVE_0, "m.lp", "generalized_bauc is not"),
        (["formulation=exact_auc"], "m.lp", "exact_auc is not one here"),
        ([], "FILE/m.lp", "cannot be written"),
        ([], "FOLDER.lp", "cannot be written"),
        (["dataset.n_pos=2500", "dataset.n_neg=2500"], "m.lp", r"there are 3,062,500 \(at most 2,000,000\)"),
    ],
    ids=["z > 0", "whole numbers", "no folder", "a folder", "many pairs"],
)
def test_a_model_that_cannot_be_written_is_refused_before_the_fit(tmp_path, monkeypatch, given, place, words):
    (tmp_path / "FILE").write_text("", encoding="utf-8")
    (tmp_path / "FOLDER.lp").mkdir()
    monkeypatch.setattr("auclab.estimators.auc_classifier.solve", None)  # a fit would be a TypeError
    export = [f"solver.export={tmp_path}/{place}"]

    def checked_and_run():
        check_settings(composed(["tracking=none", "formulation=bauc", *SMALL, *export, *given]))
        run_here(tmp_path / "run", *SMALL, *export, *given)

    with pytest.raises(AuclabError, match=words):
        checked_and_run()
