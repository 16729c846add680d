"""RankSVM with the squared hinge on the patients of flchain, beside FastSurvivalSVM, and on larger copies of them.

    OMP_NUM_THREADS=1 python benchmarks/survival.py           # measure, docs/survival.csv; half an hour
    OMP_NUM_THREADS=1 python benchmarks/survival.py --page    # the tables of docs/groups_and_times.md, from that file

Needs scikit-survival, which brings the data. Both minimise ``mean [1 − w·(x_i − x_j)]₊² + λ‖w‖²`` over the same pairs:
tied times are put into one order first, as scikit-survival does at random, and its α is ``1/(λ·pairs)``. λ is in parts
of ``‖Δ‖²/2``, Δ the mean difference. A larger copy has rows drawn with replacement, numbers with noise of a tenth of a
standard deviation, and distinct times. Seconds are those of the processor; every size has a process of its own, whose
largest memory is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import measured
import numpy as np

PAGE = measured.ROOT / "docs" / "groups_and_times.md"
RESULTS = PAGE.with_name("survival.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/survival.py", "benchmarks/survival.py --page"
FIELDS = (
    *("rows", "columns", "pairs", "part", "seconds", "objective", "gap", "concordance", "memory_mb"),
    *("other_seconds", "other_objective", "other_concordance", "other_steps"),
)
#: λ as a part of its unit: all on the patients, one on copies.
PARTS, PART = (1e-1, 1e-2, 1e-3, 1e-4), 1e-2
SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
#: Newton steps of FastSurvivalSVM at most; its default of 20 was never reached.
STEPS = 100


def flchain() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardised rows, distinct times and events of the patients with a time above 0."""
    import pandas as pd
    from sksurv.datasets import load_flchain

    table, outcome = load_flchain()
    table = table.drop(columns="chapter")  # the cause of death
    numbers = ["age", "creatinine", "kappa", "lambda"]
    filled = table[numbers].astype(float).fillna(table[numbers].astype(float).median())
    rows = pd.concat([filled, pd.get_dummies(table.drop(columns=numbers), drop_first=True)], axis=1).to_numpy(float)
    kept = outcome["futime"] > 0
    rows, time, event = rows[kept], outcome["futime"][kept], outcome["death"][kept]
    rank = np.empty(time.size)
    rank[np.lexsort((np.random.default_rng(0).random(time.size), time))] = np.arange(1.0, time.size + 1.0)
    return (rows - rows.mean(axis=0)) / rows.std(axis=0), rank, event


def copy_of(rows: np.ndarray, time: np.ndarray, event: np.ndarray, size: int) -> tuple[np.ndarray, ...]:
    """Rows drawn with replacement, with noise."""
    rng = np.random.default_rng(size)
    drawn = rng.integers(0, time.size, size)
    noisy = rows[drawn] + 0.1 * rng.normal(size=(size, rows.shape[1]))
    return noisy, time[drawn] + rng.random(size), event[drawn]


