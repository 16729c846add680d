"""A user's own file from a sweep to the best model: its name, tuned values, baselines, the best, its model."""

import numpy as np
import pandas as pd
import pytest

from auclab.cli import main as cli
from auclab.runs import compare_runs, read_runs
from auclab.runs.compare.runs import open_reader
from auclab.runs.experiment import on_all_rows
from auclab.runs.tracking.address import TrackingConfig
from auclab.runs.tracking.model import load_model
from auclab.runs.tracking.sync import close_parent, open_parent, writing
from composed import run_here

GRIDS = ("tune=auto", "tune.folds=2", "tune.grids.penalty=[0.01,0.1]", "tune.grids.C=[0.1,10]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store with ranksvm, bauc and logistic regression on my.csv, tuned by one setting, below one sweep."""
    place = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [90, 60])
    table = pd.DataFrame({f"x{k}": rng.normal(size=150) + 0.5 * y * (k < 2) for k in range(3)})
    table.assign(y=np.where(y == 1, "bad", "good")).to_csv(place / "my.csv", index=False)
    tracking = TrackingConfig(dir=str(place / "mlruns"))
    with writing(tracking) as store:
        parent = open_parent(store, grid=["formulation=…"], command="auclab run -m …", pending="x")
    own = ("dataset=file", f"dataset.path={place / 'my.csv'}", "dataset.target=y", "dataset.positive=bad")
    kept = ("tracking=mlflow", f"tracking.dir={place / 'mlruns'}", "metrics=[auc]", "bounds=fixed_scorer")
    for formulation in ("ranksvm", "bauc", "logistic"):
        for seed in (0, 1, 2):
            words = (*own, f"formulation={formulation}", f"split.seed={seed}", *GRIDS)
            number, command = f"{formulation}{seed}", " ".join(["auclab run", *words])
            run_here(place / number, *words, *kept, command=command, parent=parent)
    with writing(tracking) as store:
        close_parent(store, parent, "FINISHED", {"FINISHED": 9})
    return place


@pytest.fixture
def call(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)

    def run(*words):
        with pytest.raises(SystemExit) as end:
            cli.main([*map(str, words), "--store", str(folder / "mlruns")])
        said = capsys.readouterr()
        return end.value.code, said.out, " ".join(said.err.split())

    return run


def test_the_file_has_one_name(call, folder):
    runs = read_runs(folder / "mlruns")
    assert set(runs["dataset"]) == {"my.csv"}
    assert all(" · my.csv · " in name for name in runs["run"])
    assert compare_runs(runs).rows == ["my.csv"]
    code, text, _ = call("compare", "--where", "dataset=my.csv")
    assert code == 0
    assert "my.csv" in text
    code, _, error = call("compare", "--where", "dataset=my")
    assert code == 1
    assert "no run has this value; there are my.csv" in error


def test_one_table_has_what_each_tuned_and_what_has_no_certificate(call, folder):
    table = compare_runs(read_runs(folder / "mlruns"))
    assert table.columns == ["ranksvm λ tuned", "bauc", "logistic C tuned"]
    assert table.pairs.to_dict() == {"my.csv": 3}
    assert (table.tuning[["ranksvm λ tuned", "logistic C tuned"]] > 0).all()
    assert table.tuning["bauc"] == 0
    assert (table.seconds >= table.tuning).all()
    _, text, _ = call("compare")
    assert "no certificate" in text
    assert "the corrected resampled t-test" in text


def test_a_run_is_shown_with_its_tuned_value_and_its_command(call, folder):
    runs = read_runs(folder / "mlruns")
    first = runs.iloc[0]
    _, text, _ = call("show", first["run_id"][:8])
    assert f"λ = {first['tune/penalty']:g} of 2 values on 2 inner folds: auc {first['tune/score']:.4f} ± " in text
    assert first["tag.command"] in " ".join(text.split())
    logistic = runs[runs["formulation"] == "logistic"].iloc[0]
    _, text, _ = call("show", logistic["run_id"])
    assert f"C = {logistic['tune/C']:g}" in text
    assert "scikit-learn 1." in text
    assert "none: a baseline of another library, whose fit is not verified" in text
    for run_id in runs["run_id"][:3]:
        assert "bAUC ≥ -" not in call("show", run_id, "--bounds")[1]
    code, text, _ = call("check", logistic["run_id"])
    assert code == 2
    assert "the run is a baseline, fitted by scikit-learn 1." in text


