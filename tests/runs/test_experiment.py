"""Experiments run in this process: what is measured, what is written, what is refused."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError, Status
from auclab.bounds import pairwise_stability_bound
from auclab.bounds.bound import Bound
from auclab.bounds.fixed_scorer import fixed_scorer_auc_bound
from auclab.estimators.baselines import Baseline
from auclab.inference import estimate
from auclab.metrics import auc_score, bauc_score
from auclab.runs import load_model, load_scorer
from auclab.runs.experiment import solve_splits
from auclab.runs.split.guarantees import Guarantee
from auclab.runs.split.results import spread
from composed import REPOSITORY, composed, run_here

FILES = {
    *("config.yaml", "metrics.json", "certificate.json", "bounds.json", "coefficients.csv", "history.csv"),
    "multipliers.parquet",
    *("scores.parquet", "model", "run.json", "details.json"),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Two overlapping clouds, so that the optimum is neither 0 nor 1."""
    folder = tmp_path_factory.mktemp("finished")
    small = ["dataset=artificial", "dataset.n_pos=60", "dataset.n_neg=90", "dataset.n_features=3"]
    return run_here(folder, *small, "solver=highs"), folder


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_solution_is_certified_and_the_numbers_are_those_of_the_parts(finished):
    result, _ = finished
    (fold,) = result.folds
    assert fold.solution.status is Status.OPTIMAL
    assert 0 <= fold.solution.gap <= 1e-6
    assert set(fold.parts) == {"train", "test"}
    assert [len(part.y_true) for part in fold.parts.values()] == [105, 45]
    for name, part in fold.parts.items():
        assert result.summary[f"{name}/auc"] == auc_score(part.y_true, part.y_score)
        assert result.summary[f"{name}/bauc"] == bauc_score(part.y_true, part.y_score)
    # The optimal value of bAUC maximisation is 1 − bAUC of its own training scores.
    assert result.summary["train/bauc"] == pytest.approx(1 - fold.solution.objective, abs=1e-7)


def test_metrics_of_the_held_out_part_come_with_their_uncertainty(finished):
    result, folder = finished
    test = result.folds[0].parts["test"]
    for key in ("auc", "bauc"):
        found = estimate(test.y_true, test.y_score, key, level=0.95)
        expected = {"se": found.standard_error, "low": found.lower, "high": found.upper}
        assert {word: result.summary[f"test/{key}_{word}"] for word in expected} == expected
        assert found.lower < result.summary[f"test/{key}"] < found.upper
        assert {f"test/{key}_{word}" for word in expected} <= read(folder / "metrics.json").keys()
    # The scorer was chosen on the training part, and z₀ would need the bootstrap.
    assert not {"train/auc_se", "test/auc_threshold_se"} & result.summary.keys()


def test_the_preprocessing_sees_the_training_part_only(finished):
    result, _ = finished
    scaler = result.folds[0].model[0][-1]
    train = result.dataset.X.iloc[result.folds[0].split.train]
    assert scaler.shift_ == pytest.approx(train.mean().to_numpy())


def test_every_file_is_written(finished):
    result, folder = finished
    assert {path.name for path in folder.iterdir()} == FILES
    assert read(folder / "metrics.json") == pytest.approx(result.summary, nan_ok=True)
    certificate = read(folder / "certificate.json")
    assert certificate["objective"] == result.folds[0].solution.objective
    assert certificate["status"] == "optimal"
    assert certificate["formulation"] == result.formulation.equation()
    coefficients = pd.read_csv(folder / "coefficients.csv")
    assert coefficients["feature"].tolist() == [*result.folds[0].features, "(intercept)"]
    assert coefficients["coefficient"].to_numpy()[:-1] == pytest.approx(result.folds[0].solution.coef)
    assert pd.read_csv(folder / "history.csv").columns.tolist() == ["seconds", "objective", "lower_bound"]
    scores, test = pd.read_parquet(folder / "scores.parquet"), result.folds[0].parts["test"]
    assert scores["row"].tolist() == result.folds[0].split.test.tolist()
    assert (scores["y_true"] == result.dataset.y[scores["row"]]).all()
    assert scores["score"].tolist() == test.y_score.tolist()  # to the last digit
    assert set(scores["part"]) == {"test"}
    for figure in folder.glob("*.png"):
        assert figure.read_bytes().startswith(b"\x89PNG")


