"""Bounds of a kernel's scorers that need no observed radius, on samples from a known distribution.

    python benchmarks/kernel_bounds.py                # 40 samples, docs/kernel_bounds.csv; continues where it stopped
    python benchmarks/kernel_bounds.py --page         # the table of docs/kernels.md, from that file

Two noisy rings: a positive has the distance 1 from the origin, a negative 2, each times 1 + 0.3 N(0, 1), and 40 % are
positive. On each sample RankSVM 0.05 ‖h‖² is solved over the space of RBF(1), and the margin bound and the pairwise
stability bound are computed with the diameter √2 of the space, for every distribution. The bAUC of the scorer is that
on 20,000 new rows. A bound of confidence 95 % may be above it in 5 % of the samples.
"""

from __future__ import annotations

import argparse
from typing import Any

import measured
import numpy as np
from rich.console import Console

from auclab import RankSVM, solve
from auclab._core.base import Array
from auclab.bounds import pairwise_stability_bound, peeled_margin_bound
from auclab.kernels import RBF
from auclab.metrics import bauc_score
from auclab.solvers.kernel.solution import KernelSolution

PAGE = measured.ROOT / "docs" / "kernels.md"
RESULTS = PAGE.with_name("kernel_bounds.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/kernel_bounds.py", "benchmarks/kernel_bounds.py --page"
SAMPLES, ROWS, NEW_ROWS, PENALTY, RHO = 40, 2_000, 20_000, 0.05, 0.05
FIELDS = ("sample", "rows", "gap", "train_bauc", "new_bauc", "margin_bound", "stability_bound")


def draw(rng: np.random.Generator, rows: int) -> tuple[Array, Array]:
    """Two noisy rings and their labels."""
    positive = rng.random(rows) < 0.4
    X = rng.normal(size=(rows, 2))
    radius = np.where(positive, 1.0, 2.0) * (1.0 + 0.3 * rng.normal(size=rows))
    return X * (radius / np.linalg.norm(X, axis=1))[:, None], positive.astype(float)


def one_sample(number: int, rows: int = ROWS, new_rows: int = NEW_ROWS) -> dict[str, Any]:
    """What a sample promised, and what came."""
    rng = np.random.default_rng([0, number])
    (X, y), (X_new, y_new) = draw(rng, rows), draw(rng, new_rows)
    solution = solve(RankSVM(PENALTY, squared=True), X, y, kernel=RBF(1.0), tolerance=1e-3)
    assert isinstance(solution, KernelSolution)
    scores, new_scores = solution.decision_function(X), solution.decision_function(X_new)
    diameter, length = solution.kernel.diameter, solution.length
    margin = peeled_margin_bound(scores[:, None] / length, y, np.array([length]), diameter=diameter, rho=RHO, norm="l2")
    loss = solution.objective - PENALTY * length**2
    stability = pairwise_stability_bound(
        loss, 1.0, diameter=diameter, penalty=PENALTY, n_pos=int(y.sum()), n_neg=int((1 - y).sum()), rho=RHO,
        optimality_gap=solution.certificate.absolute_gap,
    )  # fmt: skip
    values = (number, rows, solution.gap, bauc_score(y, scores), bauc_score(y_new, new_scores), margin.lower)
    return dict(zip(FIELDS, (*values, stability.lower), strict=True))


def tables(rows: list[dict[str, str]]) -> dict[str, str]:
    """The table of the page by name."""
    new = np.array([float(row["new_bauc"]) for row in rows])
    lines = []
    for name, key in (("margin bound", "margin_bound"), ("pairwise stability bound", "stability_bound")):
        lower = np.array([float(row[key]) for row in rows])
        promised = "nothing" if lower.max() <= 0 else f"{lower.mean():.3f}, at most {lower.max():.3f}"
        held = f"{(lower <= new).sum()} of {len(rows)}"
        lines.append((name, promised, f"{new.mean():.3f}, at least {new.min():.3f}", held))
    head = ["bound, confidence 95 %", "promises a bAUC of", "bAUC on 20,000 new rows", "held"]
    return {"bounds": measured.table(head, lines)}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/kernels.md")
    if parser.parse_args().page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    kept = measured.read(RESULTS) if RESULTS.is_file() else []
    console = Console(width=160)
    with measured.writer(RESULTS, COMMAND, FIELDS, kept) as keep:
        for number in range(len(kept), SAMPLES):
            row = one_sample(number)
            keep(row)
            console.print(row)


if __name__ == "__main__":
    main()
