"""What tracking has to say while it waits for a store, as lines on the screen."""

from __future__ import annotations

import logging

from rich.markup import escape

from auclab.pipeline.screen.console import err


def show_notes() -> None:
    """Show the warnings of `auclab.tracking` on the screen from now on, beside the log file of the run."""
    logger = logging.getLogger("auclab.tracking")
    if not any(isinstance(handler, _Lines) for handler in logger.handlers):
        logger.addHandler(_Lines(logging.WARNING))


class _Lines(logging.Handler):
    """A line of the error stream per record; a progress bar stays below it."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(f"[yellow]note:[/yellow] {escape(' '.join(record.getMessage().split()))}", soft_wrap=True)
