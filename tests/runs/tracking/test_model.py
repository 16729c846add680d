"""Saved models, and what MLflow has of them: its list of models, its loaders, its evaluation."""

import io
import json
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from auclab._core.base import AuclabError
from auclab.datasets.preprocess import standard
from auclab.datasets.published import load_breast_cancer
from auclab.datasets.records import Dataset
from auclab.estimators import AUCClassifier
from auclab.export.formula import describe
from auclab.export.scorer import Scorer
from auclab.runs.tracking.address import TrackingConfig, local_path
from auclab.runs.tracking.logged_models import log_models, models_of, path_in_run
from auclab.runs.tracking.model import load_model, save_model
from auclab.runs.tracking.record import RunRecord
from auclab.runs.tracking.store import Store  # noqa: F401  turns MLflow's telemetry off
from auclab.runs.tracking.sync import send, writing

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # MLflow's own
    import mlflow.sklearn
    from mlflow import pyfunc
    from mlflow.pyfunc.scoring_server import parse_csv_input

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own


def mixed():
    """Columns of every kind that a data set may have."""
    generator = np.random.default_rng(0)
    y = np.arange(40) % 2
    return pd.DataFrame(
        {
            "number": generator.normal(size=40) + y,
            "whole": np.arange(40),
            "small": generator.normal(size=40).astype("float32"),
            "word": np.where(generator.random(40) < 0.5, "a", "b"),
            "flag": generator.random(40) < 0.5,
            "kind": pd.Categorical(np.where(y == 1, "x", "z")),
        }
    ), y


SAVE = """
import sys
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from auclab.datasets.published import load_breast_cancer
from auclab.estimators import AUCClassifier
from auclab.runs.tracking.model import save_model
from pathlib import Path

dataset = load_breast_cancer()
model = make_pipeline(StandardScaler(), AUCClassifier("ranksvm", solver="newton", penalty=0.1))
save_model(model.fit(dataset.X, dataset.y), dataset.X[:5], Path(sys.argv[1]))
print(sorted(sys.modules.keys() & {"skops", "mlflow", "sklearn.ensemble", "sklearn.utils.estimator_checks"}))
import skops.io
print(len(skops.io._trusted_types.SKLEARN_ESTIMATOR_TYPE_NAMES) > 100)
print(model.decision_function(dataset.X).tolist())
"""


