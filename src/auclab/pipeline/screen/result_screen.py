"""Printed results: of a finished experiment, and one line per job of a sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from rich.text import Text

from auclab.pipeline.screen.answer import answer
from auclab.pipeline.screen.console import next_commands, out, short_path
from auclab.pipeline.screen.details import details, seconds
from auclab.pipeline.screen.tables import facts_grid, print_table
from auclab.pipeline.split.results import Result
from auclab.tracking.record import RunRecord
from auclab.types import CONVERGED

#: Width of the labels.
LABELS = 9


def show_solution(result: Result, *, whole: bool = False) -> None:
    """Print the first lines of a finished experiment, and a scorecard; `whole`: all details, as no store keeps them."""
    out.print()
    grid = facts_grid(LABELS)
    for label, text in answer(result):
        grid.add_row(label, text)
    out.print(grid)
    if whole:
        grid = facts_grid(LABELS)
        for label, line in details(result):
            if label != "warning":  # which the first lines have
                grid.add_row(label, Text(line))
        out.print()
        out.print(grid)
        _show_metrics(result)
    if len(result.folds) == 1 and result.folds[0].card is not None:
        out.print()
        out.print(Text(str(result.folds[0].card)), soft_wrap=True)
        out.print()


def show_run(result: Result, record: RunRecord, in_all: float, models: Sequence[Path] = ()) -> None:
    """Print the time since the command began, the models that were written, and commands to try next."""
    grid = facts_grid(LABELS)
    grid.add_row("seconds", seconds(result, in_all))
    if models:
        grid.add_row("model", Text(", ".join(map(short_path, models))))
    out.print(grid)
    if record.tracking is None or record.run_id is None:
        out.print(f"[cyan]{'files':<{LABELS}}[/cyan]  {escape(short_path(record.files_folder))}", soft_wrap=True)
        return
    commands = next_commands(record.tracking, record.run_id[:8], predicts=len(result.folds) == 1)
    out.print(f"[cyan]{'next':<{LABELS}}[/cyan]  {escape(' · '.join(commands))}", soft_wrap=True)


def line_of(result: Result) -> str:
    """The result in a few words, for the line of a job in a sweep."""
    numbers = result.summary
    part = "test" if "test" in result.folds[0].parts else "train"
    certified = "gap" in numbers
    shown = [f"objective {numbers['objective']:.6g}", f"gap {_small(numbers['gap'])}"] if certified else ["baseline"]
    shown += [f"{part} {key} {numbers[f'{part}/{key}']:.4f}" for key in result.folds[0].parts[part].metrics][:2]
    shown += [str(each) for each in dict.fromkeys(fold.solution.status for fold in result.folds)
              if each not in CONVERGED]  # fmt: skip
    shown += ["constant scorer, w = 0"] if result.constant else []
    return "  ".join(shown)


def _show_metrics(result: Result) -> None:
    numbers, first = result.summary, result.folds[0]
    estimates = first.parts["test"].estimates if "test" in first.parts and len(result.folds) == 1 else {}
    head = ["metric", *first.parts]
    if estimates:
        head.append(f"{next(iter(estimates.values())).level:.0%} interval")
    lines = []
    for key in first.parts["train"].metrics:
        cells = []
        for part in first.parts:
            deviation = numbers.get(f"{part}/{key}_sd")
            mean = _number(numbers[f"{part}/{key}"], 4)
            cells.append(mean if deviation is None else f"{mean} ± {_number(deviation, 4)}")
        if estimates:
            known = estimates.get(key)
            cells.append("" if known is None else f"{_number(known.lower, 4)} to {_number(known.upper, 4)}")
        lines.append([key, *cells])
    print_table(head, lines)


def _number(value: float, digits: int) -> str:
    return "unknown" if math.isnan(value) else f"{value:.{digits}f}"


def _small(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.1e}"
