"""The bold numbers of Table 2: which metric's choice is no worse than the best by a paired t-test at 5 %.

Which are bold is lost in the text at hand, so nothing is compared. Of a data set the best of the four metrics of the
print is the one with the highest mean test AUC over splits. ``as_published`` is the t-test of the print, which takes
splits of the same data for independent; ``corrected`` counts what their training parts share (Nadeau & Bengio 2003, a
test part a ninth of the training part). It reads ``results/table2.csv`` and computes nothing itself: ``smoke`` and the
others are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from auclab._core.base import AuclabError
from auclab.runs.compare.paired import paired_test
from experiments.norton_uryasev_2018.table2 import SETS
from experiments.study import AGREE, AS_PUBLISHED, CORRECTED, FOLDER, Row, main, read

RESULTS = FOLDER / "norton_uryasev_2018" / "results" / "table2.csv"
METRICS = ("bauc", "auc", "pauc", "sauc")
LEVEL = 0.05
RATIO = 1 / 9
TESTS: dict[str, tuple[Literal["t", "corrected-t"], float | None]] = {
    AS_PUBLISHED: ("t", None),
    CORRECTED: ("corrected-t", RATIO),
}


def run(scale: str) -> Iterator[Row]:
    """On how many of the twelve sets each choice is no worse than the best, and mean test AUC over the sets."""
    values = kept_values()
    for variant, (test, ratio) in TESTS.items():
        fine = dict.fromkeys(METRICS, 0)
        for name in SETS:
            best = max(METRICS, key=lambda metric: values[name, metric].mean())
            for metric in METRICS:
                found = paired_test(values[name, metric], values[name, best], test=test, test_train_ratio=ratio)
                fine[metric] += not found.p_value < LEVEL
        for metric, count in fine.items():
            yield Row(f"table2.no_worse.{metric}", count, variant=variant)
    for metric in METRICS:
        yield Row(f"table2.mean.{metric}", float(np.mean([values[name, metric].mean() for name in SETS])))


def kept_values() -> dict[tuple[str, str], np.ndarray]:
    """Test AUC of the selected by set and metric, a value per seed.

    Raises
    ------
    AuclabError
        `table2` was not run.
    """
    if not RESULTS.exists():
        raise AuclabError(f"{RESULTS.name} is missing; run experiment=norton_uryasev_2018_table2 first")
    rows = [row for row in read(RESULTS)[2] if row.claim_id.startswith("table2.") and row.variant == AGREE]
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row.claim_id, []).append(row.value)
    return {(name, metric): np.array(found[f"table2.{name}.{metric}"]) for name in SETS for metric in METRICS}


if __name__ == "__main__":
    main(run)
