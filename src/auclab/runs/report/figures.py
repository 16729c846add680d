"""Figures of the page, as pictures inside it: average ranks, every split, the stages of solves with a kernel."""

from __future__ import annotations

import io
import math
import warnings
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from auclab.displays import LandmarkGapDisplay
from auclab.displays.canvas import (
    BLUE,
    COLUMN,
    GREY,
    INK,
    OWN_FIGURES,
    POINTS,
    RC_PARAMS,
    SERIES,
    canvas,
    despine,
    shortened,
)
from auclab.displays.scores import MOST_PANELS, draw_pairs
from auclab.metrics.costs import hull_costs, hull_crossings
from auclab.runs.compare.costs import Best, best_hulls
from auclab.runs.compare.paired import Ranking
from auclab.runs.compare.table import Table
from auclab.solvers.kernel.solution import Stage


def draw_critical_difference(ranking: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw a ranking as Demšar (2006), figure 1, does: rank 1, the best, on the right.

    `ax`: a new figure otherwise, a little less than two columns of a journal wide.
    """
    names, ranks = list(ranking.average_ranks.index), ranking.average_ranks.to_numpy()
    k = len(names)
    n_right = math.ceil(k / 2)
    groups = [(names.index(group[0]), names.index(group[-1])) for group in ranking.groups]
    first_line = 1.2 + 0.55 * len(groups)
    depth = first_line + n_right
    line, head = 0.17, 0.62  # inches: between two lines of names, and above the axis
    with canvas(ax, (5.6, head + line * depth)) as axes:
        axes.set_axis_off()
        axes.set(xlim=(k + 0.02, 0.98), ylim=(depth, -head / line))
        ink: dict[str, Any] = {"color": INK, "linewidth": 0.8, "clip_on": False, "solid_capstyle": "butt"}
        axes.plot([1, k], [0, 0], **ink)
        for rank in range(1, k + 1):
            axes.plot([rank, rank], [0, -0.45], **ink)
            if (rank - 1) % math.ceil(k / 10) == 0:
                axes.text(rank, -0.6, str(rank), ha="center", va="bottom")
        margin = 0.03 * (k - 1)
        for index, (name, rank) in enumerate(zip(names, ranks, strict=True)):
            right = index < n_right
            # The outermost names are the highest on either side, so that lines of one side do not cross.
            height = first_line + (index if right else k - 1 - index)
            end = 1 - margin if right else k + margin
            axes.plot([rank, rank, end], [0, height, height], **ink)
            text_at = end - margin / 3 if right else end + margin / 3
            shown = str(name).replace("$", r"\$")  # text between dollar signs would be typeset as a formula
            axes.text(text_at, height, f"{shown}  {rank:.2f}", ha="left" if right else "right", va="center")
        for number, (low, high) in enumerate(groups):
            height = 0.75 + 0.55 * number
            reach = 0.008 * (k - 1)
            axes.plot([ranks[low] - reach, ranks[high] + reach], [height] * 2, **ink | {"color": BLUE, "linewidth": 3})
        top = -2.6
        axes.plot([1, 1 + ranking.critical_difference], [top, top], **ink)
        for end in (1, 1 + ranking.critical_difference):
            axes.plot([end, end], [top - 0.2, top + 0.2], **ink)
        text = f"critical difference {ranking.critical_difference:.2f} (Nemenyi, level {ranking.alpha:g})"
        axes.text(1 + ranking.critical_difference / 2, top - 0.3, text, ha="center", va="bottom", color=GREY)
        figure = axes.get_figure(root=True)
        assert figure is not None
        return figure


#: Largest number of solves in a figure of stages.
MOST_SOLVES = len(SERIES)
#: Largest number of dots over all panels of a figure.
MOST_DOTS = 5000


@dataclass(frozen=True)
class Drawn:
    """A picture with its caption; `source`: the picture as a data URL."""

    title: str
    text: str
    source: str


def draw_table(table: Table) -> tuple[Drawn, ...]:
    """Average ranks if there are any, the values by split if there are several, and the costs of the best two."""
    drawn = []
    if table.ranking is not None:
        drawn.append(
            Drawn(
                "Average ranks.",
                f"Critical-difference diagram over {table.ranking.n_rows} data sets: rank 1 is best; Nemenyi's test "
                "does not separate the configurations under one bar.",
                _picture(draw_critical_difference(table.ranking)),
            )
        )
    blocks = {name: block.dropna(axis=1, how="all") for name, block in table.cells.by_row.items()}
    values = {name: block for name, block in blocks.items() if len(block) > 1 and block.shape[1] > 1}
    if values and sum(block.size for block in values.values()) <= MOST_DOTS:
        rest = f"; the first {MOST_PANELS} of {len(values)} rows" if len(values) > MOST_PANELS else ""
        drawn.append(
            Drawn(
                "Split by split.",
                f"A dot is one split (seed, fold), a grey line joins those of one split, black is the mean{rest}.",
                _picture(draw_pairs(values, metric=table.cells.metric)),
            )
        )
    if best := best_hulls(table):
        drawn.append(
            Drawn(
                "The best two by cost.",
                "Mean cost at the best threshold of each split against the share of false positives in the costs; a "
                "grey line is where the best two configurations change places.",
                _picture(_draw_costs(best)),
            )
        )
    return tuple(drawn)


def _draw_costs(best: Mapping[str, Best]) -> Figure:
    """A panel per row: the cost curves of two configurations, and where they cross."""
    shares = np.linspace(0.0, 1.0, POINTS)
    with rc_context(RC_PARAMS):
        figure = Figure(figsize=(1.8 * COLUMN, 2.2 * math.ceil(len(best) / 2)), layout="constrained")
        panels = figure.subplots(math.ceil(len(best) / 2), 2, squeeze=False).ravel()
        for axes, (row, (names, hulls)) in zip(panels, best.items(), strict=False):
            for name, hull, looks in zip(names, hulls, SERIES, strict=False):
                axes.plot(shares, hull_costs(*hull, shares), label=shortened(name), **looks)
            for share in hull_crossings(*hulls):
                axes.axvline(share, color=GREY, linewidth=0.6)
            axes.set_title(shortened(row), loc="left", color=GREY)
            axes.set(xlabel="cost share", ylabel="cost")
            axes.legend()
            despine(axes)
        for axes in panels[len(best) :]:
            axes.set_axis_off()
    return figure


def draw_stages(solves: Sequence[tuple[str, Sequence[Stage]]]) -> Drawn:
    """The certified gap against the landmarks of kernel solves, given by name and stages."""
    with rc_context(RC_PARAMS):
        figure = Figure(figsize=(1.8 * COLUMN, 2.6 + 0.14 * len(solves)), layout="constrained")
        OWN_FIGURES.add(figure)
        axes = figure.add_subplot()
        for (name, stages), looks in zip(solves, SERIES, strict=False):
            before = len(axes.texts)
            LandmarkGapDisplay.from_stages(stages, name=shortened(name), ax=axes, curve_kwargs=looks)
            for text in axes.texts[before:-1] if len(solves) > 1 else ():
                text.remove()  # the labels of several solves would overlap
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return Drawn(
        "Gap against landmarks.",
        "The certified gap after every stage of a solve, first split; landmarks are added where the dual point needs "
        "them, and left out again where they are of no more use. Numbers are seconds"
        f"{', of the whole solve' if len(solves) > 1 else ''}.",
        _picture(figure),
    )


def _picture(figure: Figure) -> str:
    """SVG without time and random names, so that the same runs give the same page."""
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "auclab", "svg.fonttype": "path"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # characters of a name that the font lacks
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{b64encode(buffer.getvalue()).decode()}"