def test_the_model_loads_and_decides_as_before(finished):
    result, folder = finished
    fold = result.folds[0]
    X = result.dataset.X.iloc[fold.split.test]
    loaded = load_model(folder / "model")
    scores = fold.solution.decision_function(fold.model[0].transform(X))
    assert loaded.decision_function(X) == pytest.approx(scores, abs=1e-12)
    assert loaded.predict(X).tolist() == np.where(scores > fold.decision.threshold, "1", "0").tolist()
    found = load_scorer(folder / "model").predict(X)
    assert found["score"].to_numpy() == pytest.approx(scores, abs=1e-12)
    assert found["label"].tolist() == loaded.predict(X).tolist()
    assert found["probability"].between(0, 1).all()
    example = pd.read_parquet(folder / "model" / "example.parquet")
    assert example.equals(result.dataset.X.iloc[fold.split.train[:5]].reset_index(drop=True))


def test_held_out_bounds_are_those_of_the_numbers(finished):
    result, folder = finished
    fold = result.folds[0]
    by_name = {item.name: item for item in fold.guarantees}
    held_out = {"fixed_scorer_auc", "fixed_scorer_bauc", "peeled_fixed_scorer_bauc"}
    assert set(by_name) == {"peeled_margin", *held_out}
    y = fold.parts["test"].y_true
    sizes = {"n_pos": int(y.sum()), "n_neg": int((1 - y).sum())}
    again = fixed_scorer_auc_bound(result.summary["test/auc"], rho=0.05, method="hoeffding", **sizes)
    assert by_name["fixed_scorer_auc"].bound.half_width == again.half_width
    assert result.summary["bound/fixed_scorer_auc"] == pytest.approx(result.summary["test/auc"] - again.half_width)
    observed = "conditional on the support lying within the observed radius"
    for name in ("peeled_margin", "fixed_scorer_bauc", "peeled_fixed_scorer_bauc"):
        assert any(words.startswith(observed) for words in by_name[name].bound.assumptions)
        assert by_name[name].test_value == result.summary["test/bauc"]
    assert "squared=true" in fold.remarks[0]
    assert len(read(folder / "bounds.json")["bounds"]) == 4


def test_stability_bounds_in_the_unit_ball(tmp_path):
    choices = ["formulation=ranksvm", "formulation.squared=true", "formulation.penalty=0.5", "preprocess=unit_ball"]
    result = run_here(tmp_path, "dataset=artificial", "dataset.n_pos=40", "dataset.n_neg=40", "split=none", *choices)
    fold = result.folds[0]
    assert set(fold.parts) == {"train"}
    by_name = {item.name: item for item in fold.guarantees}
    assert set(by_name) == {"published_stability", "pairwise_stability", "peeled_stability", "peeled_margin"}
    part = fold.parts["train"]
    margins = part.y_score[part.y_true == 1][:, None] - part.y_score[part.y_true == 0][None, :]
    loss = float(np.maximum(1 - margins, 0).mean())
    gap = max(fold.solution.certificate.absolute_gap, 0.0)
    sizes = {"penalty": 0.5, "n_pos": 40, "n_neg": 40, "rho": 0.05, "optimality_gap": gap}
    again = pairwise_stability_bound(loss, 1.0, diameter=2.0, **sizes)
    assert by_name["pairwise_stability"].bound.lower == pytest.approx(again.lower, rel=1e-12)
    assert not any("observed" in words for item in fold.guarantees for words in item.bound.assumptions)
    assert all(np.isnan(item.test_value) for item in fold.guarantees)
    assert "held-out part" in fold.remarks[0]


