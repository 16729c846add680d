"""The solve over bins on computed rows, of any number: seconds, memory and certified gap against the number of rows.

    python benchmarks/blocks_scale.py --rows 1e9 --workers 2                             one size, 10 columns
    python benchmarks/blocks_scale.py --rows 1e6 --way memory                             beside the solve in memory
    python benchmarks/blocks_scale.py --page                                              the table of docs/blocks.md

The rows are computed when they are read (`tests/computed_rows.py`), and half of them are positive. This process holds a
bit a row, the labels, and all rows with `--way memory`. Prints a line for every pass, and one of JSON; the row of
docs/blocks_scale.csv with the same size, way and workers is replaced.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from typing import Any

import measured
import numpy as np

from auclab import solve
from auclab.formulations import BufferedAUC
from auclab.samples.blocks import BlockTable, DaskEngine
from auclab.solvers.monitor import SolveProgress, progress_to

sys.path.insert(0, str(measured.ROOT / "tests"))
from computed_rows import uniform_rows

N_COLUMNS = 10
FIELDS = (
    "rows", "way", "workers", "seconds", "processor", "client_gb", "worker_gb", "passes", "status", "gap",
    "objective", "load",
)  # fmt: skip
RESULTS, PAGE = measured.ROOT / "docs" / "blocks_scale.csv", measured.ROOT / "docs" / "blocks.md"
COMMAND, PAGE_COMMAND = "python benchmarks/blocks_scale.py", "benchmarks/blocks_scale.py --page"


def peak_gb() -> float:
    """The peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def processor() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def show(progress: SolveProgress) -> None:
    """A line for a pass."""
    limits = f"[{progress.lower_bound:.10f}, {progress.objective:.10f}]"
    print(f"{progress.seconds:9.1f} s  {limits}  gap {progress.gap:.1e}", flush=True)


def rows_of(n_rows: int, seed: int, engine: Any = None) -> tuple[BlockTable, Any]:
    """Computed rows, half of them positive, and their labels."""
    return uniform_rows(n_rows // 2, n_rows // 2, N_COLUMNS, seed, engine)


def warm(tolerance: float) -> None:
    """Compile, or load what was compiled, before the clock starts."""
    table, labels = rows_of(600_000, 1)
    solve(BufferedAUC(), table, labels, solver="newton", tolerance=tolerance)


def measure(n_rows: int, way: str, workers: int, tolerance: float) -> dict[str, Any]:
    """Solve once."""
    warm(tolerance)
    dask = DaskEngine(workers=workers) if workers else None
    if dask is not None:
        dask.connect()
    before, begin = processor(), time.perf_counter()
    table, labels = rows_of(n_rows, 0, dask)
    with progress_to(show):
        if way == "memory":
            solution = solve(BufferedAUC(), np.asarray(table), labels.positive(), solver="newton", tolerance=tolerance)
        else:
            solution = solve(BufferedAUC(), table, labels, solver="newton", tolerance=tolerance)
    found: dict[str, Any] = {"seconds": time.perf_counter() - begin, "client_gb": peak_gb()}
    if dask is not None:
        found["worker_gb"] = max(dask.connect().run(peak_gb).values())
        dask.close()
    return found | {
        "rows": n_rows,
        "way": way,
        "workers": workers,
        "processor": processor() - before,
        "passes": solution.iterations if way == "bins" else "",
        "status": str(solution.status),
        "gap": solution.gap,
        "objective": repr(solution.objective),
        "load": os.getloadavg()[0],
    }


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The table of the page; objectives are compared with that in memory where there is one."""
    ordered = sorted(rows, key=lambda row: (int(row["rows"]), row["way"], int(row["workers"])))
    in_memory = {row["rows"]: float(row["objective"]) for row in rows if row["way"] == "memory"}
    lines = []
    for row in ordered:
        way = "in memory" if row["way"] == "memory" else "bins, this process"
        exact = in_memory.get(row["rows"])
        off = "–" if exact is None or row["way"] == "memory" else f"{abs(float(row['objective']) / exact - 1.0):.0e}"
        lines.append(
            [
                f"{int(row['rows']):,}",
                way if row["workers"] == "0" else f"bins, Dask workers: {row['workers']}",
                f"{measured.significant(float(row['seconds']))} s",
                f"{measured.significant(float(row['client_gb']))} GB",
                f"{measured.significant(float(row['worker_gb']))} GB" if row["worker_gb"] else "–",
                row["passes"] or "–",
                measured.power(float(row["gap"])),
                off,
            ]
        )
    head = [
        "rows", "way", "time", "memory of this process", "of a worker", "points w", "gap",
        "objective, distance to memory",
    ]  # fmt: skip
    return {"sizes": measured.table(head, lines)}


def sentences(rows: list[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    most = max(rows, key=lambda row: int(row["rows"]))
    gap = f"{float(most['gap']):.2g}".replace("e-0", "e-")
    return [f"an objective of {float(most['objective']):.7f} is proved to be within {gap} of the optimum"]


def main() -> None:
    """Measure one size, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--way", choices=("bins", "memory"), default="bins")
    parser.add_argument("--workers", type=int, default=0, help="Dask workers; 0 is this process")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--page", action="store_true", help="write the table of docs/blocks.md")
    given = parser.parse_args()
    if given.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    found = measure(int(given.rows), given.way, given.workers, given.tolerance)
    print(json.dumps(found), flush=True)
    key = str(found["rows"]), found["way"], str(found["workers"])
    rows = measured.read(RESULTS) if RESULTS.exists() else []
    kept = [row for row in rows if (row["rows"], row["way"], row["workers"]) != key]
    with measured.writer(RESULTS, COMMAND, FIELDS, kept) as keep:
        keep(found)


if __name__ == "__main__":
    main()
