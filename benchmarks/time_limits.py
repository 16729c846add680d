"""Seconds that a solve takes beyond its time limit, and how far off is the estimate of what cannot be stopped.

    python benchmarks/time_limits.py

Two tables on the screen: wall seconds of programs that would take minutes, with a limit of one second; and processor
seconds of clarabel on 16,000 points beside what `auclab.solvers.budget` estimates for 5 and for 35 iterations.
"""

from __future__ import annotations

import math
from time import perf_counter, process_time

import numpy as np

from auclab import CSVM, GeneralizedBufferedAUC, RankSVM, solve
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.budget import indivisible
from auclab.types import Array

LIMIT = 1.0
CASES = [
    *((solver, RankSVM(0.001, "l1")) for solver in ("auto", "newton", "cutting_plane", "highs")),
    *((solver, GeneralizedBufferedAUC(0.2, "linf")) for solver in ("auto", "highs")),
]


def classes(size: int, n_features: int, shift: float) -> tuple[Array, Array]:
    """Two normal classes of so many rows each."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], size)
    return rng.normal(size=(2 * size, n_features)) + shift * y[:, None], y


def beyond_the_limit() -> None:
    """A line for every solver."""
    X, y = classes(3_000, 40, 0.05)
    X = np.round(X, 1)
    for solver, program in CASES:
        solve(program, X[2_970:3_030], y[2_970:3_030], solver=solver)  # imports
        begin = perf_counter()
        status = solve(program, X, y, solver=solver, time_limit=LIMIT, tolerance=1e-12).status
        print(f"{solver:14} {program.name:18} {perf_counter() - begin:6.2f} s of {LIMIT:g} s, {status}")


def estimate() -> None:
    """Of a solve by clarabel over points."""
    X, y = classes(8_000, 20, 0.5)
    expected = indivisible(Problem(CSVM(0.01), as_sample(X, y)), "clarabel")
    solve(CSVM(0.01), X[7_980:8_020], y[7_980:8_020], solver="clarabel")  # imports
    begin = process_time()
    solve(CSVM(0.01), X, y, solver="clarabel", time_limit=math.inf)
    few, many = (expected.total + count * expected.iteration for count in (5, 35))
    print(f"clarabel on {y.size:,} points: {process_time() - begin:.2f} s, estimated {few:.2f} to {many:.2f} s")


if __name__ == "__main__":
    beyond_the_limit()
    estimate()
