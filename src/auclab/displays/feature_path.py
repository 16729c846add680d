"""The best certified value against the number of features, compared with the l1 path."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from auclab.displays.style import BLUE, COLUMN, GREY, RED, canvas, despine
from auclab.solvers.integer.feature_path import FeaturePath


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
    auclab.solvers.integer.feature_path.feature_path : Computes the path.

    Examples
    --------
    >>> from auclab import RankSVM
    >>> from auclab.solvers.integer.feature_path import feature_path
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
