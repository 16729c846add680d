"""Where runs are recorded: the settings of the group ``tracking``."""

from __future__ import annotations

import os
from dataclasses import dataclass

#: Environment variable with the id of the sweep whose jobs this process runs; workers inherit it.
SWEEP_VARIABLE = "AUCLAB_SWEEP"


@dataclass(frozen=True)
class TrackingConfig:
    """Where runs are recorded.

    Parameters
    ----------
    name : {"mlflow", "none"}
        ``none``: files go to the output folder only.
    dir : str
        Folder with the database and the files of the runs.
    experiment : str
        MLflow's name for a group of runs.
    uri : str, optional
        Another database or an MLflow server; None is ``<dir>/mlflow.db``.

    See Also
    --------
    auclab.tracking.sync.sync_run : Sends a run there.

    Examples
    --------
    >>> TrackingConfig(dir="runs").experiment
    'auclab'
    """

    name: str = "mlflow"
    dir: str = "mlruns"
    experiment: str = "auclab"
    uri: str | None = None


def in_sweep() -> bool:
    """Whether this process belongs to a sweep; there the process of the sweep alone writes to the terminal."""
    return SWEEP_VARIABLE in os.environ
