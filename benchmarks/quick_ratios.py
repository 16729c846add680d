"""Two ratios on the screen, each measured in turn in one process: small solves, and L-BFGS-B.

    python benchmarks/quick_ratios.py small       # processor milliseconds, 100 × 5, solves and a fit of the estimator
    python benchmarks/quick_ratios.py lbfgsb      # processor seconds of bAUC beside fifteen lines with L-BFGS-B

The last takes one thread for the linear algebra, which OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1 set for both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from shapes import PROGRAMS, gaussian
from user_code import artificial, minimise

from auclab import BufferedAUC, solve
from auclab.datasets import load
from auclab.estimators import AUCClassifier


def in_turn(works: Sequence[Callable[[], Any]], repetitions: int, clock: Callable[[], float]) -> list[float]:
    """Medians of the seconds of each, one after the other, after a first time that is not counted."""
    spent: list[list[float]] = [[] for _ in works]
    for round_ in range(repetitions + 1):
        for k, work in enumerate(works):
            begin = clock()
            work()
            if round_:
                spent[k].append(clock() - begin)
    return [median(each) for each in spent]


def small() -> None:
    """100 × 5."""
    X, y = gaussian(100, 5)
    names = ("RankSVM²", "RankSVM l1", "RankSVM linf", "bAUC", "bAUC z", "partial AUC")
    for name in names:
        fit = partial(AUCClassifier(PROGRAMS[name]).fit, X, y)
        own, fitted = in_turn([partial(solve, PROGRAMS[name], X, y), fit], 25, process_time)
        print(f"{name:12} solve {1e3 * own:.2f} ms, fit {1e3 * fitted:.2f} ms, ratio {fitted / own:.2f}", flush=True)


def lbfgsb() -> None:
    """Beside the program of a user."""
    a9a = load("a9a")
    tables = {
        "artificial 10⁴ + 10⁴ × 10": artificial(10_000)(),
        "artificial 10⁵ + 10⁵ × 10": artificial(100_000)(),
        "a9a": (sp.csr_array(np.asarray(a9a.X, dtype=float)), np.asarray(a9a.y)),
    }
    for name, (X, y) in tables.items():
        upper = y == y.max()
        works = partial(minimise, X[upper], X[~upper], 0.0), partial(solve, BufferedAUC(), X, y, solver="newton")
        theirs, own = in_turn(works, 9, process_time)
        print(f"{name:26} L-BFGS-B {theirs:.3f} s, newton {own:.3f} s, ratio {own / theirs:.2f}", flush=True)


if __name__ == "__main__":
    for part in sys.argv[1:] or ("small", "lbfgsb"):
        {"small": small, "lbfgsb": lbfgsb}[part]()
