"""The figures of a run, drawn from its stored scores or while the run is written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from auclab.datasets.target import METRIC_NAMES, WORDS
from auclab.displays import (
    BufferedROCDisplay,
    ConcordanceDisplay,
    LandmarkGapDisplay,
    RankingErrorDisplay,
    ScoreHistogramDisplay,
)
from auclab.displays.base import DPI, Display
from auclab.files import replace_file
from auclab.metrics import ScoredPart
from auclab.pipeline.split.measured import RankedPart
from auclab.pipeline.stored.stored_files import SCORES_FILE, read_kernel, read_scores
from auclab.types import AuclabError

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
    with replace_file(path) as draft:
        figure.savefig(draft, dpi=DPI)
    return path
