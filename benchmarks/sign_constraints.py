"""What signs of the coefficients cost on large samples: seconds with and without them.

    python benchmarks/sign_constraints.py [--observations 100000] [--features 10] [--repeat 7] [--out FILE.csv]

Processor seconds of `solve` with solver=newton at its default tolerance, runs with and without constraints in turn in
one process with one thread; the ratio is that of the medians. Three of the ten coefficients are at 0 with the signs.
"""

from __future__ import annotations

import argparse
import os

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"})

from pathlib import Path
from statistics import median
from time import process_time

import measured
import numpy as np
from rich.console import Console
from rich.table import Table

from auclab import BufferedAUC, Constraints, GeneralizedBufferedAUC, RankSVM, Solution, solve
from auclab.formulations import CSVM, ECSVM
from auclab.formulations.base import Program

PROGRAMS: tuple[Program, ...] = (
    RankSVM(1e-3, squared=True),
    RankSVM(1e-2),
    RankSVM(1e-2, "l1"),
    BufferedAUC(),
    GeneralizedBufferedAUC(-0.05),
    CSVM(1e-2),
    ECSVM(-0.05),
)
#: Distances of the class means, in standard deviations: three features point the wrong way.
SHIFTS = (0.5, 0.4, 0.3, 0.2, 0.1, 0.0, 0.0, -0.1, -0.2, 0.05)
COLUMNS = ("formulation", "constraints", "seconds", "ratio", "gap", "status", "at_zero", "iterations")


def constraints_of(kind: str, n: int) -> Constraints | None:
    """Constraints by their name."""
    return {
        "none": None,
        "signs": Constraints(nonnegative=range(n)),
        "bounds": Constraints(lower=dict.fromkeys(range(n), -0.05), upper=dict.fromkeys(range(n), 0.3)),
        "sum to one": Constraints(nonnegative=range(n), sum_to=1.0),
    }[kind]


KINDS = ("none", "signs", "bounds", "sum to one")


def timed(program: Program, X: np.ndarray, y: np.ndarray, kind: str) -> tuple[float, Solution]:
    """Processor seconds of a solve, and its solution."""
    constraints, begin = constraints_of(kind, X.shape[1]), process_time()
    solution = solve(program, X, y, solver="newton", constraints=constraints)
    return process_time() - begin, solution


def main() -> None:
    """Run the comparison, write one row a program and kind, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--observations", type=int, default=100_000, help="of each class")
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "sign_constraints.csv")
    arguments = parser.parse_args()
    rng, m, n = np.random.default_rng(0), arguments.observations, arguments.features
    X = rng.normal(size=(2 * m, n))
    X[:m] += np.resize(SHIFTS, n)
    y = np.repeat([1, 0], m)
    rows = []
    for program in PROGRAMS:
        for kind in KINDS:  # loads and compiles what is needed
            timed(program, X, y, kind)
        runs: dict[str, list[tuple[float, Solution]]] = {kind: [] for kind in KINDS}
        for _ in range(arguments.repeat):
            for kind in KINDS:
                runs[kind].append(timed(program, X, y, kind))
        free = median(seconds for seconds, _ in runs["none"])
        for kind in KINDS:
            seconds, solution = median(s for s, _ in runs[kind]), runs[kind][-1][1]
            rows.append(
                (str(program), kind, f"{seconds:.4f}", f"{seconds / free:.2f}", f"{solution.gap:.1e}",
                 str(solution.status), int((solution.coef == 0).sum()), solution.iterations)
            )  # fmt: skip
    with measured.writer(arguments.out, "python benchmarks/sign_constraints.py", COLUMNS) as keep:
        for row in rows:
            keep(dict(zip(COLUMNS, row, strict=True)))
    table = Table(*COLUMNS, title=f"{m:,} + {m:,} × {n}, processor seconds, medians of {arguments.repeat}")
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
