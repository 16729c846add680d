"""Draw the picture of docs/how_it_works.md.

    python docs/how_it_works_figure.py

Left: the hinge and its smoothed versions, whose minima newton follows. Right: the objective and the lower bound of a
solve, which close in on the optimum from both sides.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from auclab import RankSVM, solve
from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.displays.canvas import BLUE, GREEN, GREY, INK, RC_PARAMS, despine

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from save_figure import save_figure  # noqa: E402

PATH = HERE / "how_it_works" / "closing.png"
WIDTHS = (0.8, 0.3)


def smoothed(margin: np.ndarray, h: float) -> np.ndarray:
    """The hinge with a parabola within h of its kink at 1: ``(1 − m + h)² / (4h)``."""
    error = 1.0 - margin
    return np.where(np.abs(error) < h, (error + h) ** 2 / (4.0 * h), np.maximum(error, 0.0))


def _hinge(axes: Axes) -> None:
    margin = np.linspace(-0.5, 2.2, 400)
    for h, colour in zip(WIDTHS, (GREEN, BLUE), strict=True):
        axes.plot(margin, smoothed(margin, h), color=colour, label=f"h = {h}")
    axes.plot(margin, np.maximum(1.0 - margin, 0.0), color=INK, linewidth=1.0, label="hinge")
    axes.set(xlabel="margin of a pair", ylabel="cost", xticks=(0, 1, 2), title="smoothing width h")
    axes.legend(frameon=False)


def _bounds(axes: Axes) -> None:
    data = load("ionosphere")
    X = standard(data).fit_transform(data.X)
    solution = solve(RankSVM(0.001, squared=True), X, data.y, solver="cutting_plane", tolerance=1e-4)
    _, objective, bound = map(np.array, zip(*solution.history, strict=True))
    steps = np.arange(1, len(bound) + 1)
    axes.fill_between(steps, bound, objective, color=GREY, alpha=0.25, label="gap")
    axes.plot(steps, objective, color=BLUE, label="objective")
    axes.plot(steps, bound, color=GREEN, label="lower bound")
    axes.set(xlabel="step", ylim=(0.0, 0.2), title="the optimum lies between")
    axes.legend(frameon=False)


def draw() -> Path:
    """Both panels."""
    with rc_context(RC_PARAMS):
        figure = Figure(figsize=(6.4, 2.5), layout="constrained")
        for axes, panel in zip(figure.subplots(1, 2), (_hinge, _bounds), strict=True):
            panel(axes)
            despine(axes)
        PATH.parent.mkdir(exist_ok=True)
        save_figure(figure, PATH)
    return PATH


if __name__ == "__main__":
    print(draw())
