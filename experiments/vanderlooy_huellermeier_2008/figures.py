"""Figures 1 to 5 and two of ours: ``python -m experiments.vanderlooy_huellermeier_2008.figures``.

The simulations of Figs. 2 and 3 are run again (half a minute), with the seeds of the results; Figs. 4 and 5 and ours
are drawn from results/table2.csv and table3.csv.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

from auclab.displays._style import _RC, BLUE, GREEN, GREY, INK, ORANGE, PALE, RED, SERIES, despine
from experiments.scoreboard import claims
from experiments.study import AS_PUBLISHED, CORRECTED, Row, read
from experiments.vanderlooy_huellermeier_2008 import bias_variance, modifiers, selection
from experiments.vanderlooy_huellermeier_2008.data_sets import SETS
from experiments.vanderlooy_huellermeier_2008.regret import PAIRS, PUBLISHED

HERE = Path(__file__).parent
TITLES = {
    "auc": "AUC", "sauc": "sAUC", "soft": "softAUC", "prob": "probAUC", "bauc": "bAUC", "voros": "VOROS",
    "soft3": "softAUC β = 3", "soft10": "softAUC β = 10",
}  # fmt: skip
#: Blocks of Table 2, and Table 3, by the start of their claims.
BLOCKS = {
    "table2.{}.j48": "Table 2: trees", "table2.{}.nb": "Table 2: naive Bayes",
    "table2.{}.logistic": "Table 2: logistic", "table3.{}": "Table 3: two trees",
}  # fmt: skip
LOOKS = dict(zip(("auc", "sauc", "soft3", "soft10", "prob"), SERIES, strict=False))
#: Mean and standard error by claim and variant.
Values = Mapping[tuple[str, str], tuple[float, float]]


def figure1() -> Figure:
    """Modifiers, and eq. (5) as printed and as it has to be."""
    figure, (left, right) = _panels(1, 2, (6.6, 2.5))
    t = np.linspace(-0.5, 0.5, 1001)
    for name in ("auc", "sauc", "soft10", "prob"):
        left.plot(t, modifiers.modifier(selection.METRICS[name])(t), label=TITLES[name], **LOOKS[name])
    right.plot(t, modifiers.modifier(selection.METRICS["prob"])(t), label="as the integral asks", **LOOKS["prob"])
    printed = modifiers.printed(t)
    printed[1:][np.abs(np.diff(printed)) > 0.1] = np.nan  # a jump is no line
    right.plot(t, printed, label="equation (5) as printed", color=INK)
    for ax, title in ((left, "modifiers"), (right, "probAUC, h = 0.1")):
        ax.set(xlabel="score difference t of a pair", ylabel="what a pair counts, w(t)", title=title)
        ax.legend(loc="upper left")
    return figure


def figure2() -> Figure:
    """Bias and variance against the strength of the scorer, 5,000 repetitions."""
    count = bias_variance.REPETITIONS["full"] // bias_variance.PARTS
    values = np.concatenate([bias_variance.part_values(seed, count) for seed in range(bias_variance.PARTS)], axis=2)
    bias = values.mean(axis=2) - bias_variance.true_auc(bias_variance.STRENGTHS)[:, None]  # type: ignore[index]
    figure, axes = _panels(1, 2, (6.6, 2.5))
    labels = "bias against the true AUC", "variance (AUC²)"
    for ax, label, curves in zip(axes, labels, (bias, values.var(axis=2, ddof=1)), strict=True):
        for metric, curve in zip(bias_variance.METRICS, curves.T, strict=True):
            ax.plot(bias_variance.STRENGTHS, curve, label=TITLES[metric], **LOOKS[metric])
        ax.set(xlabel="strength α of the scorer", ylabel=label)
    axes[1].legend()
    return figure


def figure3() -> Figure:
    """Share of right selections against n, in the three readings of "distance"."""
    readings = {"": "(1 + distance)/2", "signed": "signed distance", "unscaled": "weights at their lengths"}
    figure, axes = _panels(1, 3, (6.6, 2.8), sharey=True)
    count = selection.REPETITIONS["full"] // selection.PARTS
    for ax, (variant, title) in zip(axes, readings.items(), strict=True):
        parts = [
            selection.part_shares(seed, selection.SIZES, count, variant) for seed in range(selection.PARTS)
        ]  # fmt: skip
        for metric, curve in zip(selection.METRICS, np.mean(parts, axis=0).T, strict=True):
            ax.plot(selection.SIZES, curve, label=TITLES[metric], marker="o", markersize=2.5, **LOOKS[metric])
        ax.axhline(1 / 3, color=PALE, zorder=0)
        ax.set(xscale="log", xlabel="instances n", title=title, ylim=(0.1, 1.02))
        ax.set_xticks(selection.SIZES, map(str, selection.SIZES), rotation=45)
        ax.minorticks_off()
    axes[0].set_ylabel("share of right selections")
    axes[1].text(40, 1 / 3, "chance", color=GREY, va="bottom", fontsize=7)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def bars(values: Values, figure_name: str) -> Figure:
    """Figs. 4 and 5: wins to the left, losses to the right, six pairs of metrics, a panel per data set."""
    figure, axes = _panels(4, 4, (6.6, 6.6), sharex=True, sharey=True)
    height = np.arange(len(PAIRS))[::-1]
    for ax, name in zip(axes.flat, SETS, strict=True):
        for place, (one, other) in zip(height, PAIRS, strict=True):
            ax.barh(place, -values[f"{figure_name}.{name}.{one}_over_{other}", ""][0], color=BLUE, height=0.7)
            ax.barh(place, values[f"{figure_name}.{name}.{other}_over_{one}", ""][0], color=ORANGE, height=0.7)
        ax.axvline(0, color=INK, linewidth=0.6)
        ax.set_title(name.replace("_", " "), pad=2)
    axes[0, 0].set_yticks(height, [f"{TITLES[one]} : {TITLES[other]}" for one, other in PAIRS])
    reach = max(abs(limit) for limit in axes[0, 0].get_xlim())
    axes[0, 0].set_xlim(-reach, reach)
    axes[0, 0].xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    figure.supxlabel(
        "share of runs: the first selects the better (left, blue), the second does (right, orange)", size=8
    )
    return figure


def printed_and_ours(values: Values) -> Figure:
    """Tables 2 and 3, every cell: printed against ours."""
    published = {claim.claim_id: claim.value for claim in claims(HERE.name)}
    figure, axes = _panels(1, 4, (6.6, 2.2), sharex=True, sharey=True)
    looks = dict(zip(PUBLISHED, zip((BLUE, RED, GREEN, ORANGE), "os^D", strict=True), strict=True))
    for ax, (stem, title) in zip(axes, BLOCKS.items(), strict=True):
        for metric, (colour, marker) in looks.items():
            cells = [f"{stem.format(name)}.{metric}" for name in SETS]
            x, y = [published[cell] for cell in cells], [_main(values, cell)[0] for cell in cells]
            ax.plot(x, y, marker, markersize=3, mfc="none", mec=colour, mew=0.7, label=TITLES[metric])
        ax.plot([3e-4, 0.3], [3e-4, 0.3], color=GREY, linewidth=0.6, zorder=0)
        ax.set(xscale="log", yscale="log", title=title, xlabel="regret, printed")
        ax.minorticks_off()
    axes[0].set_ylabel("regret, ours")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def columns(values: Values) -> Figure:
    """Mean regret over the data sets, by metric, with bAUC and VOROS; whiskers are two standard errors."""
    published = {claim.claim_id: claim.value for claim in claims(HERE.name)}
    figure, axes = _panels(1, 4, (6.6, 2.3))
    metrics = [*PUBLISHED, "bauc", "voros"]
    places = np.arange(len(metrics))[::-1]
    for ax, (stem, title) in zip(axes, BLOCKS.items(), strict=True):
        means, errors = zip(*(_main(values, f"{stem.format('mean')}.{metric}") for metric in metrics), strict=True)
        ax.errorbar(means, places, xerr=2 * np.array(errors), fmt="o", color=BLUE, markersize=3, label="ours")
        printed = [published[f"{stem.format('mean')}.{metric}"] for metric in PUBLISHED]
        ax.plot(printed, places[: len(printed)], "x", color=RED, markersize=4, label="printed")
        chance = values[f"{stem.format('mean')}.chance", ""][0]
        ax.axvline(chance, color=GREY, linestyle=":", label="a candidate drawn at random")
        ax.set(title=title, xlabel="mean regret", xlim=(0, 1.1 * max(chance, *printed, *means)))
        ax.set_yticks(places, [TITLES[metric] for metric in metrics] if ax is axes[0] else [""] * len(metrics))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _main(values: Values, claim: str) -> tuple[float, float]:
    return values.get((claim, ""), values.get((claim, CORRECTED), (np.nan, np.nan)))


def summarise(rows: Sequence[Row]) -> Values:
    """Mean over the seeds and its standard error."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row.claim_id, row.variant), []).append(row.value)
    return {
        key: (fmean(own), stdev(own) / len(own) ** 0.5 if len(own) > 1 else 0.0)
        for key, own in found.items()
        if key[1] in ("", CORRECTED, AS_PUBLISHED)
    }


def _panels(rows: int, count: int, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, count, **options)
    for ax in np.ravel(axes):
        ax.tick_params(labelsize=7, width=0.6, length=2.5)
        despine(ax)
    return figure, axes


def save(figure: Figure, name: str) -> None:
    """With a palette of 256 colours, which halves the file."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=180)
    target = HERE / "figures" / f"{name}.png"
    target.parent.mkdir(exist_ok=True)
    Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)
    print(f"{target.relative_to(HERE.parent)}  {target.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Draw all of them."""
    values = summarise([row for name in ("table2", "table3") for row in read(HERE / "results" / f"{name}.csv")[2]])
    with rc_context(_RC):
        save(figure1(), "figure1")
        save(figure2(), "figure2")
        save(figure3(), "figure3")
        save(bars(values, "figure4"), "figure4")
        save(bars(values, "figure5"), "figure5")
        save(printed_and_ours(values), "printed_and_ours")
        save(columns(values), "columns")


if __name__ == "__main__":
    main()
