"""The figures of a run, drawn on request from the scores that it has kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from auclab.displays import BufferedROCDisplay, RankingErrorDisplay, ScoreHistogramDisplay
from auclab.metrics import ScoredPart
from auclab.pipeline.artifacts import SCORES_FILE
from auclab.types import AuclabError

FIGURES: dict[str, Any] = {
    "roc": BufferedROCDisplay,
    "ranking_errors": RankingErrorDisplay,
    "scores": ScoreHistogramDisplay,
}

#: Dots per inch: enough for a screen and a page of print; the scores are kept for larger figures.
DPI = 120


def draw_figures(folder: Path, *, split: str) -> list[Path]:
    """Draw ``roc.png``, ``ranking_errors.png`` and ``scores.png`` of one split into its folder.

    Parameters
    ----------
    folder : Path
        Holds the ``scores.parquet`` of the split.
    split : str
        Its name, for the titles.

    Raises
    ------
    AuclabError
        There is no ``scores.parquet``.
    """
    path = folder / SCORES_FILE
    if not path.exists():
        raise AuclabError(f"{path} is missing, and the figures are drawn from it; run the experiment again")
    scores = pd.read_parquet(path)
    name = str(scores["part"].iloc[0])
    part = ScoredPart(scores["y_true"].to_numpy(), scores["score"].to_numpy())
    drawn = []
    for stem, display_class in FIGURES.items():
        display = display_class.from_scored_part(part)
        display.figure_.suptitle(f"{split} · {name} part", fontsize="medium")
        drawn.append(folder / f"{stem}.png")
        display.figure_.savefig(drawn[-1], dpi=DPI)
    return drawn
