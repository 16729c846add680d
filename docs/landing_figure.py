"""Draw the picture of the landing page and the README.

    python docs/landing_figure.py

Two scorers of the same rows with the same AUC. One makes many small ranking errors, the other few large ones; bAUC
tells them apart.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from sklearn.metrics import roc_curve

from auclab.displays import RankingErrorDisplay
from auclab.displays.canvas import BLUE, GREEN, RC_PARAMS, RED, SKY, roc_axes
from auclab.metrics import auc_score, bauc_score

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from save_figure import save_figure  # noqa: E402

PATH = HERE / "landing" / "same_auc.png"
ROWS = 300  # of each class


def scorers() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels, and the scores of both: classes that overlap, and classes further apart with 7 % of negatives on top."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], ROWS)
    noise = rng.normal(0.0, 1.0, 2 * ROWS)
    small = noise + 1.8 * y
    large = noise.copy()
    large[ROWS : ROWS + ROWS * 7 // 100] += 7.0
    low, high = 0.0, 5.0
    for _ in range(60):  # the distance of the classes at which both AUC are equal
        distance = 0.5 * (low + high)
        reached = auc_score(y, large + distance * y) >= auc_score(y, small)
        low, high = (low, distance) if reached else (distance, high)
    return y, {"many small errors": small, "few large errors": large + high * y}


def draw() -> Path:
    """Both ROC curves, and the ranking errors of both."""
    y, scores = scorers()
    with rc_context(RC_PARAMS):
        figure = Figure(figsize=(7.6, 2.6))
        curves, *tails = figure.subplots(1, 3, width_ratios=(0.9, 1.1, 1.1))
        for (name, score), colour, axes in zip(scores.items(), (BLUE, GREEN), tails, strict=True):
            fpr, tpr, _ = roc_curve(y, score)
            curves.plot(fpr, tpr, color=colour, label=name)
            RankingErrorDisplay.from_predictions(y, score, ax=axes)
            axes.get_legend().remove()
            axes.set_title(f"{name}\nAUC {auc_score(y, score):.2f}, bAUC {bauc_score(y, score):.2f}", color=colour)
            axes.set(
                xlabel="ranking error of a pair",
                ylabel="",
                xlim=(-7.5, 9.0),
                xticks=[-5, 0, 5],
                ylim=(0.0, None),
                yticks=[],
            )
            axes.spines["left"].set_visible(False)
        tails[0].set_ylabel("density of pairs")
        roc_axes(curves)
        curves.set(title="ROC curves", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        curves.legend(loc="lower right", handlelength=1.5)
        marks = {"ranked wrongly: 1 − AUC": RED, "the buffer; both together: 1 − bAUC": SKY}
        figure.legend(handles=[Patch(color=c, label=t) for t, c in marks.items()], loc="lower right", ncols=2)
        figure.subplots_adjust(left=0.07, right=0.99, top=0.82, bottom=0.3, wspace=0.12)
        PATH.parent.mkdir(exist_ok=True)
        save_figure(figure, PATH)
    return PATH


if __name__ == "__main__":
    print(draw())
