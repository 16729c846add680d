"""`auclab best`: the best configuration, its test against the next one, and its model on all rows."""

from __future__ import annotations

import math
import shlex
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.table import Table as RichTable
from rich.text import Text

from auclab.comparison import Table
from auclab.comparison.best import Best, find_best
from auclab.comparison.formats import digits_of
from auclab.comparison.runs import GROUPS, fetch_files, find_metric
from auclab.pipeline.config.typed_words import quoted_where_needed
from auclab.pipeline.refit import on_all_rows, refit, tracking_of
from auclab.pipeline.screen.tables import page
from auclab.tracking.address import Address
from auclab.tracking.registry import check_name, register_model
from auclab.types import AuclabError, Status


def show_best(table: Table, runs: pd.DataFrame, arguments: Namespace) -> int:
    """Print the best of each data set; with ``--refit``, which needs a single one, refit it on all rows.

    `table`: the comparison of `runs`. `runs`: finished runs. `arguments`: of the command.
    """
    found = find_best(table, runs)
    if arguments.register is not None:
        check_name(arguments.register)
    if arguments.refit and len(found) > 1:
        rows = ", ".join(each.row for each in found[:6])
        raise AuclabError(
            f"--refit fits one model, and the table has {len(found)} rows ({rows}): choose one, such as "
            f"{_choosing(found[0], found, table)}"
        )
    for each in found:
        page.print()
        page.print(_grid(each, table, _certified(runs)))
    for note in table.notes:
        page.print(Text.assemble(("· ", "cyan"), note), soft_wrap=not page.is_terminal)
    if not arguments.refit:
        option = "" if len(found) == 1 else f"{_choosing(found[0], found, table)} "
        whose = "it" if len(found) == 1 else f"the best on {found[0].row}"
        words = (
            f"the same command with {option}--refit --register NAME fits {whose} to all rows and registers the model"
        )
        page.print(words, style="dim")
        return 0
    return _refit(found[0], arguments)


def _certified(runs: pd.DataFrame) -> list[str]:
    """The formulations among some runs that are not baselines."""
    if "tag.status" not in runs or "formulation" not in runs:
        return []
    return [str(name) for name in runs.loc[runs["tag.status"] != Status.BASELINE, "formulation"].dropna().unique()]


def _choosing(best: Best, found: Sequence[Best], table: Table) -> str:
    """The condition that selects one row of the table: the settings in which the rows differ."""
    telling = [key for key in table.cells.rows if len({_text(each.newest[key]) for each in found}) > 1] or list(
        table.cells.rows
    )
    return "--where " + " ".join(shlex.quote(f"{key}={_text(best.newest[key])}") for key in telling)


def _text(value: Any) -> str:
    """A setting as ``--where`` compares it."""
    return "None" if pd.isna(value) else f"{value:.12g}" if isinstance(value, float) else str(value)


def _grid(best: Best, table: Table, others: Sequence[str] = ()) -> RichTable:
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    digits = digits_of(table)
    pairs = f"{best.pairs} {'pair' if best.pairs == 1 else 'pairs'}"
    grid.add_row("best", Text.assemble((best.column, "bold green"), f" on {best.row}"))
    grid.add_row(
        table.cells.metric, Text(f"{_number(best.mean, best.deviation, digits)} over {pairs} (seeds and folds)")
    )
    if table.cells.metric.startswith("inner/"):
        grid.add_row("held out", Text(_held_out(best)))
    if best.next:
        grid.add_row(
            "next",
            Text(f"{best.next}: {_number(best.next_mean, best.next_deviation, digits)} · {_verdict(best, table)}"),
        )
    if len(best.level) > 2:
        grid.add_row("not worse", Text(", ".join(best.level[1:])))
    if best.left_out:
        grid.add_row("left out", Text(f"with fewer pairs: {', '.join(best.left_out)}"))
    if best.newest.get("tag.status") == Status.BASELINE:
        own = dict.fromkeys(str(each) for each in others)
        without = f"; --where formulation={','.join(own)} leaves it out" if own else ""
        grid.add_row("certificate", Text(f"none: a baseline of another library{without}"))
    if table.cell(best.row, best.column).constant:
        grid.add_row("warning", Text("constant: it gives every row the same score, and so ranks nothing", "yellow"))
    command = best.newest.get("tag.command")
    if isinstance(command, str):
        grid.add_row("command", Text(command))
        grid.add_row("all rows", Text(on_all_rows(command)))
    grid.add_row("runs", Text(" ".join(str(each)[:8] for each in dict.fromkeys(best.runs["run_id"]))))
    return grid


