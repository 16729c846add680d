"""λ of `AUCClassifier` without a formulation: the one that the command line chooses for the same rows."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.datasets.records import Split
from auclab.datasets.splits import kfold
from auclab.estimators.inner_choice import InnerFold, choose
from auclab.metrics.scorers import get_scorer
from auclab.samples.as_sample import as_sample
from auclab.samples.tables import require_memory
from auclab.solvers.penalty_series import penalty_series, series_below
from auclab.types import Array, AuclabError

#: Of the inner folds, as in conf/tune/penalty.yaml; there are fewer where a class has fewer rows, and two at least.
FOLDS, FEWEST = 5, 2
#: ‖Δ‖ of rows of length 1 in a kernel's space is at most √2.
KERNEL_LEVEL = math.sqrt(2.0)


def default_penalty(model: Any, X: Any, positive: NDArray[np.bool_], weight: Array | None) -> float:
    """The λ with the largest AUC on inner folds, of the series of `auclab.solvers.penalty_series`.

    `model`: with a formulation, whose own λ is not used.
    """
    advice = "give a formulation with its penalty, such as AUCClassifier('ranksvm', squared=True, penalty=0.01)"
    require_memory(X, f"λ is chosen on inner folds, which need rows in memory, and X is in blocks; {advice}")
    labels = positive.astype(np.int64)
    if (smaller := int(np.bincount(labels, minlength=2).min())) < FEWEST:
        raise AuclabError(
            f"λ is chosen on inner folds, which need {FEWEST} rows of each class, and one has 1; {advice}"
        )
    splits = kfold(labels, n_folds=min(FOLDS, smaller))
    rows = splits[0].train
    sample = as_sample(X[rows], positive[rows], None if weight is None else weight[rows])
    values = penalty_series(model.formulation, sample) if model.kernel is None else series_below(KERNEL_LEVEL)
    scorer = get_scorer("auc")

    def fold(split: Split) -> InnerFold:
        parts = [(X[each], positive[each]) for each in (split.train, split.test)]
        weights = [None if weight is None else weight[each] for each in (split.train, split.test)]
        found: InnerFold = model.inner_fold(*parts, values, scorer, weights=tuple(weights))
        return found

    return values[choose([partial(fold, split) for split in splits], len(values)).selected]
