"""Figure of a tuned parameter: mean and standard error of the measure at every value, and the selected value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from auclab.displays.base import BLUE, GREY, RED, canvas, despine, number
from auclab.pipeline.config.compose import SYMBOLS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from auclab.pipeline.split.tuning import Tuning


def draw_tuning_path(tuning: Tuning) -> Figure:
    """Draw the means with bars of one standard error over λ, or over z; the selected value is marked.

    The dashed line is the best mean less one standard error, if that rule was used. If γ was tuned too, the bars are at
    the selected γ, and grey lines are the means at the others, darker for larger γ.
    """
    path = tuning.along
    with canvas(None) as ax:
        if tuning.with_gamma:
            _draw_other_gammas(ax, tuning)
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
        ax.set(xlabel=SYMBOLS[tuning.parameter], ylabel=f"{tuning.metric}, inner folds")
        gamma = f"γ = {number(tuning.gamma)}, " if tuning.with_gamma else ""
        ax.set_title(f"{gamma}{SYMBOLS[tuning.parameter]} = {number(tuning.selected)}", color=RED)
        despine(ax)
        figure = ax.figure
    assert isinstance(figure, Figure)
    return figure


def _draw_other_gammas(ax: Axes, tuning: Tuning) -> None:
    """The means at the other γ, each line labelled with its γ at the left end."""
    blocks = list(tuning.path.groupby("gamma"))
    for k, (gamma, block) in enumerate(blocks):
        if gamma == tuning.gamma:
            continue
        shade = str(0.85 - 0.55 * k / max(1, len(blocks) - 1))
        ax.plot(block["value"], block["mean"], color=shade, linewidth=0.8, zorder=0.5)
        ax.annotate(
            number(float(str(gamma))), (block["value"].iloc[0], block["mean"].iloc[0]), xytext=(-3, 0),
            textcoords="offset points", ha="right", va="center", fontsize=6, color=shade,
        )  # fmt: skip
