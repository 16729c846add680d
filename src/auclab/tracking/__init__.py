"""Records of runs: MLflow's database and artifacts, or a plain folder. No other package writes to MLflow."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auclab.tracking.aside import AsideRun
    from auclab.tracking.clock import Start
    from auclab.tracking.code import CODE_TAG, code_version
    from auclab.tracking.config import TrackingConfig
    from auclab.tracking.environment import HASH_TAG, SETTINGS_TAG, capture_environment, fingerprint
    from auclab.tracking.finished import FinishedRun, find_finished
    from auclab.tracking.kept import KeptInFolderError
    from auclab.tracking.mlflow_run import MlflowRun
    from auclab.tracking.model import load_model, load_scorer, save_model
    from auclab.tracking.open import open_run
    from auclab.tracking.resume import mark_killed
    from auclab.tracking.runs import FolderRun, Record, Run
    from auclab.tracking.sweeps import close_parent, join_sweep, open_parent

__all__ = [
    "CODE_TAG",
    "HASH_TAG",
    "SETTINGS_TAG",
    "AsideRun",
    "FinishedRun",
    "FolderRun",
    "KeptInFolderError",
    "MlflowRun",
    "Record",
    "Run",
    "Start",
    "TrackingConfig",
    "capture_environment",
    "close_parent",
    "code_version",
    "find_finished",
    "fingerprint",
    "join_sweep",
    "load_model",
    "load_scorer",
    "mark_killed",
    "open_parent",
    "open_run",
    "save_model",
]

#: The names of each module, imported at first use, as MLflow takes a second and an address or a hash needs none of it.
_NAMES = {
    "aside": "AsideRun",
    "clock": "Start",
    "code": "CODE_TAG code_version",
    "config": "TrackingConfig",
    "environment": "HASH_TAG SETTINGS_TAG capture_environment fingerprint",
    "finished": "FinishedRun find_finished",
    "kept": "KeptInFolderError",
    "mlflow_run": "MlflowRun",
    "model": "load_model load_scorer save_model",
    "open": "open_run",
    "resume": "mark_killed",
    "runs": "FolderRun Record Run",
    "sweeps": "close_parent join_sweep open_parent",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'auclab.tracking' has no attribute {name!r}")
    return getattr(import_module(f"auclab.tracking.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
