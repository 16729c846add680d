"""ROC curves of a sample: the vertices of the polygon, and its upper convex hull."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.roc import roc_polygon, upper_hull
from auclab.metrics.class_scores import ClassScores, class_scores
from auclab.metrics.rates import checked_rates
from auclab.types import Array, AuclabError
from auclab.validation import same_length


def empirical_roc(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any
) -> tuple[Array, Array]:
    """Vertices (FPR, TPR) of the ROC polygon."""
    return roc_from_sorted(class_scores(y_true, y_score, sample_weight, pos_label, infinite=True))


def roc_from_sorted(scores: ClassScores) -> tuple[Array, Array]:
    """Vertices (FPR, TPR) of the ROC polygon of sorted scores."""
    false, true = roc_polygon(*scores.lists, True)
    return false / false[-1], true / true[-1]


def roc_hull(fpr: ArrayLike, tpr: ArrayLike) -> tuple[Array, Array]:
    """Vertices of the upper convex hull of ROC points, from (0, 0) to (1, 1), in O(n log n).

    Its vertices are the points that are cheapest for some costs; (0, 0) and (1, 1), the classifiers that call
    nothing or everything positive, are always among them.

    Parameters
    ----------
    fpr, tpr : arrays of shape (n_points,)
        Rates in [0, 1], in any order.

    Returns
    -------
    fpr, tpr : arrays of shape (n_vertices,)
        Ascending in both; points on an edge are left out.

    Raises
    ------
    AuclabError
        Rates outside [0, 1], NaN, lengths that differ.

    See Also
    --------
    voros_from_points : Mean area of lesser classifiers of the best point.
    auclab.displays.ROCHullDisplay : Draws it.

    Examples
    --------
    (0.5, 0.6) lies below the edge from (0.2, 0.8) to (1, 1):

    >>> fpr, tpr = roc_hull([0.5, 0.2], [0.6, 0.8])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.2, 1.0], [0.0, 0.8, 1.0])
    """
    x, y = (np.atleast_1d(checked_rates(name, rates)) for name, rates in (("fpr", fpr), ("tpr", tpr)))
    if x.ndim > 1 or y.ndim > 1:
        raise AuclabError(f"fpr and tpr must be one-dimensional, got shapes {x.shape} and {y.shape}")
    same_length(fpr=x, tpr=y)
    x, y = np.concatenate(([0.0], x, [1.0])), np.concatenate(([0.0], y, [1.0]))
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    chain = upper_hull(x, y)
    return x[chain], y[chain]
