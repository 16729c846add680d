"""Costs and volumes: the lesser area, and the volume under the ROC surface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]
from numpy.typing import ArrayLike
from scipy.stats import beta

from auclab._core.base import Array, AuclabError
from auclab.displays.canvas import (
    BLUE,
    COLUMN,
    GREY,
    INK,
    PALE,
    POINTS,
    SKY,
    STRIPS,
    WIDE,
    Display,
    canvas,
    despine,
    labelled,
    number,
    panel_above,
    style,
)
from auclab.metrics import ScoredPart, lesser_area, roc_hull
from auclab.metrics.roc import checked_cost_range, roc_from_sorted
from auclab.metrics.voros import Measure, VertexRanges, voros_from_points


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


@dataclass(kw_only=True, eq=False, repr=False)
class LesserAreaDisplay(PointsDisplay):
    """Area of lesser classifiers ``A_t`` of the best ROC point against the cost share t, with its mean, VOROS.

    ``A_t`` is the part of ROC space that costs more than the best point of the curve when false positives bear the
    share t of the cost; the dashed line is chance. The dotted line is the mean over t, VOROS; a panel above shows the
    weight of t if it is a Beta measure (Ratigan & Cowen, Def. 21, Fig. 3; derivations 6).

    Parameters
    ----------
    cost_shares : array of shape (n_shares,)
        t in [0, 1], ascending; among them are those at which the best point changes.
    area, chance_area : arrays of shape (n_shares,)
        ``A_t`` in [½, 1], of the curve and of its two ends.
    voros : float
        Mean of ``A_t``.
    measure : "uniform", ("beta", α, β) or ("point", t)
        As in `auclab.metrics.voros_from_points`.
    name : str, optional
        Name of the scorer in the legend.

    Other Parameters
    ----------------
    cost_range, measure
        Of `from_predictions` and `from_points`, as in `auclab.metrics.voros_from_points`.

    Attributes
    ----------
    line_, mean_line_ : Line2D
    ax_, figure_
        Axes and figure of the last `plot`.

    See Also
    --------
    auclab.metrics.voros : The area.
    auclab.displays.VOROSDisplay : The same as a surface.

    Examples
    --------
    (0, 0) and (1, 1) leave half of the square at t = ½, and 3/2 − ln 2 on average:

    >>> display = LesserAreaDisplay.from_points([0.5], [0.5])
    >>> float(display.area.min()), round(display.voros, 12)
    (0.5, 0.80685281944)
    """

    cost_shares: Array
    area: Array
    chance_area: Array
    voros: float
    measure: Measure = "uniform"

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
        best = BestPoints.of(fpr, tpr, cost_range)
        chance = BestPoints.at(np.array([0.0, 1.0]), np.array([0.0, 1.0]), best.cost_shares.tolist())
        areas = {"area": best.area, "chance_area": chance.area}
        return {"cost_shares": best.cost_shares, **areas, "voros": voros, "measure": measure}

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
        plot_chance_level: bool = True,
    ) -> Self:
        """Draw on `ax` or on a new figure; several scorers can share the same axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        name : str, optional
            Another name for the legend.
        curve_kwargs : mapping, optional
            Keyword arguments of matplotlib's `plot`, such as ``color``, for the curve and its mean.
        plot_chance_level : bool
            Draw the curve of chance and the measure.
        """
        name = self.name if name is None else name
        t = self.cost_shares
        line_style = style({"color": BLUE}, curve_kwargs)
        kind, *numbers = ("",) if isinstance(self.measure, str) or callable(self.measure) else tuple(self.measure)
        label = f"VOROS = {self.voros:.4g}"
        with canvas(ax, (COLUMN, 2.9) if kind == "beta" else WIDE) as axes:
            if plot_chance_level:
                axes.plot(t, self.chance_area, color=GREY, linestyle="--", linewidth=1.0, label="chance")
            (self.line_,) = axes.plot(t, self.area, **{"label": labelled(name, "$A_t$"), **line_style})
            if kind == "point" or t.size == 1:
                at = numbers[0] if kind == "point" else t[0]
                dot = line_style | {"linestyle": "none", "marker": "o", "label": label}
                (self.mean_line_,) = axes.plot([at], [self.voros], **dot)
            else:
                mean = line_style | {"linestyle": ":", "linewidth": 1.1, "label": label}
                (self.mean_line_,) = axes.plot([t[0], t[-1]], [self.voros, self.voros], **mean)
            axes.set(xlabel="share t of the false positives in the cost", ylabel="lesser area $A_t$")
            axes.set(xlim=(t[0], t[-1]) if t.size > 1 else (0, 1), ylim=(0.44, 1.005))
            despine(axes)
            if kind == "beta" and plot_chance_level:
                inner = np.linspace(t[0], t[-1], 203)[1:-1]  # a density may be infinite at 0 and 1
                above = panel_above(axes, "density")
                above.fill_between(inner, 0.0, beta.pdf(inner, *numbers), color=PALE, linewidth=0)
                above.set_ylim(bottom=0.0)
                side = "right" if numbers[0] < numbers[1] else "left"
                text = f" t ~ Beta({', '.join(map(number, numbers))}) "
                above.text(float(side == "right"), 0.9, text, transform=above.transAxes, ha=side, va="top")
            axes.legend(loc="best", handlelength=1.8)
            return self._drawn(axes)


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
