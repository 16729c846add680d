"""`auclab inspect`: a summary of a table in a file, and the command that runs on it."""

from __future__ import annotations

from argparse import Namespace

from rich.text import Text

from auclab._core.words import visible
from auclab.datasets.inspection import InspectedColumn, Inspection, inspect_file
from auclab.runs.screen.console import print_row, print_table

#: Columns for which a run needs a setting, and columns that it leaves out.
_STYLES = {"target": "bold green", "identifier": "yellow", "group": "yellow", "text": "yellow"}
_STYLES |= {"constant": "dim", "empty": "dim"}


def inspect(arguments: Namespace) -> int:
    """Print the summary; exit code 1 if no command could be proposed, or the file needs a repair."""
    found = inspect_file(arguments.file, target=arguments.target, positive=arguments.positive)
    _row("file", _described(found))
    lines = [_line(column) for column in found.columns]
    if lines:
        head = ["column", "kind", "missing", "values", "", "in a run"]
        count = len(head) if any(column.action for column in found.columns) else len(head) - 1
        print_table(head[:count], [line[:count] for line in lines], left=(0, 1, 4, 5))
    if found.target is not None:
        others = "--target and --positive change this" if found.columns else "--positive changes this"
        why = f"; {found.target.why} ({others})" if found.target.why else ""
        name = found.target.name or f"the labels ({found.target.census})"
        said = (
            f", {'event' if found.target.time else 'positive'}: {found.target.positive}"
            if found.target.positive
            else ""
        )
        _row(found.target.role, visible(f"{name}{said}{why}"))
    if found.split is not None:
        _row("split", visible(found.split.why))
    if found.repeated:
        repeated = "1 row is a copy" if found.repeated == 1 else f"{found.repeated:,} rows are copies"
        _row("note", f"{repeated} of earlier rows, so both parts of a split may share rows")
    for leak in found.leaks:
        _row("warning", visible(leak), style="yellow")
    for problem in found.problems:
        _row("problem", visible(problem), style="red")
    if found.command:
        _row("run it" if not found.problems else "then", visible(found.command))
        _row("later", "auclab evaluate last NEW.csv measures the model of this run on new rows with labels")
    return int(bool(found.problems))


def _described(found: Inspection) -> str:
    columns = [f"{len(found.columns)} columns"] if found.columns else []
    parts = [f"{found.rows:,} rows", *columns, *found.written]
    return visible(f"{found.path}: {' · '.join(parts)}")


def _row(word: str, text: str, style: str = "cyan") -> None:
    print_row(word, text, 9, style=style)


def _line(column: InspectedColumn) -> list[str | Text]:
    style = _STYLES.get(column.kind, "")
    values = [f"{column.missing:,}" if column.missing else "–", f"{column.values:,}"]
    words = [visible(column.shown), visible(column.action)]
    return [Text(visible(column.name), style=style), Text(column.kind, style=style), *values, *words]
