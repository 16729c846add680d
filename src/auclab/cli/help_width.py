"""Help pages in the width of the terminal. Only the standard library is imported, to be fast."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator
from itertools import groupby

#: Largest width of a help page, in columns.
WIDEST = 110
#: Indentation of continued lines.
_BELOW = " " * 6
#: The end of a command line that continues on the next one.
_GOES_ON = " \\"
#: An entry: a name, a colon and text.
_ENTRY = re.compile(r"[\w' ]+: ")


def help_width() -> int:
    """Columns of the terminal, at most `WIDEST`; output to a file has these."""
    return max(40, min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))


def narrower(text: str, width: int) -> str:
    r"""A help page in fewer columns: paragraphs are refilled, explanations of examples go below them.

    Examples
    --------
    >>> print(narrower("Words that flow and continue.\n\n  auclab runs        all of them\n  auclab ui", 18))
    Words that flow
    and continue.
    <BLANKLINE>
      auclab runs
          all of them
      auclab ui
    >>> print(narrower("\n  auclab runs --where dataset=iris", 30))
    <BLANKLINE>
      auclab runs --where \
          dataset=iris
    >>> print(narrower("solver: auto, highs, newton\ntune: none", 18))
    solver: auto,
          highs,
          newton
    tune: none
    """
    joined = re.sub(r"\n {10,}", " ", text)  # continued from the previous line
    return "\n\n".join("\n".join(_block(block.splitlines(), width)) for block in joined.split("\n\n"))


def _block(block: list[str], width: int) -> Iterator[str]:
    """A block of lines: examples are indented, entries have a line each, others are refilled."""
    entries = bool(block) and _ENTRY.match(block[0]) is not None
    for indented, group in groupby(block, key=lambda line: line[:1].isspace()):
        lines = list(group)
        if all(len(line) <= width for line in lines):
            yield from lines
        elif indented or entries:
            for line in lines:
                yield from _example(line, width) if indented else _wrap(line, width, "", _BELOW)
        else:
            yield from _wrap(" ".join(lines), width)


def _example(line: str, width: int) -> list[str]:
    """A line of examples; in a narrow terminal, the command with its explanation below.

    A command on several lines continues after a backslash, as in a shell.
    """
    if len(line) <= width:
        return [line]
    command, _, words = line.strip().partition("  ")
    *begun, last = _wrap(command, width - len(_GOES_ON), "  ", _BELOW)
    return [*(each + _GOES_ON for each in begun), last, *_wrap(words.strip(), width, _BELOW, _BELOW)]


def _wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
