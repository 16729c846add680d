"""The parent run of a sweep; its children carry the tag ``mlflow.parentRunId``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auclab.tracking.environment import capture_environment
from auclab.tracking.store import STORE_ERRORS, cannot_keep, open_store
from auclab.types import AuclabError


def open_parent(tracking: Mapping[str, Any], *, grid: Sequence[str], command: str) -> str:
    """Create the parent run and return its id.

    Raises
    ------
    AuclabError
        The store cannot be opened or written.
    """
    store = open_store(tracking["dir"], tracking["experiment"])
    tags = {"sweep.grid": "\n".join(grid), "sweep.command": command, "mlflow.source.name": command}
    try:
        name = "sweep " + " ".join(grid)
        return str(
            store.client.create_run(
                store.experiment_id, run_name=name[:250], tags=tags | capture_environment()
            ).info.run_id
        )
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.directory, error)) from error


def close_parent(tracking: Mapping[str, Any], run_id: str, status: str) -> None:
    """End the parent with FINISHED, FAILED or KILLED.

    Raises
    ------
    AuclabError
        The store cannot be opened or written.
    """
    store = open_store(tracking["dir"], tracking["experiment"])
    try:
        store.client.set_terminated(run_id, status)
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.directory, error)) from error
