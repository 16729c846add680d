"""Draw the pictures of docs/kernels.md.

    OMP_NUM_THREADS=1 python docs/kernel_figures.py

The first is of 400 points of two noisy half circles, the second of the 5,000 rows of phoneme that benchmarks/kernels.py
measures, solved to 1e-4.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sklearn.datasets import make_moons

from auclab import RankSVM, solve
from auclab.displays import DecisionContourDisplay, LandmarkGapDisplay
from auclab.kernels import RBF

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "benchmarks")]
from save_figure import save_figure  # noqa: E402

from kernels import PENALTY, sample  # noqa: E402

FOLDER = HERE / "kernels"
TOLERANCE = 1e-4


def draw() -> list[Path]:
    """Both pictures."""
    FOLDER.mkdir(exist_ok=True)
    X, y = make_moons(400, noise=0.3, random_state=0)
    solution = solve(RankSVM(1e-3, squared=True), X, y, kernel=RBF(gamma=1.0), tolerance=1e-3)
    contours = DecisionContourDisplay.from_solution(solution, X, y)
    X, y, *_ = sample()
    program = RankSVM(PENALTY, squared=True)
    solution = solve(program, X, y, kernel=RBF(gamma=2.0 / X.shape[1]), tolerance=TOLERANCE)
    gaps = LandmarkGapDisplay.from_solution(solution, tolerance=TOLERANCE)
    paths = [FOLDER / "contours.png", FOLDER / "landmarks.png"]
    for display, path in zip((contours, gaps), paths, strict=True):
        save_figure(display.figure_, path)
    return paths


if __name__ == "__main__":
    for drawn in draw():
        print(f"{drawn}  {drawn.stat().st_size / 1000:.0f} kB")
