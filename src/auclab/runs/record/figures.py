"""The figures of a run, drawn from its stored scores and path of values, or while the run is written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure

from auclab._core.base import AuclabError
from auclab._core.files import replace_file
from auclab.datasets.target import METRIC_NAMES, WORDS
from auclab.displays import (
    BufferedROCDisplay,
    ConcordanceDisplay,
    LandmarkGapDisplay,
    RankingErrorDisplay,
    ScoreHistogramDisplay,
)
from auclab.displays.canvas import BLUE, DPI, GREY, RED, Display, canvas, despine, number
from auclab.metrics import ScoredPart
from auclab.runs.config.compose import symbol_of
from auclab.runs.split.measured import RankedPart
from auclab.runs.split.tuning import Tuning
from auclab.runs.stored.stored_files import (
    SCORES_FILE,
    TUNING_FIELDS,
    TUNING_FILE,
    damaged,
    read_json,
    read_kernel,
    read_rows,
    read_scores,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURES: dict[str, Any] = {
    "roc": BufferedROCDisplay,
    "ranking_errors": RankingErrorDisplay,
    "scores": ScoreHistogramDisplay,
}


def draw_figures(folder: Path, *, split: str) -> list[Path]:
    """Draw ``roc.png``, ``ranking_errors.png`` and ``scores.png`` of one split into its folder.

    With a kernel also ``landmarks.png``: the certified gap against the number of landmarks. For rows compared within
    groups, by grades or by times only ``concordance.png`` and ``ranking_errors.png``.

    `folder`: holds the ``scores.parquet`` of the split. `split`: its name, for the titles.
    """
    scores = read_scores(folder)
    if scores is None:
        path = folder / SCORES_FILE
        raise AuclabError(f"{path} is missing, and the figures are drawn from it; run the experiment again")
    title = f"{split} · {scores.part} part"
    if scores.target is not None:
        return draw_ranked_part(RankedPart(scores.target, scores.y_score), folder, title=title)
    drawn = draw_part(ScoredPart(scores.y_true, scores.y_score), folder, title=title)
    return [*drawn, *_draw_landmarks(folder, split)]


def draw_part(
    part: ScoredPart, folder: Path, *, title: str, ending: str = "", stems: Iterable[str] = FIGURES
) -> list[Path]:
    """Draw figures of one part of the data into `folder`; `ending`: suffix of their names, such as ``_train``."""
    drawn = []
    for stem in stems:
        display = FIGURES[stem].from_scored_part(part)
        drawn.append(_saved(display, folder / f"{stem}{ending}.png", title))
    return drawn


def draw_ranked_part(part: RankedPart, folder: Path, *, title: str, ending: str = "") -> list[Path]:
    """Draw ``concordance.png`` and ``ranking_errors.png`` of rows compared within groups, by grades or times.

    They have no ROC curve.
    """
    auc, bauc = (WORDS[name] for name in METRIC_NAMES[part.target.kind].values())
    pairs = part.target.pairs
    displays: dict[str, Display] = {
        "concordance": ConcordanceDisplay.from_pairs(pairs, part.scores, name=auc),
        "ranking_errors": RankingErrorDisplay.from_pairs(pairs, part.scores, metrics=(auc, bauc)),
    }
    return [_saved(display, folder / f"{stem}{ending}.png", title) for stem, display in displays.items()]


def _draw_landmarks(folder: Path, split: str) -> list[Path]:
    """The stages of a kernel solve, if there are several."""
    kernel = read_kernel(folder)
    if kernel is None or len(kernel.stages) < 2:
        return []
    display = LandmarkGapDisplay.from_stages(kernel.stages)
    return [_saved(display, folder / "landmarks.png", f"{split} · {kernel.words}")]


def _saved(display: Display, path: Path, title: str) -> Path:
    figure: Any = display.figure_
    figure.suptitle(title.replace("$", r"\$"), fontsize="medium")  # text between dollar signs is typeset as a formula
    return save_figure(figure, path)


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure in one step; links are replaced, not followed."""
    with replace_file(path) as draft:
        figure.savefig(draft, dpi=DPI)
    return path


def draw_tuning(folder: Path) -> list[Path]:
    """Draw ``tuning.png`` of a split from its stored path of values, if its run was tuned."""
    stored = (read_json(folder, "certificate.json") or {}).get("tuning")
    rows = read_rows(folder, TUNING_FILE)
    if stored is None or rows is None:
        return []
    with damaged(folder / TUNING_FILE):
        path = pd.DataFrame(rows).replace("", "nan").astype(float)
        gamma = math.nan if stored["gamma"] is None else stored["gamma"]
        tuning = Tuning(path=path, **{name: stored[name] for name in TUNING_FIELDS} | {"gamma": gamma})
        return [save_figure(draw_tuning_path(tuning), folder / "tuning.png")]


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
        ax.set(xlabel=symbol_of(tuning.parameter), ylabel=f"{tuning.metric}, inner folds")
        gamma = f"γ = {number(tuning.gamma)}, " if tuning.with_gamma else ""
        ax.set_title(f"{gamma}{symbol_of(tuning.parameter)} = {number(tuning.selected)}", color=RED)
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
