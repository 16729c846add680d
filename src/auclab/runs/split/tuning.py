"""Select λ, z or a baseline's parameter by cross-validation inside the training part, along a path of values.

Every inner fold is one path (`auclab.solvers.path`): its features are prepared once, and scorers are solved to
optimality only if the choice is close (`auclab.estimators.inner_choice`). The test part is not used. Whether a run is
tuned is decided by its settings: `auclab.runs.config.settings.with_formulation` and `compose.resolve_tuning`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from auclab._core.base import Array, AuclabError, Status
from auclab.datasets.records import Split
from auclab.datasets.splits import inner_folds, take_rows
from auclab.datasets.target import METRIC_NAMES, Target, as_target
from auclab.estimators import AUCClassifier
from auclab.estimators.baselines import Baseline
from auclab.estimators.checked import KERNEL_LEVEL, ClassWeight
from auclab.estimators.inner_choice import Choice, FittedFold, InnerFold, choose
from auclab.estimators.linear_ranker import LinearRanker
from auclab.formulations import Program
from auclab.formulations.problem import Ranking
from auclab.metrics.registry import METRICS
from auclab.metrics.scorers import get_scorer
from auclab.runs.config.compose import symbol_of
from auclab.runs.config.settings import TuneConfig
from auclab.runs.split.constrained import DataConstraints, on_prepared
from auclab.runs.split.measured import RankedPart, over_pairs
from auclab.solvers.path_parameters import SERIES_LENGTH, along, penalty_series, series_below
from auclab.solvers.solution import Solution


@dataclass(frozen=True)
class Tuning:
    """The values that were compared, and the selected one.

    `parameter`: ``penalty`` (λ), ``threshold`` (z), or the parameter of a baseline. `metric`: the measure on the inner
    validation parts, with a minus sign if smaller is better. `path`: a row per value, ascending: ``value``, ``mean``
    and ``standard_error`` of the measure over the inner folds, ``gap`` (the largest relative gap of the measured
    scorers; NaN for a baseline), ``fold_0``, ``fold_1``, …. Only scorers that might be chosen have a small gap. If γ
    was tuned too, a row per γ and value, ascending in both, with ``gamma`` as first column. `best`, `selected`: the
    value with the largest mean (ties: the simplest scorer), and the selected value. `one_standard_error`: whether the
    simplest scorer within one standard error of the best was selected. `seconds`: time without compilation. `gamma`:
    the selected γ, NaN if it was not tuned. `note`: a remark on the procedure, usually empty. `setting`: the setting
    with the list of values. `multiples`: the multiples of the kernel's own γ that were tried, ascending. `choices`:
    number of values that could have been tried, independent of the data; 0 means those of the path.
    """

    parameter: str
    metric: str
    path: pd.DataFrame
    best: float
    selected: float
    one_standard_error: bool
    seconds: float = 0.0
    gamma: float = math.nan
    note: str = ""
    setting: str = "tune.values"
    multiples: tuple[float, ...] = ()
    choices: int = 0

    @property
    def symbol(self) -> str:
        """λ, z, or the symbol of a baseline's parameter; with γ if it was tuned too."""
        return f"γ and {symbol_of(self.parameter)}" if self.with_gamma else symbol_of(self.parameter)

    @property
    def with_gamma(self) -> bool:
        """Whether γ of a kernel was tuned too."""
        return not math.isnan(self.gamma)

    @property
    def choice(self) -> str:
        """``λ = 0.03``, or ``γ = 0.2, λ = 0.03``."""
        gamma = f"γ = {self.gamma:g}, " if self.with_gamma else ""
        return f"{gamma}{symbol_of(self.parameter)} = {self.selected:g}"

    @property
    def along(self) -> pd.DataFrame:
        """The rows of `path` at the selected γ; all rows without γ."""
        return self.path[self.path["gamma"] == self.gamma] if self.with_gamma else self.path

    @property
    def numbers(self) -> dict[str, float]:
        """``tune/penalty``, ``tune/score`` and ``tune/score_se`` of the selected value, ``tune/gamma`` if tuned."""
        row = self.along.loc[self.along["value"] == self.selected].iloc[0]
        gamma = {"tune/gamma": self.gamma} if self.with_gamma else {}
        return gamma | {
            f"tune/{self.parameter}": self.selected,
            "tune/score": float(row["mean"]),
            "tune/score_se": float(row["standard_error"]),
        }

    @property
    def statement(self) -> str:
        """The choice in one line."""
        folds = sum(str(name).startswith("fold_") for name in self.path)
        score, error = self.numbers["tune/score"], self.numbers["tune/score_se"]
        rule = f"; one-standard-error rule, best {self.best:g}" if self.one_standard_error else ""
        return (
            f"{self.choice} of {self._tried} on {folds} inner folds"
            f": {self.metric} {score:.4f} ± {error:.4f}{rule}{self._at_end}"
        )

    @property
    def _tried(self) -> str:
        count = len(self.along)
        return f"{len(self.path) // count} × {count} values" if self.with_gamma else f"{count} values"

    @property
    def _at_end(self) -> str:
        """A remark if a selected value is at an end of its list; else empty."""
        if self.path["mean"].nunique() == 1 and not self.path["standard_error"].any():  # constant scorers
            return ""
        ended, settings = [], []
        for taken, name, symbol in ((self.gamma, "gamma", "γ"), (self.selected, "value", symbol_of(self.parameter))):
            tried: list[float] = self.path[name].unique().tolist() if name in self.path else []
            if len(tried) > 1 and taken in (tried[0], tried[-1]):
                ended.append(symbol)
                settings.append(self.typed_beyond(above=taken == tried[-1], gamma=name == "gamma"))
        if not ended:
            return ""
        of_what = f" of {' and of '.join(ended)}" if self.with_gamma else ""
        verb = "try" if settings[1:] else "tries"
        return f"; the end of the path{of_what}: {' '.join(settings)} {verb} values beyond it"

    def typed_beyond(self, *, above: bool, gamma: bool = False) -> str:
        """The setting, quoted for a shell, that tries larger or smaller values."""
        tried = list(self.multiples) if gamma else self.path["value"].unique().tolist()
        more = values_beyond(tried, above=above)
        return f"'{'tune.gammas' if gamma else self.setting}=[{','.join(f'{value:g}' for value in more)}]'"


