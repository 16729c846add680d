"""Prints the warnings of tracking, such as waiting for a store."""

from __future__ import annotations

import logging

from rich.markup import escape

from auclab.pipeline.screen.console import err


def show_notes() -> None:
    """Print the warnings of `auclab.tracking` from now on, in addition to the run's log file."""
    logging.getLogger("auclab.tracking").addHandler(_LINES)  # which happens once


class _Lines(logging.Handler):
    """Prints one line per record to the error stream, above a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(f"[yellow]note:[/yellow] {escape(' '.join(record.getMessage().split()))}", soft_wrap=True)


_LINES = _Lines(logging.WARNING)
