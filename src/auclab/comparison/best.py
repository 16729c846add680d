"""The best configuration of each data set, and whether it differs significantly from the next one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from auclab.comparison.run_settings import label
from auclab.comparison.table import Table


@dataclass(frozen=True)
class Best:
    """The configuration with the best mean on one data set.

    `row`, `column`: names of the data set and of the configuration in the table. `mean`, `deviation`: of the metric
    over `pairs`; the deviation (n − 1) is NaN over one. `pairs`: seeds and folds that are compared. `next`,
    `next_mean`, `next_deviation`: the configuration with the second best mean; "" and NaN where there is none.
    `p_value`: of the table's test between the two; NaN over fewer than two pairs. `level`: configurations that the test
    does not find worse than the best, best mean first. `left_out`: configurations with too few pairs to be the best.
    `runs`: rows of `read_runs` behind it, oldest first.
    """

    row: str
    column: str
    mean: float
    deviation: float
    pairs: int
    next: str
    next_mean: float
    next_deviation: float
    p_value: float
    level: tuple[str, ...]
    left_out: tuple[str, ...]
    runs: pd.DataFrame

    @property
    def newest(self) -> pd.Series[Any]:
        """Its run that was started last."""
        return self.runs.iloc[-1]


def find_best(table: Table, runs: pd.DataFrame) -> list[Best]:
    """The best configuration of each row of a table, among those with all pairs of the row.

    `runs`: the runs in the table. Returns: one for each row, in their order.
    """
    return [_best_of(table, row, runs) for row in table.rows]


def _best_of(table: Table, row: str, runs: pd.DataFrame) -> Best:
    cells = {column: table.cell(row, column) for column in table.columns}
    pairs = int(table.pairs[row])
    whole = [column for column, cell in cells.items() if cell.count == pairs]
    whole.sort(key=lambda column: (1 if table.lower_is_better else -1) * cells[column].mean)
    first, second = cells[whole[0]], cells[whole[1]] if len(whole) > 1 else None
    return Best(
        *(row, whole[0], first.mean, first.deviation, pairs),
        next=whole[1] if second else "",
        next_mean=second.mean if second else math.nan,
        next_deviation=second.deviation if second else math.nan,
        p_value=second.p_value if second else math.nan,
        level=tuple(column for column in whole if cells[column].level),
        left_out=tuple(column for column, cell in cells.items() if 0 < cell.count < pairs),
        runs=_behind(table, row, whole[0], runs),
    )


def _behind(table: Table, row: str, column: str, runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of one cell."""

    def named(keys: Sequence[str], name: str) -> list[bool]:
        return [label(keys, values) == name for values in runs[list(keys)].itertuples(index=False, name=None)]

    fits = pd.Series(named(table.cells.rows, row), runs.index) & pd.Series(
        named(table.cells.columns, column), runs.index
    )
    return runs[fits & runs[table.cells.metric].notna()]
