"""Seconds of the concordance index beside scikit-survival's, and of the metrics that it does not have.

    OMP_NUM_THREADS=1 python benchmarks/concordance.py           # measure, docs/concordance.csv
    OMP_NUM_THREADS=1 python benchmarks/concordance.py --page    # the table of docs/groups_and_times.md, from that file

Needs scikit-survival, which is no dependency of the package. Times are exponential, rounded so that many are tied,
scores have ties too; scikit-survival visits every comparable pair, so that its million rows have few events. Both are
called in one process, and both values are compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import measured
import numpy as np

from auclab.metrics import buffered_concordance, concordance_index, grouped_auc, grouped_bauc

PAGE = measured.ROOT / "docs" / "groups_and_times.md"
RESULTS = PAGE.with_name("concordance.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/concordance.py", "benchmarks/concordance.py --page"
FIELDS = ("rows", "events", "concordance", "scikit_survival", "difference", "buffered", "grouped", "grouped_buffered")
#: Rows, share of events, repetitions of scikit-survival's.
SIZES = ((10_000, 0.5, 3), (100_000, 0.5, 1), (1_000_000, 0.003, 1))


def seconds(call: Callable[[], float], times: int = 3) -> tuple[float, float]:
    """Value and median of the seconds."""
    taken, value = [], 0.0
    for _ in range(times):
        start = perf_counter()
        value = call()
        taken.append(perf_counter() - start)
    return value, median(taken)


def measure(rows: int, share: float, times: int) -> dict[str, float]:
    """One size."""
    from sksurv.metrics import concordance_index_censored

    rng = np.random.default_rng(rows)
    x = rng.normal(size=rows)
    time, event = np.ceil(1e4 * rng.exponential(np.exp(-x))), rng.random(rows) < share
    scores = np.round(x + rng.normal(size=rows), 3)
    groups, grades = np.arange(rows) // 10, rng.integers(0, 3, rows)
    metrics: dict[str, Callable[[], float]] = {
        "concordance": lambda: concordance_index(time, event, scores, tied_times="censored_later", tolerance=1e-8),
        "buffered": lambda: buffered_concordance(time, event, scores),
        "grouped": lambda: grouped_auc(grades, scores + grades, groups),
        "grouped_buffered": lambda: grouped_bauc(grades, scores + grades, groups),
    }
    for call in metrics.values():  # compiled, or loaded
        call()
    found = {name: seconds(call) for name, call in metrics.items()}
    other, taken = seconds(lambda: concordance_index_censored(event, time, scores)[0], times)
    return {
        "rows": rows, "events": int(event.sum()), **{name: each for name, (_, each) in found.items()},
        "scikit_survival": taken, "difference": abs(found["concordance"][0] - other),
    }  # fmt: skip


def tables(found: Sequence[measured.Row]) -> dict[str, str]:
    """The table of the page."""
    names = ("concordance", "scikit_survival", "buffered", "grouped", "grouped_buffered")
    lines = [
        [
            *(f"{int(row[name]):,}" for name in ("rows", "events")),
            *(f"{measured.significant(float(row[name]))} s" for name in names),
            measured.significant(float(row["concordance"]) / float(row["scikit_survival"])),
            measured.power(float(row["difference"])) if float(row["difference"]) else "0",
        ]
        for row in found
    ]
    head = ["rows", "events", "concordance", "scikit-survival", "buffered", "groups of 10", "buffered", "ratio"]
    return {"speed": measured.table([*head, "difference"], lines)}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/groups_and_times.md")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(arguments.results)))
        return
    with measured.writer(arguments.results, COMMAND, FIELDS) as keep:
        for size in SIZES:
            row = measure(*size)
            keep(row)
            print(row, flush=True)


if __name__ == "__main__":
    main()