@pytest.mark.slow
def test_folds_are_averaged_and_listed(tmp_path):
    small = ["dataset=artificial", "dataset.n_pos=30", "dataset.n_neg=30", "dataset.n_features=2"]
    result = run_here(tmp_path, *small, "split=kfold", "split.n_folds=3", "metrics=[auc]")
    table = pd.read_csv(tmp_path / "folds.csv")
    assert len(table) == len(result.folds) == 3
    assert result.summary["test/auc"] == pytest.approx(table["test/auc"].mean())
    assert result.summary["test/auc_sd"] == pytest.approx(table["test/auc"].std(ddof=1))
    assert result.summary["gap"] == table["gap"].max()
    assert (table["test/auc_low"] < table["test/auc"]).all()
    assert "test/auc_low" not in result.summary
    for number in range(3):
        assert {"scores.parquet", "certificate.json", "model"} <= {
            p.name for p in (tmp_path / f"fold_{number}").iterdir()
        }


@pytest.mark.slow
def test_your_own_file(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=60), "colour": ["red", "green", "blue"] * 20})
    frame["y"] = np.where(frame["size"] + rng.normal(size=60) > 0, "yes", "no")
    frame.to_csv(tmp_path / "my.csv", index=False)
    own = ["dataset=file", f"dataset.path={tmp_path / 'my.csv'}", "dataset.target=y", "dataset.positive=yes"]
    result = run_here(tmp_path / "out", *own)
    assert result.name.split(" · ")[1] == "my.csv"
    assert result.dataset.n_pos == (frame["y"] == "yes").sum()
    with pytest.raises(AuclabError, match="maybe"):
        run_here(tmp_path / "bad", *own, "dataset.positive=maybe")
    assert sorted(path.name for path in (tmp_path / "bad").iterdir()) == ["run.json", "traceback.txt"]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["formulation=ranksvm", "formulation.penalty=-1"], "penalty"),
        (["formulation=ranksvm", "formulation.penalty=much"], "penalty must be a number, got 'much'"),
        (["formulation=ranksvm", "formulation.norm=l2", "solver=highs"], "solver=clarabel"),
        (["formulation=generalized_bauc", "formulation.threshold=0.5", "solver=clarabel"], "convex"),
        (["dataset=file", "dataset.path=nowhere.csv", "dataset.target=y", "dataset.positive=1"], "nowhere"),
        (["solver.tolerance=0"], "tolerance"),
    ],
)
def test_bad_input_is_one_error_and_nothing_half_written(tmp_path, overrides, words):
    with pytest.raises(AuclabError, match=words):
        run_here(tmp_path, *overrides)
    assert read(tmp_path / "run.json")["status"] == "FAILED"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.json", "traceback.txt"]


def choices_in(group):
    return sorted(path.stem for path in (REPOSITORY / "conf" / group).glob("*.yaml"))


GROUPS = ("formulation", "solver", "bounds", "tracking")
TINY = ("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=20", "dataset.n_features=2")


@pytest.mark.slow
@pytest.mark.parametrize(("group", "choice"), [(group, choice) for group in GROUPS for choice in choices_in(group)])
def test_every_yaml_works(tmp_path, group, choice):
    if choice == "lightgbm":
        pytest.importorskip("lightgbm")
    value = f"{group}=[{choice}]" if group == "bounds" else f"{group}={choice}"
    store = [f"tracking.dir={tmp_path / 'mlruns'}"] if choice == "mlflow" else []
    # One is for constraints that it alone can take, one for programs with a norm.
    program = {
        "integer": ["formulation=bauc", "constraints.max_features=1"],
        "interior": ["formulation=ranksvm", "formulation.squared=true"],
    }.get(choice, [] if group == "formulation" else ["formulation=bauc"])
    words = [*TINY, *program, value, *store]
    if group == "tracking":
        result = run_here(tmp_path / "out", *words)
    else:
        result = solve_splits(composed(["tracking=none", *words]))
    expected = Status.BASELINE if isinstance(result.formulation, Baseline) else Status.OPTIMAL
    if choice == "integer":  # of bAUC, which has no penalty
        expected = Status.OPTIMAL_WITHIN
    assert result.folds[0].solution.status is expected
    assert all(np.isfinite(value) for part in result.folds[0].parts.values() for value in part.metrics.values())


