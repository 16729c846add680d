"""Scorecards: what is proved with how many candidate items, the card of the page, and the largest bAUC of few features.

    python benchmarks/scorecards.py           # measure, docs/scorecards/measured.csv, ten minutes
    python benchmarks/scorecards.py --page    # the tables of docs/scorecards.md, from that file

All rows of the data sets; `ScorecardClassifier` with its defaults (at most 8 items, points −5 to 5, five margins) but
for the number of candidates. Seconds are those of the processor, one thread; a search ends after 120 s of the clock.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any

import measured
import numpy as np

from auclab import BufferedAUC, Constraints, ScorecardClassifier, solve
from auclab.datasets import load
from auclab.metrics import auc_score, bauc_score

PAGE = measured.ROOT / "docs" / "scorecards.md"
RESULTS = PAGE.with_suffix("") / "measured.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/scorecards.py", "benchmarks/scorecards.py --page"
FIELDS = ("part", "data", "asked", "items", "gap", "status", "seconds", "objective", "auc", "bauc", "real_bauc", "line")
#: Candidates of a card, None for all; and seconds of a search.
DATA, CANDIDATES, LIMIT = ("breast_cancer", "german_credit"), (10, 12, 16, None), 120.0
#: The data set whose card is shown, with the default number of candidates, and the one of the feature counts.
SHOWN, DEFAULT, FEW_OF, COUNTS = "german_credit", 12, "pima", (1, 2, 3, 4, 5, 6)


def measure() -> Iterator[dict[str, Any]]:
    """Rows of the three parts."""
    for name in DATA:
        dataset = load(name)
        ScorecardClassifier(max_items=2, max_candidates=3).fit(dataset.frame[:100], dataset.y[:100])  # loads loops
        for candidates in CANDIDATES:
            begin = process_time()
            model = ScorecardClassifier(max_candidates=candidates, time_limit=LIMIT).fit(dataset.frame, dataset.y)
            seconds = process_time() - begin
            solution, totals = model.solution_, model.total(dataset.frame)
            items = model.encoder_.transform(dataset.frame)
            used = np.flatnonzero(solution.coef)
            real = solve(BufferedAUC(), items[:, used], dataset.y)
            yield {
                "part": "candidates", "data": name, "asked": candidates or "all", "items": items.shape[1],
                "gap": solution.gap, "status": str(solution.status), "seconds": seconds,
                "objective": solution.objective, "auc": auc_score(dataset.y, totals),
                "bauc": bauc_score(dataset.y, totals), "real_bauc": 1.0 - real.objective,
            }  # fmt: skip
            if (name, candidates) == (SHOWN, DEFAULT):
                for line in str(model.card_).splitlines():
                    yield {"part": "card", "data": name, "line": line.rstrip()}
    dataset = load(FEW_OF)
    X = dataset.frame.to_numpy(dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for count in COUNTS:
        begin = process_time()
        few = solve(BufferedAUC(), X, dataset.y, constraints=Constraints(max_features=count), tolerance=1e-4)
        yield {
            "part": "features", "data": FEW_OF, "asked": count, "items": int(np.count_nonzero(few.coef)),
            "gap": few.gap, "status": str(few.status), "seconds": process_time() - begin,
            "objective": few.objective, "bauc": bauc_score(dataset.y, X @ few.coef),
        }  # fmt: skip


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """The card, gaps by the number of candidates, and the largest bAUC of few features."""
    lines = []
    for row in (row for row in rows if row["part"] == "candidates"):
        proved = row["status"] == "optimal"
        gap = "0" if proved else f"{measured.significant(100 * float(row['gap']))} %"
        seconds = measured.significant(float(row["seconds"])) + ("" if proved else " (limit)")
        asked = f"all {row['items']}" if row["asked"] == "all" else row["asked"]
        lines.append([row["data"], asked, gap, seconds, *(f"{float(row[name]):.4f}" for name in ("auc", "bauc"))])
    head = [
        "data, at most 8 items, points −5 to 5, five margins",
        "candidates",
        "gap",
        "processor seconds",
        "AUC",
        "bAUC",
    ]
    card = "\n".join(f"    {row['line']}".rstrip() for row in rows if row["part"] == "card")
    few = [
        [row["asked"], f"{float(row['bauc']):.4f}", measured.power(float(row["gap"])), f"{float(row['seconds']):.1f}"]
        for row in rows
        if row["part"] == "features"
    ]
    return {
        "card": card,
        "candidates": measured.table(head, lines),
        "features": measured.table(["features, at most", "largest bAUC", "gap", "processor seconds"], few),
    }


def sentences(rows: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    (shown,) = (row for row in rows if (row["data"], row["asked"]) == (SHOWN, str(DEFAULT)))
    (easy,) = (row for row in rows if (row["data"], row["asked"]) == ("breast_cancer", str(DEFAULT)))
    return [
        f"the card of {SHOWN} has a bAUC of {float(shown['bauc']):.4f}, and the best real coefficients of its items "
        f"have {float(shown['real_bauc']):.4f}",
        f"a limit of {LIMIT:g} s wall-clock time",
        f"The objective of breast_cancer is near 0 ({float(easy['objective']):.3f} with {DEFAULT} candidates)",
    ]


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
            print({name: value for name, value in row.items() if name != "part"}, flush=True)


if __name__ == "__main__":
    main()
