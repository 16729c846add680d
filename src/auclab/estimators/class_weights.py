"""Weights of the two classes, as scikit-learn's estimators take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from auclab.types import Array, AuclabError
from auclab.validation import both_classes_weighted

#: ``balanced``, or weights by label.
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
#: What weights of the classes do in programs over pairs.
CANCELS = (
    "class_weight makes no difference to a scorer over pairs, because every pair has one row of each class; csvm, "
    "ecsvm and the baselines take it"
)


def cancels(formulation: Any) -> bool:
    """Whether weights of the classes make no difference, because every pair has one row of each.

    Examples
    --------
    >>> from auclab.formulations import CSVM, RankSVM
    >>> cancels(RankSVM()), cancels(CSVM())
    (True, False)
    """
    comparisons = getattr(formulation, "comparisons", None)  # a baseline has none
    return comparisons is not None and comparisons.name == "pairs"


def class_weights(
    class_weight: Mapping[Any, float] | Literal["balanced"] | None,
    labels: Sequence[Any],
    positive: NDArray[np.bool_],
    weight: Array | None,
) -> tuple[float, float]:
    """Weights of the negative and of the positive class.

    `class_weight`: by label, 1 for one that is left out; "balanced" gives both classes half of the total weight.
    `labels`: of the negative and of the positive class. `weight` (n_samples,): weights of the observations.

    Examples
    --------
    >>> class_weights("balanced", ["no", "yes"], np.array([True, False, False, False]), None)   # 4/2 : 3 and 4/2 : 1
    (0.6666666666666666, 2.0)
    """
    if class_weight is None:
        return 1.0, 1.0
    if isinstance(class_weight, Mapping):
        if unknown := [label for label in class_weight if label not in labels]:
            raise AuclabError(f"class_weight has the label {unknown[0]!r}; the labels are {list(labels)}")
        of_negative, of_positive = (float(class_weight.get(label, 1.0)) for label in labels)
        if not (0 <= of_negative < np.inf and 0 <= of_positive < np.inf and of_negative + of_positive > 0):
            raise AuclabError(f"class weights must be finite, ≥ 0 and not all 0, got {dict(class_weight)}")
        return of_negative, of_positive
    if class_weight != "balanced":
        raise AuclabError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}")
    every = np.ones(positive.size) if weight is None else weight
    both_classes_weighted(positive, every)
    total, of_positives = float(every.sum()), float(every[positive].sum())
    return total / (2 * (total - of_positives)), total / (2 * of_positives)
