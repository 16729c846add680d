"""An adaptive search: Optuna proposes settings, the jobs of a sweep evaluate them.

Nothing is stored by Optuna. A seeded sampler proposes the same settings after the same results, and the results are in
the store of runs, so a restarted search resumes where it ended.
"""

from __future__ import annotations

import csv
import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from hydra.core.override_parser.overrides_parser import OverridesParser

from auclab.metrics.registry import METRICS
from auclab.sizes import ENOUGH
from auclab.sweeps.search_space import Interval, Space, every_setting, size_of, space_of
from auclab.types import AuclabError

if TYPE_CHECKING:
    import optuna

#: Samplers by name, as Optuna calls them.
SAMPLERS = {
    "tpe": "TPESampler",
    "gp": "GPSampler",
    "cmaes": "CmaEsSampler",
    "random": "RandomSampler",
}
#: Modules that samplers need in addition to Optuna.
_NEEDS = {"gp": "torch", "cmaes": "cmaes"}
#: Settings that change the task or its sample.
_NOT_SEARCHED = ("dataset", "split", "metrics", "bounds", "tracking", "data_dir", "inner", "tune.metric", "tune.seed")
#: Number of repeated proposals in a row after which the next untried setting is taken in order.
_REPEATS = 30
#: Completed jobs needed before pruning starts.
_FIRST = 5


def check_search(
    grid: Sequence[str], sweeper: Mapping[str, Any], *, metrics: Collection[str] | None = None, tracked: bool = True
) -> int:
    """Refuse, before anything is computed, an invalid search or one that would select on the test data.

    `grid`: the overrides of the sweep as typed. `sweeper`: the settings ``hydra.sweeper``: ``n_trials``,
    ``batch``, ``sampler``, ``seed``, ``metric`` and ``prune``. `metrics`: names of what runs measure. `tracked`:
    whether runs are kept in a store. Returns: the largest number of jobs.
    """
    for name, least, words in (
        ("n_trials", 1, "a number of jobs, at least 1"),
        ("batch", 1, "a number of jobs, at least 1, or null for as many as the launcher has workers"),
        ("seed", 0, "a whole number, at least 0, by which the same command proposes the same settings again"),
    ):
        value = sweeper.get(name)
        if (value is None and name != "batch") or (value is not None and not _is_whole(value, least)):
            raise AuclabError(f"hydra.sweeper.{name} is {value}; it is {words}")
    metric, prune = str(sweeper["metric"]), sweeper.get("prune", False)
    space, fixed = space_of(OverridesParser.create().parse_overrides(list(grid)))
    Search.start(space, sampler=sweeper["sampler"], seed=0)
    if not space:
        raise AuclabError(
            "hydra/sweeper=optuna has nothing to search: give bounds or a list of two or more, such as "
            "'formulation.penalty=tag(log,interval(1e-5,1))' or kernel=none,rbf"
        )
    for key in space:
        name = key.lstrip("+")
        if any(name == each or name.startswith((f"{each}.", f"{each}/")) for each in _NOT_SEARCHED):
            raise AuclabError(
                f"{key} changes the task, so that a search over it would choose the easiest one: give "
                "one value, and search once for each"
            )
    _check_metric(metric, fixed, metrics)
    if prune not in (True, False):
        raise AuclabError(f"hydra.sweeper.prune is {prune}; it is true or false")
    if prune and not metric.startswith("inner/"):
        raise AuclabError(f"hydra.sweeper.prune=true stops jobs between inner folds, but {metric} has none")
    if prune and not tracked:
        raise AuclabError("hydra.sweeper.prune=true reads the values of folds in the store: leave tracking=none out")
    return min(int(sweeper["n_trials"]), size_of(space) or int(sweeper["n_trials"]))


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _check_metric(metric: str, fixed: Sequence[str], metrics: Collection[str] | None) -> None:
    if not metric.startswith("inner/") and metric != "tune/score":
        held_out = "would choose by the held-out part, and its estimate would be too high"
        why = held_out if metric.startswith("test") else "does not measure scorers on rows that they have not seen"
        raise AuclabError(
            f"hydra.sweeper.metric={metric} {why}; take inner/auc or another metric on folds of the training part"
        )
    if metric.startswith("tune/") and not any(word.startswith("tune=") and word != "tune=none" for word in fixed):
        raise AuclabError(
            f"hydra.sweeper.metric={metric} is the score of tuned parameters: add tune=auto, or leave the metric out "
            "for inner/auc"
        )
    name = metric.partition("/")[2]
    if metric.startswith("inner/") and metrics is not None and name not in metrics:
        add = f"add it, 'metrics=[{','.join([*metrics, name])}]', or " if name in METRICS else ""
        raise AuclabError(
            f"hydra.sweeper.metric={metric} is not measured by these runs: {add}"
            f"use one of {', '.join(f'inner/{each}' for each in metrics)}"
        )
    if any(word == "inner.folds=0" for word in fixed) and metric.startswith("inner/"):
        raise AuclabError(f"hydra.sweeper.metric={metric} needs inner folds: leave inner.folds=0 out for five of them")


