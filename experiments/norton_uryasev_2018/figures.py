"""Figures 2 to 7, the tables and our own studies: ``python -m experiments.norton_uryasev_2018.figures``.

Fig. 2 is drawn from the formula, Figs. 3 to 7 and the paths from the data (seconds), the others from results/.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.stats import lognorm, norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab import CSVM, RankSVM, solve
from auclab.datasets import load
from auclab.displays import BufferedROCDisplay, RankingErrorDisplay, ScoreHistogramDisplay
from auclab.displays.canvas import BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, RED, SKY, despine
from auclab.formulations import ranksvm_to_threshold
from auclab.metrics import auc_threshold
from experiments.drawing import draw, panels, summaries
from experiments.norton_uryasev_2018 import calibrated, page_blocks, proposition8, table1, table2
from experiments.norton_uryasev_2018.lambda_path import TOLERANCE, penalties, sample
from experiments.scoreboard import claims
from experiments.study import AGREE, VALUE

HERE = Path(__file__).parent
METRICS = {
    "bauc": ("bAUC", BLUE, "o"),
    "auc": ("AUC", INK, "s"),
    "pauc": ("pAUC", ORANGE, "^"),
    "sauc": ("sAUC", RED, "v"),
}
CLASSIFIERS = {
    "adaboost": ("AdaBoost", BLUE), "svm": ("linear SVM", ORANGE), "forest": ("random forest", GREEN),
    "qda": ("QDA", PURPLE), "bayes": ("naive Bayes", SKY), "neighbours": ("5 neighbours", RED),
    "net": ("neural net", GREY), "logistic": ("logistic regression", INK),
}  # fmt: skip


def figure2() -> Figure:
    """POE and bPOE of a lognormal variable: the worst outcomes whose mean is z."""
    z, law = 3.0, lognorm(1.0)

    def tail_mean(quantile: float) -> float:
        """E[X | X > q] of the standard lognormal law, in closed form."""
        return float(np.exp(0.5) * norm.sf(np.log(quantile) - 1) / law.sf(quantile))

    quantile = brentq(lambda q: tail_mean(q) - z, 0.01, z)
    figure, ax = panels(1, 1, (5.0, 2.6))
    x = np.linspace(0, 7, 1401)[1:]
    ax.plot(x, law.pdf(x), color=INK)
    for low, high, colour, label in (
        (z, 7.0, RED, f"X > z: POE = {law.sf(z):.3f}"),
        (quantile, z, SKY, f"with X > q: bPOE = {law.sf(quantile):.3f}, mean of X there is z"),
    ):
        part = (x >= low) & (x <= high)
        ax.fill_between(x[part], law.pdf(x[part]), color=colour, label=label)
    for level, word in ((quantile, "q"), (z, "z")):
        ax.axvline(level, ymax=0.5, color=INK, linewidth=0.8)
        ax.text(level, 0.36, f" {word} = {level:.3g}")
    ax.set(xlabel="X, lognormal (μ = 0, σ = 1)", ylabel="density", xlim=(0, 7), ylim=(0, 0.7))
    ax.legend(loc="upper right")
    despine(ax)
    return figure


def _pima() -> tuple[np.ndarray, np.ndarray]:
    """Labels and log odds of half of pima, by logistic regression on the other half (as in `threshold_family`)."""
    data = load("pima")
    X_train, X_test, y_train, y_test = train_test_split(
        data.frame.to_numpy(dtype=float), data.y, test_size=0.5, stratify=data.y, random_state=0
    )
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    return y_test, model.decision_function(X_test)


def figure3() -> Figure:
    """The ranking errors that AUC and bAUC count."""
    figure, ax = panels(1, 1, (5.0, 3.0))
    RankingErrorDisplay.from_predictions(*_pima(), name="pima, logistic regression, log odds", ax=ax)
    return figure


def figure4() -> Figure:
    """ROC and bROC of one scorer."""
    figure, ax = panels(1, 1, (3.6, 3.6))
    BufferedROCDisplay.from_predictions(*_pima(), ax=ax)
    return figure


def _blocks() -> list[tuple[str, str, np.ndarray, np.ndarray]]:
    """Name, colour, labels and scores of the classifiers of Figs. 5 and 6 on the first split."""
    data = load("page_blocks")
    X_train, X_test, y_train, y_test = train_test_split(
        data.frame.to_numpy(dtype=float), data.y, stratify=data.y, random_state=0
    )
    found = []
    for (key, variant), model in page_blocks.classifiers().items():
        if variant == AGREE:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                scores = model.fit(X_train, y_train).decision_function(X_test)
            found.append((*{"lr": ("logistic regression", BLUE), "svm": ("linear SVM", RED)}[key], y_test, scores))
    return found


def figure5() -> Figure:
    """ROC and bROC of two classifiers on page blocks."""
    figure, ax = panels(1, 1, (4.4, 4.4))
    for name, colour, y, scores in _blocks():
        display = BufferedROCDisplay.from_predictions(y, scores, name=name, ax=ax, curve_kwargs={"color": colour})
        display.line_.set_linestyle("-")
    ax.legend(loc="lower right", title="page blocks, one split")
    return figure


def figure6() -> Figure:
    """Scores of the two classifiers."""
    figure, axes = panels(2, 1, (5.0, 4.4))
    for ax, (name, _, y, scores) in zip(axes, reversed(_blocks()), strict=True):
        low, high = np.quantile(scores, [0.005, 0.995])
        inside = (scores >= low) & (scores <= high)
        ScoreHistogramDisplay.from_predictions(y[inside], scores[inside], name=name, bins=60, ax=ax)
        ax.set_xlabel("score, the middle 99 %" if "SVM" in name else "log odds, the middle 99 %")
    return figure


def figure7() -> Figure:
    """The family of bROC curves from bAUC up to AUC."""
    y, scores = _pima()
    figure, ax = panels(1, 1, (4.4, 4.4))
    thresholds = np.linspace(0, auc_threshold(y, scores), 6)
    BufferedROCDisplay.from_predictions(y, scores, thresholds=thresholds.tolist(), ax=ax)
    return figure


def paths() -> Figure:
    """λ, z = −λ/V and 1 − V along the path of RankSVM and of C-SVM on ionosphere."""
    X, y = sample()
    figure, (left, right) = panels(1, 2, (6.6, 2.7))
    for penalised, name, colour, style in (
        (RankSVM, "RankSVM and bAUC_z", BLUE, "-"),
        (CSVM, "C-SVM and EC-SVM", RED, "--"),
    ):
        grid = penalties(penalised, X, y, 16)
        solved = [solve(penalised(penalty=each), X, y, solver="newton", tolerance=TOLERANCE) for each in grid]
        z = [ranksvm_to_threshold(each).formulation.threshold for each in solved]
        left.plot(grid, z, color=colour, linestyle=style, marker="o", markersize=3, label=name)
        right.plot(z, [1 - each.objective for each in solved], color=colour, linestyle=style, marker="o", markersize=3)
    left.set(xscale="log", xlabel="penalty λ", ylabel="threshold z = −λ/V")
    right.set(xlabel="threshold z = −λ/V", ylabel="1 − V, the level α* of Prop. 5")
    left.legend(loc="lower left")
    for ax in (left, right):
        despine(ax)
    return figure


def seconds() -> Figure:
    """Table 1: seconds printed and ours, processor and clock."""
    found = summaries(HERE / "results" / "table1.csv")
    printed = {claim.claim_id: claim.value for claim in claims("norton_uryasev_2018")}
    figure, axes = panels(1, 2, (6.8, 3.0), sharey=True)
    for ax, start, title in zip(axes, ("artificial", "perturbed"), ("artificial", "perturbed ionosphere"), strict=True):
        names = [name for name in table1.SAMPLES if name.startswith(start)]
        x = [float(name.rsplit("_", 1)[1]) for name in names]
        for key, word, marker in (("solve", "solve (21)", "o"), ("evaluate", "calculate (23)", "s")):
            ids = [f"table1.{name}.{key}" for name in names]
            ax.plot(
                x, [printed[each] for each in ids], color=GREY, linestyle=":", marker=marker, label=f"{word}, printed"
            )
            ours = [found[each, AGREE].mean for each in ids]
            ax.plot(x, ours, color=BLUE, marker=marker, label=f"{word}, auclab")
        others = [found[f"table1.{n}.solve", AGREE].mean * found[f"table1.{n}.lbfgsb", AGREE].mean for n in names]
        ax.plot(x, others, color=ORANGE, linestyle="--", marker="^", label="(21) by L-BFGS-B")
        ax.set(xscale="log", yscale="log", xlabel="positives", title=title)
        despine(ax)
    axes[0].set_ylabel("seconds (ours: of the processor)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def selected() -> Figure:
    """Table 2: mean test AUC of what each metric selects, printed and ours."""
    found = summaries(HERE / "results" / "table2.csv")
    expected = {claim.claim_id: claim for claim in claims("norton_uryasev_2018")}
    figure, axes = panels(1, 4, (7.0, 3.4), sharey=True)
    rows = np.arange(len(table2.SETS))[::-1]
    for ax, (metric, (title, colour, _)) in zip(axes, METRICS.items(), strict=True):
        ids = [f"table2.{name}.{metric}" for name in table2.SETS]
        ours = [found[each, AGREE] for each in ids]
        errors = [2 * each.sd / each.number**0.5 for each in ours]
        ax.errorbar([each.mean for each in ours], rows, xerr=errors, color=colour, fmt="o", markersize=4, label="ours")
        ax.plot([expected[each].value for each in ids], rows, "x", color=GREY, markersize=5, label="printed")
        ax.set(title=f"selected by {title}", xlim=(0.4, 1.02), xlabel="test AUC")
        ax.grid(axis="y")
        despine(ax)
    axes[0].set_yticks(rows, [expected[f"table2.{name}.auc"].where.split(", ")[1] for name in table2.SETS])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, title="bars: two standard errors over splits")
    return figure


def chosen() -> Figure:
    """Table 2: which classifier each metric selects."""
    found = summaries(HERE / "results" / "table2.csv")
    titles = {"voros": "VOROS", "soft": "softAUC", "prob": "probAUC"} | {
        key: title for key, (title, *_) in METRICS.items()
    }
    bars = {key: titles[key[0]] + (f" ({key[1]})" if key[1] else "") for key in table2.SELECTORS}
    figure, ax = panels(1, 1, (6.6, 3.2))
    rows, left = np.arange(len(bars))[::-1], np.zeros(len(bars))
    for classifier in table2.POOLS[AGREE]:
        title, colour = CLASSIFIERS[classifier]
        share = np.array([found[f"{VALUE}chosen.{m}.{classifier}", v].mean for m, v in bars]) / len(table2.SETS)
        ax.barh(rows, share, left=left, color=colour, edgecolor="white", linewidth=0.5, label=title)
        left += share
    ax.set_yticks(rows, list(bars.values()))
    ax.set(xlabel="share of data sets and splits on which it is selected", xlim=(0, 1))
    despine(ax)
    figure.legend(loc="outside right center")
    return figure


def probabilities() -> Figure:
    """Sect. 4.2.1: AUC and bAUC against the Brier score, before and after Platt's map."""
    found = summaries(HERE / "results" / "calibrated.csv")
    figure, axes = panels(2, 2, (6.8, 4.6))
    for row, name in zip(axes, calibrated.SETS, strict=True):
        for ax, metric in zip(row, ("auc", "bauc"), strict=True):
            for key in calibrated.classifiers(0):
                ends = [
                    (found[f"{VALUE}{name}.brier.{key}", v].mean, found[f"{VALUE}{name}.{metric}.{key}", v].mean)
                    for v in (calibrated.AS_IS, calibrated.PLATT)
                ]
                title, colour = CLASSIFIERS[key]
                ax.plot(*zip(*ends, strict=True), color=colour, linewidth=0.9)
                ax.plot(*ends[0], "o", color=colour, markerfacecolor="white")
                ax.plot(*ends[1], "o", color=colour, label=title)
            ax.set(
                title=name.replace("_", " "), xlabel="Brier score (less is better)", ylabel=f"test {METRICS[metric][0]}"
            )
            despine(ax)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=5, title="open: as it is, filled: after Platt's map"
    )
    return figure


