"""Streams that are not UTF-8. Only the standard library is imported: every command needs this."""

from __future__ import annotations

import codecs
import io
import sys
from typing import Any, TypeGuard


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