def solved(size: int, part: float, beside: bool) -> dict[str, Any]:
    """One program; size 0 is that of the patients themselves."""
    from auclab import RankSVM, solve
    from auclab.losses import SquaredHinge
    from auclab.metrics import concordance_index
    from auclab.samples.bicliques import censored_pairs
    from auclab.samples.ranked import RankedSample

    rows, time, event = flchain()
    rows, time, event = copy_of(rows, time, event, size) if size else (rows, time, event)
    small = np.random.default_rng(0).choice(time.size, 2000, replace=False)
    solve(RankSVM(0.1, squared=True, loss=SquaredHinge()), rows[small], time[small], event=event[small])  # compiled
    sample = RankedSample.of_pairs(rows, censored_pairs(time, event))
    penalty = part * float(sample.mean_difference @ sample.mean_difference) / 2.0
    n_pairs = sample.n_pairs
    del sample
    begin = process_time()
    solution = solve(RankSVM(penalty, squared=True, loss=SquaredHinge()), rows, time, event=event)
    found = {
        "rows": time.size, "columns": rows.shape[1], "pairs": n_pairs, "part": part, "seconds": process_time() - begin,
        "objective": solution.objective, "gap": solution.gap,
        "concordance": concordance_index(time, event, rows @ solution.coef),
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }  # fmt: skip
    if beside:
        from sksurv.svm import FastSurvivalSVM

        from auclab import certify

        outcome = np.array(list(zip(event, time, strict=True)), [("event", bool), ("time", float)])
        other = FastSurvivalSVM(alpha=1.0 / (penalty * n_pairs), max_iter=STEPS)
        begin = process_time()
        other.fit(rows, outcome)
        found["other_seconds"], found["other_steps"] = process_time() - begin, int(other.n_iter_)
        w = -other.coef_  # its scores rise with the time
        program = RankSVM(penalty, squared=True, loss=SquaredHinge())
        found["other_objective"] = certify(program, rows, time, w, event=event).objective
        found["other_concordance"] = concordance_index(time, event, rows @ w)
    return found


def measure(size: int, part: float, beside: bool) -> dict[str, Any]:
    """`solved` in a process of its own."""
    command = [sys.executable, __file__, "--one", json.dumps([size, part, beside])]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = json.loads(printed.splitlines()[-1])
    assert isinstance(found, dict)
    return found


def tables(found: Sequence[measured.Row]) -> dict[str, str]:
    """The tables of the page."""
    beside = [row for row in found if row["other_seconds"]]
    small = [
        [
            f"{float(row['part']):g}", f"{measured.significant(float(row['seconds']))} s",
            measured.power(float(row["gap"])),
            f"{measured.significant(float(row['other_seconds']))} s, {row['other_steps']} steps",
            higher(row),
            measured.significant(float(row["seconds"]) / float(row["other_seconds"])),
            f"{float(row['concordance']):.4f}", f"{float(row['other_concordance']):.4f}",
        ]
        for row in beside
    ]  # fmt: skip
    copies = [row for row in found if not row["other_seconds"]]
    large = [
        [
            f"{int(row['rows']):,}", f"{int(row['pairs']):,}",
            f"{measured.significant(float(row['seconds']))} s", measured.power(float(row["gap"])),
            f"{float(row['memory_mb']):,.0f} MB", measured.significant(per_entry(row) / per_entry(copies[0])),
        ]
        for row in copies
    ]  # fmt: skip
    head = [
        "λ, parts of its unit",
        "auclab",
        "gap",
        "FastSurvivalSVM",
        "its objective is higher by",
        "ratio of seconds",
    ]
    return {
        "flchain": measured.table([*head, "concordance", "of FastSurvivalSVM"], small),
        "copies": measured.table(
            ["rows", "pairs", "seconds", "gap", "memory", "seconds / (m log m), first row 1"], large
        ),
    }


def higher(row: measured.Row) -> str:
    """By what part FastSurvivalSVM's objective is above auclab's; the file has ten digits."""
    part = float(row["other_objective"]) / float(row["objective"]) - 1.0
    return measured.power(part) if part > 0.0 else "0" if part == 0.0 else f"−{measured.power(-part)}"


def per_entry(row: measured.Row) -> float:
    """Seconds for ``m log m``."""
    return float(row["seconds"]) / (float(row["rows"]) * math.log(float(row["rows"])))


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the tables of docs/groups_and_times.md")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--one", help="one program, as JSON: of the script itself")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(solved(*json.loads(arguments.one))))
        return
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(arguments.results)))
        return
    with measured.writer(arguments.results, COMMAND, FIELDS) as keep:
        for job in [*((0, part, True) for part in PARTS), *((size, PART, False) for size in SIZES)]:
            row = measure(*job)
            keep(row)
            print(row, flush=True)


if __name__ == "__main__":
    main()
