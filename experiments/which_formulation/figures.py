"""The figures of docs/which_formulation.md, from results/*.csv: ``python -m experiments.which_formulation.figures``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from auclab._core.base import AuclabError
from auclab.displays.canvas import BLUE, GREEN, GREY, INK, PALE, RED, despine
from auclab.runs.report.figures import draw_critical_difference
from experiments.drawing import draw, panels
from experiments.study import FOLDER, VALUE, read
from experiments.which_formulation.answers import MEASURES, kept_values, means, ranking
from experiments.which_formulation.exact import SIZES
from experiments.which_formulation.methods import COMPARED, NAMES

PLACE = FOLDER.parent / "docs" / "which_formulation"
EXACT = FOLDER / "which_formulation" / "results" / "exact.csv"
TITLES = {"auc": "test AUC", "bauc": "test bAUC", "voros": "test VOROS", "brier": "Brier score (Platt's map)"}
SCORERS = {"bauc": ("bAUC", BLUE), "family": ("best bAUC_z", GREEN), "logistic": ("logistic", RED)}


def ranks() -> Figure:
    """Critical differences by test AUC and by the Brier score."""
    values = kept_values()
    figure, axes = panels(2, 1, (5.8, 3.2))
    for ax, measure in zip(axes, ("auc", "brier"), strict=True):
        found = ranking(values, measure, lower_is_better=MEASURES[measure])
        draw_critical_difference(replace(found, average_ranks=found.average_ranks.rename(index=NAMES)), ax=ax)
        ax.set_title(f"{TITLES[measure]}, {found.n_rows} data sets")
    return figure


def differences() -> Figure:
    """Each method against bAUC: a dot per data set, mean over splits, by AUC and by bAUC."""
    values = kept_values()
    figure, axes = panels(1, 2, (6.6, 2.3), sharey=True)
    methods = [key for key in COMPARED if key != "bauc"]
    for ax, measure in zip(axes, ("auc", "bauc"), strict=True):
        table = means(values, measure)
        _strips(ax, {NAMES[key]: table[key] - table["bauc"] for key in methods})
        ax.set_xlabel(f"{TITLES[measure]}, minus that of bAUC maximisation")
    return figure


def _strips(ax: Axes, columns: Mapping[str, pd.Series]) -> None:
    """Dots on a line per column, and their median; values outside ±0.1 are triangles at the edge."""
    edge = 0.1
    for height, column in enumerate(columns.values()):
        inside = column.abs() <= edge
        spread = np.linspace(-0.22, 0.22, len(column))
        ax.plot(column[inside], height + spread[inside], "o", color=BLUE, markersize=2.6, alpha=0.75, mew=0)
        ax.plot(np.sign(column[~inside]) * edge, height + spread[~inside], "^", color=RED, markersize=3.2, mew=0)
        ax.plot([column.median()] * 2, [height - 0.33, height + 0.33], color=INK, linewidth=1.4)
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    ax.set_yticks(range(len(columns)), list(columns))
    ax.set(xlim=(-1.05 * edge, 1.05 * edge), ylim=(len(columns) - 0.5, -0.5))
    ax.grid(axis="x", color=PALE)
    despine(ax)


def exact() -> Figure:
    """AUC lost on the training rows against the best AUC, and test AUC against its: a dot per data set."""
    table = _exact_values()
    figure, axes = panels(1, 2, (6.6, 2.9))
    for row, (key, (_, colour)) in enumerate(SCORERS.items()):
        for components, mark in zip(SIZES, "o^", strict=True):
            mean = table[table["components"] == components].groupby(["set", "key"])["value"].mean().unstack()
            lost, test = mean[f"lost.{key}"], mean[f"test.{key}"] - mean["test.exact"]
            height = row + (components - 2.5) * 0.36
            for ax, column in zip(axes, (lost, test), strict=True):
                spread = height + np.linspace(-0.11, 0.11, len(column))
                ax.plot(column, spread, mark, color=colour, markersize=3, alpha=0.8, mew=0)
                ax.plot([column.mean()] * 2, [height - 0.15, height + 0.15], color=INK, linewidth=1.2)
    labels = "training AUC, best − that of the scorer", "test AUC, that of the scorer − the best's"
    for ax, label in zip(axes, labels, strict=True):
        ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        ax.set_xlabel(label)
        ax.set_yticks(range(len(SCORERS)), [name for name, _ in SCORERS.values()])
        ax.invert_yaxis()
        ax.grid(axis="x", color=PALE)
        despine(ax)
    marks = [
        Line2D([], [], color=GREY, marker=mark, linestyle="", label=f"{components} components, {rows} + {rows} rows")
        for (components, rows), mark in zip(SIZES.items(), "o^", strict=True)
    ]
    figure.legend(handles=marks, loc="outside upper center", ncols=2)
    return figure


def _exact_values() -> pd.DataFrame:
    """Columns ``set, key, components, value``."""
    if not EXACT.exists():
        raise AuclabError(f"{EXACT.name} is missing; run experiment=which_formulation_exact first")
    rows = [row for row in read(EXACT)[2] if row.claim_id.startswith(VALUE)]
    parts = [row.claim_id.removeprefix(VALUE).partition(".") for row in rows]
    table = pd.DataFrame({"set": [part[0] for part in parts], "value": [row.value for row in rows]})
    keys = [part[2].rpartition(".d=") for part in parts]
    return table.assign(key=[key[0] for key in keys], components=[int(key[2]) for key in keys])


def main() -> None:
    """Draw all."""
    draw({"ranks": ranks, "differences": differences, "exact": exact}, PLACE)


if __name__ == "__main__":
    main()
