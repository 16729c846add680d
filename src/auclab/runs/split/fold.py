"""One split: preprocess, fit, measure, bound, decide; and its metrics on inner folds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from auclab._core.base import AuclabError, Status
from auclab.datasets.records import Dataset, Split, part_sha256
from auclab.datasets.splits import inner_folds, take_rows
from auclab.datasets.target import Target, as_target
from auclab.runs.config.settings import BoundsConfig, DecisionConfig, InnerConfig, TuneConfig
from auclab.runs.split.decision import decide
from auclab.runs.split.formula import describe_scorer, explain
from auclab.runs.split.guarantees import Guarantee, find_guarantees
from auclab.runs.split.measured import Metric, Part, measure
from auclab.runs.split.methods import Method
from auclab.runs.split.results import Fold, InnerScores
from auclab.runs.split.summarised_part import part_of
from auclab.runs.split.tuning import Tuning
from auclab.samples.tables import in_memory
from auclab.solvers.monitor import interruptible
from auclab.solvers.solution import Fitted

#: Level of a confidence interval, unless another is wanted; one minus it is the level of a test.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Task:
    """What the splits of an experiment share: the rows, and all that is done with them.

    `preprocessing`: unfitted. `decision`: how scores become labels. `to_write`: whether the program is kept, so that
    its model can be written.
    """

    dataset: Dataset
    preprocessing: Pipeline
    method: Method
    metrics: Mapping[str, Metric]
    tune: TuneConfig
    bounds: BoundsConfig
    decision: DecisionConfig
    to_write: bool = False

    def on_inner_folds(self, tolerance: float | None) -> Task:
        """The same to at least this gap, without bounds, with the threshold that matches the share of positives."""
        undecided = DecisionConfig(probability="none")
        method = self.method.loosened(tolerance)
        return replace(self, method=method, bounds=BoundsConfig(), decision=undecided, to_write=False)


def solve_split(task: Task, split: Split) -> Fold:
    """Fit preprocessing and scorer on the training part, measure both parts, bound and decide.

    Class weights, keyed 0 and 1, are as in `auclab.estimators.AUCClassifier`. Constraints hold on the inner folds too,
    each in the units of its own preprocessing. Each part is transformed and scored once.
    """
    dataset, target, preprocessing = task.dataset, task.dataset.target, clone(task.preprocessing)
    rows, y = take_rows(dataset.X, split.train), target.take(split.train)
    chosen, tuning = task.method.tuned(preprocessing, rows, y, task.tune)

    X = {"train": preprocessing.fit_transform(rows, y.y)}
    method = chosen.prepared(preprocessing, dataset)
    problem = method.problem(X["train"], y) if task.to_write else None
    classifier, fitted = interruptible(lambda: method.fit(X["train"], y))
    _refuse_failure(fitted)

    if len(split.test):
        X["test"] = preprocessing.transform(take_rows(dataset.X, split.test))
    of_parts = {"train": y, "test": target.take(split.test)}
    parts = {name: part_of(of_parts[name], X[name], fitted) for name in X}
    levels = {"train": None, "test": CONFIDENCE}  # intervals are of rows that were not used in fitting
    measured = {name: measure(part, task.metrics, levels[name]) for name, part in parts.items()}

    guarantees, remarks = _guarantee(fitted, parts, X["train"], task.bounds, preprocessing, tuning)

    parameters = partial(chosen.parameters, rows)
    decided = interruptible(
        lambda: decide(preprocessing, classifier, rows, y, parts["train"], task.decision, parameters)
    )
    scorer = describe_scorer(dataset, split, preprocessing, fitted, decided, method.formulation.name)
    return Fold(
        split,
        model=Pipeline([("preprocess", preprocessing), ("scorer", classifier)]),
        features=tuple(str(name) for name in preprocessing.get_feature_names_out()),
        solution=fitted,
        optimum=fitted.read_optimum(),
        parts=measured,
        guarantees=guarantees,
        remarks=remarks,
        tuning=tuning,
        training_sha256=part_sha256(X["train"], y),
        decision=decided,
        scorer=scorer,
        effects=explain(scorer, rows),
        card=method.card(fitted, preprocessing, X["train"], y, dataset),
        constraints=method.solved(fitted, preprocessing),
        in_blocks=None if in_memory(X["train"]) else X["train"],
        problem=problem,
    )


def _refuse_failure(fitted: Fitted) -> None:
    if fitted.status is Status.FAILED:
        reason = "; ".join(fitted.notes) or fitted.status.advice
        raise AuclabError(f"{fitted.solver} found no usable point ({reason})")


def _guarantee(
    fitted: Fitted,
    parts: Mapping[str, Part],
    features: Any,
    bounds: BoundsConfig,
    preprocessing: Pipeline,
    tuning: Tuning | None,
) -> tuple[tuple[Guarantee, ...], tuple[str, ...]]:
    """The bounds of the solved split, with a remark if the training part has chosen a parameter."""
    choices = 1 if tuning is None else tuning.choices or len(tuning.path)
    guarantees, remarks = find_guarantees(
        *(fitted, parts["train"], parts.get("test")),
        features=features,
        config=bounds,
        preprocessing=preprocessing,
        choices=choices,
    )
    if tuning is None or not any(item.sample == "train" for item in guarantees):
        return guarantees, remarks
    were = f"{tuning.symbol} {'were' if tuning.with_gamma else 'was'}"
    remark = f"{were} selected on the training part: its bounds hold for all {choices} values at once"
    return guarantees, (*remarks, remark)


def score_on_inner_folds(
    solve: Callable[[Split], Fold],
    split: Split,
    y: NDArray[np.int64] | Target,
    inner: InnerConfig,
) -> InnerScores | None:
    """Repeat an experiment on stratified folds of its training part.

    Preprocessing, tuning and scorer are refitted on each inner training part: tuned parameters are selected by nested
    cross-validation.

    `solve`: solves the experiment on one split. `split`: its training part is cut into folds. `y` (n_samples,), or
    Target: 0/1, or what the rows are ranked by, of all observations. `inner`: the folds; with 0 of them None is
    returned.
    """
    if inner.folds == 0:
        return None
    start = time.perf_counter()
    columns: dict[str, list[float]] = {}
    target = as_target(y).take(split.train)
    for part in inner_folds(target, n_folds=inner.folds, seed=inner.seed, setting="inner.folds"):
        fold = solve(Split(split.train[part.train], split.train[part.test], part.name))
        if fold.solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        for key, value in fold.parts["test"].metrics.items():
            columns.setdefault(key, []).append(float(value))
    means = {key: float(np.mean(values)) for key, values in columns.items()}
    errors = {key: float(np.std(values, ddof=1)) / math.sqrt(len(values)) for key, values in columns.items()}
    values = {key: tuple(each) for key, each in columns.items()}
    return InnerScores(means, errors, inner.folds, time.perf_counter() - start, values)
