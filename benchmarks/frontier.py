"""A frontier of ten levels beside one solve: processor time in one process.

    python benchmarks/frontier.py [ROUNDS]

Data: ionosphere as it is, and artificial rows. The frontier's own solve, which finds the largest bAUC, is part of it.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

import auclab
from auclab.datasets import load
from auclab.solvers.guaranteed import frontier


def artificial(n_per_class: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal clouds in ten columns."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n_per_class)
    return rng.normal(size=(2 * n_per_class, 10)) + 0.4 * y[:, None] * rng.normal(size=10), y


def main(rounds: int) -> None:
    """Print a line for each data set and round."""
    ionosphere = load("ionosphere")
    samples = {
        "ionosphere": (np.asarray(ionosphere.X, dtype=float), ionosphere.y),
        "artificial 1000 + 1000 × 10": artificial(1000),
        "artificial 10⁴ + 10⁴ × 10": artificial(10_000),
    }
    for name, (X, y) in samples.items():
        frontier(X, y, n_points=2)  # compiled, and files read
        for _ in range(rounds):
            begin = process_time()
            auclab.solve("bauc", X, y)
            middle = process_time()
            found = frontier(X, y)
            end = process_time()
            worst = max(point.gap for point in found.points)
            masters = sum(point.iterations for point in found.points)
            print(
                f"{name:<28} solve {middle - begin:.3f} s, frontier {end - middle:.3f} s, ratio "
                f"{(end - middle) / (middle - begin):.2f}, largest gap {worst:.1e}, {masters} masters",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
