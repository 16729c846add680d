"""A stored model applied: the same scores from the shell, from Python, and from MLflow's server."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
import warnings

import numpy as np
import pandas as pd
import pytest

import stranger
from auclab._core.base import AuclabError
from auclab.cli import main as cli
from auclab.runs import load_model, load_scorer
from auclab.runs.compare.runs import read_runs
from auclab.runs.tracking.address import Address
from auclab.runs.tracking.store import register_model
from composed import run_here


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    """A run on the table of a stranger, in a store, and the folder with the files."""
    folder = tmp_path_factory.mktemp("customers")
    table = stranger.write_csv(folder, n_rows=600)
    stranger.write_new_csv(folder, n_rows=120)
    own = [f"dataset.path={table}", f"dataset.target={stranger.TARGET}", f"dataset.positive={stranger.POSITIVE}"]
    own += [f"dataset.drop=[{stranger.IDENTIFIER},{stranger.NAMES}]", "preprocess.dates=[year,age]"]
    chosen = ["formulation=ranksvm", "formulation.penalty=0.01", "solver=newton", "bounds=none", "metrics=auc"]
    tracking = ["tracking=mlflow", f"tracking.dir={folder / 'mlruns'}"]
    result = run_here(folder / "out", "dataset=file", *own, *chosen, *tracking)
    return folder, result.folds[0]


@pytest.fixture
def call(capsys, customers):
    """Exit code, standard output and standard error of ``auclab … --store``."""

    def run(*words):
        with pytest.raises(SystemExit) as end:
            cli.main([*map(str, words), "--store", str(customers[0] / "mlruns")])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return run


@pytest.fixture
def model_folder(customers):
    return read_runs(customers[0] / "mlruns").iloc[-1]["folder"] / "model"


@pytest.mark.slow
def test_rows_of_a_file_are_scored_in_their_order(call, customers, model_folder, tmp_path):
    folder, fold = customers
    new, out = folder / "new_customers.csv", tmp_path / "scores.csv"
    code, said, _ = call("predict", "last", new, "--id", stranger.IDENTIFIER, "--out", out)
    assert code == 0
    assert "probability of default: sigmoid, on out-of-fold scores of the training part, 5 folds" in said
    for words in ("column 'name' is not used", "gaps, read as", "'Реюньон' in 3 rows, which counts as no category"):
        assert words in said
    written, rows = pd.read_csv(out), pd.read_csv(new)
    assert list(written) == [stranger.IDENTIFIER, "score", "probability", "label"]
    assert written[stranger.IDENTIFIER].tolist() == rows[stranger.IDENTIFIER].tolist()
    expected = load_model(model_folder).decision_function(rows)
    assert written["score"].to_numpy() == pytest.approx(expected, abs=1e-12)
    assert written["label"].tolist() == np.where(expected > fold.decision.threshold, "default", "late, paid").tolist()
    # The share of positives is nearly that of the training part, and probabilities are about right on average.
    assert (written["label"] == "default").mean() == pytest.approx(0.23, abs=0.1)
    assert written["probability"].mean() == pytest.approx(0.23, abs=0.08)
    # The folder of the model, other orders and formats, and standard output say the same.
    moved = tmp_path / "moved.parquet"
    rows[rows.columns[::-1]].to_parquet(moved)
    code, text, _ = call("predict", model_folder, moved, "--only", "score")
    assert [float(line.split(",")[1]) for line in text.splitlines()[1:]] == written["score"].tolist()


def test_wrong_rows_are_refused_in_words(call, customers, tmp_path):
    rows = pd.read_csv(customers[0] / "new_customers.csv")
    for changed, words in (
        (rows.drop(columns=["age", "city"]), "columns 'age', 'city' are missing"),
        (
            rows.assign(age=["old", *rows["age"].astype(object)[1:]]),
            "column 'age' needs numbers, and has 'old' in row 1",
        ),
        (rows.assign(signup_date="soon"), "which is not a date of the format %Y-%m-%d"),
    ):
        changed.to_csv(tmp_path / "rows.csv", index=False)
        code, _, said = call("predict", "last", tmp_path / "rows.csv")
        assert code == 1
        assert words in " ".join(said.split())
    code, _, said = call("predict", "last", customers[0] / "new_customers.csv", "--id", "customer")
    assert (code, "did you mean 'customer_id'" in said) == (1, True)
    code, _, said = call("predict", "models:/none/1", tmp_path / "rows.csv")
    assert (code, "models:/none/1 is not in" in " ".join(said.split())) == (1, True)


def test_a_registered_model_is_found(call, customers, model_folder):
    from mlflow import MlflowClient

    folder = customers[0]
    client = MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}")
    run_id = model_folder.parts[-3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client.create_registered_model("churn")
        client.create_model_version("churn", str(model_folder), run_id=run_id)
        client.set_registered_model_alias("churn", "best", "1")
        assert register_model(Address.of(folder / "mlruns"), run_id, "churn") == 2
    assert client.get_model_version("churn", "2").source.startswith((folder / "mlruns" / "artifacts").as_uri())
    answers = [
        call("predict", name, folder / "new_customers.csv")[1]
        for name in ("last", "models:/churn/1", "models:/churn/2", "models:/churn/latest", "models:/churn@best")
    ]
    assert len(answers[0].splitlines()) == 121
    assert answers[1:] == answers[:1] * 4


def test_exported_files_are_those_of_the_model(call, model_folder, tmp_path):
    code, text, _ = call("export", "last", "--to", "json")
    assert code == 0
    assert json.loads(text) == json.loads((model_folder / "scorer.json").read_text(encoding="utf-8"))
    code, said, _ = call("export", "last", "--to", "sql", "--out", tmp_path / "score.sql")
    assert (code, "written" in said) == (0, True)
    assert "CASE COALESCE(TRIM(CAST(\"region\" AS TEXT)), 'Nord')" in (tmp_path / "score.sql").read_text(
        encoding="utf-8"
    )


def test_links_and_damage_are_refused(model_folder, tmp_path):
    with pytest.raises(AuclabError, match="does not exist"):
        load_scorer(tmp_path)
    (tmp_path / "scorer.json").write_text('{"format": "auclab scorer", "version": 1}', encoding="utf-8")
    with pytest.raises(AuclabError, match="is damaged"):
        load_scorer(tmp_path)
    (tmp_path / "scorer.json").unlink()
    (tmp_path / "scorer.json").symlink_to(model_folder / "scorer.json")
    with pytest.raises(AuclabError, match="is a link"):
        load_scorer(tmp_path)


@pytest.mark.slow
def test_mlflow_serves_the_same_scores(customers, model_folder):
    rows = pd.read_csv(customers[0] / "new_customers.csv")
    expected = load_scorer(model_folder).predict(rows)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    run = f"runs:/{model_folder.parts[-3]}/model"
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", run, "--env-manager", "local"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = os.environ | {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_TRACKING_URI": f"sqlite:///{customers[0] / 'mlruns' / 'mlflow.db'}",
        "PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin",
    }
    server = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"],
        start_new_session=True, env=environment, **quiet,
    )  # fmt: skip
    try:
        split = {"dataframe_split": json.loads(rows.to_json(orient="split", index=False))}
        answer = _ask(port, split | {"params": {"output": "all"}}, server)
        records = {"dataframe_records": json.loads(rows.to_json(orient="records"))}
        labels = _ask(port, records, server)
        of_csv = _ask(port, rows.to_csv(index=False), server)
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)
    found = pd.DataFrame(answer["predictions"])
    assert found["score"].to_numpy() == pytest.approx(expected["score"].to_numpy(), abs=1e-12)
    assert found["probability"].to_numpy() == pytest.approx(expected["probability"].to_numpy(), abs=1e-12)
    assert found["label"].tolist() == expected["label"].tolist()
    assert [each["label"] for each in labels["predictions"]] == expected["label"].tolist()
    assert of_csv == labels


def _ask(port, body, server):
    """The answer of MLflow's server to JSON or csv, once it is ready."""
    text, kind = (body, "text/csv") if isinstance(body, str) else (json.dumps(body), "application/json")
    request = urllib.request.Request(f"http://127.0.0.1:{port}/invocations", text.encode(), {"Content-Type": kind})
    while True:
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error
        except OSError:
            assert server.poll() is None, "the server ended"
            time.sleep(0.3)


