"""The best ROC point for every share t of the false positives in the cost, and the base of the displays of VOROS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from auclab.displays.base import Display
from auclab.displays.style import POINTS
from auclab.metrics import ScoredPart, lesser_area, roc_hull
from auclab.metrics.roc import checked_cost_range, roc_from_sorted
from auclab.metrics.voros import VertexRanges
from auclab.types import Array


@dataclass(frozen=True, eq=False)
class BestPoints:
    """For a grid of cost shares, the cheapest vertex of the hull and its area of lesser classifiers.

    The grid has equal steps and every share at which the best vertex changes. `fpr`, `tpr`, `area` have its shape.
    """

    cost_shares: Array
    fpr: Array
    tpr: Array
    area: Array

    @classmethod
    def of(cls, fpr: ArrayLike, tpr: ArrayLike, cost_range: Sequence[float] = (0.0, 1.0)) -> BestPoints:
        """Of ROC points over a range of shares, as `auclab.metrics.voros_from_points` takes them."""
        low, high = checked_cost_range(cost_range)
        hull_fpr, hull_tpr = roc_hull(fpr, tpr)
        if low == high:
            return cls.at(hull_fpr, hull_tpr, [low])
        ranges = VertexRanges.of(hull_fpr, hull_tpr, low, high)  # falling in t
        shares = np.unique(np.concatenate((np.linspace(low, high, POINTS), ranges.low)))
        best = ranges.low.size - np.searchsorted(ranges.low[::-1], shares, side="right")
        h, k = ranges.h[best], 1.0 - ranges.v[best]
        return cls(shares, h, k, np.asarray(lesser_area(h, k, shares)))

    @property
    def line_ends(self) -> tuple[Array, Array]:
        """Where the line of equal cost through each best point leaves the unit square: TPR at FPR 0, FPR at TPR 1.

        Cut to [0, 1]; both have the shape of the grid.
        """
        t, h, v = self.cost_shares, self.fpr, 1.0 - self.tpr
        # a vertex that is best at t = 1 has h = 0, one that is best at t = 0 has v = 0
        fall = np.divide(t * h, 1.0 - t, out=np.zeros_like(t), where=h > 0.0)
        run = np.divide((1.0 - t) * v, t, out=np.zeros_like(t), where=v > 0.0)
        return np.clip(self.tpr - fall, 0.0, 1.0), np.clip(h + run, 0.0, 1.0)

    @classmethod
    def at(cls, fpr: Array, tpr: Array, cost_shares: Sequence[float]) -> BestPoints:
        """Of the vertices of a hull for some shares."""
        areas = [np.asarray(lesser_area(fpr, tpr, t)) for t in cost_shares]
        best = np.array([int(area.argmax()) for area in areas], dtype=np.intp)
        largest = np.array([float(area.max()) for area in areas])
        return cls(np.array(cost_shares, dtype=np.float64), fpr[best], tpr[best], largest)


class PointsDisplay(Display):
    """A display of the points of an ROC curve."""

    @classmethod
    def from_points(cls, fpr: ArrayLike, tpr: ArrayLike, **options: Any) -> Self:
        """Draw the points of an ROC curve, in its order.

        Parameters
        ----------
        fpr, tpr : arrays of shape (n_points,)
            Rates in [0, 1].
        **options
            As in `from_predictions`: `pos_label`, `name`, `ax`, what the display computes with, and the options of its
            `plot`.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.roc_hull` and `auclab.metrics.voros`, and for options out of range.
        """
        return cls._plotted(fpr, tpr, **options)

    @classmethod
    def from_scored_part(cls, part: ScoredPart, **options: Any) -> Self:
        """`from_points` with the ROC curve of scores that are sorted already; see `from_predictions`."""
        return cls.from_points(*roc_from_sorted(part.classes), **options)
