"""Screen of `auclab show`, one run: its coefficients by column, and its figures, drawn into the folders of splits."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.padding import Padding
from rich.text import Text

from auclab._core.words import LINES, few, visible
from auclab.runs.compare.cells import PARTS
from auclab.runs.compare.runs import code_of, is_setting, status_of
from auclab.runs.compare.screens import STYLES, number_of, plain
from auclab.runs.screen.console import facts_grid, out, print_table
from auclab.runs.stored.stored_files import DETAILS_FILE, damaged, read_card, read_json, read_rows

if TYPE_CHECKING:
    from auclab.runs.screen.result_screen import BoundLine


FILE = "coefficients.csv"


def draw_run(rows: pd.DataFrame) -> None:
    """ROC curve, ranking errors and scores of every split, from its stored scores, and its coefficients.

    `rows`: one run, as `read_run` gives it.
    """
    from auclab.displays.coefficients import draw_coefficients  # Matplotlib
    from auclab.runs.record.figures import draw_figures, draw_tuning, save_figure

    for folder, split in zip(map(Path, rows["fold_folder"]), rows["fold"], strict=True):
        draw_figures(folder, split=str(split))
        draw_tuning(folder)
        shown = read_effects([folder])[:LINES]
        if shown:  # coefficients in the units of the data
            figure = draw_coefficients(
                *([each.column for each in shown], [each.share for each in shown], [each.direction for each in shown])
            )
            save_figure(figure, folder / "coefficients.png")


def show_study(run: Any, verdicts: str) -> None:
    """A job of a replication study: the command that made it, and each claim with its verdict."""
    facts, tags = facts_grid(), run.data.tags
    facts.add_row("study", Text.assemble((run.info.run_name or "", "bold"), f"  {run.info.run_id}"))
    for name, key in (("command", "command"), ("code", "config.code"), ("verdicts", "verdicts")):
        if key in tags:
            facts.add_row(name, Text(visible(tags[key])))
    out.print()
    out.print(facts)
    lines = [[visible(cell) for cell in line] for line in csv.reader(verdicts.splitlines())]
    if len(lines) > 1:
        print_table(lines[0], lines[1:], left=(0, 4))


#: Parts of settings that are not shown: origin of the data, and the name of a group's choice.
HIDDEN = ("name", "citation", "sha256", "openml", "data_dir", "parameter")


def show_run(rows: pd.DataFrame, *, bounds: bool = False) -> None:
    """One run: the command that made it, settings, the details that it has kept, metrics, files.

    With `bounds`, all of them with their assumptions.
    """
    first, folder = rows.iloc[0], Path(rows.iloc[0]["folder"])
    facts = facts_grid()
    status = str(first["run_status"])
    style = STYLES.get(status, "")
    facts.add_row("run", Text.assemble((str(first["run"]), "bold"), f"  {first['run_id']}"))
    started = f"{first['started']:%Y-%m-%d %H:%M:%S} UTC" if pd.notna(first["started"]) else "unknown"
    facts.add_row("started", Text.assemble(f"{started} · ", (status, style)))
    for name, key, prefix in (
        ("command", "tag.command", ""),
        ("error", "tag.error", ""),
        ("sweep", "parent_id", ""),
        ("data", "data_sha256", "sha256 "),
    ):
        if pd.notna(first.get(key)):
            facts.add_row(name, Text(f"{prefix}{first[key]}"))
    facts.add_row("code", Text(code_of(first.to_dict())))
    for group, text in _settings(first).items():
        facts.add_row(group, Text(text))
    for label, text in _details(folder):
        facts.add_row(label, Text(text, "yellow" if label == "warning" else ""))
    out.print()
    out.print(facts)
    _show_numbers(rows)
    if len(rows) > 1 and status == "FINISHED":
        _show_splits(rows)
    _coefficients(rows)
    _card(rows)
    if bounds:
        _show_bounds(rows)
    _files(folder)


def _details(folder: Path) -> list[tuple[str, str]]:
    """The stored details of a run; empty for a run that failed."""
    content = read_json(folder, DETAILS_FILE)
    if content is None:
        return []
    with damaged(folder / DETAILS_FILE):
        return [(visible(str(label)), visible(str(text))) for label, text in content["lines"]]


def _settings(first: pd.Series[Any]) -> dict[str, str]:
    """``ranksvm · penalty 0.01 · norm l2`` under the name of each group."""
    found: dict[str, list[str]] = {}
    for name in sorted((str(name) for name in first.index if is_setting(str(name))), key=lambda name: "." in name):
        group, _, part = name.partition(".")
        value = first[name]
        if group == "tracking" or pd.isna(value) or part.startswith(HIDDEN):
            continue
        text = f"{value:.12g}" if isinstance(value, float) else str(value)
        found.setdefault(group, []).append(f"{part} {text}" if part else text)
    return {group: " · ".join(texts) for group, texts in found.items()}


def _bounds(rows: pd.DataFrame) -> tuple[list[BoundLine], list[str]]:
    """The bounds of a run, for several splits the weakest, and remarks on missing ones."""
    from auclab.runs.screen.result_screen import BoundLine, weakest  # scikit-learn

    lines, remarks = [], []
    for folder in map(Path, rows["fold_folder"]):
        content = read_json(folder, "bounds.json")
        if content is None:
            continue
        with damaged(folder / "bounds.json"):
            lines += [BoundLine.of_stored(item) for item in content["bounds"]]
            remarks += [str(remark) for remark in content.get("remarks") or ()]
    return weakest(lines), list(dict.fromkeys(remarks))


def _show_bounds(rows: pd.DataFrame) -> None:
    from auclab.runs.screen.result_screen import all_lines

    lines, remarks = _bounds(rows)
    rho = rows.iloc[0].get("bounds.rho")
    level = f"{1 - float(rho):g}" if pd.notna(rho) else "1 − ρ"
    several = ", for each split by itself; the weakest is shown" if len(rows) > 1 else ""
    head = f"  each with probability at least {level}{several}" if lines else "  none"
    out.print(Text.assemble(("bounds", "cyan"), head))
    for line in all_lines(lines, remarks):
        out.print(line)


def _show_splits(rows: pd.DataFrame) -> None:
    """A line per split: its status and the metrics of its held-out part."""
    metrics = [str(name) for name in rows if str(name).startswith("test/") and rows[name].notna().any()]
    metrics = [name for name in metrics if not name.endswith(PARTS)]
    lines = [
        [
            *(str(row["fold"]), status_of(row)),
            *(plain(row.get("objective"), ".6g"), plain(row.get("gap"), ".1e")),
            *(plain(row[name], ".4f") for name in metrics),
        ]
        for row in rows.to_dict("records")
    ]
    print_table(["split", "status", "objective", "gap", *metrics], lines, left=(0, 1))


def _show_numbers(rows: pd.DataFrame) -> None:
    """A line per metric: training and test part, with standard deviation over splits or interval."""
    names = [str(name) for name in rows.select_dtypes("number") if "/" in str(name) and rows[name].notna().any()]
    own = [name.partition("/")[2] for name in names if name.startswith("train/")]
    if not own:
        return
    parts = [part for part in ("train", "test") if any(name.startswith(f"{part}/") for name in names)]
    intervals = len(rows) == 1 and any(name.endswith("_low") for name in names)
    lines = []
    for name in own:
        cells = [number_of(rows, f"{part}/{name}", "mean", ".4f") for part in parts]
        if len(rows) > 1:
            deviations = [number_of(rows, f"{part}/{name}", "std", ".4f") for part in parts]
            cells = [f"{cell} ± {deviation}" for cell, deviation in zip(cells, deviations, strict=True)]
        if intervals:
            ends = [number_of(rows, f"test/{name}_{end}", "mean", ".4f") for end in ("low", "high")]
            cells.append(" to ".join(ends) if "—" not in ends else "")
        lines.append([name, *cells])
    print_table(["metric", *parts, *(["95% interval"] if intervals else [])], lines)


def _coefficients(rows: pd.DataFrame) -> None:
    """The columns with the largest shares of the standard deviation of the scores, in the units of the data."""
    every = read_effects([Path(folder) for folder in rows["fold_folder"]])
    if not every:
        return
    several = len(rows) > 1
    lines = []
    for each in every[:LINES]:
        share = f"{100 * each.share:.1f} %" + (f" ± {100 * each.deviation:.1f}" if several else "")
        lines.append([each.column, share, each.text])
    print_table(["column", "share of spread", "effect on the score"], lines, left=(0, 2))
    if len(every) > LINES:
        out.print(Text(f"and {len(every) - LINES} more columns, in coefficients.csv", style="dim"))


def _card(rows: pd.DataFrame) -> None:
    """The scorecard of a run of one split, if it is one."""
    card = read_card(Path(rows.iloc[0]["fold_folder"])) if len(rows) == 1 else None
    if card is not None:
        for line in str(card).splitlines():
            out.print(Text(visible(line)), soft_wrap=True)
        out.print()


def _files(folder: Path) -> None:
    out.print(Text.assemble(("files", "cyan"), visible(f"  {folder}")), soft_wrap=True)
    if not folder.exists():
        out.print("       the folder is gone", style="red")
        return
    names = [f"{path.name}/" if path.is_dir() else path.name for path in sorted(folder.iterdir())]
    out.print(Padding.indent(Text(visible("  ".join(names)), style="dim"), 7))


@dataclass(frozen=True)
class ColumnEffect:
    """The contribution of a column to the score.

    `column`: its name. `share`: of the standard deviation of the scores over the training part, averaged over splits.
    `deviation`: standard deviation of the share over the splits; NaN for one split. `effects`: by category or part of a
    date, "" for the number itself: change of the score per unit, or of having the category, the mean over the splits
    that have it.
    """

    column: str
    share: float
    deviation: float
    effects: dict[str, float]

    @property
    def direction(self) -> int:
        """1 if the score increases with the number, −1 if it decreases, 0 for categories and parts of dates."""
        if list(self.effects) != [""]:
            return 0
        return 1 if self.effects[""] > 0 else -1

    @property
    def text(self) -> str:
        """The effect, or the largest effects of categories."""
        if list(self.effects) == [""]:
            return f"{self.effects['']:+.4g} per unit"
        named = sorted(self.effects.items(), key=lambda item: -abs(item[1]))
        return few(f"{name or 'per unit'} {value:+.3g}" for name, value in named)


def read_effects(folders: Sequence[Path]) -> list[ColumnEffect]:
    """The columns of a run over all its splits, the largest shares first; empty if none were stored."""
    shares: dict[str, list[float]] = {}
    effects: dict[str, dict[str, list[float]]] = {}
    for folder in folders:
        rows = read_rows(folder, FILE) or []
        with damaged(folder / FILE):
            seen: dict[str, float] = {}
            for row in rows[:-1]:
                if not row.get("column"):  # a scorer that is not a formula over the columns
                    continue
                column = visible(row["column"])
                seen[column] = float(row["share"])
                effects.setdefault(column, {}).setdefault(visible(row["value"]), []).append(float(row["effect"]))
            for column, share in seen.items():
                shares.setdefault(column, []).append(share)
    count = len(folders)
    found = [
        ColumnEffect(
            column,
            sum(values) / count,
            stdev([*values, *[0.0] * (count - len(values))]) if count > 1 else math.nan,
            {value: fmean(each) for value, each in effects[column].items()},
        )
        for column, values in shares.items()
    ]
    return sorted(found, key=lambda each: -each.share)
