"""Runs and comparisons on the screen."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Sheet
from rich.text import Text

from auclab.comparison.cells import PARTS, shorten
from auclab.comparison.formats import caption, grid, sentences, summary
from auclab.comparison.replay import EFFORT, Replay
from auclab.comparison.runs import is_setting
from auclab.comparison.table import Table
from auclab.screen import GOOD, out

#: A terminal has its own width; a file or another program gets whole lines.
page = out if out.is_terminal else Console(width=200, highlight=False)

#: Letters of a line that has room for gap and seconds of a run.
ROOMY = 115

STYLES = {"FINISHED": "green", "FAILED": "red", "KILLED": "yellow", "RUNNING": "cyan"}


def show_table(table: Table) -> None:
    """The cells, then what is said of each column, then the notes."""
    page.print()
    page.print(_sheet(*grid(table, lambda text: f"[bold green]{text}[/bold green]", escape=escape)))
    page.print(Text(caption(table), style="dim"), soft_wrap=True)
    page.print()
    page.print(_sheet(*summary(table, escape=escape)))
    for sentence in sentences(table):
        style = "yellow" if sentence.startswith(("missing", "too few")) else ""
        page.print(Text.assemble(("· ", "cyan"), (sentence, style)), soft_wrap=True)
    page.print()


def show_runs(runs: pd.DataFrame, *, metric: str) -> None:
    """A line per run, the newest last."""
    head = ["run", "started", "name", "splits", "status", metric, "gap", "seconds"]
    roomy = page.width >= ROOMY
    lines = []
    for _, block in runs.groupby("run_id", sort=False):
        first = block.iloc[0]
        values = block[metric].astype(float) if metric in block else pd.Series(dtype=float)
        number = "—" if values.isna().all() else f"{values.mean():.4f}"
        if len(block) > 1 and number != "—":
            number += f" ± {values.std(ddof=1):.4f}"
        status = str(first["run_status"])
        words = str(first.get("tag.status")) if status == "FINISHED" else status
        style = "yellow" if status == "FINISHED" and words not in GOOD else STYLES.get(status, "")
        line = [f"[cyan]{first['run_id'][:8]}[/cyan]", f"{first['started']:%m-%d %H:%M}", escape(str(first["run"]))]
        line += [str(len(block)), f"[{style}]{escape(words)}[/{style}]" if style else escape(words), number]
        lines.append([*line, _number(block, "gap", "max", ".1e"), _number(block, "seconds/total", "sum", ".3g")])
    if not roomy:
        head, lines = head[:-2], [line[:-2] for line in lines]
    page.print(_sheet(head, lines, left=(0, 1, 2, 4)))
    page.print(
        f"{len(lines)} runs; auclab show RUN tells more of one, auclab compare puts them side by side", style="dim"
    )


def show_run(rows: pd.DataFrame) -> None:
    """One run: settings, metrics, certificate, bounds, files."""
    first, folder = rows.iloc[0], Path(rows.iloc[0]["folder"])
    facts = _facts()
    status = str(first["run_status"])
    style = STYLES.get(status, "")
    facts.add_row("run", Text.assemble((str(first["run"]), "bold"), f"  {first['run_id']}"))
    facts.add_row("started", Text.assemble(f"{first['started']:%Y-%m-%d %H:%M:%S} UTC · ", (status, style)))
    for name, key in (
        ("error", "tag.error"),
        ("sweep", "parent_id"),
        ("data", "data_sha256"),
        ("command", "tag.command"),
    ):
        if pd.notna(first.get(key)):
            facts.add_row(name, Text(f"{'sha256 ' if name == 'data' else ''}{first[key]}"))
    commit = first.get("tag.mlflow.source.git.commit")
    code = [f"auclab {first.get('tag.version.auclab')}"] + (
        [f"commit {commit[:12]}"] if isinstance(commit, str) else []
    )
    changed = ["with uncommitted changes"] if first.get("tag.git.changed") == "yes" else []
    facts.add_row("code", Text(" · ".join([*code, *changed, f"Python {first.get('tag.python')}"])))
    for group, words in _settings(first).items():
        facts.add_row(group, Text(words))
    _certificates(facts, rows)
    page.print()
    page.print(facts)
    numbers = _numbers(rows)
    if numbers:
        page.print(_sheet(["metric", *numbers[0][1:]], numbers[1:]))
    if len(rows) > 1 and status == "FINISHED":
        page.print(_splits(rows))
    _files(folder)


def show_replay(found: Replay, tolerance: float) -> None:
    """Whether the numbers came out the same, and how far apart each metric is."""
    numbers = found.numbers
    several = numbers["fold"].nunique() > 1
    lines = []
    for name, block in numbers.groupby("metric", sort=False):
        apart = block["difference"].abs().max()
        cells = ["", ""] if several else [_plain(block[key].iloc[0]) for key in ("stored", "again")]
        effort = str(name).startswith(EFFORT)
        verdict = "[dim]—[/dim]" if effort else "[green]same[/green]" if block["same"].all() else "[red]different[/red]"
        lines.append([escape(str(name)), *cells, "unknown" if math.isnan(apart) else f"{apart:.1e}", verdict])
    head = ["metric", "stored", "again", "largest difference" if several else "difference", ""]
    if several:  # stored and new values are many
        head, lines = [head[0], *head[3:]], [[line[0], *line[3:]] for line in lines]
    page.print(_sheet(head, lines))
    for remark in found.remarks:
        page.print(Text.assemble(("· ", "cyan"), remark), soft_wrap=True)
    if found.same:
        apart = f"within {tolerance:g} (largest difference {found.largest:.1e})"
        digits = "to the last digit" if found.largest == 0 else apart
        page.print(f"[green]the numbers came out the same[/green], {digits}")
    else:
        names = shorten([str(name) for name in found.differences["metric"].unique()])
        page.print(Text.assemble(("the numbers are different", "red"), f": {names}"), soft_wrap=True)


def _settings(first: pd.Series[Any]) -> dict[str, str]:
    """``ranksvm · penalty 0.01 · norm l2`` under the name of each group."""
    found: dict[str, list[str]] = {}
    for name in sorted((str(name) for name in first.index if is_setting(str(name))), key=lambda name: "." in name):
        group, _, part = name.partition(".")
        value = first[name]
        if group == "tracking" or pd.isna(value) or part == "name":
            continue
        word = f"{value:.12g}" if isinstance(value, float) else str(value)
        found.setdefault(group, []).append(f"{part} {word}" if part else word)
    return {group: " · ".join(words) for group, words in found.items()}


def _certificates(facts: Sheet, rows: pd.DataFrame) -> None:
    """What the referee said; of several splits, how they ended and the worst gap."""
    paths = [Path(folder) / "certificate.json" for folder in rows["fold_folder"]]
    told = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    if not told:
        return
    endings = Counter(f"{each['status']}, {each['advice']}" for each in told)
    words = "; ".join(ending if len(told) == 1 else f"{count} × {ending}" for ending, count in endings.items())
    style = "green" if all(each["status"] in GOOD for each in told) else "red"
    facts.add_row("ended", Text(words, style))
    if len(told) == 1:
        numbers = [f"{key.replace('_', ' ')} {_plain(told[0][key])}" for key in ("objective", "lower_bound")]
        facts.add_row("certificate", Text(" · ".join([*numbers, f"gap {_plain(told[0]['gap'], '.1e')}"])))
        for item in _bounds(paths[0].with_name("bounds.json")):
            facts.add_row("bound", Text(item))
    for note in dict.fromkeys(note for each in told for note in each["notes"]):
        facts.add_row("note", Text(note))


def _bounds(path: Path) -> list[str]:
    if not path.exists():
        return []
    items = json.loads(path.read_text(encoding="utf-8"))["bounds"]
    vacuous = [" (vacuous)" if item.get("bound", {}).get("vacuous") else "" for item in items]
    return [f"{item['statement']} · {item['name']}{word}" for item, word in zip(items, vacuous, strict=True)]


def _splits(rows: pd.DataFrame) -> Sheet:
    """A line per split: how it ended and what was measured on its held-out part."""
    metrics = [str(name) for name in rows if str(name).startswith("test/") and rows[name].notna().any()]
    metrics = [name for name in metrics if not name.endswith(PARTS)]
    lines = [
        [
            *(str(row["fold"]), str(row.get("tag.status")), _plain(row["objective"], ".6g"), _plain(row["gap"], ".1e")),
            *(_plain(row[name], ".4f") for name in metrics),
        ]
        for row in rows.to_dict("records")
    ]
    return _sheet(["split", "status", "objective", "gap", *metrics], lines, left=(0, 1))


def _numbers(rows: pd.DataFrame) -> list[list[str]]:
    """A head and a line per metric: training and test part, with deviation over splits or the interval."""
    names = [str(name) for name in rows.select_dtypes("number") if "/" in str(name) and rows[name].notna().any()]
    own = [name.partition("/")[2] for name in names if name.startswith("train/")]
    if not own:
        return []
    parts = [part for part in ("train", "test") if any(name.startswith(f"{part}/") for name in names)]
    intervals = len(rows) == 1 and any(name.endswith("_low") for name in names)
    lines = [["metric", *parts, *(["95% interval"] if intervals else [])]]
    for name in own:
        cells = [_number(rows, f"{part}/{name}", "mean", ".4f") for part in parts]
        if len(rows) > 1:
            cells = [
                f"{cell} ± {_number(rows, f'{p}/{name}', 'std', '.4f')}" for p, cell in zip(parts, cells, strict=True)
            ]
        ends = [_number(rows, f"test/{name}_{end}", "mean", ".4f") for end in ("low", "high")]
        lines.append([name, *cells, *([" to ".join(ends) if "—" not in ends else ""] if intervals else [])])
    return lines


def _files(folder: Path) -> None:
    page.print(Text.assemble(("files", "cyan"), f"  {folder}"), soft_wrap=True)
    if not folder.exists():
        page.print("       the folder is gone", style="red")
        return
    names = [f"{path.name}/" if path.is_dir() else path.name for path in sorted(folder.iterdir())]
    page.print(Text(f"       {'  '.join(names)}", style="dim"), soft_wrap=True)


def _facts() -> Sheet:
    sheet = Sheet.grid(padding=(0, 2))
    sheet.add_column(style="cyan", no_wrap=True)
    sheet.add_column(overflow="fold")
    return sheet


def _sheet(head: Sequence[str], lines: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> Sheet:
    sheet = Sheet(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(head):
        words = name == "name" or (place == 0 and len(left) == 1)  # the rest is short, and read in one piece
        justify: Literal["left", "right"] = "left" if place in left else "right"
        sheet.add_column(name, justify=justify, overflow="fold", no_wrap=not words, min_width=26 if words else None)
    for line in lines:
        sheet.add_row(*line)
    return sheet


def _number(rows: pd.DataFrame, name: str, how: str, form: str) -> str:
    if name not in rows or rows[name].isna().all():
        return "—"
    value = float(rows[name].astype(float).agg(how))
    return "—" if math.isnan(value) else format(value, form)


def _plain(value: float | str | None, form: str = ".8g") -> str:
    """A number of a JSON file, in which unknown is null and infinity a word."""
    if isinstance(value, str):
        return value
    return "unknown" if value is None or math.isnan(value) else format(value, form)
