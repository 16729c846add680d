"""Evaluation of the stored values of `splits`: ranks over data sets, tests, and the size of the differences.

Average ranks over the sets (1 is best; the mean over seeds is ranked), Friedman's test in Iman and Davenport's form and
Nemenyi's critical difference at 5 %; on each set the corrected paired t-test against bAUC at 5 % (test to training rows
as 1 to 2), not adjusted for the number of sets, so that of 29 sets one or two are expected by chance; mean differences
over sets with their signed-rank p-value. It reads ``results/splits.csv`` and trains nothing: ``smoke`` and the
others are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from scipy.stats import spearmanr, wilcoxon

from auclab._core.base import AuclabError
from auclab.datasets import load
from auclab.runs.compare.paired import Ranking, paired_test, rank_columns
from experiments.study import FOLDER, VALUE, Row, main, read
from experiments.which_formulation.methods import COMPARED
from experiments.which_formulation.splits import split

SPLITS = FOLDER / "which_formulation" / "results" / "splits.csv"
#: Measures by name, and whether less is better.
MEASURES = {"auc": False, "bauc": False, "voros": False, "brier": True}
LEVEL = 0.05
#: Test rows to training rows.
RATIO = 0.5


def run(scale: str) -> Iterator[Row]:
    """All ranks and tests."""
    values = kept_values()
    for measure, lower in MEASURES.items():
        found = ranking(values, measure, lower_is_better=lower)
        yield Row(f"friedman.{measure}", found.f_p_value)
        yield Row(f"critical_difference.{measure}", found.critical_difference)
        for method, rank in found.average_ranks.items():
            yield Row(f"rank.{measure}.{method}", float(rank))
    yield from _against_bauc(values)
    yield from _size(values)
    yield from _room(values)


def kept_values() -> pd.DataFrame:
    """Columns ``set, measure, method, seed, value``.

    Raises
    ------
    AuclabError
        `splits` was not run.
    """
    if not SPLITS.exists():
        raise AuclabError(f"{SPLITS.name} is missing; run experiment=which_formulation_splits first")
    rows = [row for row in read(SPLITS)[2] if row.claim_id.startswith(VALUE)]
    names = [row.claim_id.removeprefix(VALUE).split(".") for row in rows]
    columns = zip(*names, strict=True)
    table = pd.DataFrame(dict(zip(("set", "measure"), columns, strict=True)))
    return table.assign(
        method=[row.variant for row in rows], seed=[row.seed for row in rows], value=[row.value for row in rows]
    )


def means(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean over seeds: a row per set, a column per method."""
    selected = values[values["measure"] == measure]
    return selected.pivot_table(index="set", columns="method", values="value")[list(COMPARED)]


def ranking(values: pd.DataFrame, measure: str, *, lower_is_better: bool = False) -> Ranking:
    """Of the methods over the sets."""
    return rank_columns(means(values, measure), lower_is_better=lower_is_better, alpha=LEVEL)


def _against_bauc(values: pd.DataFrame) -> Iterator[Row]:
    """Sets on which a method is better, and worse, than bAUC by test AUC; mean difference over sets and its p-value."""
    auc = values[values["measure"] == "auc"].pivot_table(index=["set", "seed"], columns="method", values="value")
    for method in [key for key in COMPARED if key != "bauc"]:
        better = worse = 0
        for _, table in auc.groupby(level="set"):
            test = paired_test(table[method], table["bauc"], test="corrected-t", test_train_ratio=RATIO)
            better += test.p_value < LEVEL and test.statistic > 0
            worse += test.p_value < LEVEL and test.statistic < 0
        difference = (auc[method] - auc["bauc"]).groupby(level="set").mean()
        yield Row(f"better.{method}", better)
        yield Row(f"worse.{method}", worse)
        yield Row(f"difference.{method}", float(difference.mean()))
        yield Row(f"signed_rank.{method}", float(wilcoxon(difference).pvalue))


def _size(values: pd.DataFrame) -> Iterator[Row]:
    """How large the differences between methods on a set are, and their seconds."""
    auc = means(values, "auc")
    spread = auc.max(axis=1) - auc.min(axis=1)
    yield Row("spread.median", float(spread.median()))
    yield Row("spread.largest", float(spread.max()))
    seconds = means(values, "seconds")
    for method in COMPARED:
        yield Row(f"seconds.{method}", float(seconds[method].median()))


def _room(values: pd.DataFrame) -> Iterator[Row]:
    """Whether the gain of the tuned pair hinge over bAUC goes with how few rows a column has."""
    table = means(values, "auc")
    gain = table["ranksvm2"] - table["bauc"]
    found = spearmanr([rows_per_column(name) for name in table.index], gain)
    yield Row("room.correlation", float(found.statistic))
    yield Row("room.p_value", float(found.pvalue))


def rows_per_column(name: str) -> float:
    """Training rows of the smaller class for each column after encoding, of the first split."""
    (X, y), _ = split(load(name), 0)
    return float(min((y == 1).sum(), (y == 0).sum()) / X.shape[1])


if __name__ == "__main__":
    main(run)
