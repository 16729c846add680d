"""Seconds of a solve with two threads beside one, on 10⁶ + 10⁶ rows × 10 columns.

    python benchmarks/two_threads.py           # measure, docs/solvers/two_threads.csv; on an idle machine
    python benchmarks/two_threads.py --page    # the table of docs/solver_speed.md, from that file

Wall seconds, in turn in one process, the median of seven after a first time that is not counted. *main* are processor
seconds of the calling thread when there are two: what they are of one thread's wall time is the least ratio that waits
for nothing, which does not depend on what else runs. The points of both solves have to be equal in every digit.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

from collections.abc import Iterator, Sequence
from statistics import median
from time import perf_counter, process_time, thread_time
from typing import Any

import measured
import numpy as np

from auclab import BufferedAUC, RankSVM, solve
from auclab.formulations.base import Program

PAGE, RESULTS = measured.ROOT / "docs" / "solver_speed.md", measured.ROOT / "docs" / "solvers" / "two_threads.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/two_threads.py", "benchmarks/two_threads.py --page"
FIELDS = ("program", "rows", "columns", "one", "two", "one_cpu", "two_cpu", "main", "gap")
PROGRAMS = {"RankSVM²": RankSVM(1e-3, squared=True), "bAUC": BufferedAUC(), "RankSVM l1": RankSVM(1e-2, "l1")}
SIZE, COLUMNS, REPETITIONS = 1_000_000, 10, 7


def measure(name: str, program: Program, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Medians of wall and processor seconds with either number of threads."""
    spent: dict[int, list[tuple[float, ...]]] = {1: [], 2: []}
    found = {}
    for _ in range(REPETITIONS + 1):
        for threads, rows in spent.items():
            begin = perf_counter(), process_time(), thread_time()
            found[threads] = solve(program, X, y, threads=threads)
            end = perf_counter(), process_time(), thread_time()
            rows.append(tuple(b - a for a, b in zip(begin, end, strict=True)))
    if not np.array_equal(found[1].coef, found[2].coef) or found[1].lower_bound != found[2].lower_bound:
        raise SystemExit(f"{name}: the digits depend on the number of threads")
    (one, one_cpu, _), (two, two_cpu, main) = (
        [median(column) for column in zip(*rows[1:], strict=True)] for rows in spent.values()
    )
    sizes = {"program": name, "rows": y.size, "columns": X.shape[1], "gap": found[2].gap}
    return {**sizes, "one": one, "two": two, "one_cpu": one_cpu, "two_cpu": two_cpu, "main": main}


def all_programs() -> Iterator[dict[str, Any]]:
    """A row for each program."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], SIZE)
    X = rng.standard_normal((y.size, COLUMNS)) + 0.3 * y[:, None]
    for name, program in PROGRAMS.items():
        yield measure(name, program, X, y)


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """Seconds and ratios by program."""
    lines = [
        [
            row["program"],
            *(measured.significant(float(row[key])) for key in ("one", "two")),
            *(f"{float(row[a]) / float(row[b]):.2f}" for a, b in (("two", "one"), ("main", "one_cpu"))),
        ]
        for row in rows
    ]
    head = ["2·10⁶ rows × 10", "one thread, s", "two threads, s", "ratio", "main thread / one thread"]
    return {"threads": measured.table(head, lines)}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true")
    if parser.parse_args().page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for row in all_programs():
            keep(row)
            ratio, least = row["two"] / row["one"], row["main"] / row["one_cpu"]
            print(
                f"{row['program']:12} {row['one']:.3f} s, {row['two']:.3f} s, ratio {ratio:.2f}, {least:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
