"""The critical-difference diagram: average ranks on a line, bars over columns that Nemenyi's test does not separate."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from auclab.displays.base import BLUE, GREY, INK, canvas
from auclab.runs.compare.paired import Ranking


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
