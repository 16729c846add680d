"""VOROS: the mean area of lesser classifiers of the best ROC point, over unknown costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.roc import upper_hull
from auclab.metrics.class_scores import class_scores, finite_number
from auclab.metrics.cost_measures import VertexRanges, beta_mean, uniform_mean
from auclab.metrics.lesser_area import lesser_area
from auclab.metrics.rates import checked_cost_range
from auclab.metrics.roc import roc_from_sorted, roc_hull
from auclab.types import Array, AuclabError

Measure = str | Sequence[Any]


def voros_from_points(
    fpr: ArrayLike,
    tpr: ArrayLike,
    *,
    cost_range: Sequence[float] = (0.0, 1.0),
    measure: Measure = "uniform",
) -> float:
    """VOROS of ROC points: the mean area of lesser classifiers of the best point, over unknown costs.

    ``(1/μ[a, b]) ∫_a^b max_(h,k) A_t(h, k) dμ(t)`` (Ratigan & Cowen, Def. 21). It is the probability that a uniformly
    drawn point of ROC space costs more than the best of the given ones, for t drawn from μ.

    Parameters
    ----------
    fpr, tpr : arrays of shape (n_points,)
        Rates in [0, 1]; (0, 0) and (1, 1) are added, and every vertex of the hull counts.
    cost_range : pair of float
        ``0 ≤ a ≤ b ≤ 1``, the cost shares t that are possible; `cost_range` computes them. ``a = b`` is the limit, a
        known cost.
    measure : "uniform", ("beta", α, β) or ("point", t)
        How likely the shares in the range are: equally, in proportion to ``t^(α−1) (1 − t)^(β−1)``, or all at t.

    Returns
    -------
    float
        In [½, 1]; at least the area under the hull and the value of chance on the same range, which is ``3/2 − ln 2 =
        0.807`` on [0, 1].

    Raises
    ------
    AuclabError
        Rates or shares outside [0, 1], an unknown measure, exponents ≤ 0, a point measure outside the range.

    See Also
    --------
    voros_score : The same from labels and scores.
    cost_range : The range from class and cost ratios.
    roc_hull : The points that count.

    Examples
    --------
    >>> voros_from_points([0.0], [1.0])
    1.0
    >>> round(voros_from_points([0.5], [0.5]), 12)  # 3/2 − ln 2
    0.80685281944
    """
    return _voros(*roc_hull(fpr, tpr), cost_range, measure)


def voros_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    cost_range: Sequence[float] = (0.0, 1.0),
    measure: Measure = "uniform",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """VOROS of the ROC curve of a scorer, see `voros_from_points`; O(m log m).

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Larger means more positive; ±∞ is allowed, NaN is not. Only the order counts.
    cost_range, measure
        As in `voros_from_points`.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; integer weights act as repeated rows.
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

    Returns
    -------
    float
        In [½, 1], at least AUC; the value of chance for constant scores.

    Raises
    ------
    AuclabError
        One class only, NaN scores, lengths that differ, a class without weight; as in `voros_from_points`.

    See Also
    --------
    voros_from_points : The same from ROC points.
    cost_range : The range from class and cost ratios.

    Examples
    --------
    >>> voros_score([0, 0, 1, 1], [1, 2, 3, 4])
    1.0
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label, infinite=True)
    fpr, tpr = roc_from_sorted(scores)
    chain = upper_hull(fpr, tpr)
    return _voros(fpr[chain], tpr[chain], cost_range, measure)


def _voros(fpr: Array, tpr: Array, cost_range: Sequence[float], measure: Measure) -> float:
    """VOROS of a hull."""
    a, b = checked_cost_range(cost_range)
    name, numbers = _measure(measure)
    if name == "point":
        (t,) = numbers
        if not a <= t <= b:
            raise AuclabError(f"the measure sits at {t}, outside the cost_range ({a}, {b})")
        return _best_area(fpr, tpr, t)
    if a == b:
        return _best_area(fpr, tpr, a)
    ranges = VertexRanges.of(fpr, tpr, a, b)
    return uniform_mean(ranges) if name == "uniform" else beta_mean(ranges, *numbers)


def _best_area(fpr: Array, tpr: Array, share: float) -> float:
    """Largest area of lesser classifiers of the vertices, for one cost share."""
    return float(np.max(lesser_area(fpr, tpr, share)))


def _measure(measure: Measure) -> tuple[str, list[float]]:
    """Name and numbers of a measure, checked."""
    several = isinstance(measure, Sequence) and not isinstance(measure, str) and len(measure) > 0
    name, *numbers = tuple(measure) if several else (measure,)
    needed = {"uniform": 0, "beta": 2, "point": 1}.get(str(name))
    if needed is None or len(numbers) != needed:
        raise AuclabError(f"measure must be 'uniform', ('beta', α, β) or ('point', t), got {measure!r}")
    values = [finite_number(f"a number of the measure {name}", number) for number in numbers]
    if name == "beta" and min(values) <= 0.0:
        raise AuclabError(f"the exponents of a Beta measure must be above 0, got {values[0]} and {values[1]}")
    if name == "point" and not 0.0 <= values[0] <= 1.0:
        raise AuclabError(f"a cost share lies in [0, 1], got {values[0]}")
    return str(name), values
