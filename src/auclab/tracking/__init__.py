"""Where a run is kept: MLflow's database and artifacts, or a plain folder. Nothing else imports MLflow."""

from auclab.tracking.earlier import finished_before, mark_killed
from auclab.tracking.environment import HASH_TAG, SETTINGS_TAG, capture_environment, fingerprint
from auclab.tracking.model import save_model
from auclab.tracking.runs import FolderRun, MlflowRun, Record, Run, open_run
from auclab.tracking.sweeps import close_parent, open_parent

__all__ = [
    "HASH_TAG",
    "SETTINGS_TAG",
    "FolderRun",
    "MlflowRun",
    "Record",
    "Run",
    "capture_environment",
    "close_parent",
    "fingerprint",
    "finished_before",
    "mark_killed",
    "open_parent",
    "open_run",
    "save_model",
]
