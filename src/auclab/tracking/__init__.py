"""Records of runs: folders, and MLflow's store into which they are sent. No other package writes to MLflow."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auclab.tracking.address import TrackingConfig
    from auclab.tracking.model import load_model, load_scorer

__all__ = ["TrackingConfig", "load_model", "load_scorer"]

_MODULES = {"TrackingConfig": "address", "load_model": "model", "load_scorer": "model"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'auclab.tracking' has no attribute {name!r}")
    return getattr(import_module(f"auclab.tracking.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
