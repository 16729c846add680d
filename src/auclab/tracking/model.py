"""The fitted pipeline as an MLflow model, in skops format: readable without unpickling foreign code."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

from auclab.tracking import store as _store  # noqa: F401  silences telemetry and logs first

#: Given, because finding them out takes MLflow four seconds.
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
    # Imported when there is a model to save: skops looks through all of scikit-learn, which takes a second or two.
    import mlflow.sklearn
    import skops.io
    from mlflow.models import infer_signature

    if hasattr(X, "select_dtypes"):
        # A column of whole numbers may have missing values one day, and these are floats.
        X = X.astype(dict.fromkeys(X.select_dtypes("integer"), "float64"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow's hints on integer columns and on its own deprecations
        mlflow.sklearn.save_model(
            model,
            folder,
            serialization_format="skops",
            signature=infer_signature(X, model.predict(X)),
            pip_requirements=[f"{name}=={version(name)}" for name in REQUIREMENTS],
            # The model was made here, a moment ago: its types are those we mean.
            skops_trusted_types=skops.io.get_untrusted_types(data=skops.io.dumps(model)),
        )
