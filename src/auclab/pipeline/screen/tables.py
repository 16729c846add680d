"""Tables that fit the terminal: nothing is cut off silently.

rich cuts off what does not fit the terminal, even whole columns at the right.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from auclab.pipeline.screen.console import Screen, out

#: Width of output to a file or a pipe, which is not wrapped.
page = out if out.is_terminal else Screen(width=200)

#: Least width of a column whose text may be wrapped, unless its cells are shorter; the second if the terminal is
#: narrow.
_WRAPPED, _NARROW = 26, 16
#: Wider than any terminal, to measure the natural width of a table.
_ENDLESS = 100_000

Line = Sequence[str | Text]


@dataclass(frozen=True)
class _Columns:
    """A table whose columns have not yet been chosen to fit a width."""

    head: Sequence[str]
    lines: Sequence[Line]
    left: Sequence[int]
    wrapped: Sequence[int]

    def table(self, chosen: Sequence[int], *, narrow: bool = True, name: int = _NARROW) -> Table:
        """A table of these columns; `narrow`: headings of several lines, and less space between columns.

        `name`: least width of a column that may be wrapped.
        """
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=narrow)
        for index in chosen:
            may_wrap = index in self.wrapped
            widths = [_width(line[index]) for line in self.lines] or [0]
            head = _stacked(self.head[index], max(widths)) if narrow else self.head[index]
            least = max(*widths, _width(head))
            if may_wrap:
                least = min(least, name)
            justify: Literal["left", "right"] = "left" if index in self.left else "right"
            table.add_column(
                Text(head), justify=justify, vertical="top", overflow="fold", no_wrap=not may_wrap, min_width=least
            )
        for line in self.lines:
            table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in (line[i] for i in chosen)))
        return table


def facts_grid(width: int | None = None) -> Table:
    """A grid of labels, at least of some width, and texts."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True, min_width=width)
    grid.add_column(overflow="fold")
    return grid


def print_row(word: str, text: str, width: int, console: Screen, *, style: str = "cyan") -> None:
    """Print a label and a text, indented by `width`, in a terminal wrapped between words.

    A command stays on one line, so that it can be copied, and so does all output to a file or a pipe.
    """
    lines = [text]
    if console.is_terminal and "auclab " not in text:
        room = max(20, console.width - width)
        lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        label = word if number == 0 else ""
        gap = "" if len(label) < width else " "
        console.print(f"[{style}]{label:<{width}}[/{style}]{gap}{escape(line)}", soft_wrap=True)


def rich_table(head: Sequence[str], lines: Sequence[Line], left: Sequence[int] = (0,)) -> Table:
    """A table in its natural width; columns in `left` are text, the others numbers, which are not wrapped.

    Strings are shown without markup; for a style pass a `rich.text.Text`.
    """
    return _Columns(head, lines, left, _wrapped(head, left)).table(range(len(head)), narrow=False, name=_WRAPPED)


def print_table(
    head: Sequence[str],
    lines: Sequence[Line],
    left: Sequence[int] = (0,),
    *,
    wrapped: Sequence[int] | None = None,
    spare: Sequence[str] = (),
    keys: int = 1,
    console: Screen | None = None,
) -> None:
    """Print a table in the width of the terminal.

    If it is too wide, its headings take several lines; if it is still too wide, columns in `spare` are left out,
    starting with the first, and a line names them; then the columns are split over several tables.

    `head`, `lines`, `left`: as of `rich_table`. `wrapped`: columns of text that may take several lines; by default a
    column ``name``, or the first if no other is text. `spare`: headings of columns that may be left out, the least
    important first. `keys`: number of leading columns that identify a line; they are repeated in every table.
    `console`: by default the terminal, or 200 columns for a file or a pipe.
    """
    console = page if console is None else console
    columns = _Columns(head, lines, left, _wrapped(head, left) if wrapped is None else wrapped)
    every = kept = list(range(len(head)))
    shown = [columns.table(every, narrow=narrow, name=_WRAPPED) for narrow in (False, True)]
    for name in spare:
        kept = [index for index in kept if head[index] != name]
        shown.append(columns.table(kept, name=_WRAPPED))
    table = next((each for each in shown if fits(each, console)), None)
    if table is not None:
        console.print(table)
    else:
        for block in _blocks(columns, kept, keys, console):
            console.print(_folded(columns.table(block), console))
    left_out = list(spare[: max(0, shown.index(table) - 1)]) if table is not None else list(spare)
    if left_out:
        where = " (a wider terminal shows all, and so does a file)" if console.is_terminal else ""
        console.print(Text(f"not shown in {console.width} columns: {', '.join(left_out)}{where}", style="dim"))


def fits(table: Table, console: Screen) -> bool:
    """Whether a table fits if the columns that may be wrapped have their least width."""
    for column in table.columns:
        column.width = column.min_width
    wanted = console.measure(table, options=console.options.update(width=_ENDLESS)).minimum
    for column in table.columns:
        column.width = None
    return wanted <= console.width


def _folded(table: Table, console: Screen) -> Table:
    """A table whose cells are wrapped if two columns alone are too wide."""
    if not fits(table, console):
        for column in table.columns:
            column.no_wrap, column.min_width = False, None
    return table


def _blocks(columns: _Columns, kept: Sequence[int], keys: int, console: Screen) -> list[list[int]]:
    """The columns of each table: the key columns and those of the others that fit next to them."""
    first, rest = list(kept[:keys]), list(kept[keys:])
    blocks = [[*first, *rest[:1]]]
    for index in rest[1:]:
        longer = [*blocks[-1], index]
        if fits(columns.table(longer), console):
            blocks[-1] = longer
        else:
            blocks.append([*first, index])
    return blocks


def _wrapped(head: Sequence[str], left: Sequence[int]) -> list[int]:
    """The columns that are wrapped by default."""
    return [index for index, name in enumerate(head) if name == "name" or (index == 0 and len(left) == 1)]


def _width(cell: str | Text) -> int:
    text = cell.plain if isinstance(cell, Text) else cell
    return max((cell_len(line) for line in text.splitlines()), default=0)


def _stacked(head: str, width: int) -> str:
    """A heading wrapped between words to the width of its cells."""
    least = max([width, *(len(word) for word in head.split())])
    return "\n".join(textwrap.wrap(head, least, break_long_words=False, break_on_hyphens=False)) if head else head
