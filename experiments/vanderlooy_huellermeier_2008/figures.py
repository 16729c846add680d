"""Figures 1 to 5, and two of ours, out of results/: ``python -m experiments.vanderlooy_huellermeier_2008.figures``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from auclab.displays.canvas import BLUE, GREEN, GREY, INK, ORANGE, PALE, RED, SERIES, despine
from experiments.drawing import Summary, draw, panels, summaries
from experiments.scoreboard import claims
from experiments.study import AGREE, CORRECTED, VALUE
from experiments.vanderlooy_huellermeier_2008 import bias_variance, modifiers, selection
from experiments.vanderlooy_huellermeier_2008.data_sets import SETS
from experiments.vanderlooy_huellermeier_2008.regret import PAIRS, PUBLISHED

HERE = Path(__file__).parent
TITLES = {
    "auc": "AUC", "sauc": "sAUC", "soft": "softAUC", "prob": "probAUC", "bauc": "bAUC", "voros": "VOROS",
    "soft3": "softAUC β = 3", "soft10": "softAUC β = 10",
}  # fmt: skip
LOOKS = dict(zip(("auc", "sauc", "soft3", "soft10", "prob"), SERIES, strict=False))
#: Blocks of Table 2, and Table 3, by the start of their claims.
BLOCKS = {
    "table2.{}.j48": "Table 2: trees", "table2.{}.nb": "Table 2: naive Bayes",
    "table2.{}.logistic": "Table 2: logistic", "table3.{}": "Table 3: two trees",
}  # fmt: skip
#: Readings that are nearest to how the tables were made, the first that a cell has: see README.md.
READINGS = {
    "table2": ("class F22, ties one", "independent triples, ties one", "ties one"),
    "table3": ("class F22", CORRECTED, AGREE),
}
Values = Mapping[tuple[str, str], Summary]


def figure1() -> Figure:
    """Modifiers, and eq. (5) as printed and as it has to be."""
    figure, (left, right) = panels(1, 2, (6.6, 2.5))
    t = np.linspace(-0.5, 0.5, 1001)
    for name in ("auc", "sauc", "soft10", "prob"):
        left.plot(t, modifiers.modifier(selection.METRICS[name])(t), label=TITLES[name], **LOOKS[name])
    right.plot(t, modifiers.modifier(selection.METRICS["prob"])(t), label="from the integral", **LOOKS["prob"])
    printed = modifiers.printed(t)
    printed[1:][np.abs(np.diff(printed)) > 0.1] = np.nan  # a jump is not a line
    right.plot(t, printed, label="equation (5) as printed", color=INK)
    for ax, title in ((left, "modifiers"), (right, "probAUC, h = 0.1")):
        ax.set(xlabel="score difference t of a pair", ylabel="what a pair counts, w(t)", title=title)
        ax.legend(loc="upper left")
        despine(ax)
    return figure


def figure2() -> Figure:
    """Bias and variance against the strength of the scorer."""
    values = summaries(HERE / "results" / "bias_variance.csv")
    figure, axes = panels(1, 2, (6.6, 2.5))
    for ax, name, label in zip(axes, ("bias", "variance"), ("bias (AUC)", "variance (AUC²)"), strict=True):
        for metric in bias_variance.METRICS:
            stems = [f"figure2.{name}.{metric}.alpha={strength}" for strength in bias_variance.STRENGTHS]
            curve = [_mean(values, stem) for stem in stems]
            ax.plot(bias_variance.STRENGTHS, curve, label=TITLES[metric], **LOOKS[metric])
        ax.set(xlabel="strength α of the scorer", ylabel=label)
        despine(ax)
    axes[1].legend()
    return figure


def figure3() -> Figure:
    """Share of right selections against n, in the three readings of "distance"."""
    values = summaries(HERE / "results" / "selection.csv")
    readings = {AGREE: "(1 + distance)/2", "signed": "signed distance", "unscaled": "weights at their lengths"}
    figure, axes = panels(1, 3, (6.6, 2.8), sharey=True)
    for ax, (variant, title) in zip(axes, readings.items(), strict=True):
        for metric in selection.METRICS:
            curve = [_mean(values, f"figure3.{metric}.n={n}", variant) for n in selection.SIZES]
            ax.plot(selection.SIZES, curve, label=TITLES[metric], marker="o", markersize=2.5, **LOOKS[metric])
        ax.axhline(1 / 3, color=PALE, zorder=0)
        ax.set(xscale="log", xlabel="instances n", title=title, ylim=(0.1, 1.02))
        ax.set_xticks(selection.SIZES, map(str, selection.SIZES), rotation=45)
        ax.minorticks_off()
        despine(ax)
    axes[0].set_ylabel("share of right selections")
    axes[1].text(40, 1 / 3, "chance", color=GREY, va="bottom", fontsize=7)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def bars(name: str, table: str) -> Figure:
    """Figs. 4 and 5: wins to the left, losses to the right, six pairs of metrics, a panel per data set."""
    values = summaries(HERE / "results" / f"{table}.csv")
    figure, axes = panels(4, 4, (6.6, 6.6), sharex=True, sharey=True)
    height = np.arange(len(PAIRS))[::-1]
    for ax, data in zip(axes.flat, SETS, strict=True):
        wins = [_mean(values, f"{name}.{data}.{one}_over_{other}") for one, other in PAIRS]
        losses = [_mean(values, f"{name}.{data}.{other}_over_{one}") for one, other in PAIRS]
        ax.barh(height, np.negative(wins), color=BLUE, height=0.7)
        ax.barh(height, losses, color=ORANGE, height=0.7)
        ax.axvline(0, color=INK, linewidth=0.6)
        ax.set_title(data.replace("_", " "), pad=2)
        despine(ax)
    axes[0, 0].set_yticks(height, [f"{TITLES[one]} : {TITLES[other]}" for one, other in PAIRS])
    reach = max(abs(limit) for limit in axes[0, 0].get_xlim())
    axes[0, 0].set_xlim(-reach, reach)
    axes[0, 0].xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    for ax in axes[-1]:
        ax.set_xlabel("share of runs")
    figure.suptitle("the first selects the better: left, blue; the second does: right, orange")
    return figure


def printed_and_ours() -> Figure:
    """Tables 2 and 3, every cell: printed against ours in the reading of the paper."""
    values = _tables()
    published = {claim.claim_id: claim.value for claim in claims(HERE.name)}
    figure, axes = panels(1, 4, (6.6, 2.2), sharex=True, sharey=True)
    styles = dict(zip(PUBLISHED, zip((BLUE, RED, GREEN, ORANGE), "os^D", strict=True), strict=True))
    for ax, (stem, title) in zip(axes, BLOCKS.items(), strict=True):
        for metric, (colour, marker) in styles.items():
            cells = [f"{stem.format(name)}.{metric}" for name in SETS]
            x, y = [published[cell] for cell in cells], [_read(values, cell) for cell in cells]
            ax.plot(x, y, marker, markersize=3, mfc="none", mec=colour, mew=0.7, label=TITLES[metric])
        ax.plot([3e-4, 0.3], [3e-4, 0.3], color=GREY, linewidth=0.6, zorder=0)
        ax.set(xscale="log", yscale="log", title=title, xlabel="regret, printed", ylim=(1e-4, 0.4))
        ax.minorticks_off()
        despine(ax)
    axes[0].set_ylabel("regret, ours")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def columns() -> Figure:
    """Mean regret over the data sets, by metric, with bAUC and VOROS; whiskers are two standard errors."""
    values = _tables()
    published = {claim.claim_id: claim.value for claim in claims(HERE.name)}
    figure, axes = panels(1, 4, (6.6, 2.3))
    metrics = [*PUBLISHED, "bauc", "voros"]
    heights = np.arange(len(metrics))[::-1]
    for ax, (stem, title) in zip(axes, BLOCKS.items(), strict=True):
        mean = stem.format("mean")
        found = [_summary(values, f"{mean}.{metric}") for metric in metrics]
        ours, errors = [own.mean for own in found], [2 * own.sd / own.number**0.5 for own in found]
        ax.errorbar(ours, heights, xerr=errors, fmt="o", color=BLUE, markersize=3, label="ours")
        printed = [published[f"{mean}.{metric}"] for metric in PUBLISHED]
        ax.plot(printed, heights[: len(printed)], "x", color=RED, markersize=4, label="printed")
        chance = _mean(values, f"{mean}.chance")
        ax.axvline(chance, color=GREY, linestyle=":", label="a candidate drawn at random")
        ax.set(title=title, xlabel="mean regret", xlim=(0, 1.1 * max(chance, *printed, *ours)))
        ax.set_yticks(heights, [TITLES[metric] for metric in metrics] if ax is axes[0] else [""] * len(metrics))
        despine(ax)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _tables() -> Values:
    both = summaries(HERE / "results" / "table2.csv") | summaries(HERE / "results" / "table3.csv")
    return both | summaries(HERE / "results" / "spect.csv")


def _read(values: Values, claim: str) -> float:
    variants = READINGS[claim.split(".")[0]]
    return next(values[claim, variant].mean for variant in variants if (claim, variant) in values)


def _mean(values: Values, claim: str, variant: str = AGREE) -> float:
    return _summary(values, claim, variant).mean


def _summary(values: Values, claim: str, variant: str = AGREE) -> Summary:
    """Of a claim or a raw value, corrected where print and truth differ."""
    names = (claim, variant), (VALUE + claim, variant), (claim, CORRECTED)
    return next(values[name] for name in names if name in values)


FIGURES: dict[str, Callable[[], Figure]] = {
    "figure1": figure1,
    "figure2": figure2,
    "figure3": figure3,
    "figure4": partial(bars, "figure4", "table2"),
    "figure5": partial(bars, "figure5", "table3"),
    "printed_and_ours": printed_and_ours,
    "columns": columns,
}

if __name__ == "__main__":
    draw(FIGURES, HERE / "figures")
