"""Results of the benchmark for benchopt, with the versions of the solvers.

    benchopt run benchmarks/benchopt_ranksvm --config benchmarks/benchopt_ranksvm/config_weekly.yml --output x
    python benchmarks/benchopt_results.py --keep benchmarks/benchopt_ranksvm/outputs/x.parquet

It writes docs/benchopt.csv, and needs benchopt. Each curve counts with its last point; seconds are the
least of the repetitions, of the clock, with one thread.
"""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

import measured

RESULTS = measured.ROOT / "docs" / "benchopt.csv"
COMMAND = "python benchmarks/benchopt_results.py --keep …"
FIELDS = ["problem", "solver", "version", "seconds", "relative", "above", "gap"]
#: The package of a solver, by how its name begins.
PACKAGES = {
    "auclab[solver=highs": ("auclab", "highspy"),
    "auclab[solver=clarabel": ("auclab", "clarabel"),
    "auclab": ("auclab",),
    "CVXPY-Clarabel": ("cvxpy", "clarabel"),
    "L-BFGS-B": ("scipy",),
    "dlib": ("dlib",),
}


def versions_of(solver: str) -> str:
    """Packages and versions of a solver, where the benchmark was run."""
    import auclab

    names = next(names for begin, names in PACKAGES.items() if solver.startswith(begin))
    known = {"auclab": auclab.__version__}
    return ", ".join(f"{name} {known.get(name) or version(name)}" for name in names)


def keep(paths: list[Path]) -> None:
    """One row for each solver and problem."""
    sys.path.insert(0, str(measured.ROOT / "benchmarks" / "benchopt_ranksvm"))
    import pandas as pd
    from benchopt.results import read_results
    from table import PROBLEM, Problem

    points = pd.concat([read_results(path) for path in paths], ignore_index=True)
    with measured.writer(RESULTS, COMMAND, FIELDS) as write:
        for _, each in points.groupby(PROBLEM, sort=False):
            problem = Problem(each)
            for name, seconds in sorted(problem.seconds.items(), key=lambda item: item[1]):
                write(
                    {
                        "problem": problem.label,
                        "solver": name,
                        "version": versions_of(name),
                        "seconds": f"{seconds:.3g}",
                        "relative": problem.ratio(name),
                        "above": problem.above(name),
                        "gap": problem.gap(name),
                    }
                )


def main() -> None:
    """Keep files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", nargs="+", type=Path, metavar="FILE.parquet", required=True)
    keep(parser.parse_args().keep)


if __name__ == "__main__":
    main()
