"""How the structured solver compares with what a user would write and with generic solvers.

    python benchmarks/structured_solver.py [--sizes 1000 10000 100000] [--repeat 5] [--out benchmarks/results.csv]

Ratios of medians within one run: every competitor is warmed up (compile time is apart) and they alternate. The user's
own fifteen lines are kept here as they would be written: sort, searchsorted, subgradient, SciPy's L-BFGS-B; they give
no certificate. The others stop at a certified relative gap of 1e-6. Machine, versions and threads go into the csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from auclab import BufferedAUC, solve
from auclab.datasets import load

Sample = tuple[np.ndarray, np.ndarray]
#: Beyond these numbers of pairs a generic solver takes minutes.
LIMITS = {"highs dual": 40_000, "clarabel": 150_000, "highs windows": 5 * 10**7}


def users_own(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Fifteen lines with SciPy; objective, and no gap."""
    pos, neg = X[y == 1], X[y == 0]

    def hinge(w: np.ndarray) -> tuple[float, np.ndarray]:
        p, n = pos @ w, neg @ w + 1.0
        above = len(n) - np.searchsorted(np.sort(n), p, side="right")
        below = np.searchsorted(np.sort(p), n, side="left")
        pairs = len(p) * len(n)
        return (below @ n - above @ p) / pairs, (neg.T @ below - pos.T @ above) / pairs

    result = minimize(hinge, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B")
    return float(result.fun), float("nan")


def certified(**options: Any) -> Callable[[np.ndarray, np.ndarray], tuple[float, float]]:
    """A solver of ours; objective and certified gap."""

    def run(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
        solution = solve(BufferedAUC(), X, y, **options)
        return solution.objective, solution.gap

    return run


COMPETITORS: dict[str, Callable[[np.ndarray, np.ndarray], tuple[float, float]]] = {
    "L-BFGS-B": users_own,
    "newton": certified(solver="newton"),
    "highs windows": certified(solver="highs", pairs="aggregated"),
    "highs dual": certified(solver="highs", pairs="dual"),
    "clarabel": certified(solver="clarabel"),
}


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and standard deviation 1; constant ones dropped."""
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def problems(sizes: list[int]) -> dict[str, Sample]:
    """The artificial and perturbed data of the paper, and cases that are hard for first-order methods."""
    found: dict[str, Sample] = {}
    for size in sizes:
        data = load("artificial", n_pos=size, n_neg=size, seed=0)
        found[f"artificial {size:,} + {size:,}"] = data.X.to_numpy(), data.y
    for factor in (1, 10, 100):
        data = load("perturbed", base="ionosphere", factor=factor, seed=0)
        found[f"ionosphere x {factor}"] = standardised(data.X.to_numpy(dtype=float)), data.y
    rng = np.random.default_rng(0)
    X, y = found[f"artificial {sizes[0]:,} + {sizes[0]:,}"]
    found["columns x 10^(-3..3)"] = X * 10.0 ** np.linspace(-3, 3, X.shape[1]), y
    mixed = rng.normal(size=(10_000, 5)) @ rng.normal(size=(5, 100)) + 0.1 * rng.normal(size=(10_000, 100))
    mixed[:5000] += 0.003 * rng.normal(size=100)
    found["100 correlated features"] = mixed, np.repeat([1, 0], 5000)
    few = np.vstack([rng.normal(0.7, 1, (30, 10)), rng.normal(0, 1, (100_000, 10))])
    found["30 positives, 10^5 negatives"] = few, np.repeat([1, 0], [30, 100_000])
    binary = np.vstack([rng.random((5000, 20)) < 0.5, rng.random((20_000, 20)) < 0.4]).astype(float)
    found["20 binary features"] = binary, np.repeat([1, 0], [5000, 20_000])
    return found


def main() -> None:
    """Run the comparison, print the table, write the csv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    samples = problems(arguments.sizes)
    warm = load("artificial", n_pos=300, n_neg=300, seed=1)
    for run in COMPETITORS.values():
        run(warm.X.to_numpy(), warm.y)
    rows: list[dict[str, Any]] = []
    table = Table("problem", "pairs", *COMPETITORS, "roc_auc_score", title="median seconds relative to L-BFGS-B; gap")
    for name, (X, y) in samples.items():
        pairs = int((y == 1).sum()) * int((y == 0).sum())
        taking_part = {k: run for k, run in COMPETITORS.items() if pairs <= LIMITS.get(k, pairs)}
        seconds: dict[str, list[float]] = {k: [] for k in [*taking_part, "roc_auc_score"]}
        outcome: dict[str, tuple[float, float]] = {}
        for _ in range(arguments.repeat):
            for competitor, run in taking_part.items():
                start = perf_counter()
                outcome[competitor] = run(X, y)
                seconds[competitor].append(perf_counter() - start)
            scores = X @ np.ones(X.shape[1])
            start = perf_counter()
            roc_auc_score(y, scores)
            seconds["roc_auc_score"].append(perf_counter() - start)
        medians = {k: median(values) for k, values in seconds.items()}
        best = min(value for value, _ in outcome.values())
        cells = []
        for competitor in COMPETITORS:
            if competitor not in outcome:
                cells.append("—")
                continue
            value, gap = outcome[competitor]
            quality = f"{(value - best) / max(best, 1e-3):.0e} above" if np.isnan(gap) else f"{gap:.0e}"
            cells.append(f"{medians[competitor] / medians['L-BFGS-B']:.2f}  {quality}")
            rows.append(
                {"problem": name, "pairs": pairs, "solver": competitor, "seconds": medians[competitor]}
                | {"objective": value, "gap": gap, "repeat": arguments.repeat, "threads": os.cpu_count()}
                | {"machine": platform.machine(), "auclab": version("auclab"), "numpy": version("numpy")}
            )
        table.add_row(name, f"{pairs:.2g}", *cells, f"{medians['roc_auc_score'] / medians['L-BFGS-B']:.2f}")
        Console(stderr=True).print(f"{name}: {', '.join(f'{k} {v:.3g} s' for k, v in medians.items())}")
    Console(width=170).print(table)
    if arguments.out is not None:
        with arguments.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