@pytest.mark.slow
def test_new_rows_are_read_as_the_training_file_was(customers, tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [f'"{k % 9},{k % 7}","{x:.3f}",{int(x > 0)}'.replace(".", ",") for k, x in enumerate(rng.normal(size=60))]
    table = tmp_path / "commas.csv"
    table.write_text("\n".join(["a,b,y", *rows]) + "\n", encoding="utf-8")
    store = ["tracking=mlflow", f"tracking.dir={tmp_path / 'mlruns'}"]
    words = ["dataset=file", f"dataset.path={table}", "dataset.target=y", 'dataset.decimal=","']
    run_here(tmp_path / "out", *words, "formulation=bauc", "bounds=none", "metrics=auc", *store)
    capsys.readouterr()

    def predict(*more):
        with pytest.raises(SystemExit) as end:
            cli.main(["predict", "last", *map(str, more), "--store", str(tmp_path / "mlruns")])
        return end.value.code, capsys.readouterr()

    code, said = predict(table, "--only", "score")
    assert code == 0, said.err
    assert len(said.out.splitlines()) == 61
    code, said = predict(table, "--decimal", ".")
    assert code == 1
    assert "'0,0' in row 1 (60 such cells, 0 numbers): --decimal , reads decimal commas" in " ".join(said.err.split())
