"""newton beside what scikit-learn users do for a linear ranking: LinearSVC on the pairs, SGD on sampled pairs.

    python benchmarks/peers.py           # measure, docs/solvers/peers.csv
    python benchmarks/peers.py --page    # the table of docs/solver_speed.md, from that file

All minimise the mean hinge over pairs plus λ‖w‖²: with N differences of rows LinearSVC has C = 1/(2λN), and SGD has
alpha = 2λ on 10⁴ pairs that are drawn. Processor seconds of one thread, the least of three, with those of making the
pairs. *Above* is the distance of the objective over all pairs from the lower bound of newton.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import measured
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).parent / "benchopt_ranksvm"))
from benchmark_utils.by_hand import hinge

from auclab import RankSVM, solve
from auclab.datasets import load

PAGE, RESULTS = measured.ROOT / "docs" / "solver_speed.md", measured.ROOT / "docs" / "solvers" / "peers.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/peers.py", "benchmarks/peers.py --page"
FIELDS = ("rows", "method", "seconds", "objective", "lower_bound")
PENALTY, DRAWN, REPETITIONS = 1e-3, 10_000, 3
#: Rows of both classes together; LinearSVC gets at most this many pairs.
SIZES, MOST_PAIRS = (100, 200, 600, 20_000, 100_000), 1e5


def differences(pos: np.ndarray, neg: np.ndarray, drawn: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Differences of all pairs or of `drawn` ones, every second one turned round, with their labels."""
    if drawn:
        rng = np.random.default_rng(0)
        rows = pos[rng.integers(len(pos), size=drawn)] - neg[rng.integers(len(neg), size=drawn)]
    else:
        rows = (pos[:, np.newaxis] - neg).reshape(-1, pos.shape[1])
    labels = np.where(np.arange(len(rows)) % 2, -1, 1)
    return rows * labels[:, np.newaxis], labels


def linear_svc(pos: np.ndarray, neg: np.ndarray) -> np.ndarray:
    """All pairs."""
    rows, labels = differences(pos, neg)
    model = LinearSVC(loss="hinge", C=1 / (2 * PENALTY * len(rows)), fit_intercept=False, max_iter=100_000)
    return model.fit(rows, labels).coef_[0] if len(set(labels)) > 1 else np.zeros(pos.shape[1])


def sgd(pos: np.ndarray, neg: np.ndarray) -> np.ndarray:
    """Sampled pairs."""
    rows, labels = differences(pos, neg, DRAWN)
    model = SGDClassifier("hinge", alpha=2 * PENALTY, fit_intercept=False, average=True, random_state=0)
    return model.fit(rows, labels).coef_[0]


def least(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the least processor seconds."""
    seconds = []
    for _ in range(REPETITIONS):
        begin = process_time()
        found = work()
        seconds.append(process_time() - begin)
    return found, min(seconds)


def measure() -> Iterator[dict[str, Any]]:
    """A row for each number of rows and method."""
    for size in SIZES:
        data = load("artificial", n_pos=size // 2, n_neg=size // 2, seed=0)
        X, y = data.frame.to_numpy(dtype=float), data.y
        pos, neg = X[y == 1], X[y == 0]
        program = RankSVM(PENALTY, squared=True)
        solution, seconds = least(lambda: solve(program, X, y, solver="newton"))  # noqa: B023
        own = {"rows": size, "method": "newton", "seconds": seconds, "objective": solution.objective}
        yield own | {"lower_bound": solution.lower_bound}
        for method, work, most in (("LinearSVC", linear_svc, MOST_PAIRS), ("SGD", sgd, np.inf)):
            if len(pos) * len(neg) <= most:
                w, seconds = least(lambda: work(pos, neg))  # noqa: B023
                value = hinge(pos, neg, w) + PENALTY * float(w @ w)
                yield {"rows": size, "method": method, "seconds": seconds, "objective": value, "lower_bound": ""}


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The table of the page."""
    lines = []
    for size in dict.fromkeys(row["rows"] for row in rows):
        of = {row["method"]: row for row in rows if row["rows"] == size}
        seconds, bound = float(of["newton"]["seconds"]), float(of["newton"]["lower_bound"])
        cells = [f"{int(size):,}", f"{1e3 * seconds:.1f}"]
        for method in ("LinearSVC", "SGD"):
            if method not in of:
                cells += ["–", "–"]
                continue
            above = float(of[method]["objective"]) / bound - 1
            cells += [measured.significant(float(of[method]["seconds"]) / seconds), f"{above:.0e}".replace("e-0", "e-")]
        lines.append(cells)
    head = ["rows × 10", "newton, ms", "LinearSVC on all pairs", "above", "SGD on 10⁴ pairs", "above"]
    return {"peers": measured.table(head, lines)}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/solver_speed.md")
    if parser.parse_args().page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    warnings.simplefilter("ignore", ConvergenceWarning)
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for row in measure():
            keep(row)
            print(row)


if __name__ == "__main__":
    main()
