"""The ROC surface over cost shares and the volume below it, VOROS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]
from numpy.typing import ArrayLike

from auclab.displays.costs import BestPoints, PointsDisplay
from auclab.displays.style import COLUMN, INK, SKY, STRIPS, canvas, labelled
from auclab.metrics import roc_hull
from auclab.metrics.voros import Measure, voros_from_points
from auclab.types import Array, AuclabError


@dataclass(kw_only=True, eq=False, repr=False)
class VOROSDisplay(PointsDisplay):
    """ROC surface: for every cost share t, the line of equal cost through the best point, clipped to the unit square.

    At the height t the lesser classifiers are the points on the side of (1, 0); the volume of all of them is VOROS
    (Ratigan & Cowen, Figs. 3, 4, 7; derivations 6). The rest, on the side of (0, 1), is the volume of better
    classifiers.

    Parameters
    ----------
    cost_shares : array of shape (n_shares,)
        t in [0, 1], ascending.
    left_tpr : array of shape (n_shares,)
        TPR at which the line of equal cost meets FPR = 0.
    top_fpr : array of shape (n_shares,)
        FPR at which it meets TPR = 1.
    hull_fpr, hull_tpr : arrays of shape (n_hull,)
        Hull of the ROC curve, drawn on the floor.
    voros : float
    name : str, optional
        Name of the scorer in the title.

    Other Parameters
    ----------------
    cost_range, measure
        Of `from_predictions` and `from_points`, as in `auclab.metrics.voros_from_points`; the range is not a point.
    ax
        Of both: three-dimensional axes, made with ``projection="3d"``.

    Attributes
    ----------
    surface_ : Poly3DCollection
    ax_, figure_
        Axes and figure of the last `plot`.

    See Also
    --------
    auclab.metrics.voros_score : The volume.
    auclab.displays.LesserAreaDisplay : The same in two dimensions.

    Examples
    --------
    The best of (0, 0), (1, 1) and (0.2, 0.8) at t = ½ is the last; its line has the slope 1:

    >>> display = VOROSDisplay.from_points([0.2], [0.8])
    >>> middle = display.cost_shares == 0.5
    >>> display.left_tpr[middle].round(12).tolist(), display.top_fpr[middle].round(12).tolist()
    ([0.6], [0.4])
    """

    cost_shares: Array
    left_tpr: Array
    top_fpr: Array
    hull_fpr: Array
    hull_tpr: Array
    voros: float

    @classmethod
    def _numbers(
        cls,
        fpr: ArrayLike,
        tpr: ArrayLike,
        *,
        cost_range: Sequence[float] = (0.0, 1.0),
        measure: Measure = "uniform",
    ) -> dict[str, Any]:
        voros = voros_from_points(fpr, tpr, cost_range=cost_range, measure=measure)
        if cost_range[0] == cost_range[1]:
            raise AuclabError(f"no volume over the single cost share {cost_range[0]}; ROCHullDisplay draws its line")
        best = BestPoints.of(fpr, tpr, cost_range)
        (left_tpr, top_fpr), (hull_fpr, hull_tpr) = best.line_ends, roc_hull(fpr, tpr)
        found = {"left_tpr": left_tpr, "top_fpr": top_fpr, "hull_fpr": hull_fpr, "hull_tpr": hull_tpr}
        return {"cost_shares": best.cost_shares, "voros": voros, **found}

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, view: tuple[float, float] = (28.0, -50.0)
    ) -> Self:
        """Draw on `ax` or on a new figure, seen from an elevation and an azimuth in degrees."""
        if ax is not None and not isinstance(ax, Axes3D):
            raise AuclabError('the surface needs three-dimensional axes: add_subplot(projection="3d"), got flat ones')
        name = self.name if name is None else name
        t = self.cost_shares
        low, high = float(t[0]), float(t[-1])
        zero, one = np.zeros_like(t), np.ones_like(t)
        x, y = np.stack((zero, self.top_fpr)), np.stack((self.left_tpr, one))
        few = np.unique(np.searchsorted(t, np.linspace(low, high, STRIPS + 1)))
        with canvas(ax, (COLUMN, 0.95 * COLUMN), projection="3d") as axes:
            assert isinstance(axes, Axes3D)
            axes.computed_zorder = False  # matplotlib's order would hide some lines of the surface
            axes.plot(self.hull_fpr, self.hull_tpr, np.full_like(self.hull_fpr, low), color=INK, zorder=1)
            strips = x[:, few], y[:, few], np.stack((t[few], t[few]))
            surface_style: dict[str, Any] = {"color": SKY, "linewidth": 0, "antialiased": False, "zorder": 2}
            self.surface_ = axes.plot_surface(*strips, rcount=2, ccount=few.size, **surface_style)
            for k in few[:: STRIPS // 12]:
                axes.plot(x[:, k], y[:, k], [t[k], t[k]], color=INK, linewidth=0.4, zorder=3)
            for edge_x, edge_y in ((zero, self.left_tpr), (self.top_fpr, one)):
                axes.plot(edge_x, edge_y, t, color=INK, linewidth=0.9, zorder=3)
            axes.set(xlim=(0, 1), ylim=(0, 1), zlim=(low, high))
            axes.set(xlabel="false positive rate", ylabel="true positive rate", zlabel="cost share t")
            axes.set_xticks(np.linspace(0.0, 0.8, 5))  # 1 would meet the other axis' 0
            axes.set_yticks(np.linspace(0.2, 1.0, 5))
            axes.tick_params(pad=-1)
            axes.tick_params(axis="z", pad=1)
            for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
                axis.set_pane_color("white")
                axis.labelpad = -3
            axes.view_init(*view)
            axes.set_box_aspect(None, zoom=0.85)  # space for the labels
            axes.set_title(labelled(name, f"VOROS = {self.voros:.4g}"), y=0.97)
            return self._drawn(axes)
