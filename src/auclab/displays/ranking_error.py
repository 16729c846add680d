"""Histogram of the ranking errors of all pairs, counted without forming pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from auclab.displays.base import Display, check_bins
from auclab.displays.style import INK, PALE, RED, SKY, canvas, despine, number
from auclab.metrics import ScoredPart
from auclab.metrics.buffered import buffered_auc_from_sorted
from auclab.metrics.comparable import ComparableErrors, ComparablePairs, buffered_share
from auclab.metrics.pair_errors import PairErrors
from auclab.samples.bicliques import LevelPairs
from auclab.types import Array

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
