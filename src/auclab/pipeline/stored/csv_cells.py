"""Text in csv files that a spreadsheet program does not evaluate."""

from __future__ import annotations

from auclab.pipeline.stored.visible import visible

#: Characters that make a cell a formula at its start, also full-width and after spaces.
_FORMULA = tuple("=+-@＝＋－＠")


def no_formula(text: str) -> str:
    """Text as a one-line cell, with an apostrophe before what a spreadsheet program would take for a formula.

    A formula can fetch an address or, in older programs, run a command. Numbers are unchanged. Line breaks are
    replaced, as a spreadsheet may start a new cell there.
    """
    text = visible(text)
    if not text.lstrip().startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
