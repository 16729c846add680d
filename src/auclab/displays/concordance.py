"""Concordance by unit: of which groups, or of which rows, the pairs are ranked right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from auclab.displays.base import Display
from auclab.displays.style import PALE, SERIES, canvas, despine, labelled, style, thinned
from auclab.inference import Estimate, estimate_pairs
from auclab.metrics.comparable import ComparablePairs
from auclab.samples.bicliques import LevelPairs
from auclab.types import Array


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
