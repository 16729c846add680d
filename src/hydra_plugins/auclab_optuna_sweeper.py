"""Hydra sweeper that lets Optuna propose the settings of the next jobs by ask and tell, with Optuna's own storage.

Hydra imports every plug-in of this folder when it starts, so Optuna is imported when it is used.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep
from hydra.core.utils import JobReturn
from omegaconf import OmegaConf

#: Settings that change the task or its sample: a search over them would choose the easiest task.
_NOT_SEARCHED = ("dataset", "split", "metrics", "bounds", "tracking", "data_dir", "inner", "tune.metric", "tune.seed")


class OptunaSweeper(BasicSweeper):
    """Settings between bounds, or from lists, in the order in which Optuna proposes them.

    The study is in Optuna's storage, where its dashboard shows it; the same command continues it.

    Parameters
    ----------
    n_trials : int
        Number of trials in all, those of an earlier start of the same command included.
    batch : int, optional
        Jobs that are proposed together and run at the same time; that of `auclab.runs.sweeps.workers` if not given.
    sampler : str
        A class of ``optuna.samplers``, such as ``TPESampler``.
    seed : int
        Of the sampler.
    metric : str
        What a job is worth: a metric on inner folds of the training part, or the score of a tuned parameter.
    storage : str
        Address of Optuna's storage, such as ``sqlite:///FILE.db``.
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
        storage: str,
        max_batch_size: int | None = None,
        params: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(max_batch_size=max_batch_size, params=params)
        self.n_trials, self.batch, self.sampler, self.seed, self.metric = n_trials, batch, sampler, seed, metric
        self.storage = storage

    def sweep(self, arguments: list[str]) -> Any:
        """Propose, run and compare, batch by batch."""
        from auclab._core.base import AuclabError
        from auclab.runs.screen.console import plain_errors

        with plain_errors(lambda line: SystemExit(1)):
            try:
                import optuna  # noqa: F401
            except ImportError as error:
                missing = "hydra/sweeper=optuna needs optuna; install it with pip install 'auclab[optuna]'"
                raise AuclabError(missing) from error
            return self._search(arguments)

    def _search(self, arguments: list[str]) -> list[Sequence[JobReturn]]:
        from auclab.runs.sweeps.sweep import report_remaining_jobs
        from auclab.runs.sweeps.workers import jobs_at_a_time

        assert self.hydra_context is not None
        assert self.config is not None
        assert self.launcher is not None
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        space, fixed = search_space(parser.parse_overrides([*self._parse_config(), *arguments]))
        check_metric(self.metric, fixed)
        if self.metric.startswith("inner/") and not any(word.startswith("inner.folds=") for word in fixed):
            fixed.append("inner.folds=5")
        study = self._study(space, fixed)
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")
        batch, number = self.batch or jobs_at_a_time(self.config.hydra.launcher, self.n_trials), 0
        try:
            while (left := self.n_trials - len(study.trials)) > 0:
                trials = [study.ask(space) for _ in range(min(batch, left))]
                new = [trial for trial in trials if not _tell_known(study, trial)]
                jobs = [[*fixed, *(f"{key}={value}" for key, value in trial.params.items())] for trial in new]
                if not jobs:
                    continue
                self.validate_batch_is_legal(jobs)
                self.launcher.launch(jobs, initial_job_idx=number)
                for at, trial in enumerate(new, start=number):
                    _tell(study, trial, value_of(folder / str(at), self.metric))
                number += len(jobs)
        finally:  # after Ctrl-C the best so far
            report_remaining_jobs()
            show_best(study, self.metric, fixed, self.storage)
        return []

    def _study(self, space: Mapping[str, Any], fixed: Sequence[str]) -> Any:
        """The study of this search, with what earlier starts of the same command found."""
        import optuna

        from auclab._core.base import AuclabError
        from auclab.metrics.registry import METRICS

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        if not hasattr(optuna.samplers, self.sampler):
            raise AuclabError(f"hydra.sweeper.sampler={self.sampler} is not in optuna.samplers; TPESampler is")
        known = METRICS.get(self.metric.partition("/")[2])
        direction = "minimize" if known is not None and not known.greater_is_better else "maximize"
        text = repr((self.sampler, self.seed, self.metric, sorted(map(str, space.items())), sorted(fixed)))
        name = f"{self.metric} {hashlib.sha256(text.encode()).hexdigest()[:8]}"
        if self.storage.startswith("sqlite:///"):
            Path(self.storage.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
        study = optuna.create_study(study_name=name, storage=self.storage, direction=direction, load_if_exists=True)
        for trial in study.get_trials(states=(optuna.trial.TrialState.RUNNING,)):  # of a start that was interrupted
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        with warnings.catch_warnings():  # on experimental options
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            # Jobs proposed together are chosen without each other's results.
            options = {"multivariate": True, "constant_liar": True} if self.sampler == "TPESampler" else {}
            study.sampler = getattr(optuna.samplers, self.sampler)(seed=self.seed + len(study.trials), **options)
        return study


def search_space(overrides: Sequence[Any]) -> tuple[dict[str, Any], list[str]]:
    """Optuna's distributions of the settings with several values, and the overrides that all jobs share.

    ``interval(0.1,1)``, ``tag(log,interval(1e-5,1))`` and ``int(interval(1,9))`` are numbers between two bounds, a list
    and ``range(…)`` are choices.
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    from auclab._core.base import AuclabError

    space: dict[str, Any] = {}
    fixed: list[str] = []
    for override in overrides:
        key, value = override.get_key_element(), override.value()
        if isinstance(value, IntervalSweep):
            kind = IntDistribution if isinstance(value.start, int) and isinstance(value.end, int) else FloatDistribution
            try:
                space[key] = kind(value.start, value.end, log="log" in value.tags)
            except (ValueError, TypeError) as error:
                raise AuclabError(f"{key}: {error}") from error
        elif override.is_sweep_override():
            choices = tuple(dict.fromkeys(override.sweep_string_iterator()))
            space[key] = CategoricalDistribution(choices)
        else:
            fixed.append(f"{key}={override.get_value_element_as_str()}")
    if not space:
        raise AuclabError(
            "hydra/sweeper=optuna has nothing to search: give bounds or a list of two or more, such as "
            "'formulation.penalty=tag(log,interval(1e-5,1))' or kernel=none,rbf"
        )
    for key in space:
        name = key.lstrip("+")
        if any(name == each or name.startswith((f"{each}.", f"{each}/")) for each in _NOT_SEARCHED):
            raise AuclabError(
                f"{key} changes the task, so that a search over it would choose the easiest one: give one value, and "
                "search once for each"
            )
    return space, fixed


def check_metric(metric: str, fixed: Sequence[str]) -> None:
    """Refuse a metric that would choose by the held-out part, or that jobs do not have."""
    from auclab._core.base import AuclabError

    if not metric.startswith("inner/") and metric != "tune/score":
        raise AuclabError(
            f"hydra.sweeper.metric={metric} is not measured on folds of the training part, so that its best value "
            "would be too high; take inner/auc or another metric on inner folds, or tune/score"
        )
    tuned = any(word.startswith("tune=") and word != "tune=none" for word in fixed)
    if (metric == "tune/score" and not tuned) or (metric.startswith("inner/") and "inner.folds=0" in fixed):
        need = "tune=auto" if metric == "tune/score" else "inner folds: leave inner.folds=0 out"
        raise AuclabError(f"hydra.sweeper.metric={metric} needs {need}")


def value_of(folder: Path, metric: str) -> float | None:
    """The metric of a job; None for a job that did not finish.

    Raises
    ------
    AuclabError
        Finished jobs do not measure it.
    """
    from auclab._core.base import AuclabError
    from auclab.datasets.target import name_among
    from auclab.runs.tracking.record import RunRecord

    record = RunRecord.read(folder)
    if record is None or record.status not in ("FINISHED", "SKIPPED") or not record.metrics:
        return None
    name = name_among(metric, record.metrics)  # inner/concordance of censored times
    if name not in record.metrics:
        known = sorted(key for key in record.metrics if key.startswith("inner/") and not key.endswith("_se"))
        raise AuclabError(f"hydra.sweeper.metric={metric} is not measured by these runs; they have {', '.join(known)}")
    return record.metrics[name]


def _tell_known(study: Any, trial: Any) -> bool:
    """Tell a trial with the settings of an earlier one its value, without a job."""
    for other in study.trials:
        if other.number != trial.number and other.params == trial.params and other.value is not None:
            study.tell(trial, other.value)
            return True
    return False


def _tell(study: Any, trial: Any, value: float | None) -> None:
    from optuna.trial import TrialState

    if value is None or value != value:
        study.tell(trial, state=TrialState.FAIL)
    else:
        study.tell(trial, value)


def show_best(study: Any, metric: str, fixed: Sequence[str], storage: str) -> None:
    """Print the best trial, the command that runs it, and the one that shows the study."""
    import shlex

    from auclab.runs.screen.console import out
    from auclab.runs.sweeps.sweep import program

    done = [trial for trial in study.trials if trial.value is not None]
    if not done:
        out.print("search:    no job has a value, so there is no best")
        return
    best = study.best_trial
    out.print(f"search:    best of {len(done)} is trial {best.number}, {metric} {best.value:.4f}", markup=False)
    words = [f"{key}={value}" for key, value in best.params.items()]
    out.print(f"run it:    {shlex.join([*program(), *fixed, *words])}", soft_wrap=True, markup=False)
    out.print(f"look:      optuna-dashboard {shlex.quote(storage)}", soft_wrap=True, markup=False)
