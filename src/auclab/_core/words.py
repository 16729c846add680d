"""Text as people see it: words that many messages share, and small tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from html import escape

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
