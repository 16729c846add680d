"""The fitted pipeline as an MLflow model, in skops format: readable without unpickling foreign code.

The files are those of ``mlflow.sklearn.save_model``, which would import MLflow, infer the requirements, and load the
model again. MLflow reads them; a test compares them with its own.
"""

from __future__ import annotations

import json
import platform
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

REQUIREMENTS = ("auclab", "scikit-learn", "skops", "numpy", "scipy", "pandas", "mlflow")
#: Packages that MLflow lists besides, to build an environment.
BUILD_PACKAGES = ("pip", "setuptools", "wheel")
MODEL_FILE = "model.skops"
#: The module with the lists of types that skops trusts by itself.
_TRUSTED_TYPES = "skops.io._trusted_types"

#: MLflow's name of the type of a column, by what pandas infers of its values.
TYPES = {
    "boolean": "boolean",
    "empty": "any",
    "floating": "double",
    "integer": "double",  # it may have missing values one day, and these are floats
    "mixed-integer-float": "double",
    "string": "string",
}


def save_model(model: Any, X: Any, folder: Path) -> None:
    """Write `model` with the signature X → class to `folder`; load it with ``mlflow.sklearn.load_model``.

    Parameters
    ----------
    model : fitted scikit-learn pipeline
    X : DataFrame or CSR matrix of shape (n_samples, n_features)
        Some rows as the model takes them.
    folder : Path
        Must not exist yet.
    """
    folder.mkdir(parents=True)
    with _skops_for_saving() as skops_io:
        skops_io.dump(model, folder / MODEL_FILE)
        # The types of a model that was fitted here can be trusted.
        trusted = skops_io.get_untrusted_types(file=folder / MODEL_FILE)
    requirements = [f"{name}=={version(name)}" for name in REQUIREMENTS]
    python = platform.python_version()
    (folder / "requirements.txt").write_text("\n".join(requirements), encoding="utf-8")
    conda = [f"python={python}", "pip", {"pip": requirements}]
    _write(folder / "conda.yaml", {"name": "mlflow-env", "channels": ["conda-forge"], "dependencies": conda})
    build = [_pinned(name) for name in BUILD_PACKAGES]
    environment = {"python": python, "build_dependencies": build, "dependencies": ["-r requirements.txt"]}
    _write(folder / "python_env.yaml", environment)
    _write(
        folder / "MLmodel",
        {
            "flavors": {
                "python_function": {
                    "env": {"conda": "conda.yaml", "virtualenv": "python_env.yaml"},
                    "loader_module": "mlflow.sklearn",
                    "model_path": MODEL_FILE,
                    "predict_fn": "predict",
                    "python_version": python,
                },
                "sklearn": {
                    "code": None,
                    "pickled_model": MODEL_FILE,
                    "serialization_format": "skops",
                    "skops_trusted_types": trusted,
                    "sklearn_version": version("scikit-learn"),
                },
            },
            "mlflow_version": version("mlflow"),
            "model_size_bytes": (folder / MODEL_FILE).stat().st_size,
            "model_uuid": uuid.uuid4().hex,
            "signature": {
                "inputs": json.dumps(describe_inputs(X)),
                "outputs": json.dumps([_tensor(model.predict(X))]),
                "params": None,
            },
            "utc_time_created": str(datetime.now(UTC).replace(tzinfo=None)),
        },
    )


def describe_inputs(X: Any) -> list[dict[str, Any]]:
    """The columns of a DataFrame, or the shape of a sparse matrix, as MLflow's signatures describe them.

    Examples
    --------
    >>> describe_inputs(pd.DataFrame({"a": [1, 2], "b": ["x", None]}))[1]
    {'type': 'string', 'name': 'b', 'required': False}
    """
    if not isinstance(X, pd.DataFrame):
        return [_tensor(X)]
    return [
        {"type": _column_type(X[name]), "name": str(name), "required": bool(X[name].notna().all())}
        for name in X.columns
    ]


def _column_type(column: pd.Series[Any]) -> str:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = pd.Series(column.to_numpy())
    if column.dtype == np.float32:
        return "float"
    return TYPES.get(pd.api.types.infer_dtype(column, skipna=True), "any")


def _tensor(array: Any) -> dict[str, Any]:
    return {"type": "tensor", "tensor-spec": {"dtype": array.dtype.name, "shape": [-1, *array.shape[1:]]}}


def _pinned(name: str) -> str:
    try:
        return f"{name}=={version(name)}"
    except PackageNotFoundError:
        return name


def _write(path: Path, content: dict[str, Any]) -> None:
    """As JSON, which is YAML too."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def _skops_for_saving() -> Iterator[Any]:
    """``skops.io`` without the lists of types that it trusts when it loads a model.

    To make the lists it imports all of scikit-learn and looks through NumPy and SciPy. Saving names the types of the
    model one by one, and needs no list. Afterwards skops is as if it had not been imported: code that loads models in
    this process gets the whole of it.
    """
    if "skops.io" in sys.modules:
        yield sys.modules["skops.io"]
        return
    sys.modules["skops.io._trusted_types"] = _NoTypes("skops.io._trusted_types")
    try:
        import skops.io

        yield skops.io
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "skops"]:
            del sys.modules[name]


class _NoTypes(ModuleType):
    """In place of the module of skops with its lists: only the built-in types, which cannot be named otherwise."""

    PRIMITIVE_TYPE_NAMES = ("builtins.int", "builtins.float", "builtins.str", "builtins.bool")
    CONTAINER_TYPE_NAMES = ("builtins.list", "builtins.set", "builtins.map", "builtins.tuple")

    def __getattribute__(self, name: str) -> Any:
        if name.endswith(("_TYPE_NAMES", "_TYPES")):
            return list(vars(_NoTypes).get(name, ()))
        return super().__getattribute__(name)