def values_beyond(tried: Sequence[float], *, above: bool) -> list[float]:
    """The last value of a path and four more in the same steps; `tried` is ascending."""
    steps = list(tried if above else tried[::-1])
    steps = steps if len(steps) > 1 else [steps[0] / (10.0 if above else 0.1), steps[0]]
    apart = min(2, len(steps) - 1)  # 0.1, 0.3, 1, 3: the factors alternate
    by_factor = min(steps) > 0 or max(steps) < 0
    for _ in range(4):
        last, before = steps[-1], steps[-1 - apart]
        base = steps[-apart]
        steps.append(base * last / before if by_factor else last + (last - before) / apart)
    return sorted({float(f"{value:.3g}") for value in steps[-5:]})


def tune_formulation(
    preprocessing: Pipeline,
    classifier: AUCClassifier | LinearRanker,
    X: Any,
    y: NDArray[np.int64] | Target,
    config: TuneConfig,
    constraints: DataConstraints | None = None,
) -> tuple[Program, Tuning]:
    """Select a parameter of the formulation by stratified cross-validation.

    The rules are those of `auclab.estimators.inner_choice.choose`; the simplest scorer has the largest λ or smallest z.

    `preprocessing`: a clone is fitted on every inner training part. `classifier`: its formulation is an object; not
    changed. `X` (n_samples, n_features): the training part, before preprocessing. `y` (n_samples,), or Target: 0/1, or
    what the rows are ranked by: a ranker is measured on the pairs that are compared. `config`: with a `parameter`;
    repeated values count once. The default values of λ are those of `auclab.solvers.path_parameters` on the first inner
    fold; for kernels, where rows have a norm of about 1, those from 1e-4 to 1. `constraints`: on every scorer. Returns:
    the formulation at the selected value, and the `Tuning`.
    """
    start, parameter, program = time.perf_counter(), str(config.parameter), cast(Program, classifier.formulation)
    fitted, target = on_inner_folds(classifier, config), as_target(y)
    values, choices = sorted({float(value) for value in config.values}), 0
    splits = _splits(target, config)
    first = _Parts.of(preprocessing, X, target, splits[0])
    if not values and parameter == "penalty":
        along(program, parameter, [1.0])
        with_kernel = getattr(fitted, "kernel", None) is not None
        values = series_below(KERNEL_LEVEL) if with_kernel else first.penalty_series(program, X)
        choices = SERIES_LENGTH
    along(program, parameter, values)
    inner_fold = _classifier_fold if target.is_of_classes else _ranker_fold

    def fold(split: Split) -> InnerFold:
        parts = first if split is splits[0] else _Parts.of(preprocessing, X, target, split)
        model = clone(fitted).set_params(**on_prepared(program, constraints, X, parts.prepared))
        return inner_fold(model, parts, values, config)

    choice = _chosen(fold, splits, values, config)
    tuning = _tuning(choice, values, config, time.perf_counter() - start, choices, target)
    return along(program, parameter, [tuning.selected])[0], tuning


