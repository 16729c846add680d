"""The page docs/what_works_together.md, written from the table: ``python tests/matrix/page.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script

from matrix.python_table import ESTIMATORS, PYTHON_NO_EFFECT, PYTHON_REFUSED, PYTHON_USES
from matrix.table import COMMANDS, FUNCTIONS, NO_EFFECT, REFUSED, SCORERS, SEARCH, SETTINGS, Refusal, Scorer

_HEAD = """# What works together

**✓** is supported. **–** has no effect, and the run says so. A letter is refused in one line before anything is
fitted; the reason is below the table. Tests run every cell on a small table, and this page is generated from theirs
(`tests/matrix/`).
"""
#: Names of uses, and what is typed.
Rows = list[tuple[str, str]]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


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
        parts += [
            f"## {title}\n",
            _grid(rows, scorers, REFUSED, NO_EFFECT),
            _reasons(rows, scorers, REFUSED, NO_EFFECT),
        ]
    how = [f"{scorer.name}: `{words}`" for scorer in SCORERS if (words := _typed(scorer))]
    parts += ["A row is `formulation=NAME`, with these settings: " + "; ".join(how) + ".\n"]
    rows = [(use.name, use.how) for use in PYTHON_USES]
    names = [estimator.name for estimator in ESTIMATORS]
    parts += [
        "## Estimators, in Python\n",
        _grid(rows, names, PYTHON_REFUSED, PYTHON_NO_EFFECT),
        _reasons(rows, names, PYTHON_REFUSED, PYTHON_NO_EFFECT),
    ]
    parts += ["## Settings without effect\n"]
    parts += [f"* {', '.join(each.uses)}: {each.why}." for each in (*NO_EFFECT, *PYTHON_NO_EFFECT)]
    return "\n".join(parts) + "\n"


def _typed(scorer: Scorer) -> str:
    """Its settings beside its name, without those that only the table of the tests needs."""
    left_out = re.compile("dataset.drop=|dataset.path=|.*=null$")
    first = f"formulation={scorer.name.partition(',')[0]}"
    return " ".join(word for word in scorer.words if not left_out.match(word) and word != first)


def _grid(
    rows: list[tuple[str, str]], scorers: list[str], refused: tuple[Refusal, ...], same: tuple[Refusal, ...]
) -> str:
    """The uses that some scorer does not support; scorers with the same cells share a row."""
    cells = {use: [_cell(scorer, use, refused, same) for scorer in scorers] for use, _ in rows}
    every = [use for use, found in cells.items() if set(found) == {"✓"}]
    some = [use for use in cells if use not in every]
    lines = ["| | " + " | ".join(some) + " |", "|---" * (len(some) + 1) + "|"]
    groups: dict[tuple[str, ...], list[str]] = {}
    for number, scorer in enumerate(scorers):
        groups.setdefault(tuple(cells[use][number] for use in some), []).append(scorer)
    lines += [f"| {'; '.join(names)} | " + " | ".join(found) + " |" for found, names in groups.items()]
    how = dict(rows)
    typed = ", ".join(f"{use} (`{how[use]}`)" for use in every)
    return "\n".join(lines) + "\n" + (f"\nAll support: {typed}.\n" if every else "")


def _cell(scorer: str, use: str, refused: tuple[Refusal, ...], same: tuple[Refusal, ...]) -> str:
    for letter, each in zip(_LETTERS, refused, strict=False):
        if scorer in each.scorers and use in each.uses:
            return letter
    return "–" if any(scorer in each.scorers and use in each.uses for each in same) else "✓"


def _reasons(
    rows: list[tuple[str, str]], scorers: list[str], refused: tuple[Refusal, ...], same: tuple[Refusal, ...]
) -> str:
    names = [use for use, _ in rows]
    some = [(use, how) for use, how in rows if any(_cell(each, use, refused, same) != "✓" for each in scorers)]
    lines = [f"* {use}: `{how}`" for use, how in some]
    for letter, each in zip(_LETTERS, refused, strict=False):
        if set(each.uses) & set(names):
            lines.append(f"* **{letter}** {each.why}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).parents[2].joinpath("docs", "what_works_together.md").write_text(page(), encoding="utf-8")
