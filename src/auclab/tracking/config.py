"""Where runs are recorded: the settings of the group ``tracking``."""

from __future__ import annotations

from dataclasses import dataclass


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
    wait : float
        Seconds to wait for a database that another process has locked; after that the run is kept in its output folder,
        for ``auclab push``.

    See Also
    --------
    auclab.tracking.open_run : Opens a run there.

    Examples
    --------
    >>> TrackingConfig(dir="runs").experiment
    'auclab'
    """

    name: str = "mlflow"
    dir: str = "mlruns"
    experiment: str = "auclab"
    uri: str | None = None
    wait: float = 120.0
