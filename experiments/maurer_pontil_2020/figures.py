"""Rates, coverage and guarantees, from results/: ``python -m experiments.maurer_pontil_2020.figures``.

The paper has no figures; these show its statements.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from auclab.displays.canvas import BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, RED, SERIES, SKY, despine
from experiments.drawing import Summary, draw, panels, sizes, summaries
from experiments.maurer_pontil_2020 import coverage, guarantee

HERE = Path(__file__).parent
LAWS = {"normal": "normal scores", "rare": "one positive in ten", "atoms": "the law of Prop. 1"}
BOUNDS: dict[str, dict[str, Any]] = {
    "published": {"color": RED, "marker": "v", "label": "Theorem 2, as reconstructed"},
    "corrected": {"color": ORANGE, "marker": "^", "label": "Theorem 2, proved here"},
    "max_rank": {"color": PURPLE, "marker": "s", "label": "max_rank"},
    "dkw": {"color": GREEN, "marker": "D", "label": "dkw"},
    "mcdiarmid": {"color": BLUE, "marker": "o", "label": "mcdiarmid"},
}
UNIFORM: dict[str, dict[str, Any]] = {
    "published": {"color": RED, "marker": "v", "label": "Theorem 3, as reconstructed"},
    "corrected": {"color": ORANGE, "marker": "^", "label": "Theorem 3, from Theorem 9"},
    "conditional": {"color": BLUE, "marker": "o", "label": "given the labels (9.1)"},
}


def rates() -> Figure:
    """Errors against n: one scorer, and the largest of a class with its bounds."""
    figure, (left, right) = panels(1, 2, (7.0, 3.2))
    found = summaries(HERE / "results" / "rate.csv")
    labels = {
        "thm2.rate.step": "step, W at the largest rank",
        "thm2.rate": "Lipschitz, W at the largest rank",
        "rate.averaged": "step, W averaged over ties",
    }
    for (claim, label), line_style in zip(labels.items(), SERIES, strict=False):
        _line(left, sizes(found, f"{claim}.error"), label=label, markersize=3, marker="o", **line_style)
    _slope(left, sizes(found, "thm2.rate.error"), 0.6)
    left.set(title="one scorer, the law of Prop. 1", ylabel="root mean squared error")
    uniform = summaries(HERE / "results" / "uniform.csv")
    for method, line_style in UNIFORM.items():
        _line(right, sizes(uniform, f"thm3.width.{method}"), markersize=3, linewidth=1, linestyle="--", **line_style)
    largest = sizes(uniform, "thm3.supremum.max_rank")
    _line(right, largest, color=INK, marker="o", markersize=3, label="largest error in the class")
    _slope(right, largest, 0.6)
    right.axhline(1.0, color=PALE, zorder=0)
    right.set(title="all linear scorers of a plane, W Lipschitz", ylabel="error, bound")
    for ax in (left, right):
        ax.set(xscale="log", yscale="log", xlabel="observations n")
        despine(ax)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower left")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=2)
    return figure


def widths() -> Figure:
    """Half-widths against n, and the error that one sample in twenty exceeds."""
    found = summaries(HERE / "results" / "coverage.csv")
    figure, axes = panels(1, 3, (7.0, 3.1), sharey=True)
    for ax, (law, title) in zip(axes, LAWS.items(), strict=True):
        for method, line_style in BOUNDS.items():
            _line(ax, sizes(found, f"width.{law}.{method}"), markersize=3.5, linewidth=1, **line_style)
        for convention, style in (("max_rank", "-"), ("average", ":")):
            label = f"error, {convention} (95 %)"
            _line(ax, sizes(found, f"error.{law}.{convention}"), color=INK, linestyle=style, label=label)
        ax.axhline(1.0, color=PALE, zorder=0)
        ax.set(xscale="log", yscale="log", xlabel="observations n", title=title)
        ax.set_xticks(coverage.SIZES, [f"{n:,}" for n in coverage.SIZES])
        ax.xaxis.set_minor_locator(NullLocator())
        despine(ax)
    axes[0].set_ylabel("half-width; W at most 1")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def outside() -> Figure:
    """Shares of samples outside, all sizes together, at 1 − δ = 95 %."""
    found = summaries(HERE / "results" / "coverage.csv")
    names = [*coverage.CONVENTIONS, *(f"step.{method}" for method in coverage.ONE_SIDED)]
    figure, ax = panels(1, 1, (5.4, 2.9))
    for k, (law, title) in enumerate(LAWS.items()):
        shares = [found[f"coverage.{law}.{name}", ""] for name in names]
        rows = np.arange(len(names)) + 0.2 * (k - 1)
        styles = {"color": (BLUE, RED, GREEN)[k], "marker": "osD"[k], "linestyle": "none", "markersize": 4}
        ax.plot([100 * share.mean for share in shares], rows, label=title, clip_on=False, **styles)
    ax.axvline(100 * coverage.DELTA, color=GREY, linestyle="--", linewidth=1, label="δ")
    ax.set_yticks(range(len(names)), [_label(name) for name in names])
    ax.invert_yaxis()
    ax.set(xlabel="samples outside, per cent", xlim=(0, 6))
    ax.legend(loc=(0.3, 0.35))
    despine(ax)
    return figure


def promises() -> Figure:
    """Lower bounds of Corollary 4 for the maximiser of partial AUC, and the truth."""
    found = summaries(HERE / "results" / "guarantee.csv")
    figure, ax = panels(1, 1, (5.0, 3.6))
    _line(ax, sizes(found, "cor4.truth"), color=INK, label="truth")
    held = {"color": SKY, "marker": "s", "label": "a second sample, the scorer fixed"}
    for method, line_style in {"heldout": held, **dict(reversed(UNIFORM.items()))}.items():
        _line(ax, sizes(found, f"cor4.promised.{method}"), markersize=3.5, linewidth=1, **line_style)
    ax.axhline(0.0, color=PALE, zorder=0)
    ax.set(xscale="log", ylim=(-1.5, 0.55), xlabel="observations n")
    ax.set_ylabel(f"area up to FPR {guarantee.MAX_FPR:g}, at most {guarantee.MAX_FPR:g}")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    despine(ax)
    return figure


def _line(ax: Axes, found: Mapping[int, Summary], **line_style: Any) -> None:
    ax.plot(list(found), [summary.mean for summary in found.values()], **line_style)


def _slope(ax: Axes, found: Mapping[int, Summary], factor: float) -> None:
    """A guide of slope −½ below a curve."""
    first, *_, last = found
    start = factor * found[first].mean
    line_style: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (1, 2)), "label": "slope −½"}
    ax.plot([first, last], [start, start * (last / first) ** -0.5], **line_style)


def _label(name: str) -> str:
    if name.startswith("step."):
        return f"one side, ramp in a step, {name[5:]}"
    return str(BOUNDS[name]["label"])


FIGURES = {"rates": rates, "widths": widths, "outside": outside, "promises": promises}

if __name__ == "__main__":
    draw(FIGURES, HERE / "figures")
