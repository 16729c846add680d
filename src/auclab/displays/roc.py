"""ROC curves: the buffered one, bands, and convex hulls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab.displays.canvas import (
    BLUE,
    GREY,
    INK,
    SERIES,
    SKY,
    SQUARE,
    Display,
    canvas,
    labelled,
    number,
    ordered,
    roc_axes,
    style,
    thinned,
)
from auclab.displays.volumes import BestPoints, PointsDisplay
from auclab.inference import Estimate, ROCBand, roc_band_part, tpr_at_fpr_part
from auclab.metrics import BufferedAUCResult, ScoredPart, roc_hull
from auclab.metrics.buffered import broc_from_sorted, buffered_auc_from_sorted
from auclab.metrics.roc import roc_from_sorted


@dataclass(frozen=True, eq=False, repr=False)
class BufferedROCCurve:
    """One member of the family: z, bAUC_z, and the corners of its curve, None where there is no γ*.

    See Also
    --------
    auclab.displays.BufferedROCDisplay : Draws it.
    auclab.metrics.broc_curve : Its corners.

    Examples
    --------
    >>> from auclab.displays import BufferedROCDisplay
    >>> curve = BufferedROCDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0]).curves[0]
    >>> curve.threshold, curve.result.value  # the errors are −4, −2, −1 and 1: the worst two have mean 0
    (0.0, 0.5)
    """

    threshold: float
    result: BufferedAUCResult
    fpr: Array | None
    tpr: Array | None

    def label(self, *, alone: bool, gamma: bool) -> str:
        """Entry of the legend: as the only curve or one of several, with γ* or without."""
        z = number(self.threshold)
        value = f"{self.result.value:.4g}"
        text = f"bAUC = {value}" if self.threshold == 0.0 else f"bAUC (z = {z}) = {value}"
        if self.fpr is None:
            reason = f"no error exceeds {z}" if self.result.value > 0.0 else f"the mean error is not below {z}"
            return f"no bROC: {text},\n{reason}"
        text = f"bROC: {text}" if alone else f"z = {z}: bAUC = {value}"
        if gamma:
            text += f", γ* = {number(self.result.gamma_left)}"
        ties = self.result.area_closed - self.result.value
        return text if ties < 5e-4 else f"{text}\n(ties: the area is {self.result.area_closed:.4g})"


@dataclass(kw_only=True, eq=False, repr=False)
class BufferedROCDisplay(Display):
    """ROC polygon and buffered ROC step curves, for one z or several.

    The area under the polygon is the AUC with ties counted ½. A buffered curve is the ROC step curve after the
    positives were lowered to ``h⁺ + γ*`` (Norton & Uryasev 2018, Prop. 3, Fig. 4; for several z, Prop. 4 and Fig. 7);
    its area is bAUC_z for continuous scores, and the legend names both where they differ.

    Parameters
    ----------
    fpr, tpr : arrays of shape (n_vertices,)
        Vertices of the ROC polygon.
    auc : float
    curves : sequence of BufferedROCCurve
        The family: `threshold`, `result` (a `BufferedAUCResult`), `fpr` and `tpr`, None where there is no curve.
    name : str, optional
        Name of the scorer in the legend.
    pos_label : optional
        Label of the positive class; named at the axes if it is a string.

    Attributes
    ----------
    line_ : Line2D
        The ROC polygon.
    buffered_lines_ : list of Line2D
        One for each z that has a curve.
    ax_, figure_
        Axes and figure of the last `plot`.

    Other Parameters
    ----------------
    threshold : float
        Of `from_predictions`, as in `auclab.metrics.bauc_score`.
    thresholds : sequence of float, optional
        Several z in place of `threshold`, at least one. From 0 to `auclab.metrics.auc_threshold` they lead from bAUC to
        AUC.

    See Also
    --------
    auclab.metrics.bauc_score : The number.
    auclab.displays.ROCBandDisplay : A curve with its band.

    Examples
    --------
    Errors −4, −2, −1 and 1; the worst two have mean 0, the worst three −⅔:

    >>> display = BufferedROCDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0])
    >>> display.auc, display.buffered.value, display.buffered_tpr.tolist()
    (0.75, 0.5, [0.0, 0.5, 0.5, 1.0])
    >>> family = BufferedROCDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0], thresholds=(0, 1))
    >>> [curve.result.value for curve in family.curves]
    [0.5, 0.75]
    """

    fpr: Array
    tpr: Array
    auc: float
    curves: Sequence[BufferedROCCurve]

    @property
    def buffered(self) -> BufferedAUCResult:
        """bAUC_z of the first z."""
        return self.curves[0].result

    @property
    def buffered_fpr(self) -> Array | None:
        """FPR of the corners of the first buffered curve, None where there is no such curve."""
        return self.curves[0].fpr

    @property
    def buffered_tpr(self) -> Array | None:
        """TPR of the corners of the first buffered curve."""
        return self.curves[0].tpr

    @property
    def threshold(self) -> float:
        """The first z."""
        return self.curves[0].threshold

    @classmethod
    def _numbers(
        cls, part: ScoredPart, *, threshold: float = 0.0, thresholds: Sequence[float] | None = None
    ) -> dict[str, Any]:
        levels = (threshold,) if thresholds is None else tuple(thresholds)
        if not levels:
            raise AuclabError("thresholds is empty; give at least one z, or leave it out")
        curves = []
        for z in levels:
            result = buffered_auc_from_sorted(part.finite_classes, threshold=z)
            has_level = not math.isnan(result.gamma_left)
            fpr, tpr = broc_from_sorted(part.finite_classes, threshold=z)[:2] if has_level else (None, None)
            curves.append(BufferedROCCurve(float(z), result, fpr, tpr))
        fpr, tpr = roc_from_sorted(part.classes)
        return {"fpr": fpr, "tpr": tpr, "auc": part.value("auc"), "curves": curves}

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
            Keyword arguments of matplotlib's `plot`, such as ``color``, for all lines of this display.
        plot_chance_level : bool
            Draw the diagonal.
        """
        name = self.name if name is None else name
        with canvas(ax, SQUARE) as axes:
            roc_axes(axes, self.pos_label, chance=plot_chance_level)
            label = labelled(name, f"ROC: AUC = {self.auc:.4g}")
            line = style({"color": INK, "label": label}, curve_kwargs)
            (self.line_,) = axes.plot(*thinned(self.fpr, self.tpr), **line)
            alone = len(self.curves) == 1
            styles = [{"color": BLUE, "linestyle": "--"}] if alone else ordered(len(self.curves))
            self.buffered_lines_: list[Line2D] = []
            for curve, line_style in zip(self.curves, styles, strict=True):
                label = labelled(name, curve.label(alone=alone, gamma=alone and not name))
                if curve.fpr is None or curve.tpr is None:
                    axes.plot([], [], color="none", label=label)
                    continue
                line = style({**line_style, "label": label}, curve_kwargs)
                self.buffered_lines_ += axes.plot(*thinned(curve.fpr, curve.tpr), **line)
            axes.legend(loc="lower right")
            return self._drawn(axes)


