"""Untrusted text made safe: for a terminal, and for a spreadsheet program."""

from __future__ import annotations

import unicodedata

#: Characters that change the direction of the text after them.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
#: Unicode categories that are not text: control characters, surrogates, line and paragraph separators.
_NOT_TEXT = ("Cc", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    r"""One line of text: control characters become their pictures, ends of lines and tabs become spaces.

    A terminal executes escape sequences: they change the title, overwrite lines, fill the clipboard.

    Examples
    --------
    >>> visible("bauc\x1b[2J · \u202egnp.exe\nerror: none")
    'bauc␛[2J · �gnp.exe error: none'
    """
    if text.isprintable():  # nearly always
        return text
    return "".join(map(_visible, text))


def visible_lines(text: str) -> str:
    """The same with its ends of lines and tabs."""
    return text if text.isprintable() else "".join(sign if sign in "\n\t" else _visible(sign) for sign in text)


def _visible(sign: str) -> str:
    if sign in "\n\r\t\v\f\x85\u2028\u2029":
        return " "
    if sign in _TURNING:
        return "\ufffd"
    if unicodedata.category(sign) not in _NOT_TEXT:
        return sign
    return chr(0x2400 + ord(sign)) if ord(sign) < 0x20 else "\u2421" if ord(sign) == 0x7F else "\ufffd"


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
