"""Figures in scikit-learn's manner: `from_predictions` computes and draws, `plot` draws again elsewhere.

Pairs are never formed: the curves have O(m) corners, and the histogram of the ranking errors counts the pairs of every
bin exactly by sweeps over the sorted scores. No pyplot state is touched; without `ax` a figure of its own is made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike
from sklearn.metrics import roc_curve

from auclab.metrics import BufferedAUCResult, auc_score, broc_curve, buffered_auc
from auclab.metrics._errors import PairErrors
from auclab.metrics._inputs import class_scores
from auclab.types import Array, AuclabError
from auclab.validation import positive_mask

INK, PALE = "#222222", "#d4d4d4"
RED, BLUE, ORANGE = "#c8372d", "#2f6db3", "#d98a1f"  # told apart in grey print and by colour-blind readers


@dataclass(eq=False)
class BufferedROCDisplay:
    """ROC polygon and buffered ROC step curve.

    The area under the polygon is the AUC with ties counted ½. The buffered curve is that of the scores after the
    positives were lowered to ``h⁺ + γ*`` (Norton & Uryasev 2018, Prop. 3, Fig. 4); its area is bAUC for continuous
    scores, and the legend names both where they differ.

    Attributes
    ----------
    fpr, tpr : arrays of shape (n_vertices,)
        Vertices of the ROC polygon.
    auc : float
    buffered : BufferedAUCResult
    buffered_fpr, buffered_tpr : arrays of shape (n_corners,), or None where there is no such curve
    threshold : float
        z of bAUC_z.
    ax_, figure_
        Where the last `plot` drew.
    """

    fpr: Array
    tpr: Array
    auc: float
    buffered: BufferedAUCResult
    buffered_fpr: Array | None
    buffered_tpr: Array | None
    threshold: float = 0.0
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        threshold: float = 0.0,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compute both curves and draw them.

        Parameters
        ----------
        y_true, y_score, threshold, sample_weight, pos_label
            As in `auclab.metrics.bauc_score`.
        ax : matplotlib Axes, optional
            Where to draw.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.bauc_score`.

        Examples
        --------
        Errors −4, −2, −1 and 1; the worst two have mean 0:

        >>> display = BufferedROCDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0])
        >>> display.auc, display.buffered.value, display.buffered_tpr.tolist()
        (0.75, 0.5, [0.0, 0.5, 0.5, 1.0])
        """
        options: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label}
        buffered = buffered_auc(y_true, y_score, threshold=threshold, **options)
        buffered_fpr = buffered_tpr = None
        if not math.isnan(buffered.gamma_left):
            buffered_fpr, buffered_tpr, _ = broc_curve(y_true, y_score, threshold=threshold, **options)
        fpr, tpr, _ = roc_curve(positive_mask(y_true, pos_label), y_score, sample_weight=sample_weight)
        auc = auc_score(y_true, y_score, **options)
        return cls(fpr, tpr, auc, buffered, buffered_fpr, buffered_tpr, threshold).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into `ax`, or into a new figure."""
        self.figure_, self.ax_ = _canvas(ax, (4.6, 4.6))
        self.ax_.plot([0, 1], [0, 1], color=PALE, linewidth=1, zorder=1)
        self.ax_.plot(self.fpr, self.tpr, color=INK, linewidth=1.6, label=f"ROC: AUC = {self.auc:.4g}")
        if self.buffered_fpr is None or self.buffered_tpr is None:
            self.ax_.plot(
                [], [], color="none", label=f"no bROC: {_score_name(self.threshold)} = {self._why_no_curve()}"
            )
        else:
            label = self._curve_label()
            self.ax_.plot(self.buffered_fpr, self.buffered_tpr, color=BLUE, linewidth=1.6, linestyle="--", label=label)
        self.ax_.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
        self.ax_.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        self.ax_.legend(loc="lower right", frameon=False)
        return self

    def _curve_label(self) -> str:
        value, area = self.buffered.value, self.buffered.area_closed
        label = f"bROC: {_score_name(self.threshold)} = {value:.4g}, γ* = {_number(self.buffered.gamma_left)}"
        return label if area - value < 5e-4 else f"{label}\n(ties: the area is {area:.4g})"

    def _why_no_curve(self) -> str:
        value = self.buffered.value
        if value > 0.0:
            return f"{value:.4g},\nno error exceeds {_number(self.threshold)}"
        return f"0,\nthe mean error is not below {_number(self.threshold)}"


@dataclass(eq=False)
class RankingErrorDisplay:
    """Histogram of the ranking errors ``ξ = h⁻ − h⁺`` of all pairs, with the tails behind AUC and bAUC.

    Red: the pairs with ``ξ ≥ z``, whose share is ``1 − AUC`` for z = 0. Red and blue: the pairs with ``ξ > γ*``, the
    worst ones whose mean is z and whose share is ``1 − bAUC_z`` (Norton & Uryasev 2018, Figs. 2, 3).

    Attributes
    ----------
    edges : array of shape (n_bins + 1,)
        Bin edges; z and γ* are among them.
    counts : array of shape (n_bins,)
        Weight of the pairs in every bin, exact. A bin holds its upper edge and not its lower one, except that pairs
        with ``ξ = z`` belong above z.
    exceedance : float
        Share of ``ξ ≥ z``.
    buffered_exceedance : float
        ``bPOE_z(ξ) = 1 − bAUC_z``.
    gamma : float
        γ*, NaN where it does not exist.
    threshold : float
        z, in the units of the scores.
    ax_, figure_
        Where the last `plot` drew.
    """

    edges: Array
    counts: Array
    exceedance: float
    buffered_exceedance: float
    gamma: float
    threshold: float = 0.0
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        threshold: float = 0.0,
        bins: int = 60,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Count the pairs in about `bins` bins, without forming pairs, and draw the histogram.

        Parameters
        ----------
        y_true, y_score, threshold, sample_weight, pos_label
            As in `auclab.metrics.bauc_score`.
        bins : int
            Bins wanted, ≥ 1; some more may be made so that z and γ* are edges.
        ax : matplotlib Axes, optional
            Where to draw.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.bauc_score`, and for ``bins < 1``.

        Examples
        --------
        Errors −4, −2, −1 and 1: one of four is wrong, two of four are needed for a mean of 0.

        >>> display = RankingErrorDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0], bins=5)
        >>> display.exceedance, display.buffered_exceedance, display.gamma
        (0.25, 0.5, -2.0)
        >>> display.edges.tolist(), display.counts.tolist()
        ([-5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
        """
        if bins < 1:
            raise AuclabError(f"bins must be at least 1, got {bins}")
        options: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label}
        buffered = buffered_auc(y_true, y_score, threshold=threshold, **options)
        errors = PairErrors.of(class_scores(y_true, y_score, sample_weight, pos_label))
        z = errors.working(threshold)
        edges = _edges(errors.bottom, errors.top, z, errors.working(buffered.gamma_left), bins)
        above = np.array([errors.count(math.nextafter(z, -math.inf) if level == z else level) for level in edges])
        return cls(
            edges=np.ldexp(edges, -errors.exponent),
            counts=above[:-1] - above[1:],
            exceedance=errors.count(math.nextafter(z, -math.inf)) / errors.pairs[0],
            buffered_exceedance=1.0 - buffered.value,
            gamma=buffered.gamma_left,
            threshold=threshold,
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into `ax`, or into a new figure."""
        self.figure_, self.ax_ = _canvas(ax, (6.4, 4.0))
        lower = self.edges[:-1]
        wrong = lower >= self.threshold
        buffer = ~wrong & (lower >= self._start_of_tail)
        height = self.counts / self.counts.sum() / np.diff(self.edges)
        for part, colour in ((~wrong & ~buffer, PALE), (buffer, BLUE), (wrong, RED)):
            self.ax_.bar(lower[part], height[part], np.diff(self.edges)[part], align="edge", color=colour)
        top = float(height.max())
        for level, name, side in ((self.gamma, "γ*", "right"), (self.threshold, _number(self.threshold), "left")):
            if self.edges[0] <= level <= self.edges[-1]:  # false for NaN
                self.ax_.vlines(level, 0, 1.08 * top, color=INK, linewidth=0.9)
                self.ax_.text(level, 1.08 * top, f" {name} ", ha=side, va="top")
        self.ax_.set(
            xlabel="ranking error ξ = score of the negative − score of the positive", ylabel="density of pairs"
        )
        self.ax_.set_ylim(0, 1.4 * top)  # room for the legend
        wrong_label = f"ξ ≥ {_number(self.threshold)}: share {self.exceedance:.4g}"
        if self.threshold == 0.0:
            wrong_label += " = 1 − AUC, ties counted as wrong"
        blue = "none" if math.isnan(self.gamma) else BLUE
        handles = [Patch(color=RED, label=wrong_label), Patch(color=blue, label=self._buffer_label())]
        self.ax_.legend(handles=handles, loc="upper left", frameon=False)
        return self

    @property
    def _start_of_tail(self) -> float:
        """γ*; where it does not exist, all pairs or none belong to the tail."""
        if not math.isnan(self.gamma):
            return self.gamma
        return -math.inf if self.buffered_exceedance == 1.0 else math.inf

    def _buffer_label(self) -> str:
        value = f"1 − {_score_name(self.threshold)} = {self.buffered_exceedance:.4g}"
        if math.isnan(self.gamma):
            reason = "the mean error is not below" if self.buffered_exceedance == 1.0 else "no error is above"
            return f"{value}: no γ*, {reason} {_number(self.threshold)}"
        share = self.counts[self.edges[:-1] >= self.gamma].sum() / self.counts.sum()
        ties = "" if self.buffered_exceedance - share < 5e-4 else f" (ties at γ*: share {share:.4g})"
        return f"ξ > γ* = {_number(self.gamma)}: {value}{ties}"


@dataclass(eq=False)
class ScoreHistogramDisplay:
    """Histogram of the scores of either class, each with area 1 (Norton & Uryasev 2018, Fig. 6).

    Attributes
    ----------
    edges : array of shape (n_bins + 1,)
        Bin edges, common to both classes.
    density_pos, density_neg : arrays of shape (n_bins,)
    ax_, figure_
        Where the last `plot` drew.
    """

    edges: Array
    density_pos: Array
    density_neg: Array
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure | SubFigure = field(init=False, repr=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        bins: int | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Bin the scores and draw both histograms.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As in `auclab.metrics.bauc_score`.
        bins : int, optional
            Number of bins, ≥ 1; by default Freedman's and Diaconis's rule, kept between 10 and 80.
        ax : matplotlib Axes, optional
            Where to draw.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.bauc_score`, and for ``bins < 1``.

        Examples
        --------
        >>> display = ScoreHistogramDisplay.from_predictions([1, 1, 0, 0], [4, 1, 2, 0], bins=2)
        >>> display.edges.tolist(), display.density_pos.tolist(), display.density_neg.tolist()
        ([0.0, 2.0, 4.0], [0.25, 0.25], [0.25, 0.25])
        """
        if bins is not None and bins < 1:
            raise AuclabError(f"bins must be at least 1, got {bins}")
        scores = class_scores(y_true, y_score, sample_weight, pos_label)
        both = np.concatenate([scores.pos, scores.neg])
        edges = np.histogram_bin_edges(both, bins if bins is not None else _usual_bins(both))
        density_pos, density_neg = (
            np.histogram(values, edges, weights=weight if weight.size else None, density=True)[0]
            for values, weight in ((scores.pos, scores.weight_pos), (scores.neg, scores.weight_neg))
        )
        return cls(edges, density_pos, density_neg).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into `ax`, or into a new figure."""
        self.figure_, self.ax_ = _canvas(ax, (6.4, 4.0))
        for density, colour, style, label in (
            (self.density_neg, BLUE, "--", "negatives"),
            (self.density_pos, ORANGE, "-", "positives"),
        ):
            self.ax_.stairs(density, self.edges, fill=True, color=colour, alpha=0.3)
            self.ax_.stairs(density, self.edges, color=colour, linewidth=1.4, linestyle=style, label=label)
        self.ax_.set(xlabel="score", ylabel="density within the class")
        self.ax_.set_ylim(0, 1.15 * max(self.density_neg.max(), self.density_pos.max()))
        self.ax_.legend(loc="upper center", ncols=2, frameon=False)
        return self


def _canvas(ax: Axes | None, size: tuple[float, float]) -> tuple[Figure | SubFigure, Axes]:
    """The axes to draw in, without upper and right spine; a new figure stays outside pyplot's list."""
    if ax is None:
        ax = Figure(figsize=size, layout="constrained").add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    return ax.figure, ax


def _score_name(threshold: float) -> str:
    return "bAUC" if threshold == 0.0 else f"bAUC (z = {_number(threshold)})"


def _number(value: float) -> str:
    """Three digits, and a minus sign instead of a hyphen."""
    return f"{value:.3g}".replace("-", "−")


def _usual_bins(values: Array) -> int:
    """Freedman's and Diaconis's number of bins, kept where a histogram can be read."""
    lower, upper = np.percentile(values, [25, 75])
    width = 2.0 * (upper - lower) / np.cbrt(values.size)
    # Counted, not laid out: a few far scores would make NumPy's own rule allocate billions of bins.
    return int(np.clip(np.ptp(values) / width, 10, 80)) if width > 0 else 10


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
