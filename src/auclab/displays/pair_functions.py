"""Base of two displays: functions of the score difference over the distribution of the differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from auclab.displays.base import Display
from auclab.displays.ranking_error import binned_pairs
from auclab.displays.style import COLUMN, INK, PALE, SERIES, canvas, despine
from auclab.metrics.class_scores import ClassScores
from auclab.types import Array


@dataclass(kw_only=True, eq=False, repr=False)
class PairFunctionDisplay(Display):
    """Weight ``w(t)`` of a pair against its score difference ``t = p − n``; the first function is the step.

    `differences` (n_points,): t, ascending and symmetric; divided by the scale for polynomials. `functions`
    (n_points,): ``w(t)`` by the name of its metric. `values`: the metrics of the sample; empty without one. `edges`,
    `density` (n_bins + 1,) and (n_bins,), or None: histogram of t over all pairs of the sample; it is drawn behind,
    with its top at ½. `name`: name of the scorer, above the legend. `lines_`: one for each function. `ax_`, `figure_`:
    axes and figure of the last `plot`.
    """

    differences: Array
    functions: Mapping[str, Array]
    values: Mapping[str, float] = field(default_factory=dict)
    edges: Array | None = None
    density: Array | None = None

    _xlabel: ClassVar[str]
    _ylim: ClassVar[tuple[float, float]]

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
            axes.set(xlabel=self._xlabel, ylabel="weight w(t) of a pair", xlim=(t[0], t[-1]), ylim=self._ylim)
            despine(axes)
            title = self.name if name is None else name
            axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, columnspacing=1.0, title=title)
            return self._drawn(axes)


def pair_density(scores: ClassScores, bins: int, scale: float = 1.0) -> tuple[Array, Array]:
    """Edges and density of the differences ``t = p − n``, divided by a scale, over all pairs."""
    edges, counts = binned_pairs(scores.pair_errors, bins=bins)
    edges, counts = -edges[::-1] / scale, counts[::-1]
    return edges, counts / counts.sum() / np.diff(edges)
