"""The models of a run as MLflow's logged models: in its list of models, with types of columns and an example."""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from auclab.export import scorer as scorer_module
from auclab.export.scorer import SCORER_FILE, Scorer
from auclab.tracking import pyfunc_loader
from auclab.tracking.model import EXAMPLE_FILE, MODEL_FILE, TRUSTED
from auclab.types import AuclabError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import LoggedModel

#: Name of the model of a run; those of several splits are ``model_fold_0``, …
MODEL_NAME = "model"
#: What a model needs besides auclab itself, which is not on a package index: of a formula, and of a pipeline.
FORMULA_REQUIREMENTS = ("numpy", "pandas", "mlflow")
PIPELINE_REQUIREMENTS = (*FORMULA_REQUIREMENTS, "scikit-learn", "scipy", "skops")
#: The modules that MLflow finds in a model, and what they are copies of.
_SOURCES = {"auclab_loader": pyfunc_loader, "auclab_scorer": scorer_module}
#: MLflow's types of columns, by the kind of those in the data; any other is text.
_TYPES = {"i": "long", "u": "long", "f": "double", "b": "boolean", "M": "datetime"}


def models_in(folder: Path) -> dict[str, Path]:
    """The folders of the models among the files of a run, by the names of the models."""
    splits = [path for path in folder.glob("fold_*") if path.name.removeprefix("fold_").isdecimal()]
    splits.sort(key=lambda path: int(path.name.removeprefix("fold_")))
    found = {f"{MODEL_NAME}_{split.name}": split / "model" for split in splits} or {MODEL_NAME: folder / "model"}
    return {name: path for name, path in found.items() if (path / SCORER_FILE).is_file()}


def path_in_run(name: str) -> str:
    """Where a model is among the files of its run; raises `AuclabError` for a name that no model of auclab has.

    Examples
    --------
    >>> path_in_run("model"), path_in_run("model_fold_2")
    ('model', 'fold_2/model')
    """
    found = re.fullmatch(rf"{MODEL_NAME}(?:_(fold_[0-9]+))?", name)
    if found is None:
        raise AuclabError(f"auclab logs no model with the name {name!r}: a run has model, or model_fold_0, …")
    return f"{found[1]}/model" if found[1] else "model"


def log_models(client: MlflowClient, run_id: str, params: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Log the models among the files of a run with its parameters, those that are there already left out.

    A model is linked to its run when it is complete. Returns the ids by name.
    """
    from mlflow.entities import LoggedModelOutput

    run = client.get_run(run_id)
    logged = {model.name: model.model_id for model in models_of(client, run)}
    for step, (name, place) in enumerate(models_in(folder).items()):
        if name in logged:
            continue
        model = client.create_logged_model(run.info.experiment_id, name, run_id, params=dict(params))
        with tempfile.TemporaryDirectory() as draft:
            write_model(place, Path(draft) / "model", model)
            client.log_model_artifacts(model.model_id, f"{draft}/model")
        client.finalize_logged_model(model.model_id, "READY")
        client.log_outputs(run_id, [LoggedModelOutput(model.model_id, step)])
        logged[name] = model.model_id
    return logged


def models_of(client: MlflowClient, run: Any) -> list[LoggedModel]:
    """The logged models of a run, in the order of its splits."""
    outputs = run.outputs.model_outputs if run.outputs else []
    return [client.get_logged_model(each.model_id) for each in sorted(outputs, key=lambda each: each.step)]


def write_model(place: Path, folder: Path, model: LoggedModel) -> None:
    """Write the model in `place` as MLflow reads models, by MLflow: a function, and a pipeline of scikit-learn.

    The function gives labels, or what its parameter `output` asks for (`auclab.tracking.pyfunc_loader`). For a formula
    it needs NumPy and pandas alone. The types of the columns are those of the example.
    """
    scorer = Scorer.read(place)
    example = pd.read_parquet(place / EXAMPLE_FILE) if (place / EXAMPLE_FILE).is_file() else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whole numbers cannot be missing; a matrix has no example
        import mlflow.pyfunc
        from mlflow.models import Model

        described = Model(model.artifact_location, run_id=model.source_run_id, model_id=model.model_id)
        described.model_uuid = model.model_id
        described.add_flavor(
            "sklearn",
            code="code",
            pickled_model=f"data/{MODEL_FILE}",
            serialization_format="skops",
            skops_trusted_types=sorted(TRUSTED),
            sklearn_version=_version("scikit-learn"),
        )
        names = FORMULA_REQUIREMENTS if scorer.is_formula else PIPELINE_REQUIREMENTS
        with tempfile.TemporaryDirectory() as code:
            copies = {name: Path(code) / f"{name}.py" for name in _SOURCES}
            for name, copy in copies.items():
                shutil.copyfile(str(_SOURCES[name].__file__), copy)
            mlflow.pyfunc.save_model(
                folder,
                mlflow_model=described,
                loader_module="auclab_loader",
                data_path=str(place / SCORER_FILE),
                code_paths=[str(copy) for copy in copies.values()],
                pip_requirements=[f"{name}=={_version(name)}" for name in names],
                signature=_signature(scorer, example),
                input_example=example,
            )
    shutil.copyfile(place / MODEL_FILE, folder / "data" / MODEL_FILE)


def _signature(scorer: Scorer, example: pd.DataFrame | None) -> Any:
    """The columns that go in, the one that comes out, and the parameter that asks for others."""
    from mlflow.models.signature import ModelSignature
    from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema, TensorSpec

    output = pyfunc_loader.default_output(scorer)
    if example is None:
        inputs = Schema([TensorSpec(np.dtype("float64"), (-1, len(scorer.columns)))])
    else:
        kinds = {name: example[name].dtype.kind for name in map(str, example.columns)}
        inputs = Schema([ColSpec(_TYPES.get(kind, "string"), name) for name, kind in kinds.items()])
    made = "double" if output == "score" else pyfunc_loader.label_type(scorer)
    params = ParamSchema([ParamSpec("output", DataType.string, output)])
    return ModelSignature(inputs, Schema([ColSpec(made, output)]), params)


@cache
def _version(name: str) -> str:
    """The version of an installed package, which is read from its files once."""
    return metadata.version(name)
