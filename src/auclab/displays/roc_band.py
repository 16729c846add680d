"""ROC curve, or buffered ROC curve, with a simultaneous confidence band and intervals at some points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer

from auclab.displays.base import Display
from auclab.displays.style import BLUE, INK, SKY, SQUARE, canvas, labelled, number, roc_axes, style, thinned
from auclab.inference import Estimate, ROCBand, roc_band_part, tpr_at_fpr_part
from auclab.metrics import ScoredPart
from auclab.types import Array, AuclabError


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
