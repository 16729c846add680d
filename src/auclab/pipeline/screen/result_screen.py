"""Printed results: of a finished experiment, and one line per job of a sweep."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from auclab.pipeline.screen.answer import answer
from auclab.pipeline.screen.console import next_commands, out, short_path
from auclab.pipeline.screen.details import details, guarantee, seconds
from auclab.pipeline.screen.tables import facts_grid, print_table
from auclab.pipeline.split.results import Result
from auclab.sizes import FEW
from auclab.tracking.record import RunRecord
from auclab.types import CONVERGED

#: Shown instead of a certificate.
NO_CERTIFICATE = "none: a baseline of another library, whose fit is not verified"

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
        out.print()
        out.print(_story(result))
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


def _story(result: Result) -> Table:
    """Data, solver and certificate."""
    grid = facts_grid(LABELS)
    for label, text in details(result):
        grid.add_row(label, Text(text))
    if (bound := guarantee(result)) is not None:
        grid.add_row("guarantee", bound)
    (_one_solution if len(result.folds) == 1 else _many_solutions)(grid, result)
    return grid


def _one_solution(grid: Table, result: Result) -> None:
    fold = result.folds[0]
    solution = fold.solution
    if fold.tuning is not None:
        grid.add_row("tuned", Text(fold.tuning.statement))
        if fold.tuning.note:
            grid.add_row("note", Text(fold.tuning.note))
    style = "green" if solution.status in CONVERGED else "red"
    grid.add_row(
        "solver",
        f"[bold]{solution.solver}[/bold] · [{style}]{solution.status}[/{style}]: {solution.status.advice}",
    )
    values = f"objective [bold]{solution.objective:.8f}[/bold] · lower bound {_number(solution.lower_bound, 8)}"
    radius = f" · for {solution.radius_text}" if solution.radius_text else ""
    certificate = f"{values} · gap {_small(solution.gap)}{radius}"
    grid.add_row("certificate", certificate if solution.has_objective else NO_CERTIFICATE)
    if (scorer := solution.on_landmarks) is not None:
        grid.add_row("kernel", Text(scorer.words))
    if fold.constraints is not None:
        grid.add_row("constraints", Text(fold.constraints.statement))
    for note in solution.notes:
        grid.add_row("note", Text(note))


def _many_solutions(grid: Table, result: Result) -> None:
    numbers = result.summary
    folds = result.folds
    statuses = Counter(fold.solution.status for fold in folds)
    grid.add_row("splits", f"{len(folds)} · numbers are mean ± standard deviation over them")
    tunings = [fold.tuning for fold in folds if fold.tuning is not None]
    if tunings:
        selected = Counter(it.choice for it in tunings)
        taken = ", ".join(f"{value} ({count} ×)" for value, count in selected.most_common())
        grid.add_row("tuned", Text(f"in every split by itself, by {tunings[0].metric}: {taken}"))
    outcome = ", ".join(f"{count} × {status} ({status.advice})" for status, count in statuses.items())
    style = "green" if all(status in CONVERGED for status in statuses) else "red"
    grid.add_row("solver", f"[bold]{folds[0].solution.solver}[/bold] · [{style}]{outcome}[/{style}]")
    objective = NO_CERTIFICATE
    if "gap" in numbers:
        objective = f"objective [bold]{numbers['objective']:.6f}[/bold] on average · largest gap "
        objective += _small(numbers["gap"])
    grid.add_row("certificate", objective)
    if scorers := [scorer for fold in folds if (scorer := fold.solution.on_landmarks) is not None]:
        sizes, kernels = [scorer.n_landmarks for scorer in scorers], Counter(str(scorer.kernel) for scorer in scorers)
        words = ", ".join(name if len(kernels) == 1 else f"{name} ({count} ×)" for name, count in kernels.items())
        grid.add_row("kernel", Text(f"{words} · {min(sizes)} to {max(sizes)} landmarks"))
    if constrained := [fold.constraints for fold in folds if fold.constraints is not None]:
        active = Counter(each.text for solved in constrained for each in solved.active)
        texts = ", ".join(f"{text} ({count} ×)" for text, count in active.most_common(FEW))
        grid.add_row("constraints", Text(f"hold with equality: {texts or 'none'}"))
    for note in dict.fromkeys(note for fold in folds for note in fold.solution.notes):
        count = sum(note in fold.solution.notes for fold in folds)
        grid.add_row("note", Text(note if count == len(folds) else f"{note} ({count} of {len(folds)} splits)"))


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
