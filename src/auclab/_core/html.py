"""Small tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


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
