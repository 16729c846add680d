"""Which encoding of the pairs is the fastest.

    python benchmarks/pair_encodings.py [--repeat 5] [--limit 60]

Ratios of medians within one run, every competitor warmed up (compile time is apart), one thread, runs alternated.
An encoding that needed more than the limit is not tried on larger problems.
"""

from __future__ import annotations

import argparse
import os

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"})

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from auclab import BufferedAUC, solve
from auclab.datasets import load

CHOICES: dict[str, dict[str, Any]] = {
    "highs, full": {"solver": "highs", "encoding": "full"},
    "highs, dual": {"solver": "highs", "encoding": "dual"},
    "highs, aggregated": {"solver": "highs", "encoding": "aggregated"},
    "clarabel": {"solver": "clarabel"},
}


def problems() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name → (X, y): the artificial data at growing sizes, and real sets, standardised."""
    data_sets = {
        f"artificial {m} + {m}": load("artificial", n_pos=m, n_neg=m, seed=0) for m in (30, 70, 100, 300, 1000, 10000)
    }
    data_sets |= {name: load(name) for name in ("ionosphere", "pima")}
    samples = {}
    for name, data in data_sets.items():
        X = data.frame.to_numpy(dtype=float)
        X = X[:, X.std(axis=0) > 0]
        samples[name] = ((X - X.mean(axis=0)) / X.std(axis=0), data.y)
    return samples


def main() -> None:
    """Run the comparison and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a single solve may take")
    arguments = parser.parse_args()
    samples = sorted(problems().items(), key=lambda item: item[1][1].sum() * (1 - item[1][1]).sum())
    warm_X, warm_y = samples[0][1]
    for options in CHOICES.values():
        solve(BufferedAUC(), warm_X, warm_y, **options)
    table = Table(
        "problem", "pairs", *CHOICES, title="seconds relative to the fastest (its median in brackets); worst gap"
    )
    too_slow: set[str] = set()
    for name, (X, y) in samples:
        seconds: dict[str, list[float]] = {choice: [] for choice in CHOICES if choice not in too_slow}
        gaps = dict.fromkeys(seconds, 0.0)
        for _ in range(arguments.repeat):
            for choice in list(seconds):
                if choice in too_slow:
                    continue
                start = perf_counter()
                solution = solve(BufferedAUC(), X, y, time_limit=arguments.limit, **CHOICES[choice])
                seconds[choice].append(perf_counter() - start)
                gaps[choice] = max(gaps[choice], solution.gap)
                if seconds[choice][-1] > arguments.limit / arguments.repeat:
                    too_slow.add(choice)
        medians = {choice: median(times) for choice, times in seconds.items()}
        best = min(medians.values())
        row = []
        for choice in CHOICES:
            if choice not in medians:
                row.append("—")
                continue
            absolute = f" ({best:.3g} s)" if medians[choice] == best else ""
            row.append(f"{medians[choice] / best:.1f} ×{absolute}  {gaps[choice]:.0e}")
        table.add_row(name, f"{int(y.sum() * (1 - y).sum()):,}", *row)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
