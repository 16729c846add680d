"""Seconds to prove objective and bound of a stored solution in rational arithmetic: the table of docs/checking.md.

    python benchmarks/check_seconds.py           # measure, docs/checking.csv
    python benchmarks/check_seconds.py --page    # the table of the page, from that file

Processor seconds of one process. Samples: columns of breast_cancer, and two normal classes. Each is solved by newton
and then proved by `auclab check`, from the multipliers that a run keeps; reading and preparing data are not part of it.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

from collections.abc import Iterator
from fractions import Fraction
from time import process_time
from typing import Any

import measured
import numpy as np

from auclab import BufferedAUC, RankSVM, solve
from auclab._core.base import Array
from auclab.certificates.checker.bound import proved_bound
from auclab.certificates.checker.data import Data
from auclab.certificates.checker.program import Program, objective
from auclab.datasets import load
from auclab.datasets.records import Labels
from auclab.formulations import Program as Formulation

PAGE = measured.ROOT / "docs" / "checking.md"
RESULTS = PAGE.with_suffix(".csv")
COMMAND, PAGE_COMMAND = "python benchmarks/check_seconds.py", "benchmarks/check_seconds.py --page"
FIELDS = ("rows", "features", "formulation", "solve", "objective", "bound", "gap", "proved_gap")
#: λ of the penalised program.
PENALTY = 0.01
SIZES = ((2_000, 60), (4_000, 120), (100_000, 20), (1_000_000, 20))


def sample(rows: int, features: int) -> tuple[Array, Labels]:
    """Two normal classes of one size whose means are .3 apart in every column."""
    random = np.random.default_rng(0)
    y = np.arange(rows) % 2
    return random.standard_normal((rows, features)) + 0.3 * y[:, np.newaxis], y


def measure() -> Iterator[dict[str, Any]]:
    """A row for each sample and program."""
    cancer = load("breast_cancer")
    X = cancer.frame.to_numpy(dtype=float)[:, :15]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    proved(RankSVM(PENALTY), *sample(200, 5))  # loads the compiled loops
    proved(BufferedAUC(), *sample(200, 5))
    for program in (RankSVM(PENALTY), BufferedAUC()):
        yield proved(program, X, cancer.y)
    for rows, features in SIZES:
        X, y = sample(rows, features)
        for program in (RankSVM(PENALTY), BufferedAUC()):
            if features == 20 or isinstance(program, BufferedAUC):
                yield proved(program, X, y)


def proved(formulation: Formulation, X: Array, y: Labels) -> dict[str, Any]:
    """Seconds to solve, and to prove objective and bound."""
    begin = process_time()
    solution = solve(formulation, X, y, solver="newton")
    solved = process_time() - begin
    stored = {name: getattr(formulation, name) for name in ("name", "penalty", "threshold", "norm", "squared")}
    program, data = Program.from_stored(stored), Data.of(X, y == 1)
    begin = process_time()
    value = objective(program, data, solution.coef, solution.intercept)[1]
    middle = process_time()
    certificate = solution.certificate
    bound = proved_bound(
        program,
        data,
        np.asarray(solution.multipliers),
        None,
        enough=Fraction(certificate.lower_bound) - Fraction(1e-9),
        radius=certificate.norm_bound,
        spread=X.std(axis=0),
        for_all=True,
    )
    end = process_time()
    if bound is None:
        raise ValueError("the multipliers are no finite numbers")
    best = max(bound.everywhere, bound.within)
    return {"rows": len(y), "features": X.shape[1], "formulation": type(formulation).__name__, "solve": solved,
            "objective": middle - begin, "bound": end - middle, "gap": solution.gap,
            "proved_gap": float(value - best) / max(float(value), 1e-3)}  # fmt: skip


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The table of the page."""
    names = {"BufferedAUC": "bAUC"}
    lines = [
        [f"{int(row['rows']):,} × {row['features']}", names.get(row["formulation"], row["formulation"])]
        + [measured.significant(float(row[key])) for key in ("objective", "bound", "solve")]
        + [measured.power(float(row["proved_gap"]))]
        for row in rows
    ]
    head = ["rows × features", "formulation", "objective", "bound", "solving it", "gap that is proved"]
    return {"seconds": measured.table(head, lines)}


def fill_pages() -> None:
    """Write the table into the page."""
    measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/checking.md")
    if parser.parse_args().page:
        fill_pages()
        return
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for row in measure():
            keep(row)
            print(row, flush=True)


if __name__ == "__main__":
    main()
