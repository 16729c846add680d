"""Partial area of lesser classifiers and partial VOROS, with least precision and largest share of predicted positives.

A classifier is the point (false positive rate x, true positive rate y). It is allowed if its precision is at least α
and at most κ of the rows are predicted positive, ``α N x ≤ (1 − α) P y`` and ``N x + P y ≤ κ (N + P)``: a polygon. At
the cost ratio r of a false positive to a false negative it costs ``t x + (1 − t)(1 − y)`` with ``t = rN/(rN + P)``. The
partial area of lesser classifiers of a point is the share of the polygon that costs at least as much; partial VOROS is
the mean over r, uniform in a range, of the largest such area of the allowed points of the ROC curve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from auclab._core.base import Array
from auclab.datasets.records import Labels

#: An allowed point may break a limit by so much, in rates: the limits hold for counts, rates are rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Limits:
    """Sizes of the classes, least precision α and largest share κ of predicted positives.

    Examples
    --------
    Two of each class, half of the rows, precision ½: the triangle (0, 0), (½, ½), (0, 1).

    >>> limits = Limits(2, 2, precision=0.5, capacity=0.5)
    >>> limits.area, limits.lesser_area(0.0, 1.0, 1.0), limits.lesser_area(0.5, 0.5, 1.0)
    (0.25, 1.0, 0.0)
    """

    n_pos: int
    n_neg: int
    precision: float = 0.0
    capacity: float = 1.0

    def allows(self, fpr: Array, tpr: Array) -> NDArray[np.bool_]:
        """Which points keep both limits."""
        return (self._imprecision(fpr, tpr) <= _ROUNDING) & (self._excess(fpr, tpr) <= _ROUNDING)

    def _imprecision(self, fpr: Array, tpr: Array) -> Array:
        return self.precision * self.n_neg / self.n_pos * fpr - (1 - self.precision) * tpr

    def _excess(self, fpr: Array, tpr: Array) -> Array:
        size = self.n_pos + self.n_neg
        return (self.n_neg * fpr + self.n_pos * tpr) / size - self.capacity

    @property
    def polygon(self) -> Array:
        """Vertices of the allowed region, shape (n, 2)."""
        square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        return _cut(_cut(square, self._imprecision), self._excess)

    @property
    def area(self) -> float:
        """Of the allowed region."""
        return _area(self.polygon)

    def cost_share(self, ratio: float) -> float:
        """The share t of the false positives in the cost."""
        return ratio * self.n_neg / (ratio * self.n_neg + self.n_pos)

    def lesser_area(self, fpr: float, tpr: float, ratio: float) -> float:
        """Share of the allowed region that costs at least as much as a point."""
        t, polygon = self.cost_share(ratio), self.polygon
        return _area(_cut(polygon, lambda x, y: t * (fpr - x) + (1 - t) * (y - tpr))) / _area(polygon)


def _cut(polygon: Array, function: Callable[[Array, Array], Array]) -> Array:
    """The part of a convex polygon where a linear function is at most 0."""
    values = function(*polygon.T)
    kept: list[Array] = []
    for k in range(len(polygon)):
        before, here = values[k - 1], values[k]
        if (before < 0 < here) or (here < 0 < before):
            kept.append(polygon[k - 1] + before / (before - here) * (polygon[k] - polygon[k - 1]))
        if here <= 0:
            kept.append(polygon[k])
    return np.array(kept).reshape(-1, 2)


def _area(polygon: Array) -> float:
    x, y = polygon.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def partial_voros(
    labels: Labels, scores: Array, ratios: Sequence[float] | Array, *, precision: float = 0.0, capacity: float = 1.0
) -> float:
    """Mean over the cost ratios, trapezoidal, of the largest partial area of the allowed points of the ROC curve.

    Examples
    --------
    With precision ½ the triangle y ≥ x is allowed. At r = ½ the point (½, 1) leaves an eighth of it that costs less, at
    r = 1 a quarter; the mean of ⅞ and ¾ is

    >>> partial_voros(np.array([0, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4]), [0.5, 1.0], precision=0.5)
    0.8125
    """
    limits = Limits(int((labels == 1).sum()), int((labels == 0).sum()), precision, capacity)
    points = best(labels, scores, limits, ratios)
    areas = [limits.lesser_area(*point[:2], ratio) for ratio, point in zip(ratios, points, strict=True)]
    return float(np.trapezoid(areas, ratios) / (ratios[-1] - ratios[0]))


def best(
    labels: Labels, scores: Array, limits: Limits, ratios: Sequence[float] | Array
) -> list[tuple[float, float, float]]:
    """Rates and threshold of the cheapest allowed point of the ROC curve, for each cost ratio."""
    fpr, tpr, thresholds = roc_curve(labels, scores)
    allowed = limits.allows(fpr, tpr)
    points = np.column_stack([fpr, tpr, thresholds])[allowed]
    t = np.array([limits.cost_share(ratio) for ratio in ratios])[:, np.newaxis]
    cheapest = np.argmin(t * points[:, 0] + (1 - t) * (1 - points[:, 1]), axis=1)
    return [tuple(points[k]) for k in cheapest]
