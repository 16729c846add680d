"""One split: preprocess, fit, measure, bound, decide; and its metrics on inner folds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from auclab.datasets.records import Dataset, Split, part_sha256
from auclab.datasets.splits import inner_folds, take_rows
from auclab.datasets.target import Target, as_target
from auclab.estimators.baselines import Baseline
from auclab.formulations import Program
from auclab.pipeline.config.settings import (
    BoundsConfig,
    DecisionConfig,
    InnerConfig,
    KernelConfig,
    SolverConfig,
    TuneConfig,
)
from auclab.pipeline.split.constrained import DataConstraints, on_prepared
from auclab.pipeline.split.decision import UNDECIDED, decide
from auclab.pipeline.split.formula import describe_scorer, explain
from auclab.pipeline.split.guarantees import Guarantee, find_guarantees
from auclab.pipeline.split.measured import Measured, Metric, Part, measure, ranked_metrics
from auclab.pipeline.split.methods import ClassWeight, method_of, problem_to_write
from auclab.pipeline.split.results import Fold, InnerScores
from auclab.pipeline.split.summarised_part import part_of
from auclab.pipeline.split.tuning import Tuning
from auclab.precision import CONFIDENCE
from auclab.samples.tables import in_memory
from auclab.solvers.fitted import Fitted
from auclab.solvers.interrupt import interruptible
from auclab.types import Array, AuclabError, Status

Metrics = Mapping[str, Callable[[NDArray[np.int64], Array], float]]


def solve_split(
    dataset: Dataset,
    split: Split,
    preprocessing: Pipeline,
    formulation: Program | Baseline,
    metrics: Metrics,
    *,
    solver: SolverConfig,
    tune: TuneConfig,
    bounds: BoundsConfig,
    decision: DecisionConfig | None = None,
    class_weight: ClassWeight = None,
    constraints: DataConstraints | None = None,
    kernel: KernelConfig | None = None,
    to_write: bool = False,
) -> Fold:
    """Fit preprocessing and scorer on the training part, measure on both parts.

    Without a `decision` the threshold matches the share of positives, and nothing is calibrated. Class weights, keyed 0
    and 1, are as in `auclab.estimators.AUCClassifier`. Constraints hold on the inner folds too, each in the units of
    its own preprocessing. `to_write`: whether the program is kept, so that its model can be written.

    Each part is transformed and scored once.
    """
    given = constraints is not None
    target = dataset.target
    ranked = not target.is_of_classes
    method = method_of(formulation, solver, class_weight=class_weight, kernel=kernel, ranked=ranked, constraints=given)
    shown: Mapping[str, Metric] = ranked_metrics(target.kind, metrics) if ranked else metrics
    tuning, rows, y = None, take_rows(dataset.X, split.train), target.take(split.train)
    if tune.parameter is not None:
        tuned = method
        method, tuning = interruptible(lambda: tuned.tuned(preprocessing, rows, y, tune, constraints))
    X = {"train": preprocessing.fit_transform(rows, y.y)}
    on_columns = None if constraints is None else constraints.on(preprocessing)
    selected = method.formulation
    method, on_columns = method.prepared(preprocessing, dataset, on_columns)
    problem = problem_to_write(method, X["train"], y, on_columns) if to_write else None
    classifier, fitted = interruptible(lambda: method.fit(X["train"], y, on_columns))
    _refuse_failure(fitted)
    if len(split.test):
        X["test"] = preprocessing.transform(take_rows(dataset.X, split.test))
    of_parts = {"train": y, "test": target.take(split.test)}
    parts = {name: part_of(of_parts[name], X[name], fitted) for name in X}
    measured = {name: measure(part, shown, CONFIDENCE if name == "test" else None) for name, part in parts.items()}
    guarantees, remarks = _guarantee(fitted, parts, X["train"], bounds, preprocessing, tuning)
    reading, settings = (
        decision or DecisionConfig(probability="none"),
        partial(on_prepared, selected, constraints, rows),
    )
    decided = UNDECIDED
    if not ranked:
        part = cast(Measured, parts["train"])
        decided = interruptible(lambda: decide(preprocessing, classifier, rows, y, part, reading, settings))
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
        constraints=None if constraints is None else constraints.solved(fitted, preprocessing),
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
