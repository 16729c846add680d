"""MLflow's entry to a stored model, which has a copy of this file and one of `auclab.export.scorer`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

try:
    from auclab_scorer import Scorer  # type: ignore[import-not-found]  # the copy, which needs no auclab
except ImportError:
    from auclab.export.scorer import Scorer


class Function:
    """A scorer as MLflow calls it."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        """The label of every row, of the type that pandas reads from a file; the score, if there are no classes.

        `params`: ``{"output": "score"}`` or ``"probability"`` for these, ``"all"`` for a table of the three. What the
        scorer refuses is an ``MlflowException`` with its sentence.
        """
        output = (params or {}).get("output") or default_output(self.scorer)
        try:
            table = self.scorer.predict(model_input, {"output": output})
        except ValueError as error:  # a server of MLflow answers with the sentence of its own exceptions alone
            from mlflow.exceptions import MlflowException

            raise MlflowException.invalid_parameter_value(str(error)) from error
        if "label" in table and label_type(self.scorer) != "string":
            table["label"] = table["label"].map({text: _value(text) for text in self.scorer.labels})
        return table if output == "all" else table[output]


def default_output(scorer: Scorer) -> str:
    """What is returned unless `params` ask for something else."""
    return "label" if scorer.has_labels else "score"


def label_type(scorer: Scorer) -> str:
    """MLflow's type of the labels: whole numbers, truth values, or text."""
    kinds = {type(_value(text)) for text in scorer.labels}
    return {int: "long", bool: "boolean"}.get(kinds.pop(), "string") if len(kinds) == 1 else "string"


def _value(label: str) -> Any:
    """A label as pandas reads it from a file."""
    if label in ("True", "False"):
        return label == "True"
    return int(label) if re.fullmatch("0|-?[1-9][0-9]*", label) else label


def _load_pyfunc(path: str) -> Function:
    """The scorer in `path`, the ``scorer.json`` of a model."""
    scorer = Scorer.read(path)
    if scorer.is_formula:
        return Function(scorer)
    try:
        from auclab.runs.tracking.model import load_model
    except ImportError as error:
        raise ImportError(
            f"{scorer.what} is not a formula over the columns, so that this model needs auclab in the environment "
            f"({error}); install it from its source: pip install PATH_OF_AUCLAB"
        ) from error
    return Function(Scorer(scorer.description, load_model(Path(path).parent)))
