"""Coefficients, and the columns that enter with a number of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from auclab.displays.base import BLUE, COLUMN, GREY, INK, RED, canvas, despine, shortened
from auclab.solvers.integer.solver import FeaturePath

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


def draw_feature_path(path: FeaturePath, *, ax: Axes | None = None) -> Figure:
    """Draw the best value for each number of features with its proved bound, and the l1 path.

    For `BufferedAUC` the plot shows bAUC, 1 − value; for other programs the value. The band lies between the best point
    and the proved bound: where it has no height, the point is optimal among all choices of features.

    Parameters
    ----------
    path : FeaturePath
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    Figure

    See Also
    --------
    auclab.solvers.integer.solver.feature_path : Computes the path.

    Examples
    --------
    >>> from auclab import RankSVM
    >>> from auclab.solvers.integer.solver import feature_path
    >>> path = feature_path(RankSVM(0.1, "l1"), [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [3.0, 1.0]], [0, 0, 1, 1], [1, 2])
    >>> draw_feature_path(path).axes[0].get_xlabel()
    'number of features'
    """
    is_bauc = path.solutions[0].formulation.name == "bauc"
    sign, offset = (-1.0, 1.0) if is_bauc else (1.0, 0.0)
    best = [offset + sign * each.objective for each in path.solutions]
    proved = [offset + sign * each.lower_bound for each in path.solutions]
    with canvas(ax, (COLUMN, 0.75 * COLUMN)) as axes:
        axes.fill_between(path.counts, best, proved, color=GREY, alpha=0.5, linewidth=0, label="not excluded")
        axes.plot(path.counts, best, color=BLUE, marker="o", markersize=3, label="at most k features")
        if path.l1:
            counts, values = zip(*path.l1, strict=True)
            own = [offset + sign * value for value in values]
            axes.plot(counts, own, color=RED, marker="s", markersize=3, linestyle="--", label="features of the l1 path")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("number of features")
        axes.set_ylabel("bAUC of the training part" if is_bauc else "value")
        axes.legend(loc="lower right" if is_bauc else "upper right")
        despine(axes)
        figure = axes.figure
    assert isinstance(figure, Figure)
    return figure
