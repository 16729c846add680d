"""A program over a kernel's space on 50,000 rows: gap, memory and seconds, and the SVC that takes as long.

    python benchmarks/kernels_large.py [--file FILE]    # measure, docs/kernels_large.csv; continues where it stopped
    python benchmarks/kernels_large.py --page           # the table of docs/kernels.md, from that file

50,000 rows of covertype_sample, drawn with seed 0 and standardised; the other 29,222 are held out. RankSVM with λ‖h‖²
and RBF, C = 1/(2λm) of the same penalty for scikit-learn's SVC: γ = 1/d and λ = 1/(2m) = 1e-5 are its defaults
gamma="auto" and C = 1. Each line is a process of its own, after a small solve that compiles the loops: its processor
seconds (BLAS has one thread), and its peak resident memory with the interpreter, the libraries and the data.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

import math
import multiprocessing
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import measured
import numpy as np
from rich.console import Console
from sklearn.svm import SVC

from auclab import RankSVM, solve
from auclab._core.base import Array
from auclab.datasets.catalogue import load
from auclab.kernels import RBF
from auclab.metrics import auc_score

PAGE = Path(__file__).parents[1] / "docs" / "kernels.md"
RESULTS = PAGE.with_name("kernels_large.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/kernels_large.py", "benchmarks/kernels_large.py --page"
ROWS, FIRST_SVC, MEMORY = 50_000, 10_000, 3.0
#: γ·d and λ.
DEFAULTS = (1.0, 1e-5)
SETTINGS = (DEFAULTS, (1.0, 1e-4), (5.0, 1e-4), (5.0, 1e-5))
BUDGETS = (50, 100, 200, 400)
TOLERANCE, CURVE_TOLERANCE = 2e-2, 1e-3
KEY = ("part", "gamma_d", "penalty", "asked")
FIELDS = (*KEY, "rows", "functions", "gap", "objective", "lower_bound", "test_auc", "seconds", "peak_gb", "status")


def sample() -> tuple[Array, Array, Array, Array]:
    """Rows and labels to train on, and those held out."""
    dataset = load("covertype_sample")
    X, y = np.asarray(dataset.X, dtype=float), np.asarray(dataset.y, dtype=float)
    order = np.random.default_rng(0).permutation(y.size)
    X, y = X[order], y[order]
    spread = X[:ROWS].std(axis=0)
    X = (X - X[:ROWS].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:]


def certified(gamma: float, penalty: float, most: int | None, tolerance: float) -> dict[str, Any]:
    """One solve."""
    X, y, X_test, y_test = sample()
    program, kernel = RankSVM(penalty, squared=True), RBF(gamma / X.shape[1])
    solve(program, X[:300], y[:300], kernel=kernel)
    begin = process_time()
    found: Any = solve(program, X, y, kernel=kernel, tolerance=tolerance, max_landmarks=most, memory_gb=MEMORY)
    seconds = process_time() - begin
    return {
        "rows": y.size,
        "functions": found.n_landmarks,
        "gap": found.gap,
        "objective": found.objective,
        "lower_bound": found.lower_bound,
        "test_auc": auc_score(y_test, found.decision_function(X_test)),
        "seconds": seconds,
        "peak_gb": peak(),
        "status": str(found.status),
    }


def svc(gamma: float, penalty: float, rows: int) -> dict[str, Any]:
    """scikit-learn's SVC with the same γ and λ on the first rows."""
    X, y, X_test, y_test = sample()
    model = SVC(C=1 / (2 * penalty * rows), gamma=gamma / X.shape[1])
    begin = process_time()
    model.fit(X[:rows], y[:rows])
    seconds = process_time() - begin
    auc = auc_score(y_test, model.decision_function(X_test))
    return {"rows": rows, "functions": int(model.n_support_.sum()), "test_auc": auc, "seconds": seconds,
            "peak_gb": peak()}  # fmt: skip


def svc_as_long(gamma: float, penalty: float, seconds: float) -> dict[str, Any]:
    """The one on so many rows that it takes about as long, or on all of them where that is less."""
    trial = in_a_process(svc, gamma, penalty, FIRST_SVC)
    while trial["rows"] < ROWS and trial["seconds"] < 0.8 * seconds:
        # Its time grows with about the square of the rows, and faster once its cache holds few of the columns.
        rows = trial["rows"] * min(2.0, math.sqrt(seconds / trial["seconds"]))
        trial = in_a_process(svc, gamma, penalty, min(ROWS, int(rows)))
    return trial


def peak() -> float:
    """Peak resident memory of this process in 10⁹ bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def in_a_process(call: Any, *arguments: Any) -> Any:
    """What a function returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, arguments)


def measure(done: dict[tuple[str, ...], dict[str, str]]) -> Iterator[dict[str, Any]]:
    """The lines that are not there yet, one after the other."""

    def key(part: str, gamma: float, penalty: float, asked: float) -> dict[str, str]:
        return dict(zip(KEY, (part, f"{gamma:g}", f"{penalty:g}", f"{asked:g}"), strict=True))

    for gamma, penalty in SETTINGS:
        line = key("setting", gamma, penalty, TOLERANCE)
        found: dict[str, Any] = done.get(tuple(line.values()), {})
        if not found:
            found = line | in_a_process(certified, gamma, penalty, None, TOLERANCE)
            yield found
        line = key("svc", gamma, penalty, TOLERANCE)
        if tuple(line.values()) not in done:
            yield line | svc_as_long(gamma, penalty, float(found["seconds"]))
        for budget in BUDGETS if (gamma, penalty) == DEFAULTS else ():
            line = key("curve", gamma, penalty, budget)
            if tuple(line.values()) not in done:
                yield line | in_a_process(certified, gamma, penalty, budget, CURVE_TOLERANCE)


def tables(rows: list[dict[str, str]]) -> dict[str, str]:
    """The table of the page by name."""
    settings = [
        "| γ d | λ | scorer | rows | landmarks, support vectors | certified gap | test AUC | seconds | peak GB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in sorted(rows, key=lambda row: (float(row["gamma_d"]), float(row["penalty"]), int(row["functions"]))):
        if row["part"] == "curve":
            continue
        gap = f"{float(row['gap']):.1e}" if row["gap"] else "none"
        scorer = "RankSVM" if row["part"] == "setting" else "SVC"
        head = f"| {row['gamma_d']} | {float(row['penalty']):.0e} | {scorer} | {int(row['rows']):,} |"
        end = f"{float(row['test_auc']):.4f} | {float(row['seconds']):.0f} | {float(row['peak_gb']):.1f} |"
        settings.append(f"{head} {int(row['functions']):,} | {gap} | {end}")
    return {"settings": "\n".join(settings)}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/kernels.md")
    parser.add_argument("--file", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    console = Console(width=160)
    done = measured.read(arguments.file) if arguments.file.exists() else []
    with measured.writer(arguments.file, COMMAND, FIELDS, done) as keep:
        for row in measure({tuple(row[key] for key in KEY): row for row in done}):
            keep(row)
            console.print(row)


if __name__ == "__main__":
    main()