def tune_baseline(
    preprocessing: Pipeline,
    baseline: Baseline,
    X: Any,
    y: NDArray[np.int64] | Target,
    config: TuneConfig,
    class_weight: ClassWeight = None,
) -> tuple[Baseline, Tuning]:
    """Select the parameter of a baseline on the same inner folds as for a formulation.

    `preprocessing`, `X`, `y`, `config`: as in `tune_formulation`. `baseline`: its current value of the parameter is not
    used. `class_weight`: keyed 0 and 1.
    """
    if config.parameter != baseline.tunable:
        has = baseline.tunable or "none"
        raise AuclabError(
            f"formulation {baseline.name} has no parameter {config.parameter!r} to tune; it has {has}; tune=auto takes "
            "what each formulation has"
        )
    path = sorted({float(value) for value in config.values})
    if not path or not np.isfinite(path).all():
        raise AuclabError(f"a path needs a list of finite numbers, got {list(config.values)}")
    for value in path:
        baseline.at(value)  # raises before anything is fitted
    start, scorer, target = time.perf_counter(), get_scorer(config.metric, **config.options), as_target(y)
    splits = _splits(target, config)

    def fold(split: Split) -> InnerFold:
        parts = _Parts.of(preprocessing, X, target, split)
        (rows, of_train), (held_rows, held_out) = parts.train, parts.held_out
        fitted = [baseline.at(value).fit(rows, of_train.y, class_weight).classifier for value in path]
        return FittedFold(fitted, lambda classifier: scorer(classifier, held_rows, held_out.y), range(len(path)))

    choice = _chosen(fold, splits, path, config)
    tuning = _tuning(choice, path, config, time.perf_counter() - start)
    return baseline.at(tuning.selected), tuning


@dataclass(frozen=True)
class _Parts:
    """Prepared rows and targets of one inner fold; the preprocessing was fitted to its training part."""

    prepared: Pipeline
    train: tuple[Any, Target]
    held_out: tuple[Any, Target]

    @classmethod
    def of(cls, preprocessing: Pipeline, X: Any, y: Target, split: Split) -> _Parts:
        prepared, of_train = clone(preprocessing), y.take(split.train)
        X_train = prepared.fit_transform(take_rows(X, split.train), of_train.y)
        return cls(prepared, (X_train, of_train), (prepared.transform(take_rows(X, split.test)), y.take(split.test)))

    def penalty_series(self, program: Program, X: Any) -> list[float]:
        """Values of λ for the training part; `X` are rows before preprocessing."""
        known = on_prepared(program, None, X, self.prepared).get("formulation", program)
        rows, target = self.train
        return penalty_series(known, Ranking(**target.for_solve).problem_parts(known, rows, target.y)[1])


