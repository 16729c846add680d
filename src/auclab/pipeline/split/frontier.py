"""The frontier of least norm and guaranteed bAUC on the data of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from auclab.datasets.splits import split_rows, take_rows
from auclab.metrics import auc_score, bauc_score
from auclab.pipeline.config.build import build, load_dataset
from auclab.pipeline.config.compose import Experiment
from auclab.pipeline.split.constrained import constraints_of
from auclab.samples.tables import require_memory
from auclab.solvers.guaranteed import Frontier, frontier
from auclab.solvers.interrupt import interruptible
from auclab.types import AuclabError


@dataclass(frozen=True)
class DataFrontier:
    """A frontier, and the metrics of its scorers on the held-out part.

    `frontier`: on the training part of the first split, after preprocessing. `table`: a row for each point, as in
    `Frontier.table`, with ``test_auc`` and ``test_bauc`` if rows are held out, and a column ``coef:NAME`` for each
    prepared column. `title`: data set, part and preprocessing.
    """

    frontier: Frontier
    table: pd.DataFrame
    title: str


def trace_frontier(
    experiment: Experiment, *, levels: Sequence[float] | None = None, n_points: int = 10
) -> DataFrontier:
    """Trace the frontier on the training part of the first split of an experiment.

    Its formulation, solver and tuning are not used; data set, split, preprocessing and constraints are.

    `levels` in (0, 1). `n_points`: used without `levels`.
    """
    dataset = load_dataset(experiment)
    require_memory(dataset.X, "a frontier needs its rows in memory; take a data set that is not in blocks")
    (split, *_), target = split_rows(build(experiment.config.split), dataset)
    if not target.is_of_classes:
        raise AuclabError(f"a frontier needs two classes, but rows of {dataset.name} are compared by {target.kind}")
    preprocessing = build(experiment.config.preprocess)(dataset)
    rows, y = take_rows(dataset.X, split.train), dataset.y[split.train]
    X = preprocessing.fit_transform(rows, y)
    rules = constraints_of(experiment.constraints, dataset, experiment.encoding) if experiment.constraints else None
    constraints = None if rules is None else rules.on(preprocessing)
    found = interruptible(lambda: frontier(X, y, levels, n_points=n_points, constraints=constraints))
    table = pd.DataFrame(found.table())
    if len(split.test):
        held_out, labels = preprocessing.transform(take_rows(dataset.X, split.test)), dataset.y[split.test]
        scores = [point.decision_function(held_out) for point in found.points]
        table["test_auc"] = [auc_score(labels, each) for each in scores]
        table["test_bauc"] = [bauc_score(labels, each) for each in scores]
    names: Any = preprocessing.get_feature_names_out()
    coefs = {f"coef:{name}": [point.coef[k] for point in found.points] for k, name in enumerate(names)}
    part = "all rows" if not len(split.test) else f"training part, {len(y)} rows"
    title = f"{dataset.name} · {part} · preprocess={experiment.choices.get('preprocess', 'own')}"
    return DataFrontier(found, pd.concat([table, pd.DataFrame(coefs)], axis=1), title)
