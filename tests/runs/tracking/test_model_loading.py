"""Models of strangers: what MLflow would run is refused, and every model of auclab is read back as it was."""

import json
import pickle
import warnings
import zipfile

import mlflow.sklearn
import numpy as np
import pytest
import sklearn
import skops.io
import yaml
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab._core.base import AuclabError
from auclab.datasets.preprocess import standard
from auclab.datasets.published import load_breast_cancer
from auclab.datasets.records import Dataset
from auclab.estimators import AUCClassifier, PolynomialAUCClassifier
from auclab.runs.experiment import solve_splits
from auclab.runs.tracking import model as model_module
from auclab.runs.tracking.model import load_model, save_model
from auclab.runs.tracking.store import Store  # noqa: F401  turns MLflow's telemetry off
from composed import composed

DATASET = load_breast_cancer()


class Touch:
    """Its unpickling creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


class Scaler(TransformerMixin, BaseEstimator):
    """A transformer that does something when it is loaded."""

    def __init__(self, path=""):
        self.path = path

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self.path:
            open(self.path, "w", encoding="utf-8").close()


@pytest.fixture
def kept(tmp_path):
    """A folder ``model`` as a run keeps it, with a description for MLflow beside it."""
    model = make_pipeline(StandardScaler(), AUCClassifier("ranksvm", solver="newton", penalty=0.1))
    save_model(model.fit(DATASET.X, DATASET.y), DATASET.X[:5], tmp_path / "model")
    own = {"pickled_model": "model.skops", "serialization_format": "skops", "skops_trusted_types": []}
    described = {"flavors": {"sklearn": own | {"sklearn_version": sklearn.__version__, "code": None}}}
    (tmp_path / "model" / "MLmodel").write_text(json.dumps(described), encoding="utf-8")
    return tmp_path / "model"


def mlflow_loads(folder):
    """MLflow's own loader, which believes the file MLmodel."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mlflow.sklearn.load_model(str(folder))


def change(folder, **flavor):
    description = yaml.safe_load((folder / "MLmodel").read_text(encoding="utf-8"))
    description["flavors"]["sklearn"] |= flavor
    (folder / "MLmodel").write_text(json.dumps(description), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        *(["formulation=ranksvm", f"preprocess={kind}"] for kind in ("standard", "minmax", "unit_ball", "none")),
        *([f"formulation={name}"] for name in ("bauc", "csvm", "generalized_bauc")),
        *([f"formulation={name}", "solver=auto"] for name in ("ecsvm", "partial_auc", "exact_auc")),
    ],
    ids=str,
)
def test_models_of_runs_are_read_back(settings, tmp_path):
    small = ["dataset=artificial", "dataset.n_pos=10", "dataset.n_neg=12", "dataset.n_features=2"]
    words = ["tracking=none", "bounds=none", "metrics=auc", "solver=newton", *small]
    result = solve_splits(composed([*words, *settings]))
    model, X = result.folds[0].model, result.dataset.X
    save_model(model, X[:5], tmp_path / "model")
    assert np.array_equal(load_model(tmp_path / "model").decision_function(X), model.decision_function(X))


@pytest.mark.slow
def test_text_columns_and_polynomials_are_read_back(tmp_path):
    X = DATASET.X.iloc[:, :2].assign(word=np.where(DATASET.X.iloc[:, 2] > 90, "large", "small"))
    dataset = Dataset("words", X, DATASET.y, nominal=("word",))
    model = make_pipeline(*[step for _, step in standard(dataset).steps], PolynomialAUCClassifier())
    save_model(model.fit(X, DATASET.y), X[:5], tmp_path / "model")
    assert np.array_equal(load_model(tmp_path / "model").decision_function(X), model.decision_function(X))


def test_a_pickle_beside_the_model_is_not_touched(kept, tmp_path):
    mark = tmp_path / "touched"
    (kept / "model.pkl").write_bytes(pickle.dumps(Touch(mark)))
    change(kept, pickled_model="model.pkl", serialization_format="cloudpickle")
    load_model(kept)
    assert not mark.exists()
    mlflow_loads(kept).close()
    assert mark.exists()  # what the attack does to who believes MLmodel


def test_types_that_the_model_itself_trusts_are_refused(kept, tmp_path):
    mark = tmp_path / "touched"
    pipeline = make_pipeline(Scaler(str(mark)), load_model(kept)[-1])
    skops.io.dump(pipeline, kept / "model.skops")
    foreign = f"{Scaler.__module__}.Scaler"
    change(kept, skops_trusted_types=[foreign, *sorted(model_module.TRUSTED)])
    with pytest.raises(AuclabError, match=r"has parts of the types .*Scaler.* allow="):
        load_model(kept)
    assert not mark.exists()
    mlflow_loads(kept)
    assert mark.exists()
    mark.unlink()
    load_model(kept, allow=[foreign])
    assert mark.exists()


@pytest.mark.parametrize("attack", ["one large file", "one file many times", "a deep description"])
def test_an_archive_that_unpacks_to_more_is_refused(kept, attack, monkeypatch):
    monkeypatch.setattr(model_module, "MOST_BYTES", 3_000_000)
    schema, size = {"file": "x.npy"}, 1_000_000
    if attack == "one large file":
        size = 4_000_000
    elif attack == "one file many times":
        schema = [schema] * 4
    text = json.dumps(schema) if attack != "a deep description" else "[" * 200_000 + "]" * 200_000
    with zipfile.ZipFile(kept / "model.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", text)
        archive.writestr("x.npy", bytes(size))
    assert (kept / "model.skops").stat().st_size < 10_000
    with pytest.raises(AuclabError, match=r"unpacks to more than|cannot be read as a model"):
        load_model(kept)


def test_a_sparse_matrix_that_unpacks_to_more_is_refused(kept, monkeypatch):
    monkeypatch.setattr(model_module, "MOST_BYTES", 3_000_000)
    with zipfile.ZipFile(kept / "inner.npz", "w", zipfile.ZIP_DEFLATED) as inner:
        inner.writestr("data.npy", bytes(4_000_000))
    with zipfile.ZipFile(kept / "model.skops", "w") as archive:
        archive.writestr("schema.json", "{}")
        archive.write(kept / "inner.npz", "inner.npz")
    with pytest.raises(AuclabError, match="unpacks to more than"):
        load_model(kept)


def test_links_and_damage_are_said_in_words(kept, tmp_path):
    with pytest.raises(AuclabError, match="does not exist"):
        load_model(tmp_path)
    (kept / "model.skops").rename(tmp_path / "elsewhere.skops")
    (kept / "model.skops").symlink_to(tmp_path / "elsewhere.skops")
    with pytest.raises(AuclabError, match="is a link"):
        load_model(kept)
    (kept / "model.skops").unlink()
    for content in (b"", b"no archive", (tmp_path / "elsewhere.skops").read_bytes()[:500]):
        (kept / "model.skops").write_bytes(content)
        with pytest.raises(AuclabError, match="cannot be read as a model"):
            load_model(kept)
