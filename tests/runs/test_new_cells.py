"""Cells with blanks, marks, signs and units, and gaps that are a category: every way to score them gives one score."""

from __future__ import annotations

import json
import sqlite3
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auclab.datasets.file import load_file
from auclab.export.scorer import Scorer
from auclab.export.writers import export_scorer, to_onnx, to_sql
from auclab.runs.stored.new_rows import evaluate_file, predict_file
from auclab.runs.tracking.address import TrackingConfig, local_path
from auclab.runs.tracking.logged_models import log_models
from auclab.runs.tracking.sync import writing
from composed import run_here

N = 120
FORMS = ("price", "term", "rate", "german", "dose")


def table(seed: int) -> pd.DataFrame:
    """Text as it is in a file; every column says something about the label."""
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.4
    cells = {
        "price": [f"${value:,.2f}" for value in rng.lognormal(8, 1, N) + 3_000 * y],
        "term": [f"{value} months" for value in rng.choice([36, 60], N)],
        "rate": [f"{value:.2f}%" for value in rng.normal(9, 2, N) + y],
        "german": [
            f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in rng.normal(2_000, 500, N) + 300 * y
        ],
        "dose": [f"{value:.1f}mg " for value in rng.normal(5, 1, N)],
        "plain": [f"{value:.3f}" for value in rng.normal(0, 1, N)],
        "agent": rng.choice(["NULL  ", "9", "73   ", "n/a"], N, p=[0.1, 0.4, 0.4, 0.1]),
        "cabin": np.where(rng.random(N) < 0.4 + 0.2 * y, "", rng.choice(["A\t", "A", " B"], N)),
        "port": np.where(rng.random(N) < 0.05, "null", rng.choice(["S", "C"], N)),
        "left ": np.where(y, "yes\t", "no"),
    }
    frame = pd.DataFrame(cells).astype(object)
    for name in ("price", "rate", "german"):
        frame.loc[rng.random(N) < 0.05, name] = rng.choice(["", "N/A", "Null "])
    return frame


