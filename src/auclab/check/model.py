"""The model that a run has kept, against the point that its certificate is about: scores of the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auclab.export.scorer import SCORER_FILE
from auclab.types import AuclabError

#: The part of the largest score by which two scores of a row may differ, for rounding.
ROUNDING = 1e-9
#: Rows of a sparse matrix that are scored, as a dense table.
MOST_SPARSE_ROWS = 2_000

Vector = NDArray[np.float64]


def scores_of_model(folder: Path, rows: Any, allow: Sequence[str]) -> Vector | str | None:
    """Scores of the first rows by the model of a split, or why there are none.

    None where no model was kept, and for rows in blocks.
    `folder`: of the split. `rows`: of the data set, not prepared. `allow`: types that the model may contain.
    """
    if not (folder / "model" / SCORER_FILE).exists() or hasattr(rows, "stream"):
        return None
    from auclab.tracking.model import load_scorer

    try:
        scorer = load_scorer(folder / "model", allow=allow)
        table = rows[:MOST_SPARSE_ROWS].toarray() if hasattr(rows, "toarray") else rows
        if not hasattr(table, "columns"):
            table = pd.DataFrame(table, columns=[f"x{k}" for k in range(table.shape[1])])
        return np.asarray(scorer.score(table), dtype=np.float64)
    except AuclabError as error:
        return " ".join(str(error).split())


def farthest(scores: Vector, expected: Vector) -> float:
    """The largest difference of scores from expected ones plus a constant, in the largest of these."""
    differences = scores - expected[: scores.size]
    middle = 0.5 * (differences.max() + differences.min())
    return float(np.abs(differences - middle).max() / max(float(np.abs(expected).max()), np.finfo(float).tiny))


def range_of_auc(scores: Vector, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """The least and the largest AUC of scores of two classes that are known up to `ROUNDING`."""
    slack = ROUNDING * float(np.abs(scores).max())
    negatives = np.sort(scores[~positive])
    ends = [
        [np.searchsorted(negatives, scores[positive] + off, side).mean() / negatives.size for side in ("left", "right")]
        for off in (-slack, slack)
    ]
    return float(np.mean(ends[0])), float(np.mean(ends[1]))
