"""The page docs/what_works_together.md, written from the table: ``python tests/matrix/page.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script

from matrix.python_table import ESTIMATORS, PYTHON_NO_EFFECT, PYTHON_REFUSED, PYTHON_USES
from matrix.table import COMMANDS, FUNCTIONS, NO_EFFECT, REFUSED, SCORERS, SEARCH, SETTINGS, Refusal, Scorer

_HEAD = """# What works together

The tables show which scorers support which settings, commands and uses. **✓** is supported. **–** is accepted but has
no effect, and the run says so. A letter is refused with a one-line message before anything is fitted; the reason is
below the table. The tests run every cell on a small table of data, and this page is generated from their table
(`tests/matrix/`).
"""
#: Names of uses, and what is typed.
Rows = list[tuple[str, str]]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Columns that fit on the screen of a laptop.
_WIDTH = 7


def page() -> str:
    """The page."""
    shell = [scorer.name for scorer in SCORERS]
    parts = [_HEAD]
    sections = (
        ("Settings of a run", (*SETTINGS, SEARCH), shell),
        ("Commands on a stored run", COMMANDS, shell),
        ("Functions of a formulation, in Python", FUNCTIONS, shell),
    )
    for title, uses, scorers in sections:
        rows = [(use.name, use.how) for use in uses]
        parts += [f"## {title}\n", _grid(rows, scorers, REFUSED, NO_EFFECT), _reasons(rows, REFUSED)]
    how = [f"{scorer.name}: `{words}`" for scorer in SCORERS if " " in (words := _typed(scorer))]
    parts += ["A row is `formulation=NAME`, except for these: " + "; ".join(how) + ".\n"]
    rows = [(use.name, use.how) for use in PYTHON_USES]
    names = [estimator.name for estimator in ESTIMATORS]
    parts += [
        "## Estimators, in Python\n",
        _grid(rows, names, PYTHON_REFUSED, PYTHON_NO_EFFECT),
        _reasons(rows, PYTHON_REFUSED),
    ]
    parts += ["## Settings without effect\n"]
    parts += [f"* {', '.join(each.uses)}: {each.why}." for each in (*NO_EFFECT, *PYTHON_NO_EFFECT)]
    return "\n".join(parts) + "\n"


def _typed(scorer: Scorer) -> str:
    """Its settings without those that only the table of the tests needs."""
    left_out = re.compile("dataset.drop=|dataset.path=|.*=null$")
    return " ".join(word for word in scorer.words if not left_out.match(word))


def _grid(
    rows: list[tuple[str, str]], scorers: list[str], refused: tuple[Refusal, ...], same: tuple[Refusal, ...]
) -> str:
    grids = []
    for first in range(0, len(rows), _WIDTH):
        uses = [use for use, _ in rows[first : first + _WIDTH]]
        lines = ["| | " + " | ".join(uses) + " |", "|---" * (len(uses) + 1) + "|"]
        for scorer in scorers:
            lines.append(f"| {scorer} | " + " | ".join(_cell(scorer, use, refused, same) for use in uses) + " |")
        grids.append("\n".join(lines) + "\n")
    return "\n".join(grids)


def _cell(scorer: str, use: str, refused: tuple[Refusal, ...], same: tuple[Refusal, ...]) -> str:
    for letter, each in zip(_LETTERS, refused, strict=False):
        if scorer in each.scorers and use in each.uses:
            return letter
    return "–" if any(scorer in each.scorers and use in each.uses for each in same) else "✓"


def _reasons(rows: Rows, refused: tuple[Refusal, ...]) -> str:
    names = [use for use, _ in rows]
    lines = [f"* {use}: `{how}`" for use, how in rows]
    for letter, each in zip(_LETTERS, refused, strict=False):
        if set(each.uses) & set(names):
            lines.append(f"* **{letter}** {each.why}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).parents[2].joinpath("docs", "what_works_together.md").write_text(page(), encoding="utf-8")