def direction_of(metric: str) -> str:
    """``maximize``, or ``minimize`` for a metric for which smaller is better."""
    known = METRICS.get(metric.partition("/")[2])
    return "minimize" if known is not None and not known.greater_is_better else "maximize"


def with_inner_folds(fixed: Sequence[str], metric: str) -> list[str]:
    """The overrides of all jobs, with ``inner.folds`` added if `metric` needs it and it is not given.

    Examples
    --------
    >>> with_inner_folds(["dataset=pima"], "inner/auc")
    ['dataset=pima', 'inner.folds=5']
    >>> with_inner_folds(["inner.folds=3"], "inner/bauc"), with_inner_folds([], "tune/score")
    (['inner.folds=3'], [])
    """
    given = any(word.startswith("inner.folds=") for word in fixed)
    return [*fixed, *([] if given or not metric.startswith("inner/") else ["inner.folds=5"])]


@dataclass(frozen=True)
class Outcome:
    """The result of a job.

    `status`: as in `auclab.tracking.job_status.JobStatus`; KILLED if the worker died. `value`: the metric, or None.
    `folds`: the metric on each inner fold that is known; for a PRUNED job, those it solved. `run_id`: the tracked run.
    `metric`: its name in the run; empty if no number is known.
    """

    status: str
    value: float | None = None
    folds: tuple[float, ...] = ()
    run_id: str | None = None
    metric: str = ""

    @property
    def running(self) -> tuple[float, ...]:
        """Means over the first fold, the first two, and so on."""
        return tuple(np.cumsum(self.folds) / np.arange(1, len(self.folds) + 1))


@dataclass
class Proposal:
    """Settings of a job, the Optuna trials that proposed them, and the outcome once it is known."""

    words: tuple[str, ...]
    trials: list[optuna.Trial]
    outcome: Outcome | None = None


