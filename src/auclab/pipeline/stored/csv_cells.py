"""Text in csv files that a spreadsheet program does not compute."""

from __future__ import annotations

from auclab.pipeline.stored.visible import visible

#: Signs at the start of a cell that make it a formula, also as full-width signs and after spaces.
_FORMULA = tuple("=+-@＝＋－＠")


def no_formula(text: str) -> str:
    """A cell of text on one line, with an apostrophe before what a spreadsheet program would take for a formula.

    A formula can fetch an address or, in older programs, run a command. What is a number stays one. The end of a line
    would begin another cell, even where the program that writes the file takes it for a sign like any other.
    """
    text = visible(text)
    if not text.lstrip().startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
