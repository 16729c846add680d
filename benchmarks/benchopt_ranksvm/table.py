"""The numbers of docs/solvers.md from result files of benchopt, in Markdown.

    python benchmarks/benchopt_ranksvm/table.py benchmarks/benchopt_ranksvm/outputs/*.parquet

Each curve counts with its last point: the solve at the last tolerance, or where L-BFGS-B ended. Seconds are medians
over the repetitions, relative to L-BFGS-B, or to newton where the problem is not smooth. *Above* is the distance of the
objective from the best one that any solver found for the problem, relative.
"""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd
from benchopt.results import read_results

PROBLEM = ["dataset_name", "objective_name"]
#: The solver whose seconds are 1: the first of these that took part.
UNITS = ("L-BFGS-B", "auclab[solver=newton]")


def table(results: pd.DataFrame) -> str:
    """A row for every problem and solver."""
    best = results.groupby(PROBLEM)["objective_value"].min()
    last = results.groupby([*PROBLEM, "solver_name", "idx_rep"], sort=False).tail(1)
    lines = ["| problem | solver | seconds | relative | above | gap |", "|---|---|---|---|---|---|"]
    keys: Any
    for keys, points in last.groupby(PROBLEM, sort=False):
        problem = [str(key) for key in keys]
        seconds = points.groupby("solver_name")["time"].median().sort_values()
        least = float(best.loc[keys])
        unit = next(seconds[name] for name in UNITS if name in seconds)
        for solver, time in seconds.items():
            end = points[points["solver_name"] == solver].iloc[-1]
            above = (end["objective_value"] - least) / max(least, 1e-3)
            gap = "" if pd.isna(end["objective_gap"]) else f"{max(end['objective_gap'], 0.0):.0e}"
            lines.append(f"| {', '.join(problem)} | {solver} | {time:.3g} | {time / unit:.2g} | {above:.0e} | {gap} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(pd.concat([read_results(path) for path in sys.argv[1:]])))
