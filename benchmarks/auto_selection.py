"""From which size on which solver is the fastest: what the numbers of auclab/solvers/portfolio.py are read from.

    python benchmarks/auto_selection.py                # measure, docs/auto_selection.csv
    python benchmarks/auto_selection.py --page         # the table of docs/all_data_sets.md, from that file

Two normal classes that overlap, of sizes from a few kilobytes up. Every solver that takes a program gets every size
until it has needed more than the limit at a smaller one. Processor seconds (one thread, the median of the repetitions,
in turn, after a solve that loads the compiled loops), so that a busy machine changes little; a solve counts only if its
certified gap is 1e-6. Real data, where auto is compared with each solver, are in all_data_sets.py.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from time import process_time

import measured
import numpy as np

from auclab import CSVM, ECSVM, BufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import AuclabError
from auclab.formulations import Program

PAGE = measured.ROOT / "docs" / "all_data_sets.md"
RESULTS = PAGE.with_name("auto_selection.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/auto_selection.py", "benchmarks/auto_selection.py --page"
FIELDS = ("family", "program", "n_pos", "n_neg", "n_features", "pairs", "entries", "solver", "seconds")
#: Seconds of a solve above which a solver is not asked at larger sizes, and how often each is asked.
LIMIT, REPETITIONS = 3.0, 5
SOLVERS = ("newton", "highs", "clarabel", "cutting_plane", "auto")
#: Family, what its size is counted in, its programs, and (positives, negatives, features) of the samples.
FAMILIES: dict[str, tuple[str, tuple[Program, ...], tuple[tuple[int, int, int], ...]]] = {
    "pairs, linear": (
        "pairs",
        (BufferedAUC(), RankSVM(0.01, "l1"), RankSVM(0.01, "linf")),
        (
            (5, 10, 2),
            (10, 20, 4),
            (15, 40, 4),
            (20, 50, 8),
            (40, 60, 8),
            (60, 100, 10),
            (100, 300, 20),
            (300, 1_000, 20),
        ),
    ),
    "pairs, conic": (
        "pairs",
        (RankSVM(0.01), RankSVM(0.001, squared=True)),
        ((5, 10, 2), (15, 40, 4), (40, 60, 8), (100, 300, 20), (300, 1_000, 20)),
    ),
    "hardest negatives": (
        "pairs",
        (PartialAUC(0.2), PartialAUC(0.2, 0.001, squared=True)),
        ((5, 10, 2), (15, 40, 4), (40, 60, 8), (100, 300, 20), (300, 1_000, 20)),
    ),
    "points, linear": (
        "entries",
        (CSVM(0.01, "l1"), CSVM(0.01, "linf"), ECSVM(-0.1, "l1")),
        (
            (30, 70, 5),
            (100, 200, 10),
            (150, 350, 30),
            (400, 600, 30),
            (1_000, 2_000, 20),
            (1_000, 2_000, 50),
            (4_000, 8_000, 40),
        ),
    ),
    "points, conic": (
        "entries",
        (CSVM(0.01), CSVM(0.001, squared=True), ECSVM(-0.1)),
        (
            (30, 70, 5),
            (100, 200, 10),
            (150, 350, 30),
            (400, 600, 30),
            (1_000, 2_000, 20),
            (1_000, 2_000, 50),
            (4_000, 8_000, 40),
        ),
    ),
}


def sample(n_pos: int, n_neg: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes whose means are a unit and a half apart."""
    rng = np.random.default_rng(n_pos + 7 * n_neg + n_features)
    y = np.repeat([1, 0], [n_pos, n_neg])
    return rng.normal(size=(y.size, n_features)) + 1.5 / math.sqrt(n_features) * y[:, None], y


def measure(limit: float, repetitions: int) -> Iterator[dict[str, str]]:
    """A row for every family, program, size and solver."""
    for family, (unit, programs, sizes) in FAMILIES.items():
        for program in programs:
            given_up: set[str] = set()
            for size in sizes:
                seconds = times(program, size, [s for s in SOLVERS if s not in given_up], limit, repetitions)
                given_up |= {solver for solver, found in seconds.items() if not found < limit}
                n_pos, n_neg, n_features = size
                count = n_pos * n_neg if unit == "pairs" else (n_pos + n_neg) * n_features
                for solver, found in seconds.items():
                    yield {
                        "family": family, "program": program.equation(), "n_pos": str(n_pos), "n_neg": str(n_neg),
                        "n_features": str(n_features), unit: str(count), "solver": solver, "seconds": f"{found:.4g}",
                    }  # fmt: skip


def times(
    program: Program, size: tuple[int, int, int], solvers: list[str], limit: float, repetitions: int
) -> dict[str, float]:
    """The median processor seconds of every solver that takes the program; infinite without a certificate."""
    X, y = sample(*size)
    few = np.r_[:3, -3:0]
    found: dict[str, list[float]] = defaultdict(list)
    for repetition in range(repetitions + 1):
        for solver in solvers:
            if found[solver] and max(found[solver]) > 0.3 * limit:
                continue  # slow ones once
            try:
                if repetition == 0:
                    solve(program, X[few], y[few], solver=solver, time_limit=limit)
                    continue
                begin = process_time()
                solution = solve(program, X, y, solver=solver, time_limit=limit)
            except AuclabError:  # it does not take the program, or not in time
                found[solver].append(math.inf)
                continue
            found[solver].append(process_time() - begin if solution.gap <= 1e-6 else math.inf)
    return {solver: median(seconds) for solver, seconds in found.items() if seconds}


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """Seconds relative to newton: geometric means over the programs, of the least, middle and largest size a family."""
    lines = []
    for family, (unit, _, _) in FAMILIES.items():
        here = [row for row in rows if row["family"] == family]
        sizes = sorted({(int(row[unit]), int(row["n_features"])) for row in here})
        for count, n_features in (sizes[0], sizes[len(sizes) // 2], sizes[-1]):
            at = [row for row in here if (row[unit], row["n_features"]) == (str(count), str(n_features))]
            by_solver = {
                s: {row["program"]: float(row["seconds"]) for row in at if row["solver"] == s} for s in SOLVERS
            }
            newton = by_solver["newton"]
            cells = [family, f"{count:,} {unit}", f"{1e3 * geometric_mean(newton.values()):.1f}"]
            for solver in SOLVERS[1:]:
                ratios = [seconds / newton[program] for program, seconds in by_solver[solver].items()]
                known = len(ratios) == len(newton) and max(ratios) < math.inf
                cells.append(f"{geometric_mean(ratios):.2g}" if known else "–")
            lines.append(cells)
    return {"crossovers": measured.table(["program", "size", "newton, ms", *SOLVERS[1:]], lines)}


def sentences(_: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about how it was measured."""
    return [f"the limit of {LIMIT:g} s"]


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the page from the results")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(arguments.results)))
        return
    with measured.writer(arguments.results, COMMAND, FIELDS) as keep:
        for row in measure(LIMIT, REPETITIONS):
            keep(row)


if __name__ == "__main__":
    main()