@pytest.fixture(scope="module", params=["standard", "unit_ball", "minmax"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run on such a file, and new rows."""
    folder = tmp_path_factory.mktemp("cells")
    table(0).to_csv(folder / "my.csv", index=False)
    table(1).to_csv(folder / "new.csv", index=False)
    run_here(
        folder / "out",
        *("dataset=file", f"dataset.path={folder / 'my.csv'}", "dataset.target=left", "formulation=bauc"),
        *("bounds=none", f"preprocess={request.param}", "decision.probability=none", "split=none", "tracking=none"),
    )
    return next((folder / "out").rglob("scorer.json")), folder / "new.csv"


@pytest.mark.slow
def test_every_way_to_score_gives_the_same(trained: tuple[Path, Path]) -> None:
    stored, path = trained
    scorer = Scorer.read(stored)
    assert set(scorer.forms) == set(FORMS)
    score = predict_file(scorer, path).table["score"].to_numpy()
    assert np.ptp(score) > 0

    # What a program gives that knows nothing of csv files: text as it is written.
    raw = pd.read_csv(path, dtype=str, keep_default_na=False).rename(columns=str.strip)
    np.testing.assert_allclose(scorer.score(raw), score, rtol=0, atol=1e-12)
    # Numbers and NULL, as a database has them.
    loaded = load_file(path, target="left").frame
    np.testing.assert_allclose(scorer.score(loaded), score, rtol=0, atol=1e-12)
    connection = sqlite3.connect(":memory:")
    loaded.assign(cabin=raw["cabin"].mask(raw["cabin"] == "").str.replace("\t", " ")).to_sql(
        "t", connection, index=False
    )
    found = [row[0] for row in connection.execute(f"SELECT {to_sql(scorer)} FROM t")]
    connection.close()
    np.testing.assert_allclose(found, score, rtol=0, atol=1e-12)
    assert "-- column 'price' is a number, without the signs and units" in to_sql(scorer)
    written = Scorer(json.loads(export_scorer(scorer, "json")))
    np.testing.assert_allclose(written.score(raw), score, rtol=0, atol=1e-12)

    evaluation = evaluate_file([scorer], path)
    np.testing.assert_allclose(evaluation.models[0].scores, score, rtol=0, atol=1e-12)
    assert evaluation.n_pos == (raw["left"].str.strip() == "yes").sum()


@pytest.mark.slow
def test_numbers_without_the_sign_of_training_are_noted(trained: tuple[Path, Path], tmp_path: Path) -> None:
    stored, path = trained
    scorer, rows = Scorer.read(stored), load_file(path, target="left").frame
    rows.to_csv(tmp_path / "plain.csv", index=False)
    found = predict_file(scorer, tmp_path / "plain.csv")
    assert "column 'rate' is written without '%': its numbers are taken as if it were there" in found.notes
    np.testing.assert_allclose(found.table["score"], scorer.score(rows), rtol=0, atol=1e-12)
    assert not any("written without" in note for note in predict_file(scorer, path).notes)


@pytest.mark.slow
def test_the_onnx_graph_gives_the_same(trained: tuple[Path, Path]) -> None:
    runtime = pytest.importorskip("onnxruntime")
    scorer = Scorer.read(trained[0])
    loaded = load_file(trained[1], target="left").frame
    kinds = {column["name"]: column["kind"] for column in scorer.description["columns"]}
    inputs = {
        name: loaded[[name]].to_numpy(float) if kinds[name] == "number" else loaded[[name]].fillna("").to_numpy(object)
        for name in loaded
    }
    found = runtime.InferenceSession(to_onnx(scorer)).run(["score"], inputs)[0][:, 0]
    np.testing.assert_allclose(found, scorer.score(loaded), rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # MLflow's own, at its import
def test_the_logged_model_takes_text_as_it_is_in_the_file(trained: tuple[Path, Path], tmp_path: Path) -> None:
    """Signs, units, marks and blanks; in a column of plain numbers MLflow wants numbers, as its refusal says."""
    import mlflow.pyfunc
    from mlflow.exceptions import MlflowException
    from mlflow.pyfunc.scoring_server import infer_and_parse_data, parse_csv_input

    stored, path = trained
    with writing(TrackingConfig(dir=str(tmp_path / "mlruns"), experiment="cells")) as store:
        pass
    run = store.client.create_run(store.experiment_id)
    (model,) = log_models(store.client, run, {}, stored.parents[1]).values()
    place = local_path(store.client.get_logged_model(model).artifact_location)
    served = mlflow.pyfunc.load_model(str(place))
    score = Scorer.read(stored).score(load_file(path, target="left").frame)

    raw = pd.read_csv(path, dtype=str, keep_default_na=False).rename(columns=str.strip).drop(columns="left")
    with pytest.raises(MlflowException, match=r"(?s)column plain.*(convert|numpy|float64)"):
        served.predict(raw, params={"output": "score"})
    numbers = {name: pd.to_numeric(raw[name]) for name in ("plain",)}
    numbers["agent"] = pd.to_numeric(raw["agent"], errors="coerce")
    found = served.predict(raw.assign(**numbers), params={"output": "score"})
    np.testing.assert_allclose(found, score, rtol=0, atol=1e-12)

    # Over JSON, where a server has no types but those of the signature.
    body = {"dataframe_split": json.loads(raw.assign(**numbers).to_json(orient="split", index=False))}
    parsed = infer_and_parse_data(body, served.metadata.get_input_schema())
    np.testing.assert_allclose(served.predict(parsed, params={"output": "score"}), score, rtol=0, atol=1e-12)

    # A csv file, which a server reads by these types.
    rows = parse_csv_input(StringIO(raw.assign(**numbers).to_csv(index=False)), served.metadata.get_input_schema())
    np.testing.assert_allclose(served.predict(rows, params={"output": "score"}), score, rtol=0, atol=1e-12)
