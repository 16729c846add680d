"""The table of `auclab compare` for the page, with the runs behind every cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from auclab.comparison import Table, arrange, compare_runs
from auclab.comparison.formats import caption, digits_of, sentences, summary
from auclab.comparison.run_settings import label
from auclab.report.coefficients import MOST_SCORERS
from auclab.report.figures import Drawn, draw_table
from auclab.sizes import FEW
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
    runs: tuple[int, ...]


@dataclass(frozen=True)
class Sheet:
    """One metric of all configurations on all data sets; `problem` says why there is no table."""

    metric: str
    caption: str = ""
    head: tuple[str, ...] = ()
    lines: tuple[tuple[str, tuple[Entry, ...]], ...] = ()
    summary: tuple[list[str], list[list[str]]] = ((), ())  # type: ignore[assignment]
    notes: tuple[str, ...] = ()
    problem: str = ""
    figures: tuple[Drawn, ...] = ()


def compare_sheet(runs: pd.DataFrame, metric: str, numbers: Mapping[str, int], notes: Sequence[str] = ()) -> Sheet:
    """The comparison of finished runs in one metric.

    `runs`: as `auclab.comparison.read_runs` gives it. `metric`: a column of numbers, such as ``test/auc``. `numbers`:
    the number on the page of each ``run_id``. `notes`: on what the caller left out.
    """
    try:
        columns = arrange(runs, metric=metric).values.shape[1]
        if columns > MOST_COLUMNS:
            raise AuclabError(
                f"{columns} configurations are too many to test each against each; choose fewer with --where, or "
                "one of them at a time with auclab compare --columns"
            )
        table = compare_runs(runs, metric=metric, notes=notes)
    except AuclabError as error:
        return Sheet(metric, problem=str(error))
    entries = _entries(table, runs, numbers)
    rows, columns_ = table.rows, table.columns
    if len(columns_) > FEW and len(columns_) > len(rows):
        head = (", ".join(table.cells.columns), *rows)
        lines = tuple((name, tuple(entries[row, name] for row in rows)) for name in columns_)
    else:
        head = (", ".join(table.cells.rows), *columns_)
        lines = tuple((name, tuple(entries[name, column] for column in columns_)) for name in rows)
    return Sheet(
        metric, caption(table), head, lines, summary(table), tuple(sentences(table)), figures=draw_table(table)
    )


def _entries(table: Table, runs: pd.DataFrame, numbers: Mapping[str, int]) -> dict[tuple[str, str], Entry]:
    behind = _runs_behind(table, runs, numbers)
    digits = digits_of(table)
    found = {}
    for row in table.rows:
        pairs = max(table.cell(row, column).count for column in table.columns)
        for column in table.columns:
            cell = table.cell(row, column)
            if math.isnan(cell.mean):
                found[row, column] = Entry("—", None, False, False, ())
                continue
            text = digits(cell.mean) + ("" if math.isnan(cell.deviation) else f" ± {digits(cell.deviation)}")
            text += cell.remark(pairs)
            found[row, column] = Entry(text, cell.mean, cell.level, cell.best, behind.get((row, column), ()))
    return found


def _runs_behind(
    table: Table, runs: pd.DataFrame, numbers: Mapping[str, int]
) -> dict[tuple[str, str], tuple[int, ...]]:
    keys = [list(table.cells.rows), list(table.cells.columns)]
    behind: dict[tuple[str, str], dict[int, None]] = {}
    used = runs.loc[runs[table.cells.metric].notna(), ["run_id", *dict.fromkeys(keys[0] + keys[1])]]
    for record in used.to_dict("records"):
        row, column = (label(names, [record[name] for name in names]) for names in keys)
        behind.setdefault((row, column), {})[numbers[record["run_id"]]] = None
    return {key: tuple(found) for key, found in behind.items()}
