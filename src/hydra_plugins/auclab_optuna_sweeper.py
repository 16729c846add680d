"""Hydra sweeper that lets Optuna propose the settings of the next jobs from the values of earlier jobs.

Hydra imports every plug-in of this folder when it starts, so Optuna is imported when it is used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn
from omegaconf import OmegaConf


class OptunaSweeper(BasicSweeper):
    """Settings between bounds, or from lists, in the order in which Optuna proposes them.

    Nothing but the runs is kept. The proposals follow from the seed and from the results, so the same command proposes
    the same settings again, skips what has finished, and continues from there, up to the new `n_trials`.

    Parameters
    ----------
    n_trials : int
        Number of jobs in all, those of an earlier start of the same command included.
    batch : int, optional
        Jobs that are proposed together and run at the same time; that of `auclab.sweeps.workers` if not given.
    sampler : str
        A name in `auclab.sweeps.adaptive.SAMPLERS`.
    seed : int
        Of the sampler.
    metric : str
        What a job is worth: a metric on inner folds of the training part, or that of a tuned parameter.
    prune : bool
        Whether a job ends after the inner fold at which its mean is worse than the median of those before it.
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
        prune: bool = False,
        max_batch_size: int | None = None,
        params: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(max_batch_size=max_batch_size, params=params)
        self.n_trials, self.batch, self.sampler, self.seed, self.metric = n_trials, batch, sampler, seed, metric
        self.prune = prune

    def sweep(self, arguments: list[str]) -> Any:
        """Propose, run and compare, batch by batch."""
        from auclab.pipeline.screen.console import plain_errors

        with plain_errors(lambda line: SystemExit(1)):
            return self._search(arguments)

    def _search(self, arguments: list[str]) -> list[Sequence[JobReturn]]:
        from auclab.pipeline.config.settings import typed
        from auclab.sweeps.adaptive import Search, direction_of, with_inner_folds
        from auclab.sweeps.search_results import keep, show_search
        from auclab.sweeps.search_space import space_of
        from auclab.sweeps.sweep import command_of, report_remaining_jobs
        from auclab.sweeps.workers import jobs_at_a_time
        from auclab.tracking.config import TrackingConfig

        assert self.hydra_context is not None
        assert self.config is not None
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        space, fixed = space_of(parser.parse_overrides([*self._parse_config(), *arguments]))
        fixed = with_inner_folds(fixed, self.metric)
        search = Search.start(space, sampler=self.sampler, seed=self.seed, direction=direction_of(self.metric))
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")
        tracking = typed(self.config.tracking, TrackingConfig)
        batch = self.batch or jobs_at_a_time(self.config.hydra.launcher, self.n_trials)
        try:
            while (number := len(search.jobs)) < self.n_trials:
                asked = search.ask(min(batch, self.n_trials - number))
                if not asked:
                    break
                jobs = [[*fixed, *words] for words in asked]
                self.validate_batch_is_legal(jobs)
                search.tell(self._launch(jobs, number, self._limits(search), tracking))
                keep(search, folder, tracking, self.metric, self.sampler)
        finally:  # after Ctrl-C the best so far
            report_remaining_jobs()
            loader, config = self.hydra_context.config_loader, self.config

            def command(words: Sequence[str]) -> str:  # without settings that the job's choices lack
                return command_of(loader.load_sweep_config(config, [*fixed, *words]).hydra)

            show_search(search, self.metric, command)
        return []

    def _launch(self, jobs: list[list[str]], number: int, limits: list[Any], tracking: Any) -> list[Any]:
        """Run jobs, the first of which has this number, and return their outcomes.

        Where a worker process dies, those jobs that have not ended run once more, one by one: the one by which it died
        has no value, and the search continues.
        """
        from concurrent.futures.process import BrokenProcessPool

        from auclab.sweeps.search_results import outcome_of
        from auclab.tracking.job_status import LIMITS_VARIABLE, SWEEP_VARIABLE, read_status

        assert self.config is not None
        assert self.launcher is not None
        if limits:  # to jobs wherever they run
            os.environ[LIMITS_VARIABLE] = json.dumps(limits)
        try:
            done: list[Any] = [each.return_value for each in self.launcher.launch(jobs, initial_job_idx=number)]
        except BrokenProcessPool:
            done = []
            for at, job in enumerate(jobs, start=number):
                left = read_status(Path(self.config.hydra.sweep.dir) / str(at), os.environ.get(SWEEP_VARIABLE))
                done.append(left if left.line is not None else self._alone(job, at))
        finally:
            os.environ.pop(LIMITS_VARIABLE, None)
        return [outcome_of(each, tracking, self.metric) for each in done]

    def _limits(self, search: Any) -> list[Any]:
        """What inner folds have to reach, as jobs read it; empty where there are no limits."""
        limits = search.limits if self.prune else ()
        return [self.metric.partition("/")[2], search.sign, *limits] if limits else []

    def _alone(self, job: list[str], number: int) -> Any:
        """What the launcher returns of one job; None if it ends its worker again."""
        from concurrent.futures.process import BrokenProcessPool

        assert self.launcher is not None
        try:
            return self.launcher.launch([job], initial_job_idx=number)[0].return_value
        except BrokenProcessPool:
            return None
