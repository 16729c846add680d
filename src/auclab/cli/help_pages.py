"""Help pages: texts and examples from `pages/`. Only the standard library is imported, to be fast.

A page is a file of text: what the command does, ``----``, then examples.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from auclab.wording import did_you_mean

_PAGES = Path(__file__).with_name("pages")


class Parser(argparse.ArgumentParser):
    """A parser with a help page, whose errors suggest the closest word.

    `line`: what the command does, in a line. `listing`: text below the page, and `commands`: parsers by name, of the
    parser of all commands.
    """

    def __init__(self, prog: str, *, page: str, line: str = "", **options: Any) -> None:
        form: Any = partial(argparse.RawDescriptionHelpFormatter, max_help_position=24)
        # Without abbreviations: `--all` of `auclab report` would be `--allow`.
        super().__init__(prog, formatter_class=form, allow_abbrev=False, **options)
        self._page, self._line = page, line
        self.listing = ""
        self.commands: Mapping[str, argparse.ArgumentParser] = {}

    def format_help(self) -> str:
        """The text of the page, read on first use."""
        words, _, self.epilog = (_PAGES / f"{self._page}.txt").read_text(encoding="utf-8").partition("----\n")
        line = f"{self._line[:1].upper()}{self._line[1:]}.\n\n" if self._line else ""
        self.description = f"{line}{words}".strip() + self.listing
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """End with code 2."""
        if (wrong := re.search(r"argument (.*?): invalid choice: '(.*?)' \(choose from (.*)\)", message)) is not None:
            name, word, choices = wrong[1], wrong[2], re.findall(r"[\w.-]+", wrong[3])
            if name == "COMMAND" and re.search(r"\.\w+$", word):
                self.exit(2, f"error: {word!r} is not a command; for a table of your own: auclab inspect {word}\n")
            there = f"there is no command {word!r}" if name == "COMMAND" else f"{name} is {word!r}"
            message = f"{there}{did_you_mean(word, choices)}; choose from {', '.join(choices)}"
        if (unknown := re.match(r"unrecognized arguments: .*?(--[\w-]+)", message)) is not None:
            message += did_you_mean(unknown[1], [name for name in self._option_string_actions if name[:2] == "--"])
        self.exit(2, f"error: {message}; {self.prog} --help explains all\n")
