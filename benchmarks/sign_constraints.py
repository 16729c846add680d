"""What signs of the coefficients cost on large samples: seconds with and without them.

    python benchmarks/sign_constraints.py           # measure, docs/sign_constraints.csv
    python benchmarks/sign_constraints.py --page    # the table of docs/constraints.md, from that file

Processor seconds of `solve` with solver=newton at its default tolerance, runs with and without constraints in turn in
one process with one thread; the ratio is that of the medians. Three of the ten coefficients are at 0 with the signs.
"""

from __future__ import annotations

import argparse
import os

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"})

from collections.abc import Sequence
from statistics import median
from time import process_time

import measured
import numpy as np

from auclab import BufferedAUC, Constraints, GeneralizedBufferedAUC, RankSVM, Solution, solve
from auclab.formulations import CSVM, ECSVM
from auclab.formulations.base import Program

PAGE = measured.ROOT / "docs" / "constraints.md"
RESULTS = PAGE.with_name("sign_constraints.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/sign_constraints.py", "benchmarks/sign_constraints.py --page"
#: Programs, by their name on the page.
PROGRAMS: dict[str, Program] = {
    "RankSVM²": RankSVM(1e-3, squared=True),
    "RankSVM": RankSVM(1e-2),
    "RankSVM, l1": RankSVM(1e-2, "l1"),
    "bAUC": BufferedAUC(),
    "bAUC_z, z = −0.05": GeneralizedBufferedAUC(-0.05),
    "C-SVM": CSVM(1e-2),
    "EC-SVM, z = −0.05": ECSVM(-0.05),
}
#: Observations of each class, and how often each kind is solved.
OBSERVATIONS, REPETITIONS = 100_000, 7
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


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """Seconds with constraints divided by those without, by program and kind."""
    ratio = {(row["formulation"], row["constraints"]): float(row["ratio"]) for row in rows}
    lines = [[name, *(f"{ratio[name, kind]:.2f}" for kind in KINDS[1:])] for name in PROGRAMS]
    return {"cost": measured.table(["seconds with / without", *KINDS[1:]], lines)}


def sentences(rows: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    gap = max(float(row["gap"]) for row in rows)
    return [
        f"{OBSERVATIONS:,} + {OBSERVATIONS:,} rows × {len(SHIFTS)} columns",
        f"gaps of at most {measured.power(gap)}",
    ]


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true")
    if parser.parse_args().page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    rng, n = np.random.default_rng(0), len(SHIFTS)
    X = rng.normal(size=(2 * OBSERVATIONS, n))
    X[:OBSERVATIONS] += SHIFTS
    y = np.repeat([1, 0], OBSERVATIONS)
    with measured.writer(RESULTS, COMMAND, COLUMNS) as keep:
        for name, program in PROGRAMS.items():
            for kind in KINDS:  # loads and compiles what is needed
                timed(program, X[::100], y[::100], kind)
            runs: dict[str, list[tuple[float, Solution]]] = {kind: [] for kind in KINDS}
            for _ in range(REPETITIONS):
                for kind in KINDS:
                    runs[kind].append(timed(program, X, y, kind))
            free = median(seconds for seconds, _ in runs["none"])
            for kind in KINDS:
                seconds, solution = median(s for s, _ in runs[kind]), runs[kind][-1][1]
                row = (
                    *(name, kind, f"{seconds:.4f}", f"{seconds / free:.2f}", f"{solution.gap:.1e}"),
                    *(str(solution.status), int((solution.coef == 0).sum()), solution.iterations),
                )
                keep(dict(zip(COLUMNS, row, strict=True)))
                print(*row, flush=True)


if __name__ == "__main__":
    main()