@dataclass(kw_only=True, eq=False, repr=False)
class ROCBandDisplay(Display):
    """A curve in ROC space with the band that contains the whole true curve at a confidence level.

    `auclab.inference.roc_band` computes the band, `auclab.inference.tpr_at_fpr` the intervals, each of which holds at
    its own point only.

    Parameters
    ----------
    fpr, tpr : arrays of shape (n_vertices,)
        Vertices of the ROC polygon, or corners of the buffered curve.
    area : float
        AUC or bAUC_z.
    band : ROCBand
    points : mapping of float to Estimate
        TPR with its interval for each FPR in `at`.
    name : str, optional
        Name of the scorer in the legend.
    pos_label : optional
        Label of the positive class; named at the axes if it is a string.

    Attributes
    ----------
    line_ : Line2D
        The curve.
    band_ : Polygon
    points_ : list of ErrorbarContainer
        One for each point.
    ax_, figure_
        Axes and figure of the last `plot`.

    Other Parameters
    ----------------
    threshold, level, method, resamples, seed
        Of `from_predictions`, as in `auclab.inference.roc_band`: without `threshold` the ROC curve, with z the buffered
        one.
    at : sequence of float
        FPR at which to draw a pointwise interval of TPR, by `auclab.inference.tpr_at_fpr`; for the ROC curve.

    See Also
    --------
    auclab.inference.roc_band : Computes the band.
    auclab.displays.BufferedROCDisplay : Curves without a band.

    Examples
    --------
    >>> display = ROCBandDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0], method="ks", at=(0.5,))
    >>> display.area, display.points[0][1].value, display.band.method
    (0.75, 1.0, 'ks')
    """

    fpr: Array
    tpr: Array
    area: float
    band: ROCBand
    points: Sequence[tuple[float, Estimate]] = ()

    @classmethod
    def _numbers(
        cls,
        part: ScoredPart,
        *,
        threshold: float | None = None,
        at: Sequence[float] = (),
        level: float = 0.95,
        method: str = "auto",
        resamples: int | None = None,
        seed: int = 0,
    ) -> dict[str, Any]:
        if len(at) and threshold is not None:
            raise AuclabError(
                "at gives points of the ROC curve, but threshold selects the buffered one; drop one of them"
            )
        band = roc_band_part(part, threshold=threshold, level=level, method=method, resamples=resamples, seed=seed)
        points = [(float(rate), tpr_at_fpr_part(part, rate, level=level)) for rate in at]
        area = part.value("auc") if threshold is None else part.value("bauc", threshold=threshold)
        return {"fpr": band.fpr, "tpr": band.tpr, "area": area, "band": band, "points": points}

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
            Keyword arguments of matplotlib's `plot` for the curve; its ``color`` is that of the band too.
        plot_chance_level : bool
            Draw the diagonal.
        """
        name = self.name if name is None else name
        z, level = self.band.threshold, f"{100 * self.band.level:.4g} %"
        with canvas(ax, SQUARE) as axes:
            roc_axes(axes, self.pos_label, chance=plot_chance_level)
            if z is None:
                text = f"ROC: AUC = {self.area:.4g}"
            else:
                text = f"bROC: bAUC{f' (z = {number(z)})' if z else ''} = {self.area:.4g}"
            line = style({"color": INK if z is None else BLUE, "label": labelled(name, text)}, curve_kwargs)
            (self.line_,) = axes.plot(*thinned(self.fpr, self.tpr), **line)
            colour = (curve_kwargs or {}).get("color", SKY)
            upper, lower = thinned(*self.band.upper), thinned(*self.band.lower)
            kind = {"ks": "Kolmogorov–Smirnov", "bootstrap": "bootstrap"}[self.band.method]
            outline = [[*upper[0], *lower[0][::-1]], [*upper[1], *lower[1][::-1]]]
            (self.band_,) = axes.fill(
                *outline, color=colour, alpha=0.3, linewidth=0, label=f"{level} band ({kind})", zorder=1.5
            )
            self.points_: list[ErrorbarContainer] = []
            for rate, found in self.points:
                label = f"TPR at FPR {number(rate)}: {found.value:.3f} ({found.lower:.3f}–{found.upper:.3f})"
                reach = [[found.value - found.lower], [found.upper - found.value]]
                mark: dict[str, Any] = {"fmt": "o", "color": self.line_.get_color(), "capsize": 2.5, "linewidth": 1.0}
                self.points_.append(axes.errorbar([rate], [found.value], yerr=reach, label=label, **mark))
            axes.legend(loc="lower right")
            return self._drawn(axes)


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