def _held_out(best: Best) -> str:
    """AUC on rows not used for the choice, over the runs of the best."""
    auc = find_metric(best.runs, "auc")
    values = best.runs[auc].dropna() if auc.startswith("test/") else best.runs.iloc[:0]["run_id"]
    if len(values) == 0:
        return "nothing"
    low, high = (best.newest.get(f"{auc}_{end}", math.nan) for end in ("low", "high"))
    interval = "" if len(values) > 1 or math.isnan(low) else f" ({low:.4f} to {high:.4f})"
    return f"{auc} {values.mean():.4f}{interval}, of rows that the choice has not seen"


def _verdict(best: Best, table: Table) -> str:
    if math.isnan(best.p_value):
        few = "one pair tells nothing: run more seeds, such as split.seed=0,1,2,3,4"
        return few if best.pairs < 2 else f"no {table.test} test"
    verdict = "worse" if best.p_value < table.alpha else "no significant difference"
    return f"{verdict}, p = {best.p_value:.2g} ({table.test}, level {table.alpha:g})"


def _number(mean: float, deviation: float, digits: Callable[[float], str]) -> str:
    return digits(mean) + ("" if math.isnan(deviation) else f" ± {digits(deviation)}")


def _refit(best: Best, arguments: Namespace) -> int:
    model = refit_run(best.newest, best.runs.tail(1), arguments, ["split=none"])
    if arguments.register:
        version = register_model(Address.parse(arguments.store), model, arguments.register)
        page.print(f"model    models:/{arguments.register}/{version}", soft_wrap=True, markup=False)
    return _show_use(f"models:/{arguments.register}/{version}" if arguments.register else model[:8], arguments)


def rerun_with(rows: pd.DataFrame, arguments: Namespace) -> int:
    """`auclab rerun RUN SETTING…`: the stored configuration with other settings, stored as a new run."""
    settings = quoted_where_needed(arguments.settings)
    return _show_use(refit_run(rows.iloc[0], rows, arguments, settings)[:8], arguments)


def refit_run(row: pd.Series[Any], rows: pd.DataFrame, arguments: Namespace, settings: Sequence[str]) -> str:
    """Refit the configuration of a run with other settings, print and store it; returns the id of the new run."""
    fetch_files(rows, arguments.store, allow=arguments.allow)
    choices = {group: row[group] for group in GROUPS if isinstance(row.get(group), str)}
    command = row.get("tag.command")
    _, run = refit(
        Path(row["folder"]),
        tracking_of(str(row.get("tracking.experiment") or "auclab"), arguments.store),
        settings,
        choices=choices,
        command=command if isinstance(command, str) else "",
        allow=arguments.allow,
    )
    if run.run_id is None:
        raise AuclabError(f"the run was not kept in {arguments.store}; its files are in {run.folder}")
    page.print(f"run      {run.name}  {run.run_id}", soft_wrap=True, markup=False)
    return str(run.run_id)


def _show_use(model: str, arguments: Namespace) -> int:
    store = "" if arguments.store == "mlruns" else f" --store {shlex.quote(arguments.store)}"
    page.print(
        f"use it   auclab predict {shlex.quote(model)} ROWS.csv --out scores.csv{store}", soft_wrap=True, markup=False
    )
    return 0
