"""Hydra sweeper: every combination of the choices on the command line, each part of it composed once."""

from __future__ import annotations

from collections.abc import Sequence

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from auclab.sweeps.composition import SharedLoader


class GridSweeper(BasicSweeper):
    """Hydra's basic sweeper with jobs that are composed as `auclab.sweeps.composition` says."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Store the arguments of the jobs."""
        shared = HydraContext(SharedLoader(hydra_context.config_loader), hydra_context.callbacks)
        super().setup(hydra_context=shared, task_function=task_function, config=config)

    def validate_batch_is_legal(self, batch: Sequence[Sequence[str]]) -> None:
        """Compose as many jobs as have every choice among them, to find mistakes before the first job starts."""
        seen: set[str] = set()
        telling = []
        for overrides in batch:
            if not seen.issuperset(overrides):
                telling.append(overrides)
                seen.update(overrides)
        super().validate_batch_is_legal(telling)
