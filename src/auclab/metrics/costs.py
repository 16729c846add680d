"""What decisions cost: points and curves of ROC space at a known share of the costs, and who is cheaper where.

A point (x, y) costs ``t x + (1 − t)(1 − y)`` with ``t = C₀|N|/(C₀|N| + C₁|P|)`` (Ratigan & Cowen, Def. 10). For a curve
the cheapest point counts. It is a vertex of the hull, so the least cost is concave and piecewise linear in t.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.scores import upper_hull
from auclab._core.validation import same_length
from auclab.metrics.roc import checked_rates, class_scores, roc_from_sorted

Hull = tuple[Array, Array]

#: Least costs that differ by no more than this are equal.
_EQUAL = 1e-12


def expected_cost(fpr: ArrayLike, tpr: ArrayLike, cost_share: ArrayLike) -> float | Array:
    """Mean cost of the decisions at a ROC point, ``t x + (1 − t)(1 − y)``, in units of the cost of being always wrong.

    Ratigan & Cowen, Def. 10. Their Def. 9, ``C₀|N| x + C₁|P| (1 − y)``, is this times ``C₀|N| + C₁|P|``.

    Parameters
    ----------
    fpr, tpr : float or array
        x and y, rates in [0, 1].
    cost_share : float or array
        t in [0, 1], the share of false positives in that unit; `cost_range` computes it. The three broadcast.

    Returns
    -------
    float or array
        In [0, 1]; (0, 0) costs 1 − t, and (1, 1) costs t.

    Raises
    ------
    AuclabError
        Rates or shares outside [0, 1], shapes that do not broadcast.

    See Also
    --------
    least_cost : The cheapest point of a scorer.
    lesser_area : The part of ROC space that costs more.

    Examples
    --------
    900 negatives, 100 positives, a missed positive costs nine times as much: t = ½. With 90 false alarms and 40 missed
    positives the cost is 90 · 1 + 40 · 9 = 450 of at most 1800.

    >>> expected_cost(0.1, 0.6, 0.5), 450 / 1800
    (0.25, 0.25)
    """
    x, y, t = checked_rates("fpr", fpr), checked_rates("tpr", tpr), checked_rates("cost_share", cost_share)
    try:
        cost = np.asarray(t * x + (1.0 - t) * (1.0 - y))
    except ValueError as error:
        raise AuclabError(
            f"fpr, tpr and cost_share must broadcast, got shapes {x.shape}, {y.shape}, {t.shape}"
        ) from error
    return cost if cost.ndim else float(cost)


def least_cost(
    y_true: ArrayLike,
    y_score: ArrayLike,
    cost_share: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float | Array:
    """Mean cost at the best threshold of a scorer, for a known share of the costs.

    ``min over the ROC curve of t x + (1 − t)(1 − y)`` (Ratigan & Cowen, Def. 10, 13), in O(m log m).

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `auc_score`.
    cost_share : float or array
        t in [0, 1]; of `cost_range`.

    Returns
    -------
    float or array
        In [0, ½], at most ``min(t, 1 − t)``, the cost of the better constant decision.

    Raises
    ------
    AuclabError
        As in `auc_score`, and for shares outside [0, 1].

    See Also
    --------
    cost_curve : The least cost for all shares.
    auclab.estimators.decision_threshold : The threshold that has it.
    voros_score : Costs that are known within a range.

    Examples
    --------
    The best threshold lies between 2 and 3; it misses one of two positives and has no false alarm:

    >>> least_cost([0, 0, 1, 1], [1, 2, 1, 3], 0.5)
    0.25
    """
    shares = checked_rates("cost_share", cost_share)
    hull = scorer_hull(y_true, y_score, sample_weight, pos_label)
    cost = hull_costs(*hull, shares)
    return cost if cost.ndim else float(cost)


def cost_curve(
    y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> tuple[Array, Array]:
    """Least cost of a scorer as a function of the cost share: the corners of a concave, piecewise linear curve.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `auc_score`.

    Returns
    -------
    cost_share, cost : arrays of shape (n_corners,)
        From t = 0 to t = 1; between two corners the same threshold is best, and the cost is linear.

    Raises
    ------
    AuclabError
        As in `auc_score`.

    See Also
    --------
    least_cost : At one share.
    crossing_shares : Where two curves cross.

    Examples
    --------
    Hull (0, 0), (0, ½), (1, 1): the middle point is best from t = ⅓ on, where calling all positive costs ⅓ too.

    >>> share, cost = cost_curve([0, 0, 1, 1], [1, 2, 1, 3])
    >>> share.round(4).tolist(), cost.round(4).tolist()
    ([0.0, 0.3333, 1.0], [0.0, 0.3333, 0.0])
    """
    hull = scorer_hull(y_true, y_score, sample_weight, pos_label)
    shares = np.unique(np.concatenate(([0.0, 1.0], _bends(*hull))))
    return shares, hull_costs(*hull, shares)


def roc_dominates(fpr: ArrayLike, tpr: ArrayLike, other_fpr: ArrayLike, other_tpr: ArrayLike) -> bool:
    """Whether a ROC polygon is nowhere below another one: no point of the other is better at any costs.

    Ratigan & Cowen, Def. 3 and 6. Vertices alone do not decide it (erratum R9): the interpolated curves are compared.

    Parameters
    ----------
    fpr, tpr, other_fpr, other_tpr : arrays of shape (n_points,), (n_other,)
        Points of either curve; (0, 0) and (1, 1) are added.

    Returns
    -------
    bool
        True for equal curves too.

    Raises
    ------
    AuclabError
        Rates outside [0, 1], lengths that differ, a TPR that falls as the FPR grows.

    See Also
    --------
    crossing_shares : Where neither is cheaper everywhere.
    roc_hull : Dominates its own curve.

    Examples
    --------
    At FPR .1 the first curve has reached .45, though no vertex of it is above and left of (.1, .3):

    >>> roc_dominates([0.2], [0.9], [0.1], [0.3]), roc_dominates([0.1], [0.3], [0.2], [0.9])
    (True, False)
    """
    curve, other = _polygon(fpr, tpr), _polygon(other_fpr, other_tpr)
    levels = np.union1d(curve[0], other[0])
    pairs = zip(_heights(*curve, levels), _heights(*other, levels), strict=True)
    return all(bool((own >= theirs - _EQUAL).all()) for own, theirs in pairs)


def crossing_shares(
    y_true: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Array:
    """Cost shares at which two scorers change places: on one side a is cheaper at its best threshold, on the other b.

    Ratigan & Cowen, Fig. 6. Least costs are linear between the bends of both curves, so a change of sign of their
    difference is found exactly; where both cost the same over a range, its middle is returned.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    scores_a, scores_b : arrays of shape (n_samples,)
        Larger means more positive.
    sample_weight, pos_label
        As in `auc_score`.

    Returns
    -------
    array of shape (n_crossings,)
        Ascending, in (0, 1); empty if one of the two is nowhere dearer.

    Raises
    ------
    AuclabError
        As in `auc_score`.

    See Also
    --------
    least_cost : The cost of either.
    cost_range : The cost share of known costs and class sizes.
    auclab.compare_scorers : Tests a difference, such as that of VOROS over a range of shares.

    Examples
    --------
    a finds half of the positives without a false alarm, b all of them with half of the negatives:

    >>> crossing_shares([1, 1, 0, 0], [3, 1, 2, 1], [2, 2, 2, 1]).tolist()
    [0.5]
    """
    return hull_crossings(*(scorer_hull(y_true, each, sample_weight, pos_label) for each in (scores_a, scores_b)))


def hull_crossings(a: Hull, b: Hull) -> Array:
    """`crossing_shares` of the hulls of two ROC curves."""
    shares, difference = hull_difference(a, b)
    found = []
    for low, high in pairwise(np.flatnonzero(difference)):
        if difference[low] * difference[high] >= 0.0:
            continue
        if high > low + 1:  # equal at the bends between
            found.append(0.5 * (shares[low + 1] + shares[high - 1]))
        else:
            part = difference[low] / (difference[low] - difference[high])
            found.append(shares[low] + part * (shares[high] - shares[low]))
    return np.array(found)


def hull_difference(a: Hull, b: Hull) -> Hull:
    """By how much a costs more than b, at the shares where either bends; 0 where the difference is rounding."""
    shares = np.unique(np.concatenate(([0.0, 1.0], _bends(*a), _bends(*b))))
    difference = hull_costs(*a, shares) - hull_costs(*b, shares)
    return shares, np.where(np.abs(difference) > _EQUAL, difference, 0.0)


def scorer_hull(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> Hull:
    """Vertices of the hull of a scorer's ROC curve."""
    fpr, tpr = roc_from_sorted(class_scores(y_true, y_score, sample_weight, pos_label, infinite=True))
    chain = upper_hull(fpr, tpr)
    return fpr[chain], tpr[chain]


