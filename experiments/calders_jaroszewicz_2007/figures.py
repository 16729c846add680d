"""Figures 1 to 6: ``python -m experiments.calders_jaroszewicz_2007.figures``.

Figs. 1 and 2 are drawn from formulas and ten samples, the others from results/.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from auclab.displays.canvas import BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, RED, SERIES, SKY, despine, ordered
from auclab.metrics.polynomial import step_series
from experiments.calders_jaroszewicz_2007 import accuracy, linear, sampling
from experiments.drawing import draw, panels, sizes, summaries
from experiments.study import AS_PUBLISHED, CORRECTED, VALUE

HERE = Path(__file__).parent
SETS = {
    "sonar": "sonar", "covertype_numeric": "forest cover, 10", "covertype_sample": "forest cover, 54",
    "adult": "adult", "w8a": "w8a", "ijcnn1": "ijcnn1",
}  # fmt: skip
#: Name, colour and marker of a method.
METHODS = {
    AS_PUBLISHED: ("polynomial, as published", ORANGE, "v"),
    linear.CENTRED: ("same, centred columns", GREY, "<"),
    linear.STANDARDISED: ("same, standardised columns", RED, "^"),
    CORRECTED: ("polynomial, stable", BLUE, "o"),
    linear.LDA: ("linear discriminant analysis", INK, "s"),
    **{
        key: (f"RankSVM, λ = {penalty:g}", colour, "D")
        for key, penalty, colour in zip(linear.RANKSVM, linear.PENALTIES, (GREEN, PURPLE, SKY), strict=True)
    },
}


def figure1() -> Figure:
    """The polynomials for the step."""
    figure, ax = panels(1, 1, (5.0, 3.0))
    t = np.linspace(-1.04, 1.04, 401)
    ax.plot(t, np.heaviside(t, 0.5), label="step", color=INK, drawstyle="steps-mid")
    polynomial = step_series(accuracy.DEGREE, "chebyshev")(t)
    ax.plot(t, polynomial, label=f"Chebyshev d = {accuracy.DEGREE}", **SERIES[1])
    ax.set(xlabel="score difference over the largest one, t/s", ylabel="weight w(t) of a pair", ylim=(-0.2, 1.2))
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    despine(ax)
    return figure


def figure2() -> Figure:
    """Error of polynomial AUC by distance of the means and power of the scores, mean of ten samples."""
    errors = np.mean([accuracy.errors_of(seed)[0] for seed in range(10)], axis=0)
    figure, ax = panels(1, 1, (5.0, 3.0))
    for power, row, line_style in zip(accuracy.POWERS, errors, ordered(len(accuracy.POWERS)), strict=True):
        ax.plot(accuracy.DISTANCES, row, marker="o", markersize=3, label=f"p = {power}", **line_style)
    ax.set(xlabel="distance of the class means, in standard deviations", ylabel="|polynomial AUC − AUC|")
    ax.set_yscale("log")
    ax.legend(title="scores to the power", ncols=2)
    despine(ax)
    return figure


def figure3() -> Figure:
    """Seconds of sorting and of all pairs, in units of the polynomial's."""
    found = summaries(HERE / "results" / "run_time.csv")
    figure, ax = panels(1, 1, (5.0, 3.0))
    for (claim, label), line_style in zip(
        {"figure3.soft.ratio": "soft AUC: all pairs", "figure3.auc.ratio": "AUC: sorting"}.items(), SERIES, strict=False
    ):
        ratios = sizes(found, claim)
        n, mean, sd = (list(ratios), [r.mean for r in ratios.values()], [r.sd for r in ratios.values()])
        ax.errorbar(n, mean, yerr=sd, marker="o", markersize=3, capsize=2, label=label, **line_style)
    ax.axhline(1.0, color=PALE, zorder=0)
    ax.set(xscale="log", yscale="log", xlabel="scores", ylabel="seconds, polynomial = 1")
    ax.legend()
    despine(ax)
    return figure


def figure4() -> Figure:
    """Test AUC, gain over discriminant analysis, seconds on every set: mean and standard deviation over ten folds."""
    found = summaries(HERE / "results" / "linear.csv")
    figure, axes = panels(1, 3, (7.4, 4.2), sharey=True)
    for ax, what in zip(axes, ("auc", "no_gain_over_lda", "seconds"), strict=True):
        for k, (method, (label, colour, marker)) in enumerate(METHODS.items()):
            if (f"figure4.{what}.sonar", method) not in found:
                continue  # the gain is that of the polynomials
            values = [found[f"figure4.{what}.{name}", method] for name in SETS]
            rows = np.arange(len(SETS)) + 0.1 * (k - 3.5)
            mean, sd = [value.mean for value in values], [value.sd for value in values]
            styles = {"color": colour, "marker": marker, "markersize": 3.5, "linestyle": "none", "linewidth": 0.9}
            ax.errorbar(mean, rows, xerr=sd, label=label, **styles)
        for row in range(1, len(SETS)):
            ax.axhline(row - 0.5, color=PALE, linewidth=0.5)
        despine(ax)
    axes[0].set_yticks(range(len(SETS)), SETS.values())
    axes[0].invert_yaxis()
    axes[0].set(xlabel="test AUC")
    axes[1].set(xlabel="test AUC less that of LDA (cut)", xlim=(-0.032, 0.052))
    axes[1].axvline(0.0, color=INK, linewidth=0.6)
    axes[2].set(xlabel="seconds of training, one core", xscale="log")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def figure5() -> Figure:
    """AUC reached against seconds: samples, and the polynomial on all rows."""
    return _reached("figure5", "test AUC")


def figure6() -> Figure:
    """The same for soft AUC."""
    return _reached("figure6", f"test soft AUC, β = {sampling.BETA:g}")


def _reached(claim: str, label: str) -> Figure:
    found = summaries(HERE / "results" / "sampling.csv")
    figure, axes = panels(1, len(sampling.DATA), (7.0, 2.6))
    for ax, name in zip(axes, sampling.DATA, strict=True):
        seconds, values = sizes(found, f"{claim}.seconds.{name}"), sizes(found, f"{claim}.reached.{name}")
        x, y = ([summary.mean for summary in it.values()] for it in (seconds, values))
        sd = [summary.sd for summary in values.values()]
        ax.errorbar(x, y, yerr=sd, color=RED, marker="o", markersize=3, capsize=2, linewidth=1, label="samples")
        for n, point in zip(values, zip(x, y, strict=True), strict=True):
            ax.annotate(f"{n:,}", point, (3, -9), textcoords="offset points", color=GREY, fontsize=6)
        polynomial = found[f"{VALUE}{claim}.reached.{name}", CORRECTED]
        ax.axhline(polynomial.mean, color=BLUE, linewidth=0.8, linestyle="--")
        at = found[f"{VALUE}{claim}.seconds.{name}", CORRECTED].mean
        ax.plot([at], [polynomial.mean], color=BLUE, marker="*", markersize=9, linestyle="none", label="polynomial")
        ax.set(xscale="log", xlabel="seconds, one core", title=SETS[name])
        low, high = ax.get_xlim()
        ax.set_xlim(low / 1.2, high * 1.5)
        ax.xaxis.set_major_locator(FixedLocator([0.1, 1, 10]))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter("{x:g}")
        despine(ax)
    axes[0].set_ylabel(label)
    axes[-1].legend(loc="lower right")
    return figure


FIGURES = {
    "figure1": figure1, "figure2": figure2, "figure3": figure3, "figure4": figure4, "figure5": figure5,
    "figure6": figure6,
}  # fmt: skip

if __name__ == "__main__":
    draw(FIGURES, HERE / "figures")
