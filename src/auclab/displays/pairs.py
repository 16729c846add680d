"""Values of several configurations on the same splits, a dot each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from auclab.displays.style import BLUE, COLUMN, GREY, INK, PALE, RC_PARAMS, despine, shortened
from auclab.sizes import LINES

#: Panels that are drawn.
MOST_PANELS = LINES


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
            for values in table.to_numpy(dtype=float):
                there = np.isfinite(values)
                axes.plot(values[there], places[there], color=PALE, linewidth=0.7, zorder=1)
                axes.plot(values[there], places[there], "o", color=BLUE, alpha=0.6, markeredgewidth=0, zorder=2)
            axes.plot(table.mean().to_numpy(), places, "|", color=INK, markersize=11, markeredgewidth=1.6, zorder=3)
            axes.set_yticks(places, [shortened(str(column)) for column in table])
            axes.set_ylim(table.shape[1] - 0.5, -0.5)
            axes.set_title(shortened(name), loc="left", color=GREY)
            axes.tick_params(width=0.6, length=2.5)
            despine(axes)
        panels[-1].set_xlabel(metric)
    return figure