def guarantees() -> Figure:
    """Prop. 8: lower ends over λ, and the bAUC of the other half."""
    found = summaries(HERE / "results" / "proposition8.csv")
    styles = {
        "bauc": ("bAUC of the other half", INK, "-", "o"), "published": ("as printed, a = 1", RED, "--", "v"),
        "published_best_a": ("as printed, best a", ORANGE, ":", "^"),
        "pairwise": ("proved for pairs, a = 1", BLUE, "-.", "s"),
    }  # fmt: skip
    figure, axes = panels(1, 3, (7.0, 3.0), sharey=True)
    for ax, name in zip(axes, proposition8.SETS, strict=True):
        ax.axhspan(-1e5, 0, color=PALE, alpha=0.4, linewidth=0)
        for key, (title, colour, style, marker) in styles.items():
            variants = [f"lambda={penalty:g}" for penalty in proposition8.PENALTIES]
            values = [found[f"{VALUE}prop8.{name}.{key}", variant].mean for variant in variants]
            ax.plot(proposition8.PENALTIES, values, color=colour, linestyle=style, marker=marker, label=title)
        ax.set_yscale("symlog", linthresh=1)
        ax.set(xscale="log", xlabel="penalty λ", title=name, ylim=(-1e5, 1.5))
        despine(ax)
    axes[0].set_ylabel("lower bound of bAUC (grey: vacuous)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


FIGURES = {
    "figure2": figure2, "figure3": figure3, "figure4": figure4, "figure5": figure5, "figure6": figure6,
    "figure7": figure7, "paths": paths, "table1": seconds, "table2": selected, "chosen": chosen,
    "calibrated": probabilities, "proposition8": guarantees,
}  # fmt: skip

if __name__ == "__main__":
    draw(FIGURES, HERE / "figures")
