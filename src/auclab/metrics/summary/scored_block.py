"""Labels, scores and weights of one block, checked; one class may be missing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.forms import as_column, distinct
from auclab.types import Array, AuclabError
from auclab.validation import finite_vector, same_length, weight_vector


class ScoredBlock(NamedTuple):
    """Scores of either class with their weights > 0, or None for ones."""

    pos: Array
    neg: Array
    weight_pos: Array | None
    weight_neg: Array | None


def scored_block(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> ScoredBlock:
    """Check a block and split it by class; rows of weight 0 are dropped, and a block may be empty."""
    positive = _positive(y_true, pos_label)
    column = as_column("y_score", y_score, may_be_empty=True)
    scores = np.ascontiguousarray(finite_vector("y_score", column, infinite=True)) if column.size else np.empty(0)
    same_length(y_true=positive, y_score=scores)
    if sample_weight is None or not scores.size:
        return ScoredBlock(scores[positive], scores[~positive], None, None)
    weight = weight_vector(sample_weight, scores.size)
    assert weight is not None
    pos, neg = positive & (weight > 0), ~positive & (weight > 0)
    return ScoredBlock(scores[pos], scores[neg], weight[pos], weight[neg])


def _positive(y_true: ArrayLike, pos_label: Any) -> NDArray[np.bool_]:
    """Which rows are positive, as `auclab.validation.positive_mask` says it for a sample with both classes."""
    labels = as_column("labels", y_true, may_be_empty=True)
    if labels.dtype.kind == "b" and pos_label is None:
        return labels
    if pos_label is None and labels.dtype.kind in "iuf":
        positive = labels == 1
        if (positive | (labels == 0)).all() or (positive | (labels == -1)).all():
            return np.asarray(positive)
    values = distinct("labels", labels).tolist()
    if pos_label is None:
        raise AuclabError(
            f"labels of a block must be 0/1, −1/+1 or booleans, got {', '.join(map(repr, values[:6]))}; "
            "name the positive one with pos_label"
        )
    if len([value for value in values if value != pos_label]) > 1:
        raise AuclabError(f"two classes are needed, got the labels {', '.join(map(repr, values[:6]))} in one block")
    return np.asarray(labels == pos_label)
