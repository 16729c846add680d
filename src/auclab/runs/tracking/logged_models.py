"""The models of a run as MLflow's logged models: in its list of models, with types of columns and an example."""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import yaml

from auclab._core.base import AuclabError
from auclab.export import scorer as scorer_module
from auclab.export.scorer import SCORER_FILE, Scorer
from auclab.runs.tracking import pyfunc_loader
from auclab.runs.tracking.address import is_local, local_path
from auclab.runs.tracking.model import EXAMPLE_FILE, MODEL_FILE, TRUSTED

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import LoggedModel, Run

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


def log_models(
    client: MlflowClient, run: Run, params: Mapping[str, str], folder: Path, *, again: bool = False
) -> dict[str, str]:
    """Log the models among the files of a run with its parameters, those that are there already left out.

    A model is linked to its run when it is complete. `again`: an earlier process may have been killed before it was;
    such a model is deleted. Returns the ids by name.
    """
    from mlflow.entities import LoggedModelOutput

    logged = {model.name: model.model_id for model in models_of(client, run)}
    ours = f"source_run_id = '{run.info.run_id}'"
    for model in client.search_logged_models([run.info.experiment_id], ours) if again else ():
        if model.model_id not in logged.values():
            client.delete_logged_model(model.model_id)
    for step, (name, place) in enumerate(models_in(folder).items()):
        if name in logged:
            continue
        model = client.create_logged_model(run.info.experiment_id, name, run.info.run_id, params=dict(params))
        if is_local(model.artifact_location):
            write_model(place, local_path(model.artifact_location), model)
        else:
            with tempfile.TemporaryDirectory() as draft:
                write_model(place, Path(draft), model)
                client.log_model_artifacts(model.model_id, draft)
        client.finalize_logged_model(model.model_id, "READY")
        client.log_outputs(run.info.run_id, [LoggedModelOutput(model.model_id, step)])
        logged[name] = model.model_id
    return logged


def models_of(client: MlflowClient, run: Run) -> list[LoggedModel]:
    """The logged models of a run, in the order of its splits."""
    outputs = run.outputs.model_outputs if run.outputs else []
    return [client.get_logged_model(each.model_id) for each in sorted(outputs, key=lambda each: each.step)]


def write_model(place: Path, folder: Path, model: LoggedModel) -> None:
    """Write the model in `place` as MLflow reads models: a function, and a pipeline of scikit-learn.

    The function gives labels, or what its parameter `output` asks for (`auclab.runs.tracking.pyfunc_loader`). For a
    formula it needs NumPy and pandas alone. The types of the columns are those of the example.

    It is what ``mlflow.pyfunc.save_model`` writes, in a tenth of the time: that function reads the files of all
    installed packages, and writes the same environment again for every model.
    """
    scorer = Scorer.read(place)
    example = pd.read_parquet(place / EXAMPLE_FILE) if (place / EXAMPLE_FILE).is_file() else None
    for name in ("code", "data"):
        (folder / name).mkdir(parents=True)
    for name in (SCORER_FILE, MODEL_FILE):
        shutil.copyfile(place / name, folder / "data" / name)
    for name, source in _SOURCES.items():
        shutil.copyfile(str(source.__file__), folder / "code" / f"{name}.py")
    for name, text in _environment(FORMULA_REQUIREMENTS if scorer.is_formula else PIPELINE_REQUIREMENTS).items():
        (folder / name).write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whole numbers cannot be missing; a matrix has no example
        import mlflow.pyfunc
        from mlflow.models import Model
        from mlflow.models.utils import _save_example
        from mlflow.utils.yaml_utils import YamlSafeDumper

        described = Model(model.artifact_location, model.source_run_id, model_uuid=model.model_id)
        described.model_id, described.signature = model.model_id, _signature(scorer, example)
        _save_example(described, example, str(folder))
    mlflow.pyfunc.add_to_model(
        described,
        loader_module="auclab_loader",
        data=f"data/{SCORER_FILE}",
        code="code",
        conda_env="conda.yaml",
        python_env="python_env.yaml",
    )
    described.add_flavor(
        "sklearn",
        code="code",
        pickled_model=f"data/{MODEL_FILE}",
        serialization_format="skops",
        skops_trusted_types=sorted(TRUSTED),
        sklearn_version=_version("scikit-learn"),
    )
    described.model_size_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    text = yaml.dump(described.to_dict(), Dumper=YamlSafeDumper, allow_unicode=True)
    (folder / "MLmodel").write_text(text, encoding="utf-8")


@cache
def _environment(names: Sequence[str]) -> dict[str, str]:
    """The files by which MLflow installs what a model needs."""
    from mlflow.utils.environment import _mlflow_conda_env, _PythonEnv

    requirements = [f"{name}=={_version(name)}" for name in names]
    conda = _mlflow_conda_env(additional_pip_deps=requirements, install_mlflow=False)
    return {
        "requirements.txt": "\n".join(requirements),
        "conda.yaml": yaml.safe_dump(conda),
        "python_env.yaml": yaml.safe_dump(_PythonEnv.current().to_dict()),
    }


def _signature(scorer: Scorer, example: pd.DataFrame | None) -> Any:
    """The columns that go in, the one that comes out, and the parameter that asks for others.

    Columns of numbers with signs and units are text, as in the file: a server of MLflow reads no csv of other types.
    """
    from mlflow.models.signature import ModelSignature
    from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema, TensorSpec

    output = pyfunc_loader.default_output(scorer)
    if example is None:
        inputs = Schema([TensorSpec(np.dtype("float64"), (-1, len(scorer.columns)))])
    else:
        kinds = {name: _TYPES.get(example[name].dtype.kind, "string") for name in map(str, example.columns)}
        inputs = Schema([ColSpec("string" if name in scorer.forms else kind, name) for name, kind in kinds.items()])
    made = "double" if output == "score" else pyfunc_loader.label_type(scorer)
    params = ParamSchema([ParamSpec("output", DataType.string, output)])
    return ModelSignature(inputs, Schema([ColSpec(made, output)]), params)


@cache
def _version(name: str) -> str:
    """The version of an installed package, which is read from its files once."""
    return metadata.version(name)
