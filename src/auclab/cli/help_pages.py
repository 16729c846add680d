"""Help pages: texts and examples from `pages/`, in the width of the terminal.

A page is a file of text: what the command does, ``----``, then examples.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any, NoReturn

from auclab.cli.help_width import WIDEST, help_width, narrower
from auclab.wording import did_you_mean

_PAGES = Path(__file__).with_name("pages")


class Form(argparse.RawDescriptionHelpFormatter):
    """Help with its own line breaks up to 110 columns; in a narrower terminal it is wrapped."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=help_width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if width >= WIDEST else narrower(text, width)


class Parser(argparse.ArgumentParser):
    """A parser with a help page, whose errors suggest the closest word."""

    def __init__(self, prog: str, *, page: str, line: str = "", **options: Any) -> None:
        # Without abbreviations: `--all` of `auclab report` would be `--allow`.
        super().__init__(prog, formatter_class=Form, allow_abbrev=False, **options)
        self._page, self._line = page, line

    def format_help(self) -> str:
        """The text of the page, read on first use."""
        words, _, self.epilog = (_PAGES / f"{self._page}.txt").read_text(encoding="utf-8").partition("----\n")
        self.description = f"{self._line[:1].upper()}{self._line[1:]}.\n\n{words}".strip() if self._line else words
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """End with code 2."""
        if (wrong := re.search(r"argument (.*?): invalid choice: '(.*?)' \(choose from (.*)\)", message)) is not None:
            name, word, choices = wrong[1], wrong[2], re.findall(r"[\w.-]+", wrong[3])
            if name == "COMMAND" and re.search(r"\.\w+$", word):
                self.exit(2, f"error: {word!r} is not a command; for a table of your own: auclab inspect {word}\n")
            there = f"there is no command {word!r}" if name == "COMMAND" else f"{name} is {word!r}"
            message = f"{there}{did_you_mean(word, choices)}; choose from {', '.join(choices)}"
        if message.startswith("unrecognized arguments"):
            options = [name for name in self._option_string_actions if name.startswith("--")]
            typed = re.findall(r"(?<=\s)--[\w-]+", message)
            message += next(filter(None, (did_you_mean(word, options) for word in typed)), "")
        self.exit(2, f"error: {message}; {self.prog} --help explains all\n")
