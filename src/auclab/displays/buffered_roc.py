"""ROC polygon and the family of buffered ROC curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from auclab.displays.base import Display
from auclab.displays.style import BLUE, INK, SQUARE, canvas, labelled, number, ordered, roc_axes, style, thinned
from auclab.metrics import BufferedAUCResult, ScoredPart
from auclab.metrics.buffered import buffered_auc_from_sorted
from auclab.metrics.buffered_roc import broc_from_sorted
from auclab.metrics.roc import roc_from_sorted
from auclab.types import Array, AuclabError


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
