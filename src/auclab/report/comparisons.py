"""The table of `auclab compare` for the page, with the runs behind every cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from auclab.comparison import Table, arrange, compare_runs
from auclab.comparison.formats import caption, cell_text, sentences, summary
from auclab.report.figures import Drawn, draw_table
from auclab.report.scorers import MOST_SCORERS
from auclab.types import AuclabError

#: Columns up to which all pairs are tested: the number of tests is quadratic.
MOST_COLUMNS = MOST_SCORERS


@dataclass(frozen=True)
class Entry:
    """A cell: its text, its sort key, and the numbers of the runs in its mean."""

    text: str
    value: float | None
    level: bool
    best: bool
    runs: Sequence[int]


@dataclass(frozen=True)
class Sheet:
    """One metric of all configurations on all data sets; `problem` says why there is no table."""

    metric: str
    caption: str = ""
    head: Sequence[str] = ()
    lines: Sequence[tuple[str, Sequence[Entry]]] = ()
    summary: tuple[Sequence[str], Sequence[Sequence[str]]] = ((), ())
    notes: Sequence[str] = ()
    problem: str = ""
    figures: tuple[Drawn, ...] = ()


def compare_sheet(runs: pd.DataFrame, metric: str, numbers: Mapping[str, int], notes: Sequence[str] = ()) -> Sheet:
    """The comparison of finished runs in one metric.

    `runs`: as `auclab.comparison.read_runs` gives it. `metric`: a column of numbers, such as ``test/auc``. `numbers`:
    the number on the page of each ``run_id``. `notes`: on what the caller left out.
    """
    try:
        count = arrange(runs, metric=metric).values.shape[1]
        if count > MOST_COLUMNS:
            raise AuclabError(
                f"{count} configurations are too many to test each against each; choose fewer with --where, or "
                "one of them at a time with auclab compare --columns"
            )
        table = compare_runs(runs, metric=metric, notes=notes)
    except AuclabError as error:
        return Sheet(metric, problem=str(error))
    rows, columns = table.rows, table.columns
    if table.is_wide:
        head = [", ".join(table.cells.columns), *rows]
        lines = [(name, [_entry(table, row, name, numbers) for row in rows]) for name in columns]
    else:
        head = [", ".join(table.cells.rows), *columns]
        lines = [(name, [_entry(table, name, column, numbers) for column in columns]) for name in rows]
    return Sheet(metric, caption(table), head, lines, summary(table), sentences(table), figures=draw_table(table))


def _entry(table: Table, row: str, column: str, numbers: Mapping[str, int]) -> Entry:
    cell, runs = table.cell(row, column), [numbers[run_id] for run_id in table.cells.runs_of(row, column)]
    value = None if pd.isna(cell.mean) else cell.mean
    return Entry(cell_text(table, row, column), value, cell.level, cell.best, runs)