def test_bounds_below_0_are_explained():
    from auclab.runs.screen.result_screen import BoundLine, best_of

    item = {"statement": "bAUC ≥ -0.2792", "name": "fixed_scorer_bauc", "quantity": "bAUC", "sample": "test"}
    line = BoundLine.of_stored(item | {"bound": {"lower": -0.27915, "half_width": None, "vacuous": True}})
    assert (line.statement, line.vacuous) == ("bAUC ≥ 0 (computed as -0.2792)", True)
    other = {"statement": "0.6876 ≤ AUC ≤ 1.0000", "name": "fixed_scorer_auc", "quantity": "AUC", "estimate": 0.9}
    best = BoundLine.of_stored(other | {"bound": {"lower": None, "half_width": 0.2124}})
    assert best_of([line, best]) is best
    assert best.lower_end == pytest.approx(0.6876)


@pytest.mark.slow
def test_the_id_of_a_sweep_is_understood(call, folder):
    parent = read_runs(folder / "mlruns").iloc[0]["parent_id"]
    for name in (parent, parent[:8]):
        assert call("compare", "--sweep", name)[0] == 0
        for command in ("show", "rerun"):
            code, _, error = call(command, name)
            assert code == 1
            assert f"{name} is a sweep; auclab compare --sweep {parent[:8]} compares its runs" in error


def test_the_best_is_that_of_the_largest_mean_with_its_test(call, folder):
    runs = read_runs(folder / "mlruns")
    runs = runs[runs["split"] == "holdout"]
    table = compare_runs(runs)
    first, second, _ = table.ordered("my.csv")
    means = runs.groupby("formulation")["test/auc"].mean().sort_values(ascending=False)
    assert [name.partition(" ")[0] for name in (first, second)] == means.index[:2].to_list()
    behind = runs[runs["formulation"] == means.index[0]]["run_id"]
    assert table.cells.runs_of("my.csv", first) == behind.to_list()
    code, text, _ = call("compare", "--where", "split=holdout")
    assert code == 0
    assert f"{first} on my.csv" in text
    assert f"{means.iloc[0]:.4f} ± " in text
    assert f"p = {table.p_value.at['my.csv', second]:.2g} (corrected-t, level 0.05)" in text
    assert runs[runs["run_id"] == behind.iloc[-1]]["tag.command"].iloc[0] in text
    assert ", ".join(run_id[:8] for run_id in behind) in text
    few = compare_runs(runs[(runs["split.seed"] == 0) | (runs["formulation"] == "bauc")])
    assert few.ordered("my.csv") == ["bauc"]  # the others have one of its three pairs


@pytest.mark.slow
def test_the_best_is_fitted_to_all_rows_and_registered(call, folder):
    words = ("compare", "--where", "split=holdout", "formulation=ranksvm", "--register", "churn")
    code, text, error = call(*words)
    assert (code, error) == (0, "")
    assert "models:/churn/1" in text
    every = read_runs(folder / "mlruns")
    (refitted,) = every[every["split"] == "none"].to_dict("records")
    assert refitted["formulation"] == "ranksvm"
    assert refitted["tag.command"].endswith("split=none")
    assert "split.seed" not in refitted["tag.command"]
    model = load_model(refitted["folder"] / "model")
    data = pd.read_csv(folder / "my.csv")
    scores = model.decision_function(data.drop(columns="y"))
    assert len(pd.read_parquet(refitted["folder"] / "scores.parquet")) == 150
    assert np.corrcoef(scores, data["x0"] + data["x1"])[0, 1] > 0.8
    assert "models:/churn/2" in call(*words)[1]
    code, text, _ = call("predict", "models:/churn/1", folder / "my.csv", "--only", "score")
    assert code == 0
    predicted = np.array([float(line.split(",")[-1]) for line in text.split()[1:]])
    assert np.corrcoef(predicted, scores)[0, 1] == pytest.approx(1.0, abs=1e-9)


def test_what_cannot_be_refitted_is_said(call):
    words = ("compare", "--where", "split=holdout")
    code, _, error = call(*words, "--columns", "formulation", "--rows", "dataset,split.seed", "--refit")
    assert (code, "the table has 3 rows" in error) == (1, True)
    code, _, error = call(*words, "--register", "a/b")
    assert (code, "cannot be the name of a model" in error) == (1, True)
    code, _, error = call(*words, "--format", "csv", "--refit")
    assert (code, "--format csv prints the table alone" in error) == (1, True)


def test_a_command_on_all_rows():
    command = "python run.py 'dataset.path=my file.csv' +split.seed=3 split=kfold split.fold=1 tune=auto"
    assert on_all_rows(command) == "python run.py 'dataset.path=my file.csv' tune=auto split=none"
    assert on_all_rows("") == ""


def test_mlflow_finds_models_by_what_they_reach_on_a_data_set(folder):
    client = open_reader(folder / "mlruns")
    experiments = [each.experiment_id for each in client.search_experiments()]
    for name, some in (("my.csv", True), ("other.csv", False)):
        data, reached = [{"dataset_name": name}], "metrics.`test/auc` > 0.5"
        assert bool(client.search_logged_models(experiments, reached, datasets=data)) == some
