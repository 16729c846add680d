"""Modifier functions: the weight of a pair in AUC, sAUC, softAUC and probAUC by the difference of its scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from auclab.displays.base import Display
from auclab.displays.ranking_error import binned_pairs
from auclab.displays.style import COLUMN, INK, PALE, POINTS, SERIES, canvas, despine, number
from auclab.metrics import ScoredPart, auc_score, probabilistic_auc, scored_auc, soft_auc
from auclab.metrics.class_scores import positive_number
from auclab.types import Array


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
