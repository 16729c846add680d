"""Open a run where the configuration says. MLflow is imported when a run is opened in its store, not before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from auclab.tracking.config import TrackingConfig
from auclab.tracking.job_status import in_sweep
from auclab.tracking.runs import FolderRun, Run
from auclab.types import AuclabError


def open_run(
    tracking: TrackingConfig,
    *,
    name: str,
    folder: str | Path,
    params: Mapping[str, str],
    tags: Mapping[str, str] | None = None,
    began: float | None = None,
) -> Run:
    """Open a run where the configuration says: in MLflow's store or in the output folder only.

    Parameters
    ----------
    tracking : TrackingConfig
        Where the run is recorded.
    name : str
        Name of the run.
    folder : path
        Hydra's output folder; without MLflow it receives the files.
    params : mapping
        Flat settings, logged at the start so that a failed run shows them too.
    tags : mapping, optional
        Tags that are set at the start.
    began : float, optional
        When the work began, in seconds since the epoch; now if not given.

    Raises
    ------
    AuclabError
        An unknown name, or a store that cannot be written.
    """
    if tracking.name == "mlflow":
        from auclab.tracking.mlflow_run import MlflowRun
        from auclab.tracking.resume import mark_killed
        from auclab.tracking.store import open_tracked

        store = open_tracked(tracking)
        if not in_sweep():  # a sweep does it once, at its start
            mark_killed(store)
        return MlflowRun(store, name, Path(folder), params, tags or {}, began=began)
    if tracking.name == "none":
        return FolderRun(name, Path(folder))
    raise AuclabError(f"tracking.name is {tracking.name!r}; it is mlflow or none")