def test_every_metric_has_a_yaml_that_works(tmp_path):
    metrics = [name for name in choices_in("metrics") if name not in ("uno", "time_dependent_auc")]  # of times
    result = run_here(tmp_path, *TINY, f"metrics=[{','.join(metrics)}]")
    for part in result.folds[0].parts.values():
        assert list(part.metrics) == metrics
        assert np.isfinite(list(part.metrics.values())).all()


def yaml_of(experiment):
    return (REPOSITORY / "conf" / "experiment" / f"{experiment}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("choice", choices_in("experiment"))
def test_every_experiment_says_its_command(choice):
    _, command = yaml_of(choice).splitlines()[:2]
    assert re.match(rf"# python run.py (-m )?experiment={choice}( scale=default)?$", command)


def experiments():
    """Those of studies differ in the name of the study alone: one of them is in the first tier."""
    choices = sorted(choices_in("experiment"), key=lambda choice: "/study" in yaml_of(choice))
    first = next(k for k, choice in enumerate(choices) if "/study" in yaml_of(choice))
    return [*choices[: first + 1], *(pytest.param(choice, marks=pytest.mark.weekly) for choice in choices[first + 1 :])]


@pytest.mark.slow
@pytest.mark.parametrize("choice", experiments())
def test_every_experiment_composes(choice):
    composed([f"experiment={choice}"])


def test_spread_of_unknown_is_unknown():
    assert all(np.isnan(spread([1.0, np.nan])))
    assert spread([2.0, np.inf])[0] == np.inf


SMALL = ("dataset=artificial", "dataset.n_pos=30", "dataset.n_neg=40", "dataset.n_features=2")


def test_bounds_are_picked_by_name(tmp_path):
    result = run_here(tmp_path, *SMALL, "bounds=[margin]", "bounds.rho=0.1", "formulation=ranksvm")
    assert [item.name for item in result.folds[0].guarantees] == ["peeled_margin"]
    assert result.confidence == 0.9
    assert not result.folds[0].remarks


def test_margin_bound_goes_by_the_norm_of_the_formulation(tmp_path):
    choices = ["formulation=ranksvm", "formulation.norm=linf", "solver=highs", "preprocess=unit_ball"]
    fold = run_here(tmp_path, *SMALL, *choices, "bounds=[margin]").folds[0]
    # ‖x‖₁ ≤ √2 in the unit disc, on either side
    assert any(f"l1 further apart than {2 * np.sqrt(2):.4g}" in words for words in fold.guarantees[0].bound.assumptions)


def test_partial_auc_has_a_bound_of_its_own(tmp_path):
    choices = ["formulation=partial_auc", "formulation.max_fpr=0.5", "dataset.n_neg=4000", "dataset.n_pos=4000"]
    fold = run_here(tmp_path, *SMALL, *choices, "bounds=[weighted]").folds[0]
    (item,) = fold.guarantees
    assert item.quantity == "area at FPR ≤ 0.5"
    assert 0 < item.lower_end < item.test_value <= 0.5
    assert not item.bound.vacuous


def test_an_unknown_kind_of_bounds_is_told(tmp_path):
    with pytest.raises(AuclabError, match="stability, margin, fixed_scorer, weighted"):
        run_here(tmp_path, *SMALL, "solver=highs", "+bounds.luck=1")


def test_a_two_sided_statement_is_cut_to_the_unit_interval():
    bound = Bound(np.nan, 0.3, False, (), half_width=0.3)
    item = Guarantee("fixed_scorer_auc", "AUC", "test", 0.9, bound)
    assert item.statement == "0.6000 ≤ AUC ≤ 1.0000"
    assert item.numbers["bound/fixed_scorer_auc_upper"] == pytest.approx(1.2)
    lower = replace(item, quantity="bAUC", bound=Bound(-0.5, 1.0, True, ()))
    assert lower.statement == "bAUC ≥ -0.5000"
