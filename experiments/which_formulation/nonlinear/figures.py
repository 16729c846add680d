"""Figures of the page: differences by data set, ranks, rank against seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from auclab.displays.canvas import BLUE, GREEN, GREY, INK, ORANGE, PALE, RED, despine
from auclab.runs.report.figures import draw_critical_difference
from experiments.drawing import panels
from experiments.which_formulation.nonlinear.answers import (
    KERNEL_PAIRS,
    TREES_PAIRS,
    Difference,
    difference,
    kept_values,
    ranking,
    seconds,
)
from experiments.which_formulation.nonlinear.scorers import NAMES, SCORERS
from experiments.which_formulation.nonlinear.tables import TITLES

#: Values beyond are triangles at the edge.
EDGE = 0.2
#: Colours of linear scorers, kernels and trees.
_KINDS = {"linear": BLUE, "kernel": GREEN, "trees": ORANGE}


def kernel_gains() -> Figure:
    """RBF minus linear by test AUC and by partial AUC: a dot per data set."""
    return _gains(KERNEL_PAIRS, ("auc", "partial_auc"), [f"{NAMES[a]}\n− {NAMES[b]}" for a, b in KERNEL_PAIRS])


def trees_gains() -> Figure:
    """Scorers minus LightGBM by test AUC and by partial AUC: a dot per data set."""
    return _gains(TREES_PAIRS, ("auc", "partial_auc"), [f"{NAMES[a]} − {NAMES[b]}" for a, b in TREES_PAIRS])


def _gains(pairs: Sequence[tuple[str, str]], measures: Sequence[str], labels: Sequence[str]) -> Figure:
    values = kept_values()
    figure, axes = panels(1, len(measures), (6.8, 0.55 * len(pairs) + 0.7), sharey=True)
    for ax, measure in zip(axes, measures, strict=True):
        for height, pair in enumerate(pairs):
            _dots(ax, height, difference(values, measure, *pair))
        ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        ax.set_xlabel(f"test {TITLES[measure]}, difference")
        ax.set(xlim=(-1.05 * EDGE, 1.05 * EDGE))
        ax.grid(axis="x", color=PALE)
        despine(ax)
    axes[0].set_yticks(range(len(pairs)), labels)
    axes[0].invert_yaxis()
    return figure


def _dots(ax: Axes, height: float, found: Difference) -> None:
    """Red: p < .05 after Holm's correction over the sets; the line is the mean over sources, the bar its interval."""
    order = found.by_set.sort_values(kind="stable")
    for place, name in enumerate(map(str, order.index)):
        value = float(order[name])
        shift = 0.5 * place / max(1, len(order) - 1) - 0.25
        colour = RED if found.p_holm[name] < 0.05 else BLUE
        outside = abs(value) > EDGE
        mark = (">" if value > 0 else "<") if outside else "o"
        ax.plot(np.clip(value, -EDGE, EDGE), height + shift, mark, color=colour, ms=3, mew=0, alpha=0.8)
    ax.plot([found.mean] * 2, [height - 0.36, height + 0.36], color=INK, linewidth=1.4)
    ax.plot(found.interval, [height + 0.36] * 2, color=INK, linewidth=1.4)


def ranks() -> Figure:
    """Critical differences by test AUC and by partial AUC."""
    values = kept_values()
    figure, axes = panels(2, 1, (6.4, 5.0))
    for ax, measure in zip(axes, ("auc", "partial_auc"), strict=True):
        found = ranking(values, measure)
        draw_critical_difference(replace(found, average_ranks=found.average_ranks.rename(index=NAMES)), ax=ax)
        ax.set_title(f"test {TITLES[measure]}, {found.n_rows} sources")
    return figure


def _log(ax: Axes) -> None:
    """A logarithmic axis with plain numbers at 1, 2, 5, and so on."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.minorticks_off()


def cost() -> Figure:
    """Average rank by test AUC against the median of the seconds for tuning and fitting."""
    values = kept_values()
    spent = seconds(values)
    found = ranking(values, "auc").average_ranks
    figure, ax = panels(1, 1, (5.2, 3.2))
    for key in SCORERS:
        kind = "trees" if key == "lightgbm" else "kernel" if key.endswith("_rbf") or key == "svc" else "linear"
        place = float(spent[key]), float(found[key])
        ax.plot(*place, "o^s"[list(_KINDS).index(kind)], color=_KINDS[kind], ms=5, mew=0)
        below = key in ("csvm2_rbf", "bauc_z_linear")  # where two are near each other
        left = kind == "linear" and not below
        offset, side = (-5 if left else 5, -9 if left or below else 3), "right" if left else "left"
        ax.annotate(NAMES[key], place, xytext=offset, textcoords="offset points", fontsize=7, ha=side)
    _log(ax)
    ax.set(xlabel="processor seconds to tune and fit, median", ylabel="average rank by test AUC")
    low, high = ax.get_xlim()
    ax.set_xlim(low / 1.4, high * 1.6)
    ax.invert_yaxis()
    ax.grid(color=PALE)
    despine(ax)
    return figure


#: By file.
FIGURES = {"kernel_gains": kernel_gains, "trees_gains": trees_gains, "ranks": ranks, "cost": cost}
