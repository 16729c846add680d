"""The table of `auclab compare` for the page, with the runs behind every cell; a card per data set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from auclab.comparison import Table, arrange, compare_runs
from auclab.comparison.formats import caption, cell_text, sentences, summary
from auclab.comparison.runs import open_reader, readable
from auclab.pipeline.stored.visible import visible
from auclab.report.figures import Drawn, draw_table
from auclab.report.scorers import MOST_SCORERS
from auclab.types import AuclabError


@dataclass(frozen=True)
class Card:
    """A data set as it was read; `sha256`: checksum of the file or of the generated numbers, `runs`: number of runs.

    `compared`: what rows are ranked by, if not two classes.
    """

    name: str
    rows: int
    features: int
    positive: int
    negative: int
    source: str
    sha256: str
    citation: str
    runs: int
    compared: str = ""


def read_cards(store_dir: str | Path, runs: pd.DataFrame) -> list[Card]:
    """Cards of the data sets of some runs, by name; one card for each checksum."""
    with_data = runs[runs["data_sha256"].notna()].drop_duplicates("run_id")
    with readable(store_dir, "data sets"):
        client = open_reader(store_dir)
        blocks = (block for _, block in with_data.groupby("data_sha256", sort=False))
        cards = [_card(client.get_run(block["run_id"].iloc[-1]), block.iloc[-1], len(block)) for block in blocks]
    return sorted(cards, key=lambda card: card.name)


def _card(run: Any, first: pd.Series[Any], runs: int) -> Card:
    """The card of the data of a run; `runs`: number of runs that used the data."""
    try:
        dataset = run.inputs.dataset_inputs[0].dataset
        counts, source = json.loads(dataset.profile), json.loads(dataset.source)
        compared = visible(str(counts.get("compared", "")))
        rows, citation = int(counts["rows"]), first.get("dataset.citation")
        positive, negative = (0, rows) if compared else (int(counts["positive"]), int(counts["negative"]))
        if positive + negative < 1:
            raise ValueError("no observations")
        where, sha256 = (visible(str(source.get(key) or "")) for key in ("uri", "sha256"))
        about = citation if isinstance(citation, str) else ""
        counted = (rows, int(counts["features"]), positive, negative)
        return Card(visible(str(dataset.name)), *counted, where, sha256, about, runs, compared)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise AuclabError(
            f"the record of the data of run {first['run']} is damaged ({type(error).__name__}: {error}); leave the run "
            f"out (--filter \"attributes.run_id != '{first['run_id']}'\")"
        ) from error


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