def _classifier_fold(model: Any, parts: _Parts, values: Sequence[float], config: TuneConfig) -> InnerFold:
    """Scorers of two classes, measured by a two-class metric."""
    scorer = get_scorer(config.metric, **config.options)
    (X, y), (X_held, y_held) = parts.train, parts.held_out
    fold: InnerFold = model.inner_fold((X, y.y), (X_held, y_held.y), values, scorer, parameter=str(config.parameter))
    return fold


def _ranker_fold(model: Any, parts: _Parts, values: Sequence[float], config: TuneConfig) -> InnerFold:
    """Scorers over comparable pairs, measured on the held-out pairs."""
    (X, y), (X_held, y_held) = parts.train, parts.held_out
    metric = partial(METRICS[config.metric].function, **config.options)
    over_pairs(metric, y.kind)

    def measure(scores: Array) -> float:
        return RankedPart(y_held, scores).value(metric)

    fold: InnerFold = model.inner_fold(X, y.y, values, X_held, measure, str(config.parameter), **y.for_solve)
    return fold


def _splits(y: Target, config: TuneConfig) -> list[Split]:
    return inner_folds(y, n_folds=config.folds, seed=config.seed, setting="tune.folds")


def _chosen(
    fold: Callable[[Split], InnerFold], splits: Sequence[Split], values: Sequence[float], config: TuneConfig
) -> Choice:
    folds = [partial(fold, split) for split in splits]
    return choose(folds, len(values), one_standard_error=config.one_standard_error)


def _tuning(
    choice: Choice,
    values: list[float],
    config: TuneConfig,
    seconds: float,
    choices: int = 0,
    target: Target | None = None,
) -> Tuning:
    parameter, names = str(config.parameter), METRIC_NAMES["classes" if target is None else target.kind]
    measure = names.get(config.metric, measure_of(config))
    return Tuning(
        *(parameter, measure, compared({"value": values}, choice.scores, choice.gaps)),
        *(values[choice.best], values[choice.selected], config.one_standard_error),
        seconds=max(0.0, seconds - choice.compiling),
        setting=setting_of(config, parameter),
        choices=choices,
    )


def compared(tried: Mapping[str, Any], scores: Array, gaps: Array) -> pd.DataFrame:
    """`Tuning.path`: the values tried and their measure; the inner folds are the last axis of the arrays."""
    folds = scores.shape[-1]
    rows = scores.reshape(-1, folds)
    found = {"mean": rows.mean(axis=1), "standard_error": rows.std(axis=1, ddof=1) / math.sqrt(folds)}
    found |= {"gap": gaps.reshape(-1, folds).max(axis=1)}
    return pd.DataFrame({**tried, **found, **{f"fold_{k}": rows[:, k] for k in range(folds)}})


def setting_of(config: TuneConfig, parameter: str) -> str:
    """The setting that has the values of a parameter."""
    return f"tune.grids.{parameter}" if config.grids else "tune.values"


def measure_of(config: TuneConfig) -> str:
    """The measure, with a minus sign if smaller is better."""
    return config.metric if METRICS[config.metric].greater_is_better else f"−{config.metric}"


def on_inner_folds(classifier: Any, config: TuneConfig) -> Any:
    """A copy whose solves stop at the tolerance of the tuning."""
    copy = clone(classifier)
    return copy if config.tolerance is None else copy.set_params(tolerance=config.tolerance)


def refuse_failure(solution: Solution, parameter: str) -> None:
    """Raise `AuclabError` where a solver found no usable point."""
    if solution.status is Status.FAILED:
        value = getattr(solution.formulation, parameter)
        raise AuclabError(
            f"{solution.solver} found no usable point at {parameter} {value:g}: leave this value out of tune.values, "
            "use preprocess=standard, or choose another solver"
        )
