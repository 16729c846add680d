"""Screens of `auclab compare`, `runs` and `rerun`."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Literal

import pandas as pd
from rich import box
from rich.table import Table as Sheet
from rich.text import Text

from auclab.comparison.cells import shorten
from auclab.comparison.column_pairs import ColumnPair
from auclab.comparison.formats import caption, grid, sentences, summary
from auclab.comparison.replay import EFFORT, Replay
from auclab.comparison.table import Table
from auclab.pipeline.screen.console import Screen, out
from auclab.pipeline.stored.visible import visible
from auclab.tracking.address import hide_password
from auclab.types import CONVERGED

#: A terminal has its own width; output to a file or a pipe is not wrapped.
page = out if out.is_terminal else Screen(width=200)

#: Width in characters from which gap and seconds of a run are shown.
WIDE_SCREEN = 115

STYLES = {"FINISHED": "green", "FAILED": "red", "KILLED": "yellow", "RUNNING": "cyan"}


def show_table(table: Table) -> None:
    """Print the cells, then the summary of each column, then the notes."""
    page.print()
    page.print(_fitting(table))
    page.print(
        Text(caption(table, "Bold (green: the best)" if page.is_terminal else "Marked *"), style="dim"),
        soft_wrap=not page.is_terminal,
    )
    page.print()
    page.print(sheet_of(*summary(table)))
    for sentence in sentences(table):
        style = "yellow" if sentence.startswith(("missing", "too few", "one pair")) else ""
        page.print(Text.assemble(("· ", "cyan"), (sentence, style)), soft_wrap=not page.is_terminal)
    page.print()


def show_column_pairs(pairs: Sequence[ColumnPair], *, rope: float) -> None:
    """The tests of every two columns over rows."""
    head = ["first", "second", "rows", "wins/losses", "difference", "p (Wilcoxon)", "p (Holm)"]
    head += ["P(first better)", "P(equal)", "P(second better)"]
    lines: list[list[str | Text]] = []
    for pair in pairs:
        tests = [f"{pair.p_value:.2g}", f"{pair.p_holm:.2g}"]
        bayes = [f"{share:.3f}" for share in (pair.first_better, pair.equal, pair.second_better)]
        tally, difference = f"{pair.wins}/{pair.losses}", f"{pair.difference:+.4g}".replace("-", "−")
        lines.append([pair.first, pair.second, str(pair.n_rows), tally, difference, *tests, *bayes])
    page.print(sheet_of(head, lines, left=(0, 1)))
    text = (
        "Means of rows, every two columns: Wilcoxon's signed ranks, with Holm's correction for all pairs; posterior "
        f"probabilities of the Bayesian signed-rank test, equal within ±{rope:g}."
    )
    page.print(Text(text, style="dim"), soft_wrap=not page.is_terminal)
    page.print()


def _fitting(table: Table) -> Sheet:
    """The orientation that fits the width; if neither does, cells are folded, not cut."""
    usual = _sheet(table, turned=False)
    for sheet in (usual, _sheet(table, turned=True)):
        if page.measure(sheet).minimum <= page.width:
            return sheet
    for column in usual.columns:
        column.no_wrap, column.min_width = False, None
    return usual


def _sheet(table: Table, *, turned: bool) -> Sheet:
    """The main table; its cells, numbers alone, are the only ones whose markup counts."""

    def bold(text: str, best: bool) -> str:
        if not page.is_terminal:
            return f"{text} *"
        return f"[bold green]{text}[/bold green]" if best else f"[bold]{text}[/bold]"

    head, lines = grid(table, bold, turned=turned)
    return sheet_of(head, [[line[0], *map(Text.from_markup, line[1:])] for line in lines])


def show_runs(runs: pd.DataFrame, *, metric: str) -> None:
    """A line per run, the newest last."""
    head = ["run", "started", "name", "splits", "status", metric, "gap", "seconds"]
    wide = page.width >= WIDE_SCREEN
    lines = []
    for _, block in runs.groupby("run_id", sort=False):
        first = block.iloc[0]
        values = block[metric].astype(float) if metric in block else pd.Series(dtype=float)
        number = "—" if values.isna().all() else f"{values.mean():.4f}"
        if len(block) > 1 and number != "—":
            number += f" ± {values.std(ddof=1):.4f}"
        status = str(first["run_status"])
        shown = str(first.get("tag.status")) if status == "FINISHED" else status
        style = "yellow" if status == "FINISHED" and shown not in CONVERGED else STYLES.get(status, "")
        started = f"{first['started']:%m-%d %H:%M}" if pd.notna(first["started"]) else "unknown"
        line: list[str | Text] = [Text(str(first["run_id"])[:8], "cyan"), started, str(first["run"])]
        line += [str(len(block)), Text(shown, style), number]
        lines.append([*line, number_of(block, "gap", "max", ".1e"), number_of(block, "seconds/total", "sum", ".3g")])
    if not wide:
        head, lines = head[:-2], [line[:-2] for line in lines]
    page.print(sheet_of(head, lines, left=(0, 1, 2, 4)))
    count = f"{len(lines)} {'run' if len(lines) == 1 else 'runs'}"
    page.print(f"{count}; auclab show RUN describes one, auclab compare compares them", style="dim")


def show_sweep_runs(runs: pd.DataFrame, sweep: str, *, metric: str, store: str) -> None:
    """The runs of a sweep, and the commands that compare them.

    Parameters
    ----------
    runs : DataFrame
        As `read_runs` gives it.
    sweep : str
        Its id, or the first letters of it.
    metric : str
        The number that is shown of every run.
    store : str
        What ``--store`` was.
    """
    show_runs(runs, metric=metric)
    show_sweep_commands(sweep, store=store)


def show_sweep_commands(sweep: str, *, store: str) -> None:
    """The commands that compare the runs of a sweep; `store` is what ``--store`` was."""
    where = "" if store == "mlruns" else f" --store {shlex.quote(hide_password(store))}"
    for command in ("compare", "best"):
        page.print(f"auclab {command} --sweep {sweep[:8]}{where}", soft_wrap=True, markup=False)


def show_replay(found: Replay, tolerance: float) -> None:
    """Whether a repeated run gave the same numbers, and the difference of each metric."""
    numbers = found.numbers
    several = numbers["fold"].nunique() > 1
    lines: list[list[str | Text]] = []
    for name, block in numbers.groupby("metric", sort=False):
        apart = block["difference"].abs().max()
        cells = ["", ""] if several else [plain(block[key].iloc[0]) for key in ("stored", "again")]
        effort = str(name).startswith(EFFORT)
        verdict = Text("same", "green") if block["same"].all() else Text("different", "red")
        verdict = Text("—", "dim") if effort else verdict
        lines.append([str(name), *cells, "unknown" if math.isnan(apart) else f"{apart:.1e}", verdict])
    head = ["metric", "stored", "again", "largest difference" if several else "difference", ""]
    if several:  # stored and new values are many
        head, lines = [head[0], *head[3:]], [[line[0], *line[3:]] for line in lines]
    page.print(sheet_of(head, lines))
    for remark in found.remarks:
        page.print(Text.assemble(("· ", "cyan"), remark), soft_wrap=not page.is_terminal)
    if found.same:
        apart = f"within {tolerance:g} (largest difference {found.largest:.1e})"
        digits = "to the last digit" if found.largest == 0 else apart
        page.print(f"[green]the numbers came out the same[/green], {digits}")
    else:
        names = shorten([str(name) for name in found.differences["metric"].unique()])
        page.print(Text.assemble(("the numbers are different", "red"), f": {names}"), soft_wrap=not page.is_terminal)


def sheet_of(head: Sequence[str], lines: Sequence[Sequence[str | Text]], left: Sequence[int] = (0,)) -> Sheet:
    """A table; columns in `left` are text, the others numbers, which are not wrapped.

    Strings are shown as they are; a style is that of a `rich.text.Text`.
    """
    sheet = Sheet(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(head):
        is_name = name == "name" or (index == 0 and len(left) == 1)  # all other columns are short and not wrapped
        justify: Literal["left", "right"] = "left" if index in left else "right"
        width = 26 if is_name else None
        sheet.add_column(Text(name), justify=justify, overflow="fold", no_wrap=not is_name, min_width=width)
    for line in lines:
        sheet.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in line))
    return sheet


def number_of(rows: pd.DataFrame, name: str, how: str, form: str) -> str:
    """A number of the rows of a run, by a function of pandas such as ``mean``; a dash where there is none."""
    if name not in rows or rows[name].isna().all():
        return "—"
    value = float(rows[name].astype(float).agg(how))
    return "—" if math.isnan(value) else format(value, form)


def plain(value: float | str | None, form: str = ".8g") -> str:
    """A number of a JSON file, where unknown is null and infinity a string."""
    if isinstance(value, str):
        return visible(value)
    return "unknown" if value is None or math.isnan(value) else format(value, form)
