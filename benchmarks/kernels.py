"""Programs over a kernel's space: seconds and landmarks to a certified gap, and the gap of a number of landmarks.

    python benchmarks/kernels.py                # measure, docs/kernels.csv
    python benchmarks/kernels.py --page         # the table of docs/kernels.md, from that file

5,000 rows of phoneme (standardised, drawn with seed 0; the rest is held out), RBF with γ = 2/d and λ = 1e-4, squared.
Processor seconds of one thread, beside those of scikit-learn's SVC with the same γ and C = 1/(2λm), for which C-SVM is
the same program; each is timed after a call that loads what is to be loaded, the smallest of the repetitions. The gap
is that to the optimum over the whole space.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import measured
import numpy as np
from rich.console import Console
from sklearn.svm import SVC

from auclab import CSVM, RankSVM, solve
from auclab._core.base import Array
from auclab.datasets.catalogue import load
from auclab.formulations import Program
from auclab.kernels import RBF
from auclab.metrics import auc_score

PAGE = Path(__file__).parents[1] / "docs" / "kernels.md"
RESULTS = PAGE.with_suffix(".csv")
COMMAND, PAGE_COMMAND = "python benchmarks/kernels.py", "benchmarks/kernels.py --page"
ROWS, PENALTY = 5_000, 1e-4
PROGRAMS: dict[str, Program] = {
    "ranksvm": RankSVM(PENALTY, squared=True),
    "csvm": CSVM(PENALTY, squared=True),
}
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5)
SIZES = (100, 200, 400, 800)
FIELDS = ("part", "program", "method", "asked", "landmarks", "gap", "objective", "lower_bound", "test_auc", "seconds",
          "ratio")  # fmt: skip


def sample() -> tuple[Array, Array, Array, Array]:
    """Rows and labels to train on, and those held out."""
    dataset = load("phoneme")
    X, y = np.asarray(dataset.X, dtype=float), np.asarray(dataset.y)
    order = np.random.default_rng(0).permutation(y.size)
    X, y = X[order], (y[order] == y.max()).astype(float)
    X = (X - X[:ROWS].mean(axis=0)) / X[:ROWS].std(axis=0)
    return X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:]


def timed(work: Callable[[], Any], repetitions: int) -> tuple[Any, float]:
    """The result of `work`, and its least processor seconds."""
    seconds = []
    for _ in range(repetitions):
        begin = process_time()
        found = work()
        seconds.append(process_time() - begin)
    return found, min(seconds)


def measure(repetitions: int) -> Iterator[dict[str, Any]]:
    """The rows of the result, one after the other."""
    X, y, X_test, y_test = sample()
    kernel = RBF(2.0 / X.shape[1])
    solve(PROGRAMS["ranksvm"], X[:300], y[:300], kernel=kernel)
    svc, unit = timed(lambda: SVC(C=1 / (2 * PENALTY * ROWS), gamma=kernel.width).fit(X, y), repetitions)
    auc = auc_score(y_test, svc.decision_function(X_test))
    yield {"part": "tolerance", "program": "csvm", "method": "SVC", "landmarks": int(svc.n_support_.sum()),
           "test_auc": auc, "seconds": unit, "ratio": 1.0}  # fmt: skip

    def row(part: str, name: str, asked: float, times: int, **options: Any) -> dict[str, Any]:
        found, seconds = timed(lambda: solve(PROGRAMS[name], X, y, kernel=kernel, **options), times)
        return {
            "part": part,
            "program": name,
            "method": "landmarks",
            "asked": asked,
            "landmarks": found.n_landmarks,
            "gap": found.gap,
            "objective": found.objective,
            "lower_bound": found.lower_bound,
            "test_auc": auc_score(y_test, found.decision_function(X_test)),
            "seconds": seconds,
            "ratio": seconds / unit,
        }

    for name in PROGRAMS:
        for tolerance in TOLERANCES:
            times = repetitions if tolerance > 1e-4 else 1
            yield row("tolerance", name, tolerance, times, tolerance=tolerance)
    for size in SIZES:
        yield row("size", "ranksvm", size, 1, tolerance=1e-9, max_landmarks=size)


def tables(rows: list[dict[str, str]]) -> dict[str, str]:
    """The table of the page by name."""
    lines = ["| program | asked | certified gap | landmarks | seconds / SVC | test AUC |", "|---|---|---|---|---|---|"]
    for row in rows:
        if row["part"] != "tolerance":
            continue
        certified = f"{float(row['gap']):.1e}" if row["gap"] else "none"
        asked = f"{float(row['asked']):.0e}" if row["asked"] else ""
        name = {"SVC": "SVC (support vectors)"}.get(row["method"], f"{row['program']}, squared")
        seconds, auc = float(row["ratio"]), float(row["test_auc"])
        lines.append(f"| {name} | {asked} | {certified} | {int(row['landmarks']):,} | {seconds:.1f} | {auc:.4f} |")
    return {"tolerances": "\n".join(lines)}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/kernels.md")
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    console = Console(width=160)
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for row in measure(arguments.repetitions):
            keep(row)
            console.print({key: value for key, value in row.items() if key != "part"})


if __name__ == "__main__":
    main()
