"""The buffered ROC curve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab.metrics.buffered import solve_bpoe
from auclab.metrics.roc import ClassScores, class_scores, finite_number


def broc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> tuple[Array, Array, float]:
    """Buffered ROC curve: the ROC step curve after all positive scores were lowered to ``h⁺ + γ*``.

    Points ``(P(h⁻ > t), P(h⁺ ≥ t − γ*))`` for all t (Norton & Uryasev 2018, Prop. 3). The area below is
    ``P(ξ ≤ γ*)``, the `area_closed` of `buffered_auc`.

    Parameters
    ----------
    y_true, y_score, threshold, sample_weight, pos_label
        As in `bauc_score`.

    Returns
    -------
    fpr, tpr : arrays of shape (n_vertices,)
        Corners of the step curve from (0, 0) to (1, 1), so that ``np.trapezoid(tpr, fpr)`` is the area.
    gamma : float
        γ*, the left end of the interval of minimisers.

    Raises
    ------
    AuclabError
        As in `bauc_score`; and "no curve" where γ* does not exist, for ``z ≤ E ξ`` or ``z ≥ max ξ``.

    See Also
    --------
    buffered_auc : The area below, and γ*.
    auclab.displays.BufferedROCDisplay : Draws it.

    Examples
    --------
    Positives 4 and 1, negatives 2 and 0 have the errors −4, −2, −1, 1. The worst two have mean 0, so γ* =
    −2 and two of the four pairs remain right:

    >>> fpr, tpr, gamma = broc_curve([1, 1, 0, 0], [4, 1, 2, 0])
    >>> fpr.tolist(), tpr.tolist(), gamma
    ([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0], -2.0)
    """
    return broc_from_sorted(class_scores(y_true, y_score, sample_weight, pos_label), threshold=threshold)


def broc_from_sorted(scores: ClassScores, *, threshold: float) -> tuple[Array, Array, float]:
    """`broc_curve` of sorted scores."""
    z = finite_number("threshold", threshold)
    errors = scores.pair_errors
    solution = solve_bpoe(errors, z)
    if math.isnan(solution.level):
        reason = (
            "no error exceeds the threshold" if solution.rest > 0.0 else "the mean error is not below the threshold"
        )
        raise AuclabError(
            f"no curve: {reason} {z}, so no γ* exists and bAUC is {solution.rest}; "
            "use bauc_score for the value, or another threshold"
        )
    mass = _running(errors.weight_pos[::-1], errors.pos.size)  # from the largest score down
    counts = errors.rank_counts(solution.level)
    tpr = mass[errors.pos.size - counts[::-1]] / mass[-1]
    corners = _step_corners(tpr, _running(errors.weight_neg[::-1], errors.neg.size))
    return *corners, errors.units.original(solution.level)


def _running(weight: Array, size: int) -> Array:
    """Weight of the first k, k = 0 … size; no weights stand for ones."""
    return np.concatenate(([0.0], np.cumsum(weight))) if weight.size else np.arange(size + 1.0)


def _step_corners(tpr: Array, reached: Array) -> tuple[Array, Array]:
    """Corners of the curve that rises to ``tpr[k]`` and then runs right to ``reached[k + 1]``."""
    starts = np.concatenate(([0], np.flatnonzero(np.diff(tpr)) + 1))
    edges = np.concatenate((reached[starts], reached[-1:])) / reached[-1]
    fpr = np.concatenate(([0.0], np.repeat(edges, 2)[1:-1], [1.0]))
    heights = np.concatenate(([0.0], np.repeat(tpr[starts], 2), [1.0]))
    keep = np.concatenate(([True], (np.diff(fpr) != 0.0) | (np.diff(heights) != 0.0)))
    return fpr[keep], heights[keep]
