"""Pages of help in the width of the terminal. The standard library alone: a page of help waits for nothing else."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator
from itertools import groupby

#: Columns of a page of help, where the terminal has as many.
WIDEST = 110
#: What lines start with that stand below the one they belong to.
_BELOW = " " * 6
#: The end of a line of a command that the next one continues.
_GOES_ON = " \\"
#: A line of its own: a name, a colon and words.
_ENTRY = re.compile(r"[\w' ]+: ")


def help_width() -> int:
    """Columns of the terminal, at most `WIDEST`; output to a file has these."""
    return max(40, min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))


def narrower(text: str, width: int) -> str:
    r"""A page of help in fewer columns: paragraphs are filled again, what explains an example goes below it.

    Examples
    --------
    >>> print(narrower("Words that flow and go on.\n\n  auclab runs        all of them\n  auclab ui", 18))
    Words that flow
    and go on.
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
    joined = re.sub(r"\n {10,}", " ", text)  # what goes on from the line before
    return "\n\n".join("\n".join(_block(block.splitlines(), width)) for block in joined.split("\n\n"))


def _block(block: list[str], width: int) -> Iterator[str]:
    """Lines without an empty one among them: examples are indented, entries have a line each, others are filled."""
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
    """A line of examples; in a narrow terminal, the command and below it what it does.

    A command that needs several lines goes on after a backslash, as a shell reads it.
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
