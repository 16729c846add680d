"""Text as people see it: words of messages, tables of notebooks, untrusted text made safe, streams that are not UTF-8.

Only the standard library is imported: every command needs this.
"""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from html import escape
from typing import Any, TypeGuard

#: Names or values that a sentence lists; lines of a list on a screen or a page.
FEW, LINES = 6, 12

#: Names of the days of a week, from Monday on, as dates are shown and exported.
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def few(names: Iterable[str], most: int = FEW) -> str:
    """The first names, and how many more.

    Examples
    --------
    >>> few(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    every = list(names)
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")


def counted(number: int, one: str, several: str | None = None) -> str:
    """A number and what is counted, in the singular or the plural.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row"), counted(1200, "entry", "entries")
    ('1 row', '2 rows', '1200 entries')
    """
    return f"{number} {one if number == 1 else several or f'{one}s'}"


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` for a word that is nearly one of `choices`, else nothing.

    Examples
    --------
    >>> did_you_mean("ranksmv", ["bauc", "ranksvm"]), did_you_mean("forest", ["bauc", "ranksvm"])
    (" (did you mean 'ranksvm'?)", '')
    """
    near = nearest(word, choices)
    return "" if near is None else f" (did you mean {near!r}?)"


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """That of `choices` which is nearly the same word, in lower or upper case; None if none is."""
    names = {str(name).lower(): str(name) for name in choices}
    near = get_close_matches(str(word).lower(), names, n=1, cutoff=0.6)
    return names[near[0]] if near else None


def html_table(rows: Iterable[tuple[str, object]], notes: Iterable[str] = ()) -> str:
    """A table with a name and a value in each row, and remarks below it; numbers have six digits.

    Examples
    --------
    >>> html_table([("a < b", 0.12345678)])
    '<table><tr><th>a &lt; b</th><td>0.123457</td></tr></table>'
    """

    def text(value: object) -> str:
        return escape(f"{value:.6g}" if isinstance(value, float) else str(value))

    lines = "".join(f"<tr><th>{text(name)}</th><td>{text(value)}</td></tr>" for name, value in rows)
    return f"<table>{lines}</table>" + "".join(f"<p>{text(note)}</p>" for note in notes)


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


def show_in_any_encoding() -> None:
    """Make standard output and error print ``?`` for characters that they lack, such as λ in cp1252.

    Called at the start of auclab's own processes.
    """
    for stream in (sys.stdout, sys.stderr):
        if _is_narrow(stream):
            stream.reconfigure(errors="replace")


def write_data(text: str) -> None:
    """Write a table or a model to standard output in UTF-8, as it is written to a file."""
    if _is_narrow(sys.stdout):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)


def _is_narrow(stream: Any) -> TypeGuard[io.TextIOWrapper]:
    return isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8"
