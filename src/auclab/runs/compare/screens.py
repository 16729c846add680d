"""Screens of `auclab compare`, `runs` and `rerun`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from rich.text import Text

from auclab._core.base import CONVERGED
from auclab._core.words import LINES, counted, few, visible
from auclab.datasets.target import names_of
from auclab.runs.compare.replay import EFFORT, Replay
from auclab.runs.compare.runs import find_metric, status_of
from auclab.runs.screen.console import facts_grid, out, print_table

if TYPE_CHECKING:
    from auclab.runs.compare.paired import ColumnPair
    from auclab.runs.compare.table import Cell, Table

STYLES = {"FINISHED": "green", "FAILED": "red", "KILLED": "yellow", "RUNNING": "cyan"}


def show_table(table: Table) -> None:
    """Print the cells, then the summary of each column, then the notes."""
    from auclab.runs.compare.formats import caption, grid, sentences, summary  # with all metrics, which a list lacks

    def mark(text: str, cell: Cell) -> str:
        if not cell.level:
            return text
        if not out.is_terminal:
            return f"{text} *"
        return f"[bold green]{text}[/bold green]" if cell.best else f"[bold]{text}[/bold]"

    head, lines = grid(table, mark)
    out.print()
    print_table(head, [[line[0], *map(Text.from_markup, line[1:])] for line in lines])
    out.print(Text(caption(table, "Bold (green: the best)" if out.is_terminal else "Marked *"), style="dim"))
    out.print()
    print_table(*summary(table))
    for sentence in sentences(table):
        style = "yellow" if sentence.startswith(("missing", "too few", "one pair")) else ""
        out.print(Text.assemble(("· ", "cyan"), (sentence, style)))
    out.print()


def show_best(table: Table, runs: pd.DataFrame) -> None:
    """The best configuration of the one row of a table, its test against the next one, its runs and command.

    `runs`: the finished runs behind the table.
    """
    if len(table.rows) > 1:
        out.print("--where KEY=VALUE that leaves one row also shows the best of it", style="dim")
        return
    from auclab.runs.compare.formats import cell_text

    (row,) = table.rows
    first, *others = table.ordered(row)
    behind = runs[runs["run_id"].isin(table.cells.runs_of(row, first))]
    grid = facts_grid()
    grid.add_row("best", Text.assemble((first, "bold green"), f" on {row}"))
    pairs = counted(int(table.pairs[row]), "pair")
    grid.add_row(table.cells.metric, Text(f"{cell_text(table, row, first)} over {pairs} (seeds and folds)"))
    if table.cells.metric.startswith("inner/"):
        grid.add_row("held out", Text(_held_out(behind)))
    if others:
        number = cell_text(table, row, others[0])
        grid.add_row("next", Text(f"{others[0]}: {number} · {_verdict(table, row, others[0])}"))
    newest = behind.iloc[-1]
    if isinstance(newest.get("tag.command"), str):
        grid.add_row("command", Text(newest["tag.command"]))
    grid.add_row("runs", Text(few((run_id[:8] for run_id in behind["run_id"].unique()), LINES)))
    out.print(grid)
    out.print("the same command with --register NAME fits it to all rows, and registers the model", style="dim")


def _held_out(runs: pd.DataFrame) -> str:
    """AUC on rows not used for the choice, over the runs of the best."""
    auc = find_metric(runs, "auc")
    if not auc.startswith("test/") or runs[auc].isna().all():
        return "nothing"
    return f"{auc} {runs[auc].mean():.4f}, of rows that the choice has not seen"


def _verdict(table: Table, row: str, column: str) -> str:
    """How a configuration differs from the best one of its row."""
    p_value = table.cell(row, column).p_value
    if math.isnan(p_value):
        alone = "one pair tells nothing: run more seeds, such as split.seed=0,1,2,3,4"
        return alone if table.pairs[row] < 2 else f"no {table.test} test"
    verdict = "worse" if p_value < table.alpha else "no significant difference"
    return f"{verdict}, p = {p_value:.2g} ({table.test}, level {table.alpha:g})"


def show_column_pairs(pairs: Sequence[ColumnPair], *, rope: float) -> None:
    """The tests of every two columns over rows."""
    head = ["first", "second", "rows", "wins/losses", "difference", "p (Wilcoxon)", "p (Holm)"]
    head += ["P(first better)", "P(equal)", "P(second better)"]
    lines = []
    for pair in pairs:
        tests = [f"{pair.p_value:.2g}", f"{pair.p_holm:.2g}"]
        bayes = [f"{share:.3f}" for share in (pair.first_better, pair.equal, pair.second_better)]
        tally, difference = f"{pair.wins}/{pair.losses}", f"{pair.difference:+.4g}".replace("-", "−")
        lines.append([pair.first, pair.second, str(pair.n_rows), tally, difference, *tests, *bayes])
    print_table(head, lines, left=(0, 1))
    text = (
        "Means of rows, every two columns: Wilcoxon's signed ranks, with Holm's correction for all pairs; posterior "
        f"probabilities of the Bayesian signed-rank test, equal within ±{rope:g}."
    )
    out.print(Text(text, style="dim"))
    out.print()


def show_runs(runs: pd.DataFrame, *, metric: str) -> None:
    """A line per run, the newest last."""
    several = bool(runs[["run_id"]].duplicated().any())
    head = ["run", "started", "name", "status", *(["splits"] if several else []), metric, "gap", "seconds"]
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
        line += [Text(shown, style), *([str(len(block))] if several else []), number]
        lines.append([*line, number_of(block, "gap", "max", ".1e"), number_of(block, "seconds/total", "sum", ".3g")])
    print_table(head, lines, left=(0, 1, 2, 3))
    out.print(f"{counted(len(lines), 'run')}; auclab show RUN describes one, auclab compare compares them", style="dim")


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
        out.print(Text.assemble(("· ", "cyan"), remark))
    if found.same:
        apart = f"within {tolerance:g} (largest difference {found.largest:.1e})"
        digits = "to the last digit" if found.largest == 0 else apart
        out.print(f"[green]the numbers are the same[/green], {digits}")
    else:
        names = few([str(name) for name in found.differences["metric"].unique()])
        out.print(Text.assemble(("the numbers are different", "red"), f": {names}"))


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
