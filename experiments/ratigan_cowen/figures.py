"""Figures 1 to 7, and Tables 1 and 2 as a figure: ``python -m experiments.ratigan_cowen.figures``.

Figs. 1 to 4 are drawn from formulas and the Wisconsin data (seed 0 of the study's splits), the tables from results/.
Figs. 5 to 7 need the downloads of `ultrasound` and `fraud` and are left out without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.base import ClassifierMixin
from sklearn.metrics import roc_curve
from sklearn.model_selection import train_test_split

from auclab._core.base import Array
from auclab.datasets import load
from auclab.datasets.records import Labels
from auclab.displays import LesserAreaDisplay, VOROSDisplay
from auclab.displays.canvas import BLUE, GREY, INK, RED, SERIES, SKY, despine, roc_axes
from auclab.metrics import lesser_area
from auclab.metrics.costs import scorer_hull
from experiments.drawing import draw, panels, summaries
from experiments.ratigan_cowen import breast_cancer, fraud, ultrasound
from experiments.scoreboard import claims
from experiments.study import AGREE

HERE = Path(__file__).parent
TITLES = {"log": "logistic regression", "naive": "naive Bayes", "forest": "random forest"}
KINDS = {"voros": "VOROS", "auroc": "AUROC", "low": "VOROS [0, ¼]", "high": "VOROS [¾, 1]"}
Curves = Mapping[str, tuple[Labels, Array]]


def figure1() -> Figure:
    """The area of lesser classifiers of a point."""
    figure, ax = panels(1, 1, (3.3, 3.3))
    _lesser(ax, 0.2, 0.85, 0.37)
    return figure


def figure2() -> Figure:
    """The same for the better one of the baselines, on both sides of t = ½."""
    figure, axes = panels(1, 2, (6.0, 3.2), sharey=True)
    _lesser(axes[0], 0.0, 0.0, 0.7)
    _lesser(axes[1], 1.0, 1.0, 0.3)
    axes[1].set_ylabel("")
    return figure


def figure3() -> Figure:
    """The lesser area of the baselines against t, and its volume."""
    figure = Figure(figsize=(6.6, 3.0), layout="constrained")
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    ends = np.array([0.0, 1.0])
    LesserAreaDisplay.from_points(ends, ends, ax=left, plot_chance_level=False)
    VOROSDisplay.from_points(ends, ends, ax=right)
    right.set_box_aspect(None, zoom=0.8)
    despine(left)
    return figure


def figure4() -> Figure:
    """ROC curves and surfaces of the three classifiers on the Wisconsin data."""
    data = load("breast_cancer")
    X, y = data.frame.to_numpy(), 1 - data.y
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    models = {name: model for (name, variant), model in breast_cancer.classifiers(0).items() if variant == AGREE}
    return _four({name: _scored(models[name], X_train, y_train, X_test, y_test) for name in TITLES}, zoom=(0.2, 0.8))


def figure5() -> Figure:
    """The same on the ultrasound images."""
    X, y = ultrasound.features()
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    models = ultrasound.classifiers(0)
    return _four({name: _scored(models[name], X_train, y_train, X_test, y_test) for name in TITLES})


def figure6() -> Figure:
    """Hulls of both fraud models, and the best points at the t at which they cost the same."""
    hulls = _fraud_hulls()
    share = fraud.crossing(hulls["m1"], hulls["m2"])
    figure, ax = panels(1, 1, (3.5, 3.5))
    roc_axes(ax)
    best = []
    for (name, (fpr, tpr)), line_style in zip(hulls.items(), SERIES, strict=False):
        ax.plot(fpr, tpr, label=name.upper(), **line_style)
        cheapest = int(np.argmin(share * fpr + (1 - share) * (1 - tpr)))
        best.append((fpr[cheapest], tpr[cheapest]))
    ax.plot(*np.transpose(best), color=INK, marker="o", label=f"equal cost, t = {share:.4f}")
    ax.legend(loc="lower right")
    return figure


def figure7() -> Figure:
    """Surfaces of both fraud models."""
    figure = Figure(figsize=(6.6, 3.2), layout="constrained")
    for k, (name, points) in enumerate(_fraud_hulls().items()):
        VOROSDisplay.from_points(*points, name=name.upper(), ax=figure.add_subplot(1, 2, k + 1, projection="3d"))
    return figure


def tables() -> Figure:
    """What Tables 1 and 2 print, on the spread of our splits."""
    found = summaries(HERE / "results" / "breast_cancer.csv")
    printed = {claim.claim_id: claim.value for claim in claims("ratigan_cowen")}
    figure, ax = panels(1, 1, (6.0, 3.3))
    names = [name for name in printed if name.endswith(tuple(f".{kind}" for kind in KINDS)) and (name, AGREE) in found]
    for row, name in enumerate(names):
        ours = found[name, AGREE]
        ax.errorbar(ours.mean, row, xerr=2 * ours.sd, color=BLUE, marker="o", capsize=2, linewidth=1)
        ax.plot(printed[name], row, color=RED, marker="D", linestyle="none")
        if (name, "labels") in found:
            other = found[name, "labels"]
            ax.errorbar(other.mean, row + 0.25, xerr=2 * other.sd, color=GREY, marker="s", capsize=2, linewidth=1)
    for colour, marker, label in (
        (BLUE, "o", "our splits, mean and two standard deviations"),
        (RED, "D", "print"),
        (GREY, "s", "ours, labels in place of probabilities"),
    ):
        ax.plot([], [], linestyle="none", color=colour, marker=marker, label=label)
    ax.set_yticks(range(len(names)), [_label(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlabel("per cent of the area or volume")
    ax.legend(loc="lower left")
    despine(ax)
    return figure


def _label(claim: str) -> str:
    _, model, what = claim.split(".")
    return f"{TITLES[model]}, {KINDS[what]}"


def _lesser(ax: Axes, h: float, k: float, t: float) -> None:
    """The unit square, what costs more than (h, k), and the line of equal cost through it."""
    roc_axes(ax, chance=False)
    cost = t * h + (1 - t) * (1 - k)
    x = np.linspace(0.0, 1.0, 400)
    line = 1 - (cost - t * x) / (1 - t)
    ax.fill_between(x, 0.0, np.clip(line, 0.0, 1.0), color=SKY, alpha=0.45, linewidth=0)
    inside = (line >= 0) & (line <= 1)
    ax.plot(x[inside], line[inside], color=INK, linewidth=1)
    ax.plot([h], [k], color=RED, marker="o", clip_on=False, zorder=4)
    offset, side = ((8, 8), "left") if k == 0 else ((6, -11), "left") if h < 1 else ((-4, -30), "right")
    ax.annotate(f"({h:g}, {k:g})", (h, k), offset, textcoords="offset points", ha=side)
    ax.text(0.6, 0.3, f"$A_t$ = {float(lesser_area(h, k, t)):.3f}", ha="center")
    ax.set_title(f"t = {t:g}, slope t/(1 − t) = {t / (1 - t):.2f}")


def _four(curves: Curves, zoom: tuple[float, float] | None = None) -> Figure:
    """ROC curves, and a surface for each."""
    figure = Figure(figsize=(6.6, 6.4), layout="constrained")
    ax = figure.add_subplot(2, 2, 1)
    for (name, (y, score)), line_style in zip(curves.items(), SERIES, strict=False):
        fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
        ax.plot(fpr, tpr, label=TITLES[name], **line_style)
        surface = figure.add_subplot(2, 2, 2 + list(curves).index(name), projection="3d")
        VOROSDisplay.from_predictions(y, score, name=TITLES[name], ax=surface)
        surface.set_box_aspect(None, zoom=0.78)  # or the label of the last axis is cut
    roc_axes(ax)
    if zoom is not None:
        ax.set(xlim=(-0.005, zoom[0]), ylim=(zoom[1], 1.005), aspect="auto")
        ax.set_xticks(np.linspace(0, zoom[0], 5))
        ax.set_yticks(np.linspace(zoom[1], 1, 5))
        ax.set_title("upper left corner of ROC space")
    ax.legend(loc="lower right")
    return figure


def _scored(model: ClassifierMixin, X: Array, y: Labels, X_test: Array, y_test: Labels) -> tuple[Labels, Array]:
    return y_test, breast_cancer.held_out_scores(model, X, y, X_test)


def _fraud_hulls() -> dict[str, tuple[Array, Array]]:
    data = load("creditcard")
    columns = {name: data.frame[[column]].to_numpy(float) for name, column in fraud.MODELS.items()}
    return {name: scorer_hull(data.y, fraud.fitted_scores(X, data.y)) for name, X in columns.items()}


FIGURES = {
    "figure1": figure1, "figure2": figure2, "figure3": figure3, "figure4": figure4, "figure5": figure5,
    "figure6": figure6, "figure7": figure7, "tables_1_2": tables,
}  # fmt: skip

if __name__ == "__main__":
    draw(FIGURES, HERE / "figures")
