"""Runs over pairs within groups, of grades and of censored times: fitted, measured, bounded, kept and read again."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import auclab
from auclab._core.base import AuclabError
from auclab.bounds import fixed_scorer_pairs_bound
from auclab.cli import main as cli
from auclab.datasets.splits import kfold
from auclab.inference import estimate_pairs
from auclab.metrics import buffered_concordance, concordance_index, grouped_auc, grouped_bauc
from auclab.runs import load_model, load_scorer
from auclab.runs.compare.runs import open_reader, read_runs
from auclab.runs.config.checks import check_data
from auclab.runs.experiment import solve_splits
from auclab.runs.screen.result_screen import line_of
from auclab.runs.split.measured import over_pairs
from auclab.runs.stored.stored_files import read_scores
from auclab.runs.tracking.logged_models import models_of
from composed import composed, run_here
from ranked_tables import KINDS, settings


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ranked")


def solved(folder, kind, *more):
    return solve_splits(composed([*settings(folder, kind), *more]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_solves_and_measures_what_python_does(folder, kind):
    """Objective, metrics, interval and bound are those of the functions on the same rows."""
    result = solved(folder, kind, "formulation=ranksvm", "formulation.penalty=0.02")
    fold, target = result.folds[0], result.dataset.target
    X = fold.model[:-1].transform(result.dataset.X)
    train, test = fold.split.train, fold.split.test
    of_train = target.take(train)
    other = auclab.solve(auclab.RankSVM(0.02), X[train], of_train.y, **of_train.for_solve)
    assert fold.solution.objective == pytest.approx(other.objective, rel=1e-12)
    assert fold.solution.gap <= 1e-6
    assert result.formulation.name == "ranksvm"

    scores, held = X[test] @ fold.solution.coef, target.take(test)
    if target.event is None:
        given = held.y, scores, held.groups
        values = grouped_auc(*given, weights=held.weights), grouped_bauc(*given, weights=held.weights)
    elif target.groups is None:
        given = held.y, held.event, scores
        values = concordance_index(*given), buffered_concordance(*given)
    else:
        values = estimate_pairs(held.pairs, scores).value, estimate_pairs(held.pairs, scores, "bauc").value
    name = KINDS[kind][1]
    buffered = {"concordance": "buffered_concordance"}.get(name, name.replace("auc", "bauc"))
    assert list(fold.parts["test"].metrics) == [name, buffered]
    assert fold.numbers[f"test/{name}"] == pytest.approx(values[0], abs=1e-12)
    assert fold.numbers[f"test/{buffered}"] == pytest.approx(values[1], abs=1e-12)
    estimate = estimate_pairs(held.pairs, scores)
    assert fold.numbers[f"test/{name}_low"] == pytest.approx(estimate.lower, abs=1e-12)
    bound = fixed_scorer_pairs_bound(held.pairs, values[0], rho=0.05)
    assert fold.numbers[f"bound/mcdiarmid_{name}"] == pytest.approx(values[0] - bound.half_width, abs=1e-12)
    assert [item.name for item in fold.guarantees] == [f"mcdiarmid_{name}"]
    assert "stability, margin and weighted bounds suppose two classes of independent rows" in fold.remarks[0]


@pytest.mark.parametrize("kind", ["groups", "times"])
def test_tuning_takes_the_value_whose_held_out_pairs_are_ranked_best(folder, kind):
    """The mean over the inner folds, computed by hand, is the one of the path."""
    chosen = ["formulation=ranksvm", "tune=penalty", "tune.values=[0.01,0.3]", "tune.folds=3", "solver.tolerance=1e-7"]
    chosen += ["preprocess=none", f"dataset.drop=[{'relevance,kind' if kind == 'groups' else 'admitted,hospital'}]"]
    result = solved(folder, kind, *chosen)
    fold, target = result.folds[0], result.dataset.target
    y, X = target.take(fold.split.train), result.dataset.X.to_numpy()[fold.split.train]
    means = []
    for penalty in (0.01, 0.3):
        values = []
        for part in kfold(y, n_folds=3):
            of_train, held = y.take(part.train), y.take(part.test)
            solution = auclab.solve(auclab.RankSVM(penalty), X[part.train], of_train.y, **of_train.for_solve)
            values.append(estimate_pairs(held.pairs, X[part.test] @ solution.coef).value)
        means.append(np.mean(values))
    path = fold.tuning.path
    best = int(np.argmax(means))
    assert fold.tuning.selected == [0.01, 0.3][best]
    assert path["mean"][best] == pytest.approx(means[best], abs=2e-3)
    assert fold.tuning.metric == KINDS[kind][1]


def test_inner_folds_measure_the_same(folder):
    result = solved(folder, "times", "formulation=bauc", "inner.folds=3")
    assert set(result.folds[0].inner.means) == {"concordance", "buffered_concordance"}


def test_folds_by_group_pool_no_group(folder):
    result = solved(folder, "groups", "formulation=bauc", "split=kfold", "split.n_folds=3")
    groups = result.dataset.target.groups
    for fold in result.folds:
        assert not set(groups[fold.split.train]) & set(groups[fold.split.test])
    assert "test/grouped_auc_sd" in result.summary


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["formulation=logistic"], "compares all rows of two classes"),
        (["formulation=ranksvm", "class_weight=balanced"], "class_weight is for two classes"),
        (["formulation=ranksvm", "constraints.max_features=2"], "or use formulation.norm=l1"),
        (
            ["formulation=ranksvm", "decision.threshold=youden"],
            "decision.threshold and decision.probability are for two",
        ),
        (["formulation=ranksvm", "decision.probability=sigmoid"], "have no labels to predict; leave them out"),
        (["formulation=ranksvm", "kernel=rbf", "tune=kernel"], "set kernel.gamma and tune=penalty"),
    ],
)
def test_what_is_of_two_classes_is_refused_before_any_work(folder, more, said):
    with pytest.raises(AuclabError, match=said):
        check_data(composed([*settings(folder, "groups"), *more]))


def test_settings_of_a_decision_that_are_as_usual_are_not_refused(folder):
    check_data(composed([*settings(folder, "groups"), "decision.threshold=prior", "decision.probability=none"]))


@pytest.mark.parametrize("formulation", ["csvm", "partial_auc", "exact_auc", "scorecard"])
def test_programs_that_are_not_over_pairs_are_refused(folder, formulation):
    with pytest.raises(AuclabError, match=r"does not support groups|compares all rows of two classes"):
        solved(folder, "groups", f"formulation={formulation}")


def test_metrics_of_two_classes_are_refused(folder):
    with pytest.raises(AuclabError, match="the metric voros needs two classes, but rows are compared by times"):
        solved(folder, "times", "formulation=bauc", "metrics=voros")
    assert over_pairs("bauc", "groups") == ("bauc", 0.0)


def test_bounds_that_suppose_two_classes_are_refused_in_a_sentence(folder):
    result = solved(folder, "grades", "formulation=ranksvm", "formulation.squared=true", "bounds=stability")
    said = "stability bounds suppose two classes of independent rows, and rows are compared by grades"
    assert result.folds[0].remarks == (f"{said}; bounds=fixed_scorer holds",)
    assert result.folds[0].guarantees == ()


@pytest.fixture(scope="module", params=["groups", "grades", "times"])
def stored(request, folder, tmp_path_factory):
    """Two runs of a kind in a store of their own."""
    place = tmp_path_factory.mktemp("store")
    tracking = ["tracking=mlflow", f"tracking.dir={place / 'mlruns'}"]
    for formulation in ("bauc", "ranksvm"):
        given = [*settings(folder, request.param), f"formulation={formulation}", *tracking]
        result = run_here(place / formulation, *given)
    return request.param, place / "mlruns", result


@pytest.fixture
def call(capsys, stored):
    """Exit code and output of ``auclab … --store``."""

    def run(*words):
        with pytest.raises(SystemExit) as end:
            cli.main([*map(str, words), "--store", str(stored[1])])
        said = capsys.readouterr()
        return end.value.code, said.out + said.err

    return run


@pytest.mark.slow
@pytest.mark.covering(stored=1)
def test_commands_speak_of_the_metric_of_the_kind(call, stored, tmp_path):
    kind, _, result = stored
    metric = KINDS[kind][1]
    value = f"{result.summary[f'test/{metric}']:.4f}"
    for words in (["runs"], ["compare"], ["show", "last"]):
        code, said = call(*words)
        assert code == 0, said
        assert metric in said
        assert "test/auc" not in said
    assert value in call("show", "last")[1]
    code, said = call("show", "last", "--bounds")
    assert f"mcdiarmid_{metric}" in said
    assert "suppose two classes of independent rows" in said
    code, said = call("report", "--out", tmp_path / "page.html")
    assert code == 0, said
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"test/{metric}" in page
    assert "pairs" in page[page.index("<dt>compared</dt>") :][:200]
    code, said = call("rerun", "last")
    assert code == 0
    assert "the numbers are the same" in said


def test_a_stored_model_gives_scores_and_no_labels(call, stored, folder, tmp_path):
    kind, _, result = stored
    path = settings(folder, kind)[1].partition("=")[2]
    code, said = call("predict", "last", path, "--out", tmp_path / "scores.csv")
    assert code == 0, said
    found = pd.read_csv(tmp_path / "scores.csv")
    assert list(found) == ["row", "score"]
    fold = result.folds[0]
    assert found["score"].to_numpy()[fold.split.test] == pytest.approx(fold.parts["test"].y_score, abs=1e-12)
    code, said = call("predict", "last", path, "--only", "label")
    assert code != 0
    assert "ranks rows and has no classes: there is no label" in said
    assert call("export", "last", "--to", "sql")[0] == 0
    described = json.loads(call("export", "last", "--to", "json")[1])
    assert described["labels"] is None
    assert described["about"]["target"] == kind


def test_the_stored_pipeline_and_mlflow_give_the_same_scores(stored, folder):
    kind, store, _ = stored
    path = settings(folder, kind)[1].partition("=")[2]
    rows, model = pd.read_csv(path).head(5), read_runs(store).iloc[-1]["folder"] / "model"
    scores = load_scorer(model).score(rows)
    assert load_model(model).predict(rows) == pytest.approx(scores, abs=1e-12)
    columns = list(load_scorer(model).columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of MLflow's own libraries
        import mlflow.pyfunc

        client = open_reader(store)
        (logged,) = models_of(client, client.get_run(read_runs(store).iloc[-1]["run_id"]))
        found = mlflow.pyfunc.load_model(logged.artifact_location).predict(rows[columns])
    assert found.tolist() == pytest.approx(scores, abs=1e-12)


def test_stored_scores_say_what_is_compared(stored):
    kind, store, result = stored
    place = read_runs(store).iloc[-1]["folder"]
    scores = read_scores(place)
    target = scores.target
    assert target.kind == kind
    assert estimate_pairs(target.pairs, scores.y_score).value == result.summary[f"test/{KINDS[kind][1]}"]


def test_the_figure_of_a_run_is_that_of_its_errors(call, stored):
    code, said = call("show", "last", "--figures")
    assert code == 0
    assert "ranking_errors.png" in said
    assert "concordance.png" in said
    assert "roc.png" not in said


def test_a_stored_model_is_measured_on_new_rows(call, stored, folder, tmp_path):
    """By the pairs of the file, with the functions' values; two models are tested on the same pairs."""
    kind, store, result = stored
    path = settings(folder, kind)[1].partition("=")[2]
    table = pd.read_csv(path).sample(60, random_state=3)
    table.to_csv(tmp_path / "new.csv", index=False)
    code, said = call("evaluate", "last", tmp_path / "new.csv", "--out", tmp_path / "found.json")
    assert code == 0, said
    assert "pairs" in said
    assert "labels" not in said
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["models"][0]["metrics"]
    target = result.dataset.target.take(table.index.to_numpy())
    scores = load_scorer(read_runs(store).iloc[-1]["folder"] / "model").score(table)
    assert found[KINDS[kind][1]]["value"] == estimate_pairs(target.pairs, scores).value
    ids = list(read_runs(store)["run_id"])
    code, said = call("evaluate", *ids, tmp_path / "new.csv")
    assert code == 0, said
    assert "less" in said
    code, said = call("evaluate", "last", tmp_path / "new.csv", "--metric", "voros")
    assert code != 0
    assert "the metric voros needs two classes" in said


