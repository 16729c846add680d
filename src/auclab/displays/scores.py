"""Scores: their histogram, ranking errors, concordance, and configurations on the same splits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from auclab._core.base import Array
from auclab.displays.canvas import (
    BLUE,
    COLUMN,
    GREY,
    INK,
    ORANGE,
    PALE,
    RC_PARAMS,
    RED,
    SERIES,
    SKY,
    Display,
    canvas,
    check_bins,
    class_note,
    despine,
    labelled,
    number,
    shortened,
    style,
    thinned,
)
from auclab.inference import Estimate, estimate_pairs
from auclab.metrics import ScoredPart
from auclab.metrics.buffered import buffered_auc_from_sorted
from auclab.metrics.comparable import ComparableErrors, ComparablePairs, buffered_share
from auclab.metrics.pair_errors import PairErrors
from auclab.samples.bicliques import LevelPairs

#: Letters of a metric's name that fit into one line of the legend.
_SHORT = 5


@dataclass(kw_only=True, eq=False, repr=False)
class RankingErrorDisplay(Display):
    """Histogram of the ranking errors ``ξ = h⁻ − h⁺`` of all pairs, with the tails behind AUC and bAUC.

    Red: the pairs with ``ξ ≥ z``, whose share is ``1 − AUC`` for z = 0. Red and blue: the pairs with ``ξ > γ*``, the
    worst ones whose mean is z and whose share is ``1 − bAUC_z`` (Norton & Uryasev 2018, Figs. 2, 3).

    Parameters
    ----------
    edges : array of shape (n_bins + 1,)
        Bin edges, in the units of the scores; z and γ* are among them.
    counts : array of shape (n_bins,)
        Weight of the pairs in every bin, exact. A bin includes its upper edge and not its lower one, except that pairs
        with ``ξ = z`` belong above z.
    exceedance : float
        Share of ``ξ ≥ z``.
    buffered_exceedance : float
        ``bPOE_z(ξ) = 1 − bAUC_z``.
    gamma : float
        γ*, NaN where it does not exist.
    threshold : float
        z, in the units of the scores.
    name : str, optional
        Name of the scorer, above the legend.
    pos_label : optional
        Label of the positive class.
    metrics : (str, str)
        Names of ``1 − P(ξ ≥ 0)`` and of its buffered version.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last `plot`.

    Other Parameters
    ----------------
    threshold : float
        Of `from_predictions`, as in `auclab.metrics.bauc_score`.
    bins : int
        Of `from_predictions`: approximate number of bins, ≥ 1; a few more may be needed to make z and γ* edges.

    See Also
    --------
    auclab.displays.ScoreHistogramDisplay : The scores of either class.
    auclab.metrics.buffered_auc : Computes its numbers.

    Examples
    --------
    Errors −4, −2, −1 and 1: one of four is wrong, two of four are needed for a mean of 0.

    >>> display = RankingErrorDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0], bins=5)
    >>> display.exceedance, display.buffered_exceedance, display.gamma
    (0.25, 0.5, -2.0)
    >>> display.edges.tolist(), display.counts.tolist()
    ([-5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    """

    edges: Array
    counts: Array
    exceedance: float
    buffered_exceedance: float
    gamma: float
    threshold: float = 0.0
    metrics: tuple[str, str] = ("AUC", "bAUC")

    @classmethod
    def from_pairs(
        cls, pairs: LevelPairs, scores: ArrayLike, *, bins: int = 60, metrics: tuple[str, str] = ("AUC", "bAUC")
    ) -> Self:
        """Draw the errors of pairs within groups, of grades or of censored times, which have no ROC curve.

        Parameters
        ----------
        pairs : LevelPairs
            ``ordered_pairs(y, groups)`` or ``censored_pairs(time, event)`` of `auclab.metrics`.
        scores : array of shape (n_samples,)
        bins : int ≥ 1
        metrics : (str, str)
            Names of the two shares.

        Examples
        --------
        >>> from auclab.metrics import ordered_pairs
        >>> display = RankingErrorDisplay.from_pairs(ordered_pairs([0, 1, 2]), [0.0, 2.0, 0.5])   # −2, −0.5, 1.5
        >>> round(display.exceedance, 6), display.gamma
        (0.333333, -2.0)
        """
        errors = ComparableErrors(ComparablePairs(pairs), scores)
        buffered = buffered_share(errors, 0.0)
        gamma = errors.units.original(buffered.level)
        edges, counts = binned_pairs(errors, 0.0, gamma, bins=bins)
        wrong = errors.count(math.nextafter(0.0, -math.inf)) / errors.pairs.total
        numbers: dict[str, Any] = {"edges": edges, "counts": counts, "gamma": gamma, "exceedance": wrong}
        return cls(**numbers, buffered_exceedance=1.0 - buffered.value, metrics=metrics).plot()

    @classmethod
    def _numbers(cls, part: ScoredPart, *, threshold: float = 0.0, bins: int = 60) -> dict[str, Any]:
        buffered, errors = buffered_auc_from_sorted(part.finite_classes, threshold=threshold), part.pair_errors
        edges, counts = binned_pairs(errors, threshold, buffered.gamma_left, bins=bins)
        just_below = math.nextafter(errors.units.working(threshold), -math.inf)
        return {
            "edges": edges,
            "counts": counts,
            "exceedance": errors.count(just_below) / errors.pairs[0],
            "buffered_exceedance": 1.0 - buffered.value,
            "gamma": buffered.gamma_left,
            "threshold": threshold,
        }

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw on `ax` or on a new figure."""
        lower, width = self.edges[:-1], np.diff(self.edges)
        wrong = lower >= self.threshold
        buffer = ~wrong & (lower >= self._start_of_tail)
        height = self.counts / self.counts.sum() / width
        top = float(height.max())
        with canvas(ax) as axes:
            for part, colour in ((~wrong & ~buffer, PALE), (buffer, SKY), (wrong, RED)):
                axes.bar(lower[part], height[part], width[part], align="edge", color=colour)
            for level, sign, side in ((self.gamma, "γ*", "right"), (self.threshold, self._threshold_sign, "left")):
                if self.edges[0] <= level <= self.edges[-1]:  # false for NaN
                    axes.vlines(level, 0, 1.18 * top, color=INK, linewidth=0.8)
                    axes.text(level, 1.18 * top, f" {sign} ", ha=side, va="top")
            pair = "h(x⁻) − h(x⁺)" if self.metrics[0] == "AUC" else "h(x_j) − h(x_i)"
            axes.set(xlabel=f"ranking error ξ = {pair} (score units)", ylabel="density of pairs")
            axes.set_ylim(0, (1.65 if self._break(1) == " " else 2.0) * top)  # space for the legend
            despine(axes)
            blue = "none" if math.isnan(self.gamma) else SKY
            handles = [Patch(color=RED, label=self._wrong_label()), Patch(color=blue, label=self._buffer_label())]
            title = self.name if name is None else name
            axes.legend(handles=handles, loc="upper left", title=title, alignment="left", handlelength=1.2)
            return self._drawn(axes)

    @property
    def _start_of_tail(self) -> float:
        """γ*; where it does not exist, all pairs or none belong to the tail."""
        if not math.isnan(self.gamma):
            return self.gamma
        return -math.inf if self.buffered_exceedance == 1.0 else math.inf

    @property
    def _threshold_sign(self) -> str:
        return "0" if self.threshold == 0.0 else "z"

    def _wrong_label(self) -> str:
        label = f"ξ ≥ {number(self.threshold)}: share {self.exceedance:.4g}"
        if self.threshold != 0.0:
            return label
        return f"{label} ={self._break(0)}1 − {self.metrics[0]} (ties wrong)"

    def _break(self, metric: int) -> str:
        """A new line before a long name."""
        return "\n" if len(self.metrics[metric]) > _SHORT else " "

    def _buffer_label(self) -> str:
        z = number(self.threshold)
        score = self.metrics[1] if self.threshold == 0.0 else f"{self.metrics[1]} (z = {z})"
        value = f"1 − {score} ={self._break(1)}{self.buffered_exceedance:.4g}"
        if math.isnan(self.gamma):
            reason = "the mean error is not below" if self.buffered_exceedance == 1.0 else "no error is above"
            return f"{value}:\nno γ*, {reason} {z}"
        share = self.counts[self.edges[:-1] >= self.gamma].sum() / self.counts.sum()
        ties = "" if self.buffered_exceedance - share < 5e-4 else f"\n(ties at γ*: share {share:.4g})"
        return f"ξ > γ* = {number(self.gamma)}:{self._break(1)}{value.replace(chr(10), ' ')}{ties}"


def binned_pairs(
    errors: PairErrors | ComparableErrors, threshold: float = 0.0, gamma: float = math.nan, *, bins: int
) -> tuple[Array, Array]:
    """Edges of about `bins` bins in the caller's units, z and γ* among them, and the weight of the pairs in each.

    A sweep over the sorted scores for every edge, and no pair formed. A bin holds its upper edge; ``ξ = z`` is above z.
    """
    check_bins(bins)
    z = errors.units.working(threshold)
    edges = _edges(errors.bottom, errors.top, z, errors.units.working(gamma), bins)
    above = np.array([errors.count(math.nextafter(z, -math.inf) if level == z else level) for level in edges])
    return np.ldexp(edges, -errors.units.exponent), above[:-1] - above[1:]


def _edges(bottom: float, top: float, z: float, gamma: float, bins: int) -> Array:
    """Edges of nearly equal width from below `bottom` to `top` or above; γ* and z are among them."""
    width = (top - bottom) / bins or abs(top) or 1.0
    if not bottom <= z <= top:
        return np.linspace(bottom - width, top, bins + 2)
    if gamma < z and z - gamma > 0.25 * width:
        width = (z - gamma) / max(1, round((z - gamma) / width))
    below, above = math.floor((z - bottom) / width + 1e-9) + 1, max(1, math.ceil((top - z) / width - 1e-9))
    edges: Array = z + width * np.arange(-below, above + 1.0)
    edges[-1] = max(edges[-1], top)
    if gamma < z:
        nearest = int(np.abs(edges - gamma).argmin())
        if abs(edges[nearest] - gamma) < 1e-6 * width:
            edges[nearest] = gamma
        else:
            edges = np.sort(np.append(edges, gamma))
    return edges


@dataclass(kw_only=True, eq=False, repr=False)
class ScoreHistogramDisplay(Display):
    """Histogram of the scores of either class, each with area 1 (Norton & Uryasev 2018, Fig. 6).

    Parameters
    ----------
    edges : array of shape (n_bins + 1,)
        Bin edges, common to both classes.
    density_pos, density_neg : arrays of shape (n_bins,)
        Per unit of the scores.
    name : str, optional
        Name of the scorer, above the legend.
    pos_label : optional
        Label of the positive class; named in the legend if it is a string.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last `plot`.

    Other Parameters
    ----------------
    bins : int, optional
        Of `from_predictions`: number of bins, ≥ 1; by default the Freedman–Diaconis rule, limited to between 10 and 80.

    See Also
    --------
    auclab.displays.RankingErrorDisplay : The errors of pairs.

    Examples
    --------
    >>> display = ScoreHistogramDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0], bins=2)
    >>> display.edges.tolist(), display.density_pos.tolist(), display.density_neg.tolist()
    ([0.0, 2.0, 4.0], [0.25, 0.25], [0.25, 0.25])
    """

    edges: Array
    density_pos: Array
    density_neg: Array

    @classmethod
    def _numbers(cls, part: ScoredPart, *, bins: int | None = None) -> dict[str, Any]:
        if bins is not None:
            check_bins(bins)
        scores = part.finite_classes
        both = np.concatenate([scores.pos, scores.neg])
        edges = np.histogram_bin_edges(both, bins if bins is not None else default_bins(both))
        density_pos, density_neg = (
            np.histogram(values, edges, weights=weight if weight.size else None, density=True)[0]
            for values, weight in ((scores.pos, scores.weight_pos), (scores.neg, scores.weight_neg))
        )
        return {"edges": edges, "density_pos": density_pos, "density_neg": density_neg}

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw on `ax` or on a new figure."""
        positives = f"positives{class_note(self.pos_label)}"
        with canvas(ax) as axes:
            for density, colour, line, label in (
                (self.density_neg, BLUE, "--", "negatives"),
                (self.density_pos, ORANGE, "-", positives),
            ):
                axes.stairs(density, self.edges, fill=True, color=colour, alpha=0.3)
                axes.stairs(density, self.edges, color=colour, linestyle=line, label=label, linewidth=1.2)
            axes.set(xlabel="score", ylabel="density within the class")
            axes.set_ylim(0, 1.25 * max(self.density_neg.max(), self.density_pos.max()))
            despine(axes)
            axes.legend(loc="upper center", ncols=2, title=self.name if name is None else name)
            return self._drawn(axes)


def default_bins(values: Array) -> int:
    """Freedman's and Diaconis's number of bins, kept where a histogram can be read."""
    lower, upper = np.percentile(values, [25, 75])
    width = 2.0 * (upper - lower) / np.cbrt(values.size)
    # Counted, not laid out: a few far scores would make NumPy's own rule allocate billions of bins.
    return int(np.clip(np.ptp(values) / width, 10, 80)) if width > 0 else 10


def ascending_concordance(totals: Array, right: Array) -> tuple[Array, Array]:
    """Shares of the pairs up to every unit, and which share of its own is right, in ascending order of the latter.

    `totals`, `right`: the weight of all pairs of a unit, and of those that are ranked right.

    Examples
    --------
    >>> shares, concordance = ascending_concordance(np.array([1.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0]))
    >>> shares.round(3).tolist(), concordance.tolist()
    ([0.667, 1.0], [0.5, 1.0])
    """
    compared = totals > 0
    concordance = np.clip(right[compared] / totals[compared], 0.0, 1.0)
    order = np.argsort(concordance, kind="stable")
    shares = np.cumsum(totals[compared][order])
    return shares / shares[-1], concordance[order]


@dataclass(kw_only=True, eq=False, repr=False)
class ConcordanceDisplay(Display):
    """Share of correctly ranked pairs of each unit, in ascending order, against the share of pairs.

    Pairs within groups, of grades and of censored times have no ROC curve, which needs two classes. With ``A_u`` the
    weight of the correctly ranked pairs of a unit u (a group, or a row if there are no groups) and ``K_u`` that of all
    its pairs, the curve has the height ``A_u/K_u`` over a width of ``K_u/ΣK``. The area below is ``ΣA_u/ΣK_u``, the
    grouped AUC or the concordance index; ½ is chance. Two scorers with the same area may rank different units wrongly.

    Parameters
    ----------
    shares : array of shape (n_units,)
        Where the steps end, ascending to 1.
    concordance : array of shape (n_units,)
        ``A_u/K_u``, ascending; ties of scores count ½.
    estimate : Estimate
        The value with its interval.
    units : {"group", "row"}
        What a unit is.
    name : str, optional
        Name of the scorer in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    ax_, figure_
        Axes and figure of the last `plot`.

    See Also
    --------
    auclab.inference.estimate_pairs : The value and its interval.
    auclab.displays.BufferedROCDisplay : Two classes.

    Examples
    --------
    Two queries: one of the two pairs of the first is ranked correctly, and the only pair of the second:

    >>> from auclab.metrics import ordered_pairs
    >>> pairs = ordered_pairs([1, 0, 0, 1, 0], groups=["a", "a", "a", "b", "b"])
    >>> display = ConcordanceDisplay.from_pairs(pairs, [2, 1, 3, 2, 1])
    >>> display.concordance.tolist(), display.shares.round(3).tolist(), round(display.estimate.value, 3)
    ([0.5, 1.0], [0.667, 1.0], 0.667)
    """

    shares: Array
    concordance: Array
    estimate: Estimate
    units: Literal["group", "row"]
    line_: Line2D = field(init=False)

    @classmethod
    def from_pairs(
        cls,
        pairs: LevelPairs,
        scores: ArrayLike,
        *,
        level: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Compute the curve and the value, and draw them.

        Parameters
        ----------
        pairs : LevelPairs
            ``ordered_pairs(y, groups)`` or ``censored_pairs(time, event)`` of `auclab.metrics`.
        scores : array of shape (n_samples,)
            Larger for the larger grade or the earlier event.
        level : float
            Confidence level of the interval in the legend, in (0, 1).
        name : str, optional
            Name of the scorer in the legend.
        ax : matplotlib Axes, optional
            Axes to draw into, such as ``ax_`` of another scorer; a new figure by default.
        curve_kwargs : mapping, optional
            Keyword arguments of the line.

        Raises
        ------
        AuclabError
            As `auclab.inference.estimate_pairs`.
        """
        estimate = estimate_pairs(pairs, scores, level=level)
        comparable = ComparablePairs(pairs)
        totals, right = comparable.unit_totals, comparable.auc_sums(scores)
        shares, concordance = ascending_concordance(totals, right)
        units: Literal["group", "row"] = "group" if comparable.units_are_groups else "row"
        display = cls(shares=shares, concordance=concordance, estimate=estimate, units=units, name=name)
        return display.plot(ax, curve_kwargs=curve_kwargs)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, curve_kwargs: Mapping[str, Any] | None = None
    ) -> Self:
        """Draw on `ax` or on a new figure."""
        name, found = self.name if name is None else name, self.estimate
        text = f"{found.value:.3f} ({found.lower:.3f} to {found.upper:.3f})"
        x, y = thinned(np.r_[0.0, self.shares], np.r_[self.concordance[0], self.concordance])
        with canvas(ax) as axes:
            others = sum(not str(line.get_label()).startswith("_") for line in axes.get_lines())
            if not others:
                axes.axhline(0.5, color=PALE, linewidth=1, zorder=1, label="_chance")
            looks = {**SERIES[others % len(SERIES)], "label": labelled(name, text)}
            (self.line_,) = axes.step(x, y, where="pre", **style(looks, curve_kwargs))
            axes.set(xlabel="share of the pairs", ylabel=f"ranked right, by {self.units}")
            axes.set(xlim=(-0.01, 1.01), ylim=(-0.02, 1.02))
            despine(axes)
            axes.legend(loc="lower right")
            return self._drawn(axes)


#: Panels that are drawn.
MOST_PANELS = 12


def draw_pairs(tables: Mapping[str, pd.DataFrame], *, metric: str) -> Figure:
    """Draw a panel per table: its columns as lines, a dot for each value, grey lines between values of one split.

    A line of grey that runs from left to right says that the lower configuration is better on that split; where the
    lines cross, the order depends on the split. A black stroke is the mean.

    `tables`: a row per pair (the same split, seed and fold), a column per configuration; NaN where there is none. The
    first eight are drawn. `metric`: label of the values.
    """
    drawn = dict(list(tables.items())[:MOST_PANELS])
    heights = [0.35 + 0.17 * max(table.shape[1], 2) for table in drawn.values()]
    with rc_context(RC_PARAMS):
        figure = Figure(figsize=(1.6 * COLUMN, 0.4 + sum(heights)), layout="constrained")
        panels = figure.subplots(len(drawn), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (name, table) in zip(panels, drawn.items(), strict=True):
            places = np.arange(table.shape[1])
            splits = [np.stack([values, places])[:, np.isfinite(values)] for values in table.to_numpy(dtype=float)]
            x, y = np.hstack([np.c_[points, [np.nan, np.nan]] for points in splits])  # a gap between two splits
            axes.plot(x, y, color=PALE, linewidth=0.7, zorder=1)
            axes.plot(x, y, "o", color=BLUE, alpha=0.6, markeredgewidth=0, zorder=2)
            axes.plot(table.mean().to_numpy(), places, "|", color=INK, markersize=11, markeredgewidth=1.6, zorder=3)
            axes.set_yticks(places, [shortened(str(column)) for column in table])
            axes.set_ylim(table.shape[1] - 0.5, -0.5)
            axes.set_title(shortened(name), loc="left", color=GREY)
            axes.tick_params(width=0.6, length=2.5)
            despine(axes)
        panels[-1].set_xlabel(metric)
    return figure
