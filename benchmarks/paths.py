"""Eight values of λ or z as one path, beside eight separate solves: processor time.

    python benchmarks/paths.py           # measure, docs/solvers/paths.csv
    python benchmarks/paths.py --page    # the table of docs/scikit_learn.md, from that file

All rows of each data set, standardised; newton, one thread, tolerance 1e-6. Path and separate solves in turn in one
process, the least of the repetitions of each. Values are shares of the λ (or z) at which w = 0 becomes optimal.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import measured
import numpy as np

from auclab import CSVM, GeneralizedBufferedAUC, RankSVM, solve
from auclab._core.base import Array
from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Labels
from auclab.formulations import Program
from auclab.solvers.path import solve_path

PAGE = measured.ROOT / "docs" / "scikit_learn.md"
RESULTS = measured.ROOT / "docs" / "solvers" / "paths.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/paths.py", "benchmarks/paths.py --page"
FIELDS = ("data", "program", "values", "path", "separate", "largest_gap")
DATA, VALUES, REPETITIONS = ("ionosphere", "pima", "spambase"), 8, 3
#: Programs by the name on the page, and the parameter that changes.
PROGRAMS: dict[str, tuple[RankSVM | CSVM | GeneralizedBufferedAUC, str]] = {
    "RankSVM": (RankSVM(1.0), "penalty"),
    "RankSVM, l1": (RankSVM(1.0, "l1"), "penalty"),
    "RankSVM²": (RankSVM(1.0, squared=True), "penalty"),
    "C-SVM": (CSVM(1.0), "penalty"),
    "bAUC_z": (GeneralizedBufferedAUC(-1.0), "threshold"),
}


def values_of(program: Program, parameter: str, X: Array, y: Labels) -> list[float]:
    """From 0.5 to 0.001 of the largest one that is not trivial, the length of the difference of the class means."""
    difference = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    largest = float(np.abs(difference).max() if program.regulariser.norm.name == "l1" else np.linalg.norm(difference))
    sign = -1.0 if parameter == "threshold" else 1.0
    return [sign * largest * share for share in np.geomspace(0.5, 1e-3, VALUES)]


def measure() -> Iterator[dict[str, Any]]:
    """A row for each data set and program."""
    for name in DATA:
        dataset = load(name)
        X, y = np.asarray(standard(dataset).fit_transform(dataset.frame), dtype=float), dataset.y
        for label, (program, parameter) in PROGRAMS.items():
            values = values_of(program, parameter, X, y)
            options: dict[str, Any] = {"solver": "newton", "tolerance": 1e-6}
            at: Any = partial(replace, program)
            solve(at(**{parameter: values[0]}), X[::5], y[::5], **options)  # loads the loops
            seconds: dict[str, list[float]] = {"path": [], "separate": []}
            for _ in range(REPETITIONS):
                begin = process_time()
                found = solve_path(program, X, y, values, parameter=parameter, **options)
                middle = process_time()
                for value in values:
                    solve(at(**{parameter: value}), X, y, **options)
                seconds["path"].append(middle - begin)
                seconds["separate"].append(process_time() - middle)
            least = {way: min(each) for way, each in seconds.items()}
            gap = max(each.gap for each in found)
            yield {"data": name, "program": label, "values": VALUES, **least, "largest_gap": gap}


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """Ratios by program and data set."""
    ratio = {(row["program"], row["data"]): float(row["path"]) / float(row["separate"]) for row in rows}
    lines = [[program, *(f"{ratio[program, name]:.2f}" for name in DATA)] for program in PROGRAMS]
    return {"paths": measured.table(["path of eight values / eight solves", *DATA], lines)}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true")
    if parser.parse_args().page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for row in measure():
            keep(row)
            print(row, flush=True)


if __name__ == "__main__":
    main()