def test_a_stored_run_is_checked(call):
    code, said = call("check", "last")
    assert code == 0, said
    assert "confirmed: everything that is claimed" in said


@pytest.mark.slow
@pytest.mark.covering(kind=1)
@pytest.mark.parametrize("kind", ["groups", "times"])
def test_a_kernel_is_tuned_stored_scored_again_and_checked(folder, tmp_path, capsys, kind):
    tracking = ["tracking=mlflow", f"tracking.dir={tmp_path / 'mlruns'}"]
    tuned = ["tune=penalty", "tune.values=[0.01,0.1]", "tune.folds=2"]
    given = [*settings(folder, kind), "formulation=ranksvm", "kernel=rbf", *tuned, *tracking]
    result = run_here(tmp_path / "run", *given)
    fold, target = result.folds[0], result.dataset.target
    of_train = target.take(fold.split.train)
    X = fold.model[:-1].transform(result.dataset.X)
    solution, penalty = fold.solution, fold.tuning.selected
    assert penalty in (0.01, 0.1)
    of_pairs = {**of_train.for_solve, "kernel": solution.kernel}
    direct = auclab.solve(auclab.RankSVM(penalty), X[fold.split.train], of_train.y, **of_pairs)
    assert solution.objective == pytest.approx(direct.objective, rel=1e-9)
    assert solution.gap <= 1e-3
    assert fold.tuning.metric == KINDS[kind][1]
    path, store = settings(folder, kind)[1].partition("=")[2], ["--store", str(tmp_path / "mlruns")]
    with pytest.raises(SystemExit):
        cli.main(["predict", "last", path, "--out", str(tmp_path / "scores.csv"), *store])
    scores = pd.read_csv(tmp_path / "scores.csv")["score"]
    np.testing.assert_allclose(scores, solution.decision_function(X), rtol=1e-9, atol=1e-9)
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        cli.main(["check", "last", *store])
    assert end.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"comparison {kind}" in said
    assert "confirmed: everything that is claimed" in said


def test_a_sweep_of_ranked_runs_speaks_of_their_metric(folder, tmp_path):
    given = [*settings(folder, "times"), "tracking=mlflow", f"tracking.dir={tmp_path / 'mlruns'}", "formulation=bauc"]
    assert "test concordance" in line_of(solve_splits(composed(given)))
