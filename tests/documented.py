"""The blocks of code on the pages, as a CommonMark parser sees them, and what runs each of them.

``python tests/documented.py`` prints the list, a line for each command and for each other block, and sums it up.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from test_documents import PAGES as DOCUMENTS
from test_documents import ROOT

#: Every page that a reader sees; the changelog and the scoreboards have no code.
PAGES = [*DOCUMENTS, ROOT / "benchmarks" / "benchopt_ranksvm" / "README.md"]
#: Directives of the site that are not code.
NO_CODE = {"{toctree}", "{image}", "{drawn}", "{glossary}"}
#: Blocks that show what something prints, and formulas.
SHOWN = {"text", "indented"}
#: Blocks that the build of the site runs, or writes to the folder in which it runs them.
BUILT = {"{terminal}", "{written}"}
SHELL, CODE = "tests/test_documented_shell.py", "tests/test_documented_code.py"
BUILD, QUICK = "sphinx-build docs docs/_build", "sphinx-build, also with -t quick (.ci/run)"


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

#: Pages whose Python is run by a test of their own; those of the first four are compared with what the page prints.
ELSEWHERE = {
    "docs/bounds.md": "tests/bounds/test_page.py",
    "docs/constraints.md": "tests/runs/test_constraints_page.py",
    "docs/own_models.md": "tests/models/test_own_models.py",
    "docs/scikit_learn.md": "tests/estimators/test_documented_examples.py",
    "docs/comparing.md": "tests/test_documented_shell.py",  # it reads files that commands of the page write
}


def listed() -> Iterator[tuple[str, int, str, str, str]]:
    """Page, line, language, first line and what runs it, of every block; of each command of a shell."""
    from shell_lines import OTHERWISE, command_of  # which reads the blocks

    for block in BLOCKS:
        first = block.text.splitlines()[0]
        if block.language == "bash":
            for number, line in enumerate(block.text.splitlines(), block.line + 1):
                otherwise = OTHERWISE.get((block.page, command_of(line)))
                yield block.page, number, "bash", command_of(line), otherwise.text if otherwise else SHELL
        elif block.language in BUILT:
            yield block.page, block.line, block.language, first, BUILD
        elif block.language == "yaml":
            yield block.page, block.line, block.language, first, SHELL
        elif block.language in ("python", "pycon"):
            yield block.page, block.line, block.language, first, ELSEWHERE.get(block.page, CODE)
        elif block.language in SHOWN:
            yield block.page, block.line, block.language, first.strip(), "shown"
    for folder, build in (("examples", QUICK), ("tutorials", BUILD)):
        for path in sorted((ROOT / "docs" / folder).glob("plot_*.py")):
            title = next(line for line in re.findall(r"^[^\W_].*$", path.read_text(encoding="utf-8"), re.MULTILINE))
            yield str(path.relative_to(ROOT)), 1, "program", title, build


def main() -> None:
    """Print the list as csv, and how many blocks are run by what on standard error."""
    rows = list(listed())
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(("page", "line", "language", "first line", "run by"))
    table.writerows(rows)
    for by, number in Counter(row[-1].partition(": ")[0] for row in rows).most_common():
        print(f"{number:4}  {by}", file=sys.stderr)


if __name__ == "__main__":
    main()
