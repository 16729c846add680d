"""Streams that are not UTF-8. Only the standard library is imported: every command needs this."""

from __future__ import annotations

import io
import sys


def show_in_any_encoding() -> None:
    """Make standard output and error print ``?`` for characters that they lack, such as λ in cp1252.

    Called at the start of auclab's own processes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def write_data(text: str) -> None:
    """Write a table or a model to standard output in UTF-8, as it is written to a file."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)
