"""The saved model: MLflow loads it, and its description is the one MLflow would have written."""

import json
import subprocess
import sys
import warnings

import mlflow.sklearn
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
import yaml
from mlflow.models import infer_signature
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from auclab.datasets.breast_cancer import load_breast_cancer
from auclab.estimators import AUCClassifier
from auclab.tracking.model import REQUIREMENTS, describe_inputs, save_model
from auclab.tracking.store import Store  # noqa: F401  turns MLflow's telemetry off

#: What differs from one saving to the next, or has no meaning for such a model.
OWN = {"model_uuid", "utc_time_created", "model_id", "prompts", "is_signature_from_type_hint", "type_hint_from_example"}


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


def fit(X, y):
    numbers = (StandardScaler(), make_column_selector(dtype_include="number"))
    others = (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude="number"))
    classifier = AUCClassifier("ranksvm", solver="newton", penalty=0.1)
    return make_pipeline(make_column_transformer(numbers, others), classifier).fit(X, y)


def yaml_of(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_mlflow_would_have_written_the_same(tmp_path):
    X, y = mixed()
    model = fit(X, y)
    save_model(model, X[:5], tmp_path / "ours")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        as_floats = X[:5].astype({"whole": "float64"})
        trusted = skops.io.get_untrusted_types(data=skops.io.dumps(model))
        mlflow.sklearn.save_model(
            model, tmp_path / "theirs", serialization_format="skops", skops_trusted_types=trusted,
            signature=infer_signature(as_floats, model.predict(X[:5])),
            pip_requirements=(tmp_path / "ours" / "requirements.txt").read_text().splitlines(),
        )  # fmt: skip
    ours, theirs = (yaml_of(tmp_path / name / "MLmodel") for name in ("ours", "theirs"))
    for part in ("inputs", "outputs"):
        assert json.loads(ours["signature"].pop(part)) == json.loads(theirs["signature"].pop(part))
    # An archive has times in it, so that its size may differ by some bytes.
    assert ours.pop("model_size_bytes") == pytest.approx(theirs.pop("model_size_bytes"), rel=0.01)
    drop = lambda content: {key: value for key, value in content.items() if key not in OWN}  # noqa: E731
    assert drop(ours) == drop(theirs)
    for name in ("conda.yaml", "python_env.yaml"):
        ours, theirs = (yaml_of(tmp_path / each / name) for each in ("ours", "theirs"))
        if name == "conda.yaml":  # MLflow limits pip to its own version where pip is installed
            assert theirs["dependencies"][1].startswith("pip")
            ours["dependencies"][1] = theirs["dependencies"][1]
        assert ours == theirs
    assert {path.name for path in (tmp_path / "ours").iterdir()} == {
        path.name for path in (tmp_path / "theirs").iterdir()
    }
    assert [line.partition("==")[0] for line in (tmp_path / "ours" / "requirements.txt").read_text().splitlines()] == [
        *REQUIREMENTS
    ]


def test_mlflow_loads_it_as_a_scikit_learn_model_and_as_a_function(tmp_path):
    dataset = load_breast_cancer()
    model = make_pipeline(StandardScaler(), AUCClassifier("ranksvm", solver="newton", penalty=0.1))
    model.fit(dataset.X, dataset.y)
    save_model(model, dataset.X[:5], tmp_path / "model")
    loaded = mlflow.sklearn.load_model(str(tmp_path / "model"))
    assert np.array_equal(loaded.decision_function(dataset.X), model.decision_function(dataset.X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow's own
        from mlflow import pyfunc

        function = pyfunc.load_model(str(tmp_path / "model"))
        assert np.array_equal(function.predict(dataset.X), model.predict(dataset.X))
        with pytest.raises(mlflow.exceptions.MlflowException, match="mean radius"):  # the signature is checked
            function.predict(dataset.X.drop(columns="mean radius"))


SAVE = """
import sys
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from auclab.datasets.breast_cancer import load_breast_cancer
from auclab.estimators import AUCClassifier
from auclab.tracking import save_model
from pathlib import Path

dataset = load_breast_cancer()
model = make_pipeline(StandardScaler(), AUCClassifier("ranksvm", solver="newton", penalty=0.1))
save_model(model.fit(dataset.X, dataset.y), dataset.X[:5], Path(sys.argv[1]))
print(sorted(sys.modules.keys() & {"skops", "mlflow", "sklearn.ensemble", "sklearn.utils.estimator_checks"}))
import skops.io
print(len(skops.io._trusted_types.SKLEARN_ESTIMATOR_TYPE_NAMES) > 100)
"""


def test_saving_imports_neither_mlflow_nor_all_of_scikit_learn(tmp_path):
    command = [sys.executable, "-c", SAVE, str(tmp_path / "model")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == ["[]", "True"]  # and skops is whole afterwards
    loaded = mlflow.sklearn.load_model(str(tmp_path / "model"))
    dataset = load_breast_cancer()
    again = clone(loaded).fit(dataset.X, dataset.y)
    assert np.array_equal(loaded.decision_function(dataset.X), again.decision_function(dataset.X))


@pytest.mark.parametrize(
    "column",
    [
        [1.5, None], [True, None], ["a", None], [None, None], pd.Categorical(["x", None]),
        pd.array(["a", None], "string"), pd.array([1.5, None], "Float64"), pd.array([True, None], "boolean"),
    ],
    ids=str,
)  # fmt: skip
def test_missing_values_are_described_as_mlflow_describes_them(column):
    X = pd.DataFrame({"a": column})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert describe_inputs(X) == infer_signature(X).inputs.to_dict()


def test_sparse_matrices_are_described_by_their_shape():
    X = sp.csr_matrix(np.eye(3))
    assert describe_inputs(X) == json.loads(infer_signature(X).inputs.to_json())
