"""Hydra sweeper that lets Optuna propose the settings of the next jobs by what the jobs before were worth.

Hydra imports every plug-in of this folder when it starts, so Optuna is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn
from omegaconf import OmegaConf

from hydra_plugins.auclab_sweeper import GridSweeper


class OptunaSweeper(GridSweeper):
    """Settings between bounds, or from lists, in the order in which Optuna proposes them.

    Nothing but the runs is kept. The proposals follow from the seed and from the results, so the same command proposes
    the same settings again, skips what has finished, and continues from there; with a larger `n_trials` it goes on.

    Parameters
    ----------
    n_trials : int
        Number of jobs in all, those of an earlier start of the same command included.
    batch : int, optional
        Jobs that are proposed together and run at the same time; as many as the launcher has workers if not given.
    sampler : str
        A name in `auclab.sweeps.adaptive.SAMPLERS`.
    seed : int
        Of the sampler.
    metric : str
        What a job is worth: a metric on inner folds of the training part, or that of a tuned parameter.
    max_batch_size, params
        As of Hydra's basic sweeper.
    """

    def __init__(
        self,
        n_trials: int,
        batch: int | None,
        sampler: str,
        seed: int,
        metric: str,
        max_batch_size: int | None = None,
        params: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(max_batch_size=max_batch_size, params=params)
        self.n_trials, self.batch, self.sampler, self.seed, self.metric = n_trials, batch, sampler, seed, metric

    def sweep(self, arguments: list[str]) -> Any:
        """Propose, run and compare, batch by batch."""
        from auclab.pipeline.console import plain_errors

        with plain_errors(lambda line: SystemExit(1)):
            return self._search(arguments)

    def _search(self, arguments: list[str]) -> list[Sequence[JobReturn]]:
        from auclab.pipeline.settings import typed
        from auclab.sweeps.adaptive import Search, direction_of, show_search, space_of, value_of, with_inner_folds
        from auclab.sweeps.sweep import program, report_remaining_jobs
        from auclab.sweeps.workers import count_workers
        from auclab.tracking.config import TrackingConfig

        assert self.hydra_context is not None
        assert self.config is not None
        assert self.launcher is not None
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        space, fixed = space_of(parser.parse_overrides([*self._parse_config(), *arguments]))
        fixed = with_inner_folds(fixed, self.metric)
        search = Search.start(space, sampler=self.sampler, seed=self.seed, direction=direction_of(self.metric))
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")
        tracking = typed(self.config.tracking, TrackingConfig)
        batch = self.batch or count_workers(self.config.hydra.launcher)
        returns = []
        while (number := len(search.values)) < self.n_trials:
            jobs = [[*fixed, *words] for words in search.ask(min(batch, self.n_trials - number))]
            self.validate_batch_is_legal(jobs)
            results = self.launcher.launch(jobs, initial_job_idx=number)
            search.tell([value_of(result.return_value, tracking, self.metric) for result in results])
            search.save(folder / "search.csv")
            returns.append(results)
        report_remaining_jobs()
        show_search(search, self.metric, fixed, program())
        return returns
