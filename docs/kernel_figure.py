"""Draw the picture of docs/kernels.md.

    OMP_NUM_THREADS=1 python docs/kernel_figure.py

It is of the 5,000 rows of phoneme that benchmarks/kernels.py measures, solved to 1e-4.
"""

from __future__ import annotations

import sys
from pathlib import Path

from auclab import RankSVM, solve
from auclab.displays import LandmarkGapDisplay
from auclab.kernels import RBF

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "benchmarks")]
from save_figure import save_figure  # noqa: E402

from kernels import PENALTY, sample  # noqa: E402

TOLERANCE = 1e-4


def draw() -> Path:
    """The picture."""
    X, y, *_ = sample()
    program = RankSVM(PENALTY, squared=True)
    solution = solve(program, X, y, kernel=RBF(gamma=2.0 / X.shape[1]), tolerance=TOLERANCE)
    display = LandmarkGapDisplay.from_solution(solution, tolerance=TOLERANCE)
    path = HERE / "kernels" / "landmarks.png"
    path.parent.mkdir(exist_ok=True)
    save_figure(display.figure_, path)
    return path


if __name__ == "__main__":
    drawn = draw()
    print(f"{drawn}  {drawn.stat().st_size / 1000:.0f} kB")
