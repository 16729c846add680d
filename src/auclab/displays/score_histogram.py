"""Histograms of the scores of both classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from auclab.displays.base import Display, check_bins
from auclab.displays.style import BLUE, ORANGE, canvas, class_note, despine
from auclab.metrics import ScoredPart
from auclab.types import Array


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
