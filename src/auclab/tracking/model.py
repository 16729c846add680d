"""The fitted pipeline as an MLflow model, in skops format: readable without unpickling foreign code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

#: Listed here, because MLflow needs four seconds to infer them.
REQUIREMENTS = ("auclab", "scikit-learn", "skops", "numpy", "scipy", "pandas", "mlflow")


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
    from auclab.tracking import store as _store  # noqa: F401  turns telemetry and logs off before MLflow is imported

    import mlflow.sklearn  # isort: skip
    from mlflow.models import infer_signature

    if hasattr(X, "select_dtypes"):
        # A column of whole numbers may have missing values one day, and these are floats.
        X = X.astype(dict.fromkeys(X.select_dtypes("integer"), "float64"))
    with _skops_for_saving() as skops_io, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow's hints on integer columns and on its own deprecations
        mlflow.sklearn.save_model(
            model,
            folder,
            serialization_format="skops",
            signature=infer_signature(X, model.predict(X)),
            pip_requirements=[f"{name}=={version(name)}" for name in REQUIREMENTS],
            # The model was made here, a moment ago: its types are those we mean.
            skops_trusted_types=skops_io.get_untrusted_types(data=skops_io.dumps(model)),
        )


@contextmanager
def _skops_for_saving() -> Iterator[Any]:
    """``skops.io`` without its list of all estimators of scikit-learn, for which it imports every module there.

    The list says which types are trusted when a model is loaded. Saving names the types of the model one by one, so it
    needs no list. Afterwards skops is as if it had not been imported: whoever loads models here gets the whole of it.
    """
    if "skops.io" in sys.modules:
        yield sys.modules["skops.io"]
        return
    import sklearn.utils

    listing, sklearn.utils.all_estimators = sklearn.utils.all_estimators, lambda *_, **__: []
    try:
        import skops.io

        yield skops.io
    finally:
        sklearn.utils.all_estimators = listing
        for name in [name for name in sys.modules if name.partition(".")[0] == "skops"]:
            del sys.modules[name]
