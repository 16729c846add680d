"""Open a run where the configuration says. MLflow is imported only if a run needs it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from auclab.tracking.clock import Start
from auclab.tracking.config import TrackingConfig
from auclab.tracking.job_status import in_sweep
from auclab.tracking.mlflow_run import MlflowRun
from auclab.tracking.runs import FolderRun, Run
from auclab.types import AuclabError

if TYPE_CHECKING:
    from auclab.tracking.store import Store


def open_run(
    tracking: TrackingConfig,
    *,
    name: str,
    folder: str | Path,
    params: Mapping[str, str],
    tags: Mapping[str, str] | None = None,
    start: Start | None = None,
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
    start : Start, optional
        When the work began; now if not given.

    Raises
    ------
    AuclabError
        An unknown name, or a store that cannot be written.

    See Also
    --------
    auclab.tracking.Run : What is returned.
    find_finished : Finds a finished run that makes a new one unnecessary.

    Examples
    --------
    >>> import tempfile
    >>> from auclab.tracking import Record
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with open_run(TrackingConfig(name="none"), name="bauc", folder=place, params={}) as run:
    ...         run.keep(Record(metrics={"test/auc": 0.9}))
    ...     run.run_id is None
    True
    """
    if tracking.name == "mlflow":
        return MlflowRun(_open_store(tracking), name, Path(folder), params, tags or {}, start=start)
    if tracking.name == "none":
        return FolderRun(name, Path(folder))
    raise AuclabError(f"tracking.name is {tracking.name!r}; it is mlflow or none")


def _open_store(tracking: TrackingConfig) -> Store:
    """The experiment in the store; a sweep marks runs of dead processes once, at its start."""
    from auclab.tracking.resume import mark_killed
    from auclab.tracking.store import open_tracked

    store = open_tracked(tracking)
    if not in_sweep():
        mark_killed(store)
    return store