@pytest.mark.weekly
def test_saving_imports_neither_mlflow_nor_all_of_scikit_learn(tmp_path):
    command = [sys.executable, "-c", SAVE, str(tmp_path / "model")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    modules, whole, scores = answer.stdout.splitlines()
    assert (modules, whole) == ("[]", "True")  # and skops is whole afterwards
    loaded = load_model(tmp_path / "model")
    dataset = load_breast_cancer()
    assert loaded.decision_function(dataset.X).tolist() == json.loads(scores)
    again = clone(loaded).fit(dataset.X, dataset.y)
    assert again[-1].solution_.objective == pytest.approx(loaded[-1].solution_.objective, rel=2e-6)


def described(X, y):
    """A fitted pipeline of `auclab.datasets.preprocess`, and its formula."""
    preprocessing = standard(Dataset("toy", X, y))
    classifier = AUCClassifier("ranksvm", solver="newton", penalty=0.1)
    model = make_pipeline(preprocessing, classifier).fit(X, y)
    calibration = {"method": "sigmoid", "slope": 1.0, "centre": 0.0, "offset": 0.0}
    scorer = describe(
        preprocessing, coef=classifier.solution_.coef, intercept=classifier.solution_.intercept, columns=X.columns,
        threshold={"rule": "prior", "value": 0.25}, labels=("no", "yes"), probability=calibration,
    )  # fmt: skip
    return model, scorer


class Logged:
    """A run of a store with one model, which is logged in it."""

    def __init__(self, place, model, X, scorer):
        with writing(TrackingConfig(dir=str(place / "mlruns"), experiment="toy")) as self.store:
            pass
        self.client = self.store.client
        run = self.client.create_run(self.store.experiment_id)
        self.run_id = run.info.run_id
        self.folder = place / "run"
        save_model(model, X, self.folder / "model", scorer=scorer)
        self.id = log_models(self.client, run, {}, self.folder)["model"]

    @property
    def model(self):
        return self.client.get_logged_model(self.id)

    @property
    def place(self):
        """What MLflow's loaders take."""
        return str(local_path(self.model.artifact_location))


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """Rows, the fitted pipeline, its formula, and the logged model."""
    X, y = mixed()
    X.loc[::7, "word"] = None
    model, scorer = described(X, y)
    return X, model, scorer, Logged(tmp_path_factory.mktemp("logged"), model, X[:5], scorer)


def test_a_run_has_its_model_in_the_list_of_models(logged):
    X, _, _, here = logged
    (found,) = here.client.search_logged_models([here.store.experiment_id])
    assert (found.name, str(found.status), found.source_run_id) == ("model", "READY", here.run_id)
    (output,) = here.client.get_run(here.run_id).outputs.model_outputs
    assert output.model_id == found.model_id
    described = pyfunc.load_model(here.place).metadata.signature
    kinds = ["double", "long", "double", "string", "boolean", "string"]
    assert [column.type.name for column in described.inputs] == kinds
    assert described.inputs.input_names() == list(X.columns)
    assert [(each.name, each.type.name) for each in described.outputs] == [("label", "string")]
    example = mlflow.pyfunc.load_model(here.place).input_example
    assert example["whole"].tolist() == X["whole"][:5].tolist()


def test_a_model_is_logged_once(logged):
    _, _, _, here = logged
    run = here.client.get_run(here.run_id)
    assert log_models(here.client, run, {}, here.folder) == {"model": here.id}
    assert len(here.client.search_logged_models([here.store.experiment_id])) == 1


def test_a_model_whose_process_was_killed_is_logged_once(logged, tmp_path, monkeypatch):
    X, model, scorer, _ = logged
    save_model(model, X[:5], tmp_path / "out" / "model", scorer=scorer)
    record = RunRecord(tmp_path / "out", "a run", tracking=TrackingConfig(dir=str(tmp_path / "mlruns")))
    with writing(record.tracking) as store:
        with monkeypatch.context() as patch:
            patch.setattr(mlflow.MlflowClient, "finalize_logged_model", mock.Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                send(store, record)
        sent = send(store, record, again=True)
        found = store.client.search_logged_models([store.experiment_id])
    assert [(each.source_run_id, str(each.status)) for each in found] == [(sent.run_id, "READY")]


def test_models_of_splits_are_logged_in_their_order(logged, tmp_path):
    X, model, scorer, here = logged
    for number in (10, 2):
        save_model(model, X[:5], tmp_path / f"fold_{number}" / "model", scorer=scorer)
    run = here.client.create_run(here.client.create_experiment("splits"))
    assert list(log_models(here.client, run, {}, tmp_path)) == ["model_fold_2", "model_fold_10"]
    found = models_of(here.client, here.client.get_run(run.info.run_id))
    assert [path_in_run(each.name) for each in found] == ["fold_2/model", "fold_10/model"]


@pytest.mark.parametrize("name", ["../model", "model_../../x", "other", "model_fold_", ""])
def test_a_foreign_name_of_a_model_is_no_path(name):
    with pytest.raises(AuclabError, match="auclab logs no model with the name"):
        path_in_run(name)


def test_mlflow_loads_it_as_a_scikit_learn_model(logged):
    X, model, _, here = logged
    loaded = mlflow.sklearn.load_model(here.place)
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert np.array_equal(load_model(here.folder / "model").decision_function(X), model.decision_function(X))


def test_the_function_gives_labels_and_on_request_scores_and_probabilities(logged):
    X, model, _, here = logged
    function = pyfunc.load_model(here.place)
    # Another order, a column more, gaps, a new category.
    new = X.iloc[::-1].assign(more=1)[["more", *reversed(X.columns)]].astype({"kind": "str"})
    new.loc[0, "word"], new.loc[1, "number"] = "new", None
    expected = model[-1].solution_.decision_function(model[0].transform(new[X.columns]))
    labels = np.where(expected > 0.25, "yes", "no").tolist()
    assert function.predict(new).tolist() == labels
    found = function.predict(new, params={"output": "all"})
    assert found["score"].to_numpy() == pytest.approx(expected, abs=1e-12)
    assert found["probability"].to_numpy() == pytest.approx(1 / (1 + np.exp(-expected)), abs=1e-12)
    assert found["label"].tolist() == labels
    assert function.predict(new, params={"output": "score"}).tolist() == found["score"].tolist()
    with pytest.raises(mlflow.exceptions.MlflowException, match="word"):
        function.predict(X.drop(columns="word"))
    # A server of MLflow sends the sentence of such an exception, and a stack trace with paths of any other.
    with pytest.raises(mlflow.exceptions.MlflowException, match="output='proba' is unknown; choose one of all, score"):
        function.predict(new.drop(columns="more"), params={"output": "proba"})


def test_a_csv_file_is_read_by_the_types_of_the_columns(logged):
    """As a served model reads the body of a request."""
    X, _, scorer, here = logged
    schema = pyfunc.load_model(here.place).metadata.signature.inputs
    rows = parse_csv_input(io.StringIO(X.to_csv(index=False)), schema)
    found = pyfunc.load_model(here.place).predict(rows, params={"output": "score"})
    assert found.tolist() == pytest.approx(Scorer(scorer).score(X).tolist(), abs=1e-12)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [(("no", "yes"), "string"), (("0", "1"), "long"), (("-1", "1"), "long"), (("False", "True"), "boolean"),
     (("01", "1"), "string"), (("1", "True"), "string")],
)  # fmt: skip
def test_mlflow_evaluates_it_as_a_classifier(logged, tmp_path, monkeypatch, labels, kind):
    """With the labels that pandas reads from a file."""
    X, model, scorer, _ = logged
    here = Logged(tmp_path, model, X[:5], scorer | {"labels": labels})
    monkeypatch.setattr(mlflow.tracking._tracking_service.utils, "_tracking_uri", here.store.address.uri)
    described = pyfunc.load_model(here.place).metadata.signature
    assert [each.type.name for each in described.outputs] == [kind]
    positive = Scorer(scorer).score(X) > 0.25
    text = pd.Series(np.where(positive, labels[1], labels[0]))
    path = tmp_path / "labels.csv"
    text.to_csv(path, index=False, header=["y"])
    column = text if kind == "string" else pd.read_csv(path)["y"]
    with mlflow.start_run(experiment_id=here.store.experiment_id):
        found = mlflow.models.evaluate(
            here.place, X.astype({"kind": "str"}).assign(y=column.to_numpy()), targets="y", model_type="classifier",
            evaluator_config={"log_model_explainability": False},
        )  # fmt: skip
    assert found.metrics["accuracy_score"] == 1.0


ELSEWHERE = """
import sys
sys.modules["auclab"] = None  # as if it were not installed
import pandas as pd
from mlflow import pyfunc
found = pyfunc.load_model(sys.argv[1]).predict(pd.read_json(sys.argv[2]), params={"output": "score"})
print(found.tolist())
"""


@pytest.mark.weekly
@pytest.mark.slow
def test_the_function_needs_neither_auclab_nor_a_requirement_that_no_index_has(logged, tmp_path):
    X, _, scorer, here = logged
    X[:4].drop(columns="small").assign(small=0.5).to_json(tmp_path / "rows.json")
    command = [sys.executable, "-W", "ignore", "-c", ELSEWHERE, here.place, str(tmp_path / "rows.json")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = pd.read_json(tmp_path / "rows.json")
    assert json.loads(answer.stdout.splitlines()[-1]) == Scorer(scorer).score(rows).tolist()
    for name in ("requirements.txt", "conda.yaml"):
        assert "auclab" not in Path(here.place, name).read_text(encoding="utf-8")


def test_sparse_matrices_are_described_by_their_shape(logged, tmp_path):
    X, y = sp.csr_matrix(np.eye(6)), np.arange(6) % 2
    preprocessing = standard(Dataset("toy", X, y))
    classifier = AUCClassifier("ranksvm", solver="newton", penalty=0.1)
    model = make_pipeline(preprocessing, classifier).fit(X, y)
    scorer = describe(
        preprocessing, coef=classifier.solution_.coef, intercept=0.0, columns=[f"x{k}" for k in range(6)],
        threshold={"rule": "prior", "value": 0.0}, labels=("0", "1"), probability=None,
    )  # fmt: skip
    here = Logged(tmp_path, model, X[:3], scorer)
    assert pyfunc.load_model(here.place).metadata.signature.inputs.input_types() == [np.dtype("float64")]
    found = pyfunc.load_model(here.place).predict(X.toarray(), params={"output": "score"})
    assert found.tolist() == pytest.approx(classifier.solution_.decision_function(model[0].transform(X)).tolist())
