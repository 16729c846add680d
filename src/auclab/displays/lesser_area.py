"""Area of lesser classifiers against the cost share, and its mean, VOROS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.stats import beta

from auclab.displays.costs import BestPoints, PointsDisplay
from auclab.displays.style import BLUE, COLUMN, GREY, PALE, WIDE, canvas, despine, labelled, number, panel_above, style
from auclab.metrics.voros import Measure, voros_from_points
from auclab.types import Array


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
        kind, *numbers = (self.measure,) if isinstance(self.measure, str) else tuple(self.measure)
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
