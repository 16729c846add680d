"""ROC curve shaded with the weight that weighted AUC gives to each false positive rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import ArrayLike

from auclab.displays.base import Display
from auclab.displays.style import BLUE, COLUMN, INK, POINTS, canvas, labelled, panel_above, roc_axes, thinned
from auclab.metrics import ScoredPart, weighted_auc
from auclab.metrics.roc import roc_from_sorted
from auclab.types import Array

_SHADES = LinearSegmentedColormap.from_list("shades", ["white", BLUE])


@dataclass(kw_only=True, eq=False, repr=False)
class WeightedAUCDisplay(Display):
    """ROC curve with the area below it shaded by the weight, and the weight above it.

    Weighted AUC is ``∫₀¹ roc(u) W(1 − u) du`` (Maurer & Pontil 2020, Sect. 2; derivations 5): W is a function of the
    specificity ``1 − u``, so it is drawn from right to left over u.

    Parameters
    ----------
    fpr, tpr : arrays of shape (n_vertices,)
        Vertices of the ROC polygon.
    specificity, weights : arrays of shape (n_points,)
        W on a grid of specificities, ascending, with both sides of each break point.
    value : float
        The weighted AUC.
    total : float
        ``∫W``, its value for a perfect order.
    name : str, optional
        Name of the scorer in the legend.
    pos_label : optional
        Label of the positive class; named at the axes if it is a string.

    Other Parameters
    ----------------
    weight, convention, ties, breakpoints
        Of `from_predictions`, as in `auclab.metrics.weighted_auc`; `weight` has no default.

    Attributes
    ----------
    line_, weight_line_ : Line2D
    weight_ax_ : Axes
        The panel above, which shares its horizontal axis.
    ax_, figure_
        Axes and figure of the last `plot`.

    See Also
    --------
    auclab.metrics.weighted_auc : The number.

    Examples
    --------
    >>> display = WeightedAUCDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0], weight=lambda s: 1.0 + 0.0 * s)
    >>> round(display.value, 6), round(display.total, 6)  # a constant weight gives the AUC, 3 of 4 pairs
    (0.75, 1.0)

    Only FPR below ½ counts, and there TPR is ½:

    >>> half = lambda s: s >= 0.5
    >>> display = WeightedAUCDisplay.from_predictions([0, 1, 0, 1], [2, 4, 3, 1], weight=half, breakpoints=[0.5])
    >>> display.value, display.total
    (0.25, 0.5)
    """

    fpr: Array
    tpr: Array
    specificity: Array
    weights: Array
    value: float
    total: float

    @classmethod
    def _numbers(
        cls,
        part: ScoredPart,
        *,
        weight: Callable[[Array], ArrayLike],
        convention: Literal["average", "max_rank", "linear"] = "average",
        ties: Literal["half", "strict", "upper"] = "half",
        breakpoints: Sequence[float] = (),
    ) -> dict[str, Any]:
        options: dict[str, Any] = {"convention": convention, "ties": ties, "breakpoints": breakpoints}
        value = part.value("weighted_auc", weight=weight, **options)
        total = weighted_auc([0, 1], [0, 1], weight=weight, breakpoints=breakpoints)
        fpr, tpr = roc_from_sorted(part.classes)
        jumps = np.asarray(breakpoints, dtype=np.float64)
        sides = np.concatenate((np.nextafter(jumps, 0.0), np.nextafter(jumps, 1.0)))
        specificity = np.unique(np.concatenate((np.linspace(0.0, 1.0, POINTS), jumps, sides)))
        weights = np.asarray(weight(specificity), dtype=np.float64)
        return {
            "fpr": fpr,
            "tpr": tpr,
            "specificity": specificity,
            "weights": weights,
            "value": value,
            "total": total,
        }

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw into `ax`, with the weight in a panel above it, or into a new figure."""
        name = self.name if name is None else name
        u, w = 1.0 - self.specificity[::-1], self.weights[::-1]
        fpr, tpr = thinned(self.fpr, self.tpr)
        with canvas(ax, (COLUMN, 1.2 * COLUMN)) as axes:
            roc_axes(axes, self.pos_label)
            label = labelled(name, f"weighted AUC = {self.value:.4g}\nof at most {self.total:.4g}")
            (self.line_,) = axes.plot(fpr, tpr, color=INK, label=label)
            (area,) = axes.fill(np.append(fpr, [1.0, 0.0]), np.append(tpr, [0.0, 0.0]), color="none")
            top = float(np.abs(w).max()) or 1.0
            shade = axes.pcolormesh(
                u,
                [0.0, 1.0],
                np.broadcast_to(w, (2, w.size)),
                cmap=_SHADES,
                vmin=0,
                vmax=1.4 * top,
                shading="gouraud",
                zorder=0,
                rasterized=True,
            )
            shade.set_clip_path(area)
            above = panel_above(axes, "weight W")
            (self.weight_line_,) = above.plot(u, w, color=BLUE)
            above.fill_between(u, 0.0, w, color=BLUE, alpha=0.3, linewidth=0)
            above.set(ylim=(min(0.0, 1.08 * float(w.min())), 1.08 * top))
            self.weight_ax_ = above
            axes.legend(loc="lower right")
            return self._drawn(axes)
