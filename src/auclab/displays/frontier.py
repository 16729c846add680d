"""The least norm against the required buffered AUC."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from auclab.displays.style import BLUE, COLUMN, GREY, INK, ORANGE, canvas, despine, number


def draw_frontier(
    levels: Sequence[float],
    norms: Sequence[float],
    *,
    baucs: Sequence[float] | None = None,
    features: Sequence[int] | None = None,
    best: float | None = None,
    norm_label: str = "‖w‖₁",
    ax: Axes | None = None,
) -> Figure:
    """Draw the norms against the levels on a logarithmic scale, labelled with the numbers of features.

    Parameters
    ----------
    levels : sequence of float
        Required levels α of bAUC, ascending.
    norms : sequence of float > 0
        The least norm for each.
    baucs : sequence of float, optional
        bAUC of the scores of each scorer, at least its level.
    features : sequence of int, optional
        Number of features that each scorer uses.
    best : float, optional
        The largest bAUC of any scorer, drawn as a limit.
    norm_label : str
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    Figure

    See Also
    --------
    auclab.solvers.guaranteed.frontier.frontier : Computes the numbers.

    Examples
    --------
    >>> figure = draw_frontier([0.7, 0.8], [1.0, 10.0])
    >>> figure.axes[0].get_yscale()
    'log'
    """
    with canvas(ax, (COLUMN, 2.6)) as axes:
        if best is not None:
            axes.axvline(best, color=GREY, linestyle="--", linewidth=0.8, zorder=1, label=f"largest, {number(best)}")
        if baucs is not None:
            looks = {"color": ORANGE, "linestyle": "none", "marker": "D", "markersize": 3, "markerfacecolor": "none"}
            axes.plot(baucs, norms, **looks, label="bAUC of the scores")  # type: ignore[arg-type]
        axes.plot(levels, norms, color=BLUE, marker="o", markersize=3.5, label="required bAUC, α")
        for level, norm, used in zip(levels, norms, features or (), strict=False):
            place = {"textcoords": "offset points", "xytext": (-3, 3), "ha": "right", "fontsize": "x-small"}
            axes.annotate(str(used), (level, norm), color=INK, **place)  # type: ignore[arg-type]
        axes.set_yscale("log")
        axes.set(xlabel="bAUC on the rows that were solved", ylabel=f"least {norm_label}")
        axes.legend(loc="upper left")
        despine(axes)
        figure = axes.figure
    assert isinstance(figure, Figure)
    return figure
