"""Stored models on new labelled rows, and the same settings on other rows: numbers against scikit-learn."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import brier_score_loss, roc_auc_score

import customers
from auclab.cli import main as cli
from auclab.inference import compare_scorers, estimate
from auclab.runs import load_scorer
from auclab.runs.compare.runs import read_runs
from composed import run_here

SETTINGS = (
    *("dataset.target=left", "dataset.positive=yes", "dataset.drop=[customer,row]"),
    *("preprocess.dates=[year,age]", "bounds=none", "metrics=auc"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs on the customers: RankSVM, and another λ without probabilities."""
    place = tmp_path_factory.mktemp("customers")
    path = customers.write(place, n_rows=700, n_new=300)
    kept = ("dataset=file", f"dataset.path={path}", *SETTINGS, "tracking=mlflow", f"tracking.dir={place / 'mlruns'}")
    words = ("formulation=ranksvm", "solver=newton")
    run_here(
        place / "a",
        *words,
        "formulation.penalty=0.01",
        "decision.probability=sigmoid",
        *kept,
        command="auclab run " + " ".join(words),
    )
    run_here(place / "b", *words, "formulation.penalty=1.0", "decision.probability=none", *kept)
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


@pytest.fixture
def ids(folder):
    return [str(each)[:8] for each in read_runs(folder / "mlruns")["run_id"][:2]]


def scores_of(folder, number):
    """Scores of the new rows by the formula, the labels, and the scorer."""
    scorer = load_scorer(read_runs(folder / "mlruns").iloc[number]["folder"] / "model")
    rows = pd.read_csv(folder / "new.csv")
    rows["spent"] = rows["spent"].str.replace(",", ".").astype(float)
    return scorer.score(rows), (rows["left"] == "yes").to_numpy().astype(int), scorer


def test_numbers_of_one_model_are_those_of_other_code(call, folder, ids):
    code, text, error = call("evaluate", ids[0], "new.csv", "--out", folder / "a.json")
    assert (code, error) == (0, "")
    said = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    (model,) = said["models"]
    scores, y, scorer = scores_of(folder, 0)
    assert (said["n_pos"], said["n_neg"]) == (y.sum(), (1 - y).sum())
    assert model["metrics"]["auc"]["value"] == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    bauc = estimate(y, scores, "bauc")
    assert model["metrics"]["bauc"]["lower"] == pytest.approx(bauc.lower)
    probability = scorer.probability(scores)
    assert model["calibration"]["brier"] == pytest.approx(brier_score_loss(y, probability))
    called = scores > scorer.threshold
    assert (model["labels"]["positive"], model["labels"]["rightly"]) == (called.sum(), (called & (y == 1)).sum())
    # The stored scores are those of the run's own held-out part.
    then = pd.read_parquet(read_runs(folder / "mlruns").iloc[0]["folder"] / "scores.parquet")["score"]
    assert model["drift"]["test"]["statistic"] == pytest.approx(ks_2samp(then, scores).statistic, abs=1e-12)
    assert model["drift"]["test"]["n_reference"] == len(then) == 210
    assert model["drift"]["train"]["n_reference"] == 490
    assert model["drift"]["train"]["p_value"] < 1e-4  # visits have risen
    for words in (f"{roc_auc_score(y, scores):.4f} (95% interval", "distributed differently", "Spiegelhalter"):
        assert words in text


def test_two_models_are_compared_on_the_same_rows(call, folder, ids):
    code, text, _ = call("evaluate", *ids, "new.csv", "--metric", "auc", "--level", "0.9", "--out", "ab.json")
    assert code == 0
    (scores_a, y, _), (scores_b, _, _) = scores_of(folder, 0), scores_of(folder, 1)
    expected = compare_scorers(y, scores_a, scores_b, "auc", level=0.9)
    said = json.loads((folder / "ab.json").read_text(encoding="utf-8"))["comparisons"]["auc"]
    assert said["difference"] == pytest.approx(expected.difference, abs=1e-12)
    assert said["p_value"] == pytest.approx(expected.p_value)
    assert f"{ids[0]} less {ids[1]}, on the same 300 rows" in text
    assert "no probabilities: decision.probability=none; decision.probability=sigmoid makes" in text


def test_rows_that_cannot_be_measured_are_one_line(call, folder, ids):
    table = pd.read_csv(folder / "new.csv")
    table.drop(columns="left").to_csv(folder / "rows.csv", index=False)
    code, out, error = call("evaluate", ids[0], "rows.csv")
    assert (code, out) == (1, "")
    assert "rows.csv has no column 'left' with labels" in error
    assert "auclab predict scores rows without" in error
    table.assign(left=np.nan).to_csv(folder / "rows.csv", index=False)
    assert "column 'left' of rows.csv is empty" in call("evaluate", ids[0], "rows.csv")[2]
    table.assign(left="no").to_csv(folder / "rows.csv", index=False)
    assert "label 'yes' does not occur in 'left'" in call("evaluate", ids[0], "rows.csv")[2]
    assert (
        "no column 'lft' with labels (did you mean 'left'?)"
        in call("evaluate", ids[0], "new.csv", "--target", "lft")[2]
    )
    assert "compares two" in call("evaluate", *ids, ids[0], "new.csv")[2]
    assert "has to end in .json" in call("evaluate", ids[0], "new.csv", "--out", "a.csv")[2]
    assert "metric='acu' is unknown (did you mean 'auc'?)" in call("evaluate", ids[0], "new.csv", "--metric", "acu")[2]
    assert "lies between 0 and 1" in call("evaluate", ids[0], "new.csv", "--level", "95")[2]


def test_rows_without_a_label_are_left_out_and_said(call, folder, ids):
    table = pd.read_csv(folder / "new.csv")
    table.loc[:9, "left"] = np.nan
    table.rename(columns={"left": "gone"}).to_csv(folder / "rows.csv", index=False)
    code, text, _ = call("evaluate", ids[0], "rows.csv", "--target", "gone", "--positive", "yes")
    assert code == 0
    assert "10 rows without a label are left out" in text
    assert "290 of rows.csv" in text


def test_the_file_of_the_run_is_noted(call, ids):
    """Its rows are those that the model was fitted to, in part."""
    code, text, _ = call("evaluate", ids[0], "customers.csv")
    assert code == 0
    assert "the file of the run: the model was fitted to 490 of its rows" in " ".join(text.split())
    assert "the file of the run" not in call("evaluate", ids[0], "new.csv")[1]
