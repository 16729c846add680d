"""The path of a tuned parameter: mean and standard error of the measure at every value, and the value taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from auclab.displays.style import BLUE, GREY, RED, canvas, despine, number

if TYPE_CHECKING:
    from auclab.pipeline.tuning import Tuning

#: Dots per inch of the file.
DPI = 120


def draw_tuning_path(tuning: Tuning) -> Figure:
    """Draw the means with bars of one standard error over λ, or over z; the value taken is marked.

    The dashed line is the best mean less one standard error, where the rule of that name was used.
    """
    path = tuning.path
    with canvas(None) as ax:
        values = path["value"].to_numpy()
        ax.errorbar(
            values, path["mean"], yerr=path["standard_error"], color=BLUE, marker="o", markersize=3, capsize=2,
            linewidth=1, elinewidth=0.7,
        )  # fmt: skip
        size = abs(values[values != 0.0])
        if size.size and size.max() > 20 * size.min():
            if (values > 0).all():
                ax.set_xscale("log")
            else:
                ax.set_xscale("symlog", linthresh=size.min(), linscale=0.5)
        taken = tuning.numbers["tune/score"]
        ax.axvline(tuning.selected, color=RED, linewidth=0.8, zorder=1)
        ax.plot([tuning.selected], [taken], "o", color=RED, markersize=5, zorder=3)
        if tuning.one_standard_error:
            best = path.loc[path["value"] == tuning.best].iloc[0]
            ax.axhline(best["mean"] - best["standard_error"], color=GREY, linestyle="--", linewidth=0.8, zorder=1)
        ax.set(xlabel=tuning.symbol, ylabel=f"{tuning.metric}, inner folds")
        ax.set_title(f"{tuning.symbol} = {number(tuning.selected)}", color=RED)
        despine(ax)
        figure = ax.figure
    assert isinstance(figure, Figure)
    return figure
