"""Peak memory of a solve relative to its data.

    python benchmarks/peak_memory.py [--sizes 1e5 3e5 1e6 3e6]     # measure, docs/solvers/peak_memory.csv
    python benchmarks/peak_memory.py --page                        # the table of docs/solver_speed.md, from that file

The artificial data of Norton & Uryasev (2018), ten features, so many observations a class, bAUC. One process writes the
sample, a second one reads and solves it by newton: its peak resident memory, interpreter and libraries included (also
alone, before the sample is read), and the processor seconds of the solve, after the loops were compiled.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import measured
import numpy as np

from auclab import BufferedAUC, solve
from auclab.datasets import load

PAGE = measured.ROOT / "docs" / "solver_speed.md"
RESULTS = measured.ROOT / "docs" / "solvers" / "peak_memory.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/peak_memory.py", "benchmarks/peak_memory.py --page"
FIELDS = ("per_class", "data_gb", "libraries_gb", "peak_gb", "seconds", "gap")


def make(size: int, folder: Path) -> None:
    """Write the sample."""
    data = load("artificial", n_pos=size, n_neg=size, seed=0)
    np.save(folder / "X.npy", np.ascontiguousarray(data.frame.to_numpy()))
    np.save(folder / "y.npy", data.y)


def peak_gb() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9


def measure(folder: Path) -> dict[str, float]:
    """Bytes of the sample, peaks of this process before and after, seconds and gap."""
    solve(BufferedAUC(), np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([0, 0, 1, 1]), solver="newton")
    libraries = peak_gb()
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    start = process_time()
    found = solve(BufferedAUC(), X, y, solver="newton")
    seconds = process_time() - start
    return {
        "data_gb": X.nbytes / 1e9,
        "libraries_gb": libraries,
        "peak_gb": peak_gb(),
        "seconds": seconds,
        "gap": found.gap,
    }


def in_a_process(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, arguments)


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """The table of the page."""
    lines = [
        [
            f"{int(row['per_class']):,}",
            *(f"{measured.significant(float(row[name]))} GB" for name in ("data_gb", "libraries_gb", "peak_gb")),
            f"{(float(row['peak_gb']) - float(row['libraries_gb'])) / float(row['data_gb']):.1f}",
        ]
        for row in rows
    ]
    head = ["observations per class, 10 columns", "data", "libraries alone", "peak", "(peak − libraries) / data"]
    return {"memory": measured.table(head, lines)}


def main() -> None:
    """A row a size, or the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e5, 3e5, 1e6, 3e6], help="observations per class")
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for size in map(int, arguments.sizes):
            with tempfile.TemporaryDirectory() as folder:
                in_a_process(make, size, Path(folder))
                found = {"per_class": size, **in_a_process(measure, Path(folder))}
            keep(found)
            print(found, flush=True)


if __name__ == "__main__":
    main()
