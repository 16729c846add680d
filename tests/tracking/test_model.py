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
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Dataset
from auclab.estimators import AUCClassifier
from auclab.export.formula import describe
from auclab.export.scorer import Scorer
from auclab.tracking.model import CODE_MODULE, LOADER_MODULE, REQUIREMENTS, describe_inputs, save_model
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
            pip_requirements=(tmp_path / "ours" / "requirements.txt").read_text(encoding="utf-8").splitlines(),
        )  # fmt: skip
    ours, theirs = (yaml_of(tmp_path / name / "MLmodel") for name in ("ours", "theirs"))
    assert json.loads(ours["signature"].pop("outputs")) == json.loads(theirs["signature"].pop("outputs"))
    inputs = [json.loads(each["signature"].pop("inputs")) for each in (ours, theirs)]
    assert [column["name"] for column in inputs[0]] == [column["name"] for column in inputs[1]]
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
    assert [
        line.partition("==")[0]
        for line in (tmp_path / "ours" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    ] == [*REQUIREMENTS]


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
print(model.decision_function(dataset.X).tolist())
"""


@pytest.mark.slow
def test_saving_imports_neither_mlflow_nor_all_of_scikit_learn(tmp_path):
    command = [sys.executable, "-c", SAVE, str(tmp_path / "model")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    modules, whole, scores = answer.stdout.splitlines()
    assert (modules, whole) == ("[]", "True")  # and skops is whole afterwards
    loaded = mlflow.sklearn.load_model(str(tmp_path / "model"))
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


@pytest.fixture(scope="module")
def with_formula(tmp_path_factory):
    """Rows, the fitted pipeline, its formula, and the folder of the model."""
    X, y = mixed()
    X.loc[::7, "word"] = None
    model, scorer = described(X, y)
    folder = tmp_path_factory.mktemp("formula") / "model"
    save_model(model, X[:5], folder, scorer=scorer)
    return X, model, scorer, folder


def test_mlflow_would_have_written_the_same_function(with_formula, tmp_path):
    X, _, scorer, folder = with_formula
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mlflow import pyfunc

        pyfunc.save_model(
            tmp_path / "theirs", loader_module=LOADER_MODULE, data_path=str(folder / "scorer.json"),
            code_paths=[str(folder / "code" / f"{name}.py") for name in (LOADER_MODULE, CODE_MODULE)],
            signature=infer_signature(X[:5], Scorer(scorer).predict(X[:5]), params={"output": "all"}),
            pip_requirements=(folder / "requirements.txt").read_text(encoding="utf-8").splitlines(),
        )  # fmt: skip
    ours, theirs = (yaml_of(each / "MLmodel") for each in (folder, tmp_path / "theirs"))
    flavor = ours["flavors"]["python_function"]
    assert (tmp_path / "theirs" / theirs["flavors"]["python_function"].pop("data")).name == flavor.pop("data")
    assert flavor == theirs["flavors"]["python_function"]
    assert json.loads(ours["signature"]["params"]) == json.loads(theirs["signature"]["params"])
    outputs = [{each["name"]: each["type"] for each in json.loads(it["signature"]["outputs"])} for it in (ours, theirs)]
    assert outputs[0] == outputs[1] | {"probability": "any"}  # which is None where there is no calibration


def test_the_function_gives_scores_probabilities_and_labels(with_formula):
    X, model, _, folder = with_formula
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mlflow import pyfunc

        function = pyfunc.load_model(str(folder))
        # Whole numbers where there were decimals, another order, a column more, gaps, a new category.
        new = X.iloc[::-1].assign(number=np.arange(40), more=1)[["more", *reversed(X.columns)]]
        new.loc[0, "word"], new.loc[1, "whole"] = "new", None
        found = function.predict(new)
        alone = function.predict(new, params={"output": "score"})
        with pytest.raises(mlflow.exceptions.MlflowException, match="word"):
            function.predict(X.drop(columns="word"))
    expected = model[-1].solution_.decision_function(model[0].transform(new[X.columns]))
    assert found["score"].to_numpy() == pytest.approx(expected, abs=1e-12)
    assert alone.columns.tolist() == ["score"]
    assert found["probability"].to_numpy() == pytest.approx(1 / (1 + np.exp(-expected)), abs=1e-12)
    assert found["label"].tolist() == np.where(expected > 0.25, "yes", "no").tolist()


ELSEWHERE = """
import sys
sys.modules["auclab"] = None  # as if it were not installed
import pandas as pd
from mlflow import pyfunc
print(pyfunc.load_model(sys.argv[1]).predict(pd.read_json(sys.argv[2]))["score"].tolist())
"""


@pytest.mark.slow
def test_the_function_needs_neither_auclab_nor_a_requirement_that_no_index_has(with_formula, tmp_path):
    X, _, scorer, folder = with_formula
    X[:4].drop(columns="small").assign(small=0.5).to_json(tmp_path / "rows.json")
    command = [sys.executable, "-W", "ignore", "-c", ELSEWHERE, str(folder), str(tmp_path / "rows.json")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = pd.read_json(tmp_path / "rows.json")
    assert json.loads(answer.stdout.splitlines()[-1]) == Scorer(scorer).score(rows).tolist()
    for name in ("requirements.txt", "conda.yaml"):
        assert "auclab" not in (folder / name).read_text(encoding="utf-8")


def test_sparse_matrices_are_described_by_their_shape():
    X = sp.csr_matrix(np.eye(3))
    assert describe_inputs(X) == json.loads(infer_signature(X).inputs.to_json())
