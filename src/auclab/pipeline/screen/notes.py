"""What tracking has to say while it waits for a store, as lines on the screen."""

from __future__ import annotations

import logging

from rich.markup import escape

from auclab.pipeline.screen.console import err


def show_notes() -> None:
    """Show the warnings of `auclab.tracking` on the screen from now on, beside the log file of the run."""
    logging.getLogger("auclab.tracking").addHandler(_LINES)  # which happens once


class _Lines(logging.Handler):
    """A line of the error stream per record; a progress bar stays below it."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(f"[yellow]note:[/yellow] {escape(' '.join(record.getMessage().split()))}", soft_wrap=True)


_LINES = _Lines(logging.WARNING)
