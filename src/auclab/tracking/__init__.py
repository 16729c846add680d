"""Where a run is kept: MLflow's database and artifacts, or a plain folder. Nothing else imports MLflow."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auclab.tracking.config import TrackingConfig
    from auclab.tracking.earlier import finished_before, mark_killed
    from auclab.tracking.environment import HASH_TAG, SETTINGS_TAG, capture_environment, fingerprint
    from auclab.tracking.model import save_model
    from auclab.tracking.runs import FolderRun, MlflowRun, Record, Run, open_run
    from auclab.tracking.sweeps import close_parent, join_sweep, open_parent

__all__ = [
    "HASH_TAG",
    "SETTINGS_TAG",
    "FolderRun",
    "MlflowRun",
    "Record",
    "Run",
    "TrackingConfig",
    "capture_environment",
    "close_parent",
    "fingerprint",
    "finished_before",
    "join_sweep",
    "mark_killed",
    "open_parent",
    "open_run",
    "save_model",
]

#: Where each name lives; imported when it is asked for, as MLflow takes a second and an address or a hash needs none.
_HOMES = {
    "HASH_TAG": "environment",
    "SETTINGS_TAG": "environment",
    "FolderRun": "runs",
    "MlflowRun": "runs",
    "Record": "runs",
    "Run": "runs",
    "TrackingConfig": "config",
    "capture_environment": "environment",
    "close_parent": "sweeps",
    "fingerprint": "environment",
    "finished_before": "earlier",
    "join_sweep": "sweeps",
    "mark_killed": "earlier",
    "open_parent": "sweeps",
    "open_run": "runs",
    "save_model": "model",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'auclab.tracking' has no attribute {name!r}")
    return getattr(import_module(f"auclab.tracking.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
