"""Spect with its last column as the class: the row of Tables 1 to 3 that our reading of the data set does not give.

The file of the UCI repository has the diagnosis first and the binary features F1 to F22 after it. Weka takes the last
column for the class unless another one is named: F22, whose majority has 157 of 267 rows, 58.80 % as printed (212 have
the diagnosis, 79.40 %); the diagnosis is then one of the 22 features. Variant ``class F22``; with ties that count 1,
``class F22, ties one``. A seed is 100 runs, as in `table2` and `table3`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from experiments.learners import Table, read_table
from experiments.study import AGREE, Row, main
from experiments.vanderlooy_huellermeier_2008 import table2, table3
from experiments.vanderlooy_huellermeier_2008.regret import Outcome, of_variant, reading_rows

SEEDS = {"smoke": 1, "default": 10, "full": 20}
RUNS = {"smoke": 2, "default": 100, "full": 100}
CLASS_F22 = "class F22"


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Mean regrets of the four metrics in both settings, and the majority."""
    table, random = by_last_column(read_table("spect")), np.random.default_rng((seed, 0))
    if seed == 0:
        share = float(table.labels.mean())
        yield Row("table1.spect.majority", 100 * max(share, 1 - share), variant=CLASS_F22)
    runs = [table2.one_run(table, random) for _ in range(RUNS[scale])]
    for learner in table2.LEARNERS:
        yield from _rows(f"table2.{{}}.{learner}", [run[learner] for run in runs], seed)
    yield from _rows("table3.{}", [table3.one_run(table, random) for _ in range(RUNS[scale])], seed)


def _rows(pattern: str, runs: list[dict[str, Outcome]], seed: int) -> Iterator[Row]:
    for ties, variant in ((AGREE, CLASS_F22), (table2.TIES_ONE, f"{CLASS_F22}, {table2.TIES_ONE}")):
        yield from reading_rows(pattern, of_variant({"spect": runs}, ties), seed, variant, with_mean=False)


def by_last_column(table: Table) -> Table:
    """The last feature as the class, and the class as the first feature; both have two values.

    Examples
    --------
    >>> cells = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    >>> turned = by_last_column(Table.of(np.array([True, True, False]), cells, np.array([2, 2])))
    >>> turned.labels.tolist(), turned.cells.tolist()
    ([True, False, False], [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    """
    cells = np.column_stack([table.labels.astype(float), table.cells[:, :-1]])
    return Table.of(table.cells[:, -1] == 1.0, cells, np.concatenate([[2], table.arity[:-1]]))


if __name__ == "__main__":
    main(run_seed, SEEDS)
