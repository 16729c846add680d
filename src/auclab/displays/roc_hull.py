"""ROC polygon, its upper convex hull and lines of equal cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from auclab.displays.costs import BestPoints, PointsDisplay
from auclab.displays.style import GREY, INK, SERIES, SQUARE, canvas, labelled, number, roc_axes, style, thinned
from auclab.metrics import roc_hull
from auclab.types import Array


@dataclass(kw_only=True, eq=False, repr=False)
class ROCHullDisplay(PointsDisplay):
    """ROC polygon, its hull, and for some cost shares t the best point and the line of equal cost through it.

    A point costs ``t x + (1 − t)(1 − y)``; lines of equal cost have the slope ``t/(1 − t)``. Points below and to the
    right of such a line cost more: they are the lesser classifiers (Ratigan & Cowen, Fig. 1; derivations 6).

    Parameters
    ----------
    fpr, tpr : arrays of shape (n_vertices,)
        Vertices of the ROC polygon.
    hull_fpr, hull_tpr : arrays of shape (n_hull,)
        Vertices of its hull, from (0, 0) to (1, 1).
    cost_shares : array of shape (n_lines,)
        t in [0, 1].
    best_fpr, best_tpr : arrays of shape (n_lines,)
        The cheapest vertex for each t.
    name : str, optional
        Name of the scorer in the legend.
    pos_label : optional
        Label of the positive class; named at the axes if it is a string.

    Other Parameters
    ----------------
    cost_shares : sequence of float
        Of `from_predictions` and `from_points`: t in [0, 1] of the lines of equal cost, by default 0.2, 0.5 and 0.8; an
        empty sequence draws none. `auclab.metrics.cost_range` computes shares from ratios.

    Attributes
    ----------
    line_, hull_line_ : Line2D
    cost_lines_ : list of Line2D
        One for each cost share.
    ax_, figure_
        Axes and figure of the last `plot`.

    See Also
    --------
    auclab.metrics.roc_hull : The hull.
    auclab.displays.LesserAreaDisplay : The areas over the cost share.

    Examples
    --------
    >>> display = ROCHullDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0])
    >>> display.hull_fpr.tolist(), display.hull_tpr.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])

    At t = ½ the point (¼, ¾) costs ½ · ¼ + ½ · ¼:

    >>> display = ROCHullDisplay.from_points([0.25, 0.5], [0.75, 0.6], cost_shares=[0.5])
    >>> display.hull_fpr.tolist(), display.best_tpr.tolist(), display.costs.tolist()
    ([0.0, 0.25, 1.0], [0.75], [0.25])
    """

    fpr: Array
    tpr: Array
    hull_fpr: Array
    hull_tpr: Array
    cost_shares: Array
    best_fpr: Array
    best_tpr: Array

    @property
    def costs(self) -> Array:
        """Cost of the best point for each t, as a share of the cost of all errors; in [0, min(t, 1 − t)]."""
        return self.cost_shares * self.best_fpr + (1.0 - self.cost_shares) * (1.0 - self.best_tpr)

    @classmethod
    def _numbers(
        cls, fpr: ArrayLike, tpr: ArrayLike, *, cost_shares: Sequence[float] = (0.2, 0.5, 0.8)
    ) -> dict[str, Any]:
        hull_fpr, hull_tpr = roc_hull(fpr, tpr)
        best = BestPoints.at(hull_fpr, hull_tpr, cost_shares)
        curve = {"fpr": np.asarray(fpr, dtype=np.float64), "tpr": np.asarray(tpr, dtype=np.float64)}
        hull = {"hull_fpr": hull_fpr, "hull_tpr": hull_tpr}
        return curve | hull | {"cost_shares": best.cost_shares, "best_fpr": best.fpr, "best_tpr": best.tpr}

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
        plot_chance_level: bool = True,
    ) -> Self:
        """Draw on `ax` or on a new figure; see `BufferedROCDisplay.plot` for the options."""
        name = self.name if name is None else name
        with canvas(ax, SQUARE) as axes:
            roc_axes(axes, self.pos_label, chance=plot_chance_level)
            thin = style({"color": GREY, "linewidth": 0.9, "label": labelled(name, "ROC")}, curve_kwargs)
            (self.line_,) = axes.plot(*thinned(self.fpr, self.tpr), **thin)
            hull = style({"color": INK, "label": labelled(name, "hull")}, curve_kwargs)
            (self.hull_line_,) = axes.plot(*thinned(self.hull_fpr, self.hull_tpr), **hull)
            self.cost_lines_: list[Line2D] = []
            for k, (t, h, v) in enumerate(zip(self.cost_shares, self.best_fpr, self.best_tpr, strict=True)):
                line_style = {**SERIES[(k + 1) % len(SERIES)], "linewidth": 1.0}
                label = f"t = {number(t)}: cost {number(self.costs[k])}"
                # the direction (1 − t, t) needs no division where the line is vertical
                line = axes.plot(
                    h + np.array([-2, 2]) * (1.0 - t), v + np.array([-2, 2]) * t, label=label, **line_style
                )
                axes.plot([h], [v], marker="o", color=line_style["color"], zorder=3)
                self.cost_lines_ += line
            axes.legend(loc="lower right")
            return self._drawn(axes)