@dataclass
class Search:
    """Proposals and their outcomes.

    `space`: the settings that are searched. `study`: in memory. `sign`: −1 if the smallest value is the best.
    `jobs`: all of them different, in the order in which they were proposed.
    """

    space: Space
    study: optuna.Study
    sign: int = 1
    jobs: list[Proposal] = field(default_factory=list)

    @classmethod
    def start(cls, space: Space, *, sampler: str, seed: int, direction: str = "maximize") -> Self:
        """A search without proposals; `direction` is that of `direction_of`."""
        try:
            import optuna
        except ImportError as error:
            raise AuclabError(
                "hydra/sweeper=optuna needs Optuna; install it with pip install 'auclab[optuna]'"
            ) from error
        if sampler not in SAMPLERS:
            raise AuclabError(f"hydra.sweeper.sampler={sampler} does not exist; samplers are {', '.join(SAMPLERS)}")
        module = _NEEDS.get(sampler, "optuna")
        if find_spec(module) is None:
            raise AuclabError(
                f"hydra.sweeper.sampler={sampler} needs {module}; install it with pip install {module}, or use tpe, "
                "which needs no other package"
            )
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        options: dict[str, Any] = {"seed": seed}
        if sampler == "tpe":  # jobs proposed together are chosen without each other's results
            options |= {"multivariate": True, "constant_liar": True}
        with warnings.catch_warnings():  # on experimental options
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            found = getattr(optuna.samplers, SAMPLERS[sampler])(**options)
        study = optuna.create_study(direction=direction, sampler=found)
        return cls(space, study, 1 if direction == "maximize" else -1)

    def ask(self, count: int) -> list[list[str]]:
        """The overrides of the next `count` new jobs; fewer if the space is exhausted."""
        known = {job.words: job for job in self.jobs}
        size, repeats, begin = size_of(self.space), 0, len(self.jobs)
        while len(self.jobs) < begin + count and len(self.jobs) != size and repeats < 2 * _REPEATS:
            if repeats == _REPEATS and size is not None:  # the sampler repeats itself; the rest come in order
                self.study.enqueue_trial(next(each for each in every_setting(self.space) if _words(each) not in known))
            trial = self.study.ask()
            words = _words({key: _suggest(trial, key, allowed) for key, allowed in self.space.items()})
            if words not in known:
                self.jobs.append(Proposal(words, [trial]))
                known[words] = self.jobs[-1]
                repeats = 0
                continue
            repeats += 1
            known[words].trials.append(trial)
            if (outcome := known[words].outcome) is not None:
                self._tell(trial, outcome)
        return [list(job.words) for job in self.jobs[begin:]]

    def tell(self, outcomes: Sequence[Outcome]) -> None:
        """The values of the jobs that were proposed last, in order."""
        waiting = [job for job in self.jobs if job.outcome is None]
        for job, outcome in zip(waiting, outcomes, strict=True):
            job.outcome = outcome
            for trial in job.trials:
                self._tell(trial, outcome)

    def _tell(self, trial: optuna.Trial, outcome: Outcome) -> None:
        from optuna.trial import TrialState

        for step, mean in enumerate(outcome.running, start=1):
            trial.report(mean, step)
        if outcome.status == "PRUNED":
            self.study.tell(trial, state=TrialState.PRUNED)
        elif outcome.value is None or math.isnan(outcome.value):
            self.study.tell(trial, state=TrialState.FAIL)
        else:
            self.study.tell(trial, outcome.value)

    @property
    def outcomes(self) -> list[Outcome]:
        """The known outcomes, in the order of the jobs."""
        return [job.outcome for job in self.jobs if job.outcome is not None]

    @property
    def values(self) -> list[float | None]:
        """The values of the jobs; None for a job without one."""
        known = (each.value for each in self.outcomes)
        return [None if value is None or math.isnan(value) else value for value in known]

    def name_of(self, metric: str) -> str:
        """The name of the metric in the runs: ``inner/concordance`` for ``inner/auc`` of times."""
        return next((each.metric for each in self.outcomes if each.metric), metric)

    @property
    def best(self) -> int | None:
        """Number of the first job with the best value; None if no job has one."""
        known = [(self.sign * value, -number) for number, value in enumerate(self.values) if value is not None]
        return -max(known)[1] if known else None

    @property
    def limits(self) -> tuple[float, ...]:
        """Medians of the means over the first fold, the first two, and so on, of the jobs with a value on all folds.

        A job whose mean is worse after the same number of folds is pruned. Empty for fewer than five such jobs.
        """
        whole = [each.running for each in self.outcomes if each.value is not None and len(each.folds) > 1]
        if len(whole) < _FIRST or len({len(each) for each in whole}) > 1:
            return ()
        return tuple(float(each) for each in np.median(whole, axis=0)[:-1])

    @property
    def importances(self) -> dict[str, float]:
        """Share of each setting in the variance of the values, by fANOVA; empty for few jobs or one setting."""
        import optuna

        values = [value for value in self.values if value is not None]
        if len(self.space) < 2 or len(values) < ENOUGH or min(values) == max(values):
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of trees on few values
            judge = optuna.importance.FanovaImportanceEvaluator(seed=0)
            return dict(optuna.importance.get_param_importances(self.study, evaluator=judge))

    def save(self, file: Path) -> None:
        """Write a row per job: its settings, status, value and run."""
        with file.open("w", newline="", encoding="utf-8") as target:
            rows = csv.writer(target)
            rows.writerow(["job", *self.space, "value", "status", "run"])
            for number, (outcome, value) in enumerate(zip(self.outcomes, self.values, strict=True)):
                settings = [word.partition("=")[2] for word in self.jobs[number].words]
                shown = "" if value is None else repr(value)
                rows.writerow([number, *settings, shown, outcome.status.lower(), outcome.run_id or ""])


def _suggest(trial: optuna.Trial, key: str, allowed: Interval | tuple[str, ...]) -> Any:
    if isinstance(allowed, tuple):
        return trial.suggest_categorical(key, allowed)
    if allowed.whole:
        return trial.suggest_int(key, int(allowed.low), int(allowed.high), log=allowed.log)
    return trial.suggest_float(key, allowed.low, allowed.high, log=allowed.log)


def _words(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Settings as overrides, which Hydra reads back without loss."""
    return tuple(f"{key}={value if isinstance(value, str) else repr(value)}" for key, value in settings.items())
