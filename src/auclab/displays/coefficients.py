"""Shares of the columns in the spread of the scores, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from auclab.displays.style import BLUE, COLUMN, GREY, INK, RED, canvas, despine, shortened

#: Signs of the name of a column that fit next to its bar.
_LONGEST = 28


def draw_coefficients(
    columns: Sequence[str],
    shares: Sequence[float],
    directions: Sequence[int],
    *,
    deviations: Sequence[float] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a bar for each column, the largest share above.

    `shares`: in [0, 1]. `directions`: 1 where the score rises with the column, −1 where it falls, 0 for categories and
    dates. `deviations`: standard deviations of the shares over splits; NaN draws none. `ax`: axes to draw into; a new
    figure by default.
    """
    size = (COLUMN, 0.7 + 0.17 * max(len(columns), 3))
    places = range(len(columns))
    looks: dict[int, dict[str, Any]] = {
        1: {"color": BLUE, "label": "score rises"},
        -1: {"color": RED, "label": "score falls", "hatch": "////"},
        0: {"color": GREY, "label": "categories, dates"},
    }
    with canvas(ax, size) as axes:
        for direction, look in looks.items():
            own = [place for place in places if directions[place] == direction]
            if own:
                axes.barh(own, [shares[place] for place in own], height=0.7, edgecolor="white", linewidth=0, **look)
        if deviations is not None:
            axes.errorbar(shares, places, xerr=deviations, fmt="none", ecolor=INK, elinewidth=0.7, capsize=1.5)
        axes.set_yticks(list(places), [shortened(name, _LONGEST) for name in columns])
        axes.invert_yaxis()
        axes.set_xlim(0)
        axes.set_xlabel("share of the spread of the scores")
        axes.legend(loc="lower right")
        despine(axes)
        figure = axes.figure
    assert isinstance(figure, Figure)
    return figure
