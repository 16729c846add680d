"""Variants of AUC: modifiers of a pair, and weights of the rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from auclab._core.base import Array
from auclab.displays.canvas import (
    BLUE,
    COLUMN,
    INK,
    PALE,
    POINTS,
    SERIES,
    Display,
    canvas,
    despine,
    labelled,
    number,
    panel_above,
    roc_axes,
    thinned,
)
from auclab.displays.scores import binned_pairs
from auclab.metrics import ScoredPart, auc_score, probabilistic_auc, scored_auc, soft_auc, weighted_auc
from auclab.metrics.roc import positive_number, roc_from_sorted


@dataclass(kw_only=True, eq=False, repr=False)
class ModifierDisplay(Display):
    """Modifiers ``w(t)`` of the metrics ``mean_ij w(p_i − n_j)`` (Vanderlooy & Hüllermeier 2008, eq. 1, Fig. 1).

    A modifier is the metric of a single pair, and is computed as such: the step of AUC, the positive part of sAUC, the
    sigmoids of softAUC and the parabolas of probAUC (in the corrected form, derivations 4). `from_predictions` draws
    them over the distribution of the differences of all pairs, with the values of the metrics.

    `differences` (n_points,): ``t = p − n``, ascending and symmetric. `functions` (n_points,): ``w(t)`` by the name of
    its metric; the first is the step. `values`: the metrics of the sample; empty without one. `edges`, `density`
    (n_bins + 1,) and (n_bins,), or None: histogram of t over all pairs of the sample; it is drawn behind, with its top
    at ½. `name`: name of the scorer, above the legend. `lines_`: one for each function. `ax_`, `figure_`: axes and
    figure of the last `plot`.

    Other Parameters
    ----------------
    betas, widths : sequences of float
        As in `from_parameters`; mind the units of the scores.
    bins : int
        Of `from_predictions`: bins of the histogram, ≥ 1; 60 by default.

    See Also
    --------
    auclab.metrics.soft_auc : One of the metrics.
    auclab.metrics.scored_auc : Another metric.

    Examples
    --------
    >>> display = ModifierDisplay.from_parameters(betas=(2.0,), widths=(0.5,))
    >>> sorted(display.functions)
    ['AUC', 'probAUC h = 0.5', 'sAUC', 'softAUC β = 2']
    """

    differences: Array
    functions: Mapping[str, Array]
    values: Mapping[str, float] = field(default_factory=dict)
    edges: Array | None = None
    density: Array | None = None

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw on `ax` or on a new figure."""
        t = self.differences
        with canvas(ax, (COLUMN, 2.8)) as axes:
            if self.edges is not None and self.density is not None:
                heights = 0.5 * self.density / self.density.max()
                axes.stairs(heights, self.edges, fill=True, color=PALE, label="pairs")
            self.lines_: list[Line2D] = []
            for k, (label, w) in enumerate(self.functions.items()):
                line_style = SERIES[k % len(SERIES)] if k else {"color": INK, "drawstyle": "steps-mid"}
                value = f": {self.values[label]:.3g}" if label in self.values else ""
                self.lines_ += axes.plot(t, w, label=label + value, **line_style)
            axes.set(
                xlabel="score difference t = p − n of a pair",
                ylabel="weight w(t) of a pair",
                xlim=(t[0], t[-1]),
                ylim=(-0.02, 1.05),
            )
            despine(axes)
            title = self.name if name is None else name
            axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, columnspacing=1.0, title=title)
            return self._drawn(axes)

    @classmethod
    def from_parameters(
        cls,
        *,
        betas: Sequence[float] = (5.0, 20.0),
        widths: Sequence[float] = (0.25, 1.0),
        reach: float = 1.0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the modifiers alone, for differences in [−reach, reach].

        Parameters
        ----------
        betas : sequence of float
            β > 0 of softAUC, per unit of the scores.
        widths : sequence of float
            h > 0 of probAUC, in units of the scores.
        reach : float
            Largest difference, > 0; 1 for scores in [0, 1].
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.soft_auc` and `auclab.metrics.probabilistic_auc`, and for ``reach ≤ 0``.

        Examples
        --------
        >>> display = ModifierDisplay.from_parameters(betas=[1.0], widths=[1.0])
        >>> [(name, round(float(w[-1]), 4)) for name, w in display.functions.items()]
        [('AUC', 1.0), ('sAUC', 1.0), ('softAUC β = 1', 0.7311), ('probAUC h = 1', 0.875)]
        """
        reach = positive_number("reach", reach, "the largest difference that is drawn")
        differences = np.linspace(-reach, reach, POINTS)
        return cls(differences=differences, functions=_modifiers(_metrics(betas, widths), differences)).plot(ax)

    @classmethod
    def _numbers(
        cls,
        part: ScoredPart,
        *,
        betas: Sequence[float] = (5.0, 20.0),
        widths: Sequence[float] = (0.25, 1.0),
        bins: int = 60,
    ) -> dict[str, Any]:
        metrics = _metrics(betas, widths)
        values = {label: part.value(metric) for label, metric in metrics.items()}
        edges, counts = binned_pairs(part.finite_classes.pair_errors, bins=bins)  # of errors, which are −t
        edges, counts = -edges[::-1], counts[::-1]
        density = counts / counts.sum() / np.diff(edges)
        differences = np.linspace(-np.abs(edges).max(), np.abs(edges).max(), POINTS)
        functions = {"differences": differences, "functions": _modifiers(metrics, differences)}
        return {**functions, "values": values, "edges": edges, "density": density}


def _metrics(betas: Sequence[float], widths: Sequence[float]) -> dict[str, Callable[..., float]]:
    """The metrics by name."""
    soft = {f"softAUC β = {number(b)}": partial(soft_auc, beta=b) for b in betas}
    probabilistic = {f"probAUC h = {number(h)}": partial(probabilistic_auc, width=h) for h in widths}
    return {"AUC": auc_score, "sAUC": scored_auc, **soft, **probabilistic}


def _modifiers(metrics: Mapping[str, Callable[..., float]], differences: Array) -> dict[str, Array]:
    """Each metric of one positive and one negative with the given differences of their scores."""
    return {label: np.array([metric([1, 0], [t, 0.0]) for t in differences]) for label, metric in metrics.items()}


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
