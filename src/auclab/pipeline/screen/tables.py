"""Tables and facts, laid out by rich: what is too wide takes several lines, and nothing is cut off."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from auclab.pipeline.screen.console import out


def facts_grid(width: int | None = None) -> Table:
    """A grid of labels, at least of some width, and texts."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True, min_width=width)
    grid.add_column(overflow="fold")
    return grid


def print_row(word: str, text: str, width: int, *, style: str = "cyan") -> None:
    """Print a label and a text that begins at column `width`; a command stays on one line, so that it can be copied."""
    if "auclab " in text:
        out.print(f"[{style}]{word:<{width - 1}}[/{style}] {escape(text)}", soft_wrap=True)
        return
    grid = facts_grid(width - 2)
    grid.add_row(Text(word, style), Text(text))
    out.print(grid)


def print_table(head: Sequence[str], lines: Sequence[Sequence[str | Text]], left: Sequence[int] = (0,)) -> None:
    """Print a table; the columns in `left` are text, the others numbers. Strings are shown without markup."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for index, name in enumerate(head):
        table.add_column(Text(name), justify="left" if index in left else "right", overflow="fold")
    for line in lines:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in line))
    out.print(table)