def mean_hull(hulls: Sequence[Hull]) -> Hull:
    """The hull whose least cost is the mean of theirs at every cost share: their edges by slope, over their number."""
    right, up = (np.concatenate([np.diff(hull[axis]) for hull in hulls]) / len(hulls) for axis in (0, 1))
    order = np.argsort(right / (right + up), kind="stable")
    fpr, tpr = (np.concatenate(([0.0], np.cumsum(edges[order]))) for edges in (right, up))
    return fpr, tpr


def _bends(fpr: Array, tpr: Array) -> Array:
    """The cost shares at which two neighbours of a hull cost the same, ``δy/(δx + δy)``."""
    return np.asarray(np.diff(tpr) / (np.diff(fpr) + np.diff(tpr)))


def hull_costs(fpr: Array, tpr: Array, shares: Array) -> Array:
    """Least cost of the vertices of a hull; the best one is found among the bends, which fall along the hull."""
    best = np.searchsorted(-np.minimum.accumulate(_bends(fpr, tpr)), -shares, side="left")
    return np.asarray(shares * fpr[best] + (1.0 - shares) * (1.0 - tpr[best]))


def _polygon(fpr: ArrayLike, tpr: ArrayLike) -> tuple[Array, Array]:
    """Points from (0, 0) to (1, 1) in ascending order, checked."""
    x, y = (np.atleast_1d(checked_rates(name, rates)) for name, rates in (("fpr", fpr), ("tpr", tpr)))
    same_length(fpr=x, tpr=y)
    x, y = np.concatenate(([0.0], x, [1.0])), np.concatenate(([0.0], y, [1.0]))
    order = np.lexsort((y, x))
    if (np.diff(y[order]) < 0.0).any():
        raise AuclabError("the TPR of a ROC curve does not fall as its FPR grows; roc_hull takes any points")
    return x[order], y[order]


def _heights(fpr: Array, tpr: Array, levels: Array) -> tuple[Array, Array]:
    """Smallest and largest TPR of a polygon at some FPR; they differ on a vertical piece."""
    first, last = np.searchsorted(fpr, levels, side="left"), np.searchsorted(fpr, levels, side="right") - 1
    before, after = np.minimum(first, last), np.maximum(first, last)  # neighbours, or the ends of a vertical piece
    on = fpr[first] == levels
    step = np.where(on, 1.0, fpr[after] - fpr[before])
    between = tpr[before] + (tpr[after] - tpr[before]) * (levels - fpr[before]) / step
    return np.where(on, tpr[first], between), np.where(on, tpr[last], between)
