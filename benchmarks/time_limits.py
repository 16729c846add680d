"""Seconds that a solve takes beyond its time limit, and how far off is the estimate of what cannot be stopped.

    python benchmarks/time_limits.py

Two tables on the screen: wall and processor seconds of programs that would take minutes, with a limit of one second,
LATE beyond 1.1 times the limit and half a second by the clock; and processor seconds of clarabel on 16,000 points
beside what `auclab.solvers.budget` estimates for 5 and for 35 iterations.
"""

from __future__ import annotations

import math
from time import perf_counter, process_time

import numpy as np

from auclab import CSVM, AuclabError, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import Array
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.budget import indivisible

LIMIT = 1.0
#: Rows of a class, columns, and the solvers with the programs that would take minutes there.
CASES = (
    (3_000, 40, "auto newton cutting_plane highs", RankSVM(0.001, "l1")),
    (3_000, 40, "auto highs", GeneralizedBufferedAUC(0.2, "linf")),
    (3_000, 40, "newton cutting_plane", PartialAUC(0.1, 1e-4)),
    (3_000, 40, "clarabel scs", CSVM(0.001, "l1")),
    (1_500, 3_000, "auto newton cutting_plane interior", CSVM(0.001, "l1")),
    (50_000, 200, "auto newton cutting_plane", RankSVM(1e-5, squared=True)),
)


def classes(size: int, n_features: int, shift: float) -> tuple[Array, Array]:
    """Two normal classes of so many rows each."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], size)
    return rng.normal(size=(2 * size, n_features)) + shift * y[:, None], y


def beyond_the_limit() -> None:
    """A line for every solver."""
    for size, n_features, solvers, program in CASES:
        X, y = classes(size, n_features, 0.05)
        X, few = np.round(X, 1), slice(size - 30, size + 30)
        for solver in solvers.split():
            solve(program, X[few, :30], y[few], solver=solver)  # imports
            begin, used = perf_counter(), process_time()
            try:
                status = str(solve(program, X, y, solver=solver, time_limit=LIMIT, tolerance=1e-12).status)
            except AuclabError as error:
                status = f"refused: {error}"
            seconds, used = perf_counter() - begin, process_time() - used
            late = "  LATE" if seconds > 1.1 * LIMIT + 0.5 else ""
            table = f"{2 * size:,} × {n_features:,}"
            took = f"{seconds:6.2f} s of {LIMIT:g} s, {used:6.2f} of a processor"
            print(f"{table:16} {solver:14} {program.name:18} {took}, {status}{late}", flush=True)


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
