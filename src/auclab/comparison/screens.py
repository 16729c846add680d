"""Screens of `auclab compare`, `runs` and `rerun`."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from rich.text import Text

from auclab.comparison.replay import EFFORT, Replay
from auclab.comparison.runs import status_of
from auclab.datasets.target import names_of
from auclab.pipeline.screen.legend import legend
from auclab.pipeline.screen.tables import fits, page, print_table, rich_table
from auclab.pipeline.stored.visible import visible
from auclab.types import CONVERGED
from auclab.wording import few

if TYPE_CHECKING:
    from auclab.comparison.column_pairs import ColumnPair
    from auclab.comparison.table import Table

STYLES = {"FINISHED": "green", "FAILED": "red", "KILLED": "yellow", "RUNNING": "cyan"}


def show_table(table: Table) -> None:
    """Print the cells, then the summary of each column, then the notes."""
    from auclab.comparison.formats import caption, sentences, summary  # with all metrics, which a list of runs lacks

    page.print()
    _show_cells(table)
    page.print(
        Text(caption(table, "Bold (green: the best)" if page.is_terminal else "Marked *"), style="dim"),
        soft_wrap=not page.is_terminal,
    )
    page.print()
    head, lines = summary(table)
    print_table(head, lines)
    _show_legend([table.cells.metric, *table.rows, *table.columns, *head])
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
    print_table(head, lines, left=(0, 1), wrapped=(0, 1), keys=2)
    text = (
        "Means of rows, every two columns: Wilcoxon's signed ranks, with Holm's correction for all pairs; posterior "
        f"probabilities of the Bayesian signed-rank test, equal within ±{rope:g}."
    )
    page.print(Text(text, style="dim"), soft_wrap=not page.is_terminal)
    page.print()


def _show_legend(shown: Iterable[object]) -> None:
    if text := legend(shown):
        page.print(Text(text, style="dim"), soft_wrap=not page.is_terminal)


def _show_cells(table: Table) -> None:
    """The main table, in the orientation that fits the width; if neither does, the columns in several tables."""
    for turned in (False, True):
        head, lines = _cells(table, turned=turned)
        if fits(rich_table(head, lines), page):
            page.print(rich_table(head, lines))
            return
    print_table(*_cells(table, turned=False), keys=2 if _cells(table, turned=False)[0][1] == "pairs" else 1)


def _cells(table: Table, *, turned: bool) -> tuple[list[str], list[list[str | Text]]]:
    """Header and rows of the main table; markup is interpreted in its numeric cells only."""
    from auclab.comparison.formats import grid

    def bold(text: str, best: bool) -> str:
        if not page.is_terminal:
            return f"{text} *"
        return f"[bold green]{text}[/bold green]" if best else f"[bold]{text}[/bold]"

    head, lines = grid(table, bold, turned=turned)
    return head, [[line[0], *map(Text.from_markup, line[1:])] for line in lines]


def show_runs(runs: pd.DataFrame, *, metric: str) -> None:
    """A line per run, the newest last."""
    head = ["run", "started", "name", "splits", "status", metric, "gap", "seconds"]
    lines = []
    for _, block in runs.groupby("run_id", sort=False):
        first = block.iloc[0]
        own = next((name for name in names_of(metric) if name in block and block[name].notna().any()), metric)
        values = block[own].astype(float) if own in block else pd.Series(dtype=float)
        number = "—" if values.isna().all() else f"{values.mean():.4f}"
        if len(block) > 1 and number != "—":
            number += f" ± {values.std(ddof=1):.4f}"
        number += f" {own.rpartition('/')[2]}" if own != metric else ""
        status = str(first["run_status"])
        endings = dict.fromkeys(status_of(row) for row in block.to_dict("records"))
        shown = "; ".join(filter(None, endings)) if status == "FINISHED" else status
        style = "yellow" if status == "FINISHED" and shown not in CONVERGED else STYLES.get(status, "")
        started = f"{first['started']:%m-%d %H:%M}" if pd.notna(first["started"]) else "unknown"
        line: list[str | Text] = [Text(str(first["run_id"])[:8], "cyan"), started, str(first["run"])]
        line += [str(len(block)), Text(shown, style), number]
        lines.append([*line, number_of(block, "gap", "max", ".1e"), number_of(block, "seconds/total", "sum", ".3g")])
    print_table(head, lines, left=(0, 1, 2, 4), spare=("started", "gap", "splits", "seconds"))
    _show_legend([*head, *runs["run"].unique()])
    count = f"{len(lines)} {'run' if len(lines) == 1 else 'runs'}"
    page.print(f"{count}; auclab show RUN describes one, auclab compare compares them", style="dim")


def show_sweep_runs(runs: pd.DataFrame, sweep: str, *, metric: str, store: str) -> None:
    """The runs of a sweep, and the commands that compare them.

    `runs`: as `read_runs` gives it. `sweep`: its id, or the first letters of it. `metric`: the metric to print for
    every run. `store`: the value of ``--store``.
    """
    show_runs(runs, metric=metric)
    show_sweep_commands(sweep, store=store)


def show_sweep_commands(sweep: str, *, store: str) -> None:
    """The commands that compare the runs of a sweep; `store`: the value of ``--store``."""
    where = "" if store == "mlruns" else f" --store {shlex.quote(store)}"
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
    print_table(head, lines)
    for remark in found.remarks:
        page.print(Text.assemble(("· ", "cyan"), remark), soft_wrap=not page.is_terminal)
    if found.same:
        apart = f"within {tolerance:g} (largest difference {found.largest:.1e})"
        digits = "to the last digit" if found.largest == 0 else apart
        page.print(f"[green]the numbers are the same[/green], {digits}")
    else:
        names = few([str(name) for name in found.differences["metric"].unique()])
        page.print(Text.assemble(("the numbers are different", "red"), f": {names}"), soft_wrap=not page.is_terminal)


def number_of(rows: pd.DataFrame, name: str, how: str, form: str) -> str:
    """A number aggregated over the rows of a run by a pandas function such as ``mean``; a dash if missing."""
    if name not in rows or rows[name].isna().all():
        return "—"
    value = float(rows[name].astype(float).agg(how))
    return "—" if math.isnan(value) else format(value, form)


def plain(value: float | str | None, form: str = ".8g") -> str:
    """A number of a JSON file, where unknown is null and infinity a string."""
    if isinstance(value, str):
        return visible(value)
    return "unknown" if value is None or math.isnan(value) else format(value, form)
