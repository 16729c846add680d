"""The blocks of code on the pages, as a CommonMark parser sees them, and what runs each of them.

``python tests/documented.py`` prints the list: page, line, language, first line, what runs it.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from test_documents import PAGES as DOCUMENTS
from test_documents import ROOT

#: Every page that a reader sees; the changelog and the scoreboards have no code.
PAGES = [*DOCUMENTS, ROOT / "benchmarks" / "benchopt_ranksvm" / "README.md"]
#: Directives of the site that are no code, and blocks that show what something prints or looks like.
NO_CODE = {"{toctree}", "{image}", "{drawn}"}
SHOWN = {"text"}
#: Blocks that the build of the site runs or writes to the folder in which it runs them.
BUILT = {"{terminal}", "{written}"}


@dataclass(frozen=True)
class Block:
    """A block of a page; `language` is the first word after the fence, "indented" where there is none."""

    page: str
    line: int
    language: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    """Fenced and indented blocks in their order."""
    place = str(page.relative_to(ROOT))
    return [
        Block(
            place,
            token.map[0] + 1,
            (token.info.split() or [""])[0] if token.type == "fence" else "indented",
            token.content,
        )
        for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
        if token.type in ("fence", "code_block") and not token.content.startswith("::")
    ]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
