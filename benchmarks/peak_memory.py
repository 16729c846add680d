"""Peak memory of a solve relative to its data.

    python benchmarks/peak_memory.py [--sizes 1e5 1e6 1e7] [--solver newton]

The artificial data of Norton & Uryasev (2018), ten features, so many observations a class, bAUC. One process writes the
sample, a second one reads and solves it: its peak resident memory, interpreter and libraries included, over the bytes
of the sample, and the seconds of the solve, after the loops were compiled.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from auclab import BufferedAUC, solve
from auclab.datasets import load


def make(size: int, folder: Path) -> None:
    """Write the sample."""
    data = load("artificial", n_pos=size, n_neg=size, seed=0)
    np.save(folder / "X.npy", np.ascontiguousarray(data.frame.to_numpy()))
    np.save(folder / "y.npy", data.y)


def measure(folder: Path, solver: str) -> tuple[int, int, float, float]:
    """Bytes of the sample, peak bytes of this process, seconds and gap."""
    solve(BufferedAUC(), np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([0, 0, 1, 1]), solver=solver)
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    start = perf_counter()
    found = solve(BufferedAUC(), X, y, solver=solver)
    seconds = perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    return X.nbytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit, seconds, found.gap


def in_a_process(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, arguments)


def main() -> None:
    """A row a size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e5, 1e6], help="observations per class")
    parser.add_argument("--solver", default="newton")
    arguments = parser.parse_args()
    table = Table("observations per class", "data", "peak", "peak / data", "seconds", "gap", box=None)
    for size in map(int, arguments.sizes):
        with tempfile.TemporaryDirectory() as folder:
            in_a_process(make, size, Path(folder))
            data, memory, seconds, gap = in_a_process(measure, Path(folder), arguments.solver)
        amounts = f"{data / 2**30:.3g} GiB", f"{memory / 2**30:.3g} GiB", f"{memory / data:.2f}"
        table.add_row(f"{size:,}", *amounts, f"{seconds:.3g}", f"{gap:.0e}")
    Console().print(table)


if __name__ == "__main__":
    main()
