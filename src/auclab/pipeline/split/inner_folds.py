"""Metrics of an experiment on inner folds of its training part; the held-out part is not used."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from auclab.datasets.records import Split
from auclab.datasets.splits import inner_folds
from auclab.datasets.target import Target, as_target
from auclab.pipeline.config.settings import InnerConfig
from auclab.pipeline.split.results import Fold, InnerScores
from auclab.types import Status


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
