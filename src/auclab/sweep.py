"""Sweeps: one parent run above the runs of the jobs, and a last line that counts them.

The parent must exist before the first job starts, also when jobs run in processes of their own, so it is made
by a Hydra callback and found by the jobs through an environment variable. Hydra does not call
`on_multirun_end` when a job failed, so the parent is closed by `sweep_scope`, which surrounds the program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.errors import CompactHydraException
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from auclab.jobs import PARENT_VARIABLE, count_jobs


class JobFailedError(CompactHydraException):
    """A job failed and it was said why. The launcher must know, and goes on with the others."""


@dataclass(frozen=True)
class Sweep:
    """A sweep that this process started."""

    folder: Path
    tracking: dict[str, Any]
    parent: str | None


_open: list[Sweep] = []


class SweepCallback(Callback):
    """Opens the parent run when a sweep starts."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Create database and parent run; the jobs inherit the parent's id."""
        tracking: dict[str, Any] = OmegaConf.to_container(config.tracking, resolve=True)  # type: ignore[assignment]
        parent = None
        if tracking["name"] == "mlflow":
            from auclab.tracking import open_parent

            params = config.hydra.sweeper.get("params") or {}
            grid = [*(f"{key}={value!s}" for key, value in params.items()), *config.hydra.overrides.task]
            parent = open_parent(tracking, grid=grid, command=" ".join(["python", *sys.argv]))
            os.environ[PARENT_VARIABLE] = parent
        _open.append(Sweep(Path(config.hydra.sweep.dir).absolute(), tracking, parent))


@contextmanager
def sweep_scope() -> Iterator[None]:
    """Close the sweep that was opened inside, however it ends, and count its jobs."""
    killed = False
    try:
        yield
    except KeyboardInterrupt:
        killed = True
    except SystemExit as end:
        killed = end.code == 130
        raise
    finally:
        while _open:
            _close(_open.pop(), killed)
        if killed:
            # A solver may still compute in its thread, and an orderly exit would wait for it.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)


def _close(sweep: Sweep, killed: bool) -> None:
    from auclab.screen import show_sweep

    counts = count_jobs(sweep.folder)
    os.environ.pop(PARENT_VARIABLE, None)
    if sweep.parent is not None:
        from auclab.tracking import close_parent

        status = "KILLED" if killed else "FINISHED" if counts.total() == counts["FINISHED"] else "FAILED"
        close_parent(sweep.tracking, sweep.parent, status)
    show_sweep(counts, folder=sweep.folder, tracking=sweep.tracking, parent=sweep.parent)
