"""An adaptive search: Optuna proposes settings, the jobs of a sweep say what they are worth.

Optuna keeps nothing. A sampler with a seed proposes the same settings after the same results, and results are in the
store of the runs, so a search that is started again finds its place by itself.
"""

from __future__ import annotations

import csv
import json
import math
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, IntervalSweep, Override, RangeSweep

from auclab.metrics.registry import METRICS
from auclab.tracking.config import TrackingConfig
from auclab.tracking.job_status import JobStatus
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
#: What makes another task or another sample of it, and no better scorer.
_NOT_SEARCHED = ("dataset", "split", "metrics", "bounds", "tracking", "data_dir", "inner", "tune.metric", "tune.seed")


@dataclass(frozen=True)
class Interval:
    """Numbers between two bounds, both included.

    Attributes
    ----------
    low, high : float
        The bounds.
    log : bool
        Whether proposals are even on the scale of logarithms, ``tag(log,interval(1e-5,1))``.
    whole : bool
        Whether they are whole numbers, ``int(interval(1,9))``.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False


#: What a setting may be: an interval, or one of some texts, as they are written on the command line.
Space = dict[str, "Interval | tuple[str, ...]"]


def space_of(overrides: Sequence[Override]) -> tuple[Space, list[str]]:
    """The settings that are searched, and the overrides that all jobs share.

    Raises
    ------
    AuclabError
        An interval without two bounds, or of logarithms of what has none.

    Examples
    --------
    >>> from hydra.core.override_parser.overrides_parser import OverridesParser
    >>> words = ["dataset=pima", "kernel=none,rbf", "formulation.penalty=tag(log,interval(1e-5,1))"]
    >>> space, fixed = space_of(OverridesParser.create().parse_overrides(words))
    >>> space["kernel"], space["formulation.penalty"], fixed
    (('none', 'rbf'), Interval(low=1e-05, high=1.0, log=True, whole=False), ['dataset=pima'])
    """
    space: Space = {}
    fixed: list[str] = []
    for override in overrides:
        key, value = override.get_key_element(), override.value()
        if isinstance(value, IntervalSweep):
            low, high = value.start, value.end
            if low is None or high is None or not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise AuclabError(f"{key}: interval({low}, {high}) needs two numbers, the smaller one first")
            log = "log" in value.tags
            if log and low <= 0:
                raise AuclabError(f"{key}: an interval of logarithms needs bounds above 0, got {low}")
            space[key] = Interval(low, high, log, isinstance(low, int) and isinstance(high, int))
        elif isinstance(value, ChoiceSweep | RangeSweep) or override.is_sweep_override():
            space[key] = tuple(override.sweep_string_iterator())
        else:
            fixed.append(f"{key}={override.get_value_element_as_str()}")
    return space, fixed


def check_search(grid: Sequence[str], sampler: str, metric: str, n_trials: int = 1, batch: int | None = None) -> None:
    """Refuse, before anything is computed, what cannot be searched or would choose by the data it is judged on.

    Parameters
    ----------
    grid : sequence of str
        The overrides of the sweep as they were typed.
    sampler : str
        A name in `SAMPLERS`.
    metric : str
        What a job is worth.
    n_trials, batch : int
        Jobs in all, and at a time.

    Raises
    ------
    AuclabError
        Nothing to choose, a choice between tasks, a metric that is not of inner folds, an unknown sampler, no jobs.
    """
    for name, count in (("n_trials", n_trials), ("batch", batch)):
        if count is not None and count < 1:
            raise AuclabError(f"hydra.sweeper.{name} is {count}; it is a number of jobs, at least 1")
    space, fixed = space_of(OverridesParser.create().parse_overrides(list(grid)))
    Search.start(space, sampler=sampler, seed=0)
    if not space:
        raise AuclabError(
            "hydra/sweeper=optuna has nothing to search: give bounds or a list, such as "
            "'formulation.penalty=tag(log,interval(1e-5,1))' or kernel=none,rbf"
        )
    for key in space:
        name = key.lstrip("+")
        if any(name == each or name.startswith((f"{each}.", f"{each}/")) for each in _NOT_SEARCHED):
            raise AuclabError(
                f"{key} makes another task and no better scorer, so a search over it would choose the easiest: give "
                "one value, and search once for each"
            )
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


def direction_of(metric: str) -> str:
    """``maximize``, or ``minimize`` for a metric that is the better the smaller.

    Examples
    --------
    >>> direction_of("inner/auc"), direction_of("inner/auc_threshold")
    ('maximize', 'minimize')
    """
    known = METRICS.get(metric.partition("/")[2])
    return "minimize" if known is not None and not known.greater_is_better else "maximize"


def with_inner_folds(fixed: Sequence[str], metric: str) -> list[str]:
    """The overrides of all jobs, with inner folds where `metric` is measured on them and their number is not given.

    Examples
    --------
    >>> with_inner_folds(["dataset=pima"], "inner/auc")
    ['dataset=pima', 'inner.folds=5']
    >>> with_inner_folds(["inner.folds=3"], "inner/bauc"), with_inner_folds([], "tune/score")
    (['inner.folds=3'], [])
    """
    given = any(word.startswith("inner.folds=") for word in fixed)
    return [*fixed, *([] if given or not metric.startswith("inner/") else ["inner.folds=5"])]


@dataclass
class Search:
    """Proposals and what they were worth.

    Attributes
    ----------
    space : dict
        The settings that are searched.
    study : optuna.Study
        In memory.
    sign : int
        −1 where the smallest value is the best.
    trials : list
        Those that were proposed, in order.
    values : list of float or None
        What they were worth; None of one that failed.
    """

    space: Space
    study: optuna.Study
    sign: int = 1
    trials: list[optuna.Trial] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)

    @classmethod
    def start(cls, space: Space, *, sampler: str, seed: int, direction: str = "maximize") -> Self:
        """A search without proposals; `direction` is that of `direction_of`.

        Raises
        ------
        AuclabError
            Optuna is not installed; an unknown sampler, or one that needs a library that is not there.
        """
        try:
            import optuna
        except ImportError as error:
            raise AuclabError(
                "hydra/sweeper=optuna needs Optuna; install it with pip install 'auclab[optuna]'"
            ) from error
        if sampler not in SAMPLERS:
            raise AuclabError(f"hydra.sweeper.sampler={sampler} is not there; samplers are {', '.join(SAMPLERS)}")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        options: dict[str, Any] = {"seed": seed}
        if sampler == "tpe":  # jobs that are proposed together do not know of each other's results
            options |= {"multivariate": True, "constant_liar": True}
        try:
            with warnings.catch_warnings():  # of options that may change
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                found = getattr(optuna.samplers, SAMPLERS[sampler])(**options)
        except ImportError as error:
            raise AuclabError(f"hydra.sweeper.sampler={sampler}: {error}; tpe needs nothing more") from error
        study = optuna.create_study(direction=direction, sampler=found)
        return cls(space, study, 1 if direction == "maximize" else -1)

    def ask(self, count: int) -> list[list[str]]:
        """The overrides of so many further jobs."""
        asked = [self.study.ask() for _ in range(count)]
        self.trials += asked
        return [[f"{key}={_suggest(trial, key, allowed)}" for key, allowed in self.space.items()] for trial in asked]

    def tell(self, values: Sequence[float | None]) -> None:
        """What the jobs that were asked for last were worth, in order."""
        from optuna.trial import TrialState

        for trial, value in zip(self.trials[len(self.values) :], values, strict=True):
            if value is None or math.isnan(value):
                self.study.tell(trial, state=TrialState.FAIL)
                self.values.append(None)
            else:
                self.study.tell(trial, value)
                self.values.append(value)

    @property
    def best(self) -> int | None:
        """Number of the first job with the best value; None if every one failed."""
        known = [(self.sign * value, -number) for number, value in enumerate(self.values) if value is not None]
        return -max(known)[1] if known else None

    def settings(self, number: int) -> list[str]:
        """The overrides that were proposed for a job."""
        return [f"{key}={_text(value)}" for key, value in self.trials[number].params.items()]

    def save(self, file: Path) -> None:
        """Write a row per job: what was proposed, and its value."""
        with file.open("w", newline="", encoding="utf-8") as target:
            rows = csv.writer(target)
            rows.writerow(["job", *self.space, "value"])
            for number, value in enumerate(self.values):
                params = self.trials[number].params
                shown = "" if value is None else repr(value)
                rows.writerow([number, *(_text(params[key]) for key in self.space), shown])


def value_of(job: JobStatus, tracking: TrackingConfig, metric: str) -> float | None:
    """A metric of the run of a job; None of a job that failed.

    Raises
    ------
    AuclabError
        The run has no such metric; the store cannot be read.
    """
    if job.status not in ("FINISHED", "SKIPPED"):
        return None
    numbers = _numbers_in_folder(job.folder) if job.run_id is None else _numbers_in_store(tracking, job.run_id)
    if metric not in numbers:
        known = sorted(key for key in numbers if key.startswith(("inner/", "tune/score")) and not key.endswith("_se"))
        listed = ", ".join(known) or "none on inner folds"
        raise AuclabError(f"hydra.sweeper.metric={metric} is not measured by these runs; they have {listed}")
    return float(numbers[metric])


def _numbers_in_folder(folder: Path) -> dict[str, float]:
    found: dict[str, float] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return found


def _numbers_in_store(tracking: TrackingConfig, run_id: str) -> dict[str, float]:
    from auclab.tracking.address import cannot_keep
    from auclab.tracking.store import STORE_ERRORS, open_tracked

    store = open_tracked(tracking)
    try:
        return dict(store.client.get_run(run_id).data.metrics)
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error


def show_search(search: Search, metric: str, fixed: Sequence[str], program: Sequence[str]) -> None:
    """The best proposal, its value, and the command that runs it alone."""
    from auclab.pipeline.console import out

    best = search.best
    if best is None:
        out.print("search: every job failed, so there is no best")
        return
    settings = search.settings(best)
    out.print(
        f"search:    best of {len(search.values)} is job {best}, {metric} {search.values[best]:.4f}", markup=False
    )
    out.print(f"run it:    {shlex.join([*program, *fixed, *settings])}", soft_wrap=True, markup=False)


def _suggest(trial: optuna.Trial, key: str, allowed: Interval | tuple[str, ...]) -> str:
    """A proposal as it is written on the command line."""
    if isinstance(allowed, tuple):
        return str(trial.suggest_categorical(key, allowed))
    if allowed.whole:
        return _text(trial.suggest_int(key, int(allowed.low), int(allowed.high), log=allowed.log))
    return _text(trial.suggest_float(key, allowed.low, allowed.high, log=allowed.log))


def _text(value: Any) -> str:
    """A value as Hydra reads it back without loss."""
    return value if isinstance(value, str) else repr(value)
