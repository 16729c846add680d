"""What evaluating an expression tells the user: errors, warnings, log records, and lines on the screen."""

import io
import logging
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple


class Heard(NamedTuple):
    """The error that ended an evaluation, if one did, and every text that was shown."""

    error: BaseException | None
    texts: list[str]

    @property
    def modules(self) -> set[str]:
        """The files that the error passed through, its causes included."""
        files, error = set[str](), self.error
        while error is not None:
            files |= {frame.filename for frame in traceback.extract_tb(error.__traceback__)}
            error = error.__cause__ or error.__context__
        return files


def heard(expression: str, names: dict[str, Any]) -> Heard:
    """Evaluate an expression and keep what it tells the user."""
    error, log, screen = None, _Records(), io.StringIO()
    auclab_log = logging.getLogger("auclab")
    before = auclab_log.level
    auclab_log.addHandler(log)
    auclab_log.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as warned, redirect_stdout(screen), redirect_stderr(screen):
            warnings.simplefilter("always")
            try:
                eval(expression, dict(names))
            except (Exception, SystemExit) as raised:  # noqa: BLE001  whatever it is, its text is looked at
                error = raised
    finally:
        auclab_log.removeHandler(log)
        auclab_log.setLevel(before)
    printed = screen.getvalue().rstrip("\n")
    texts = [str(each.message) for each in warned] + log.texts + printed.splitlines() + [printed]
    return Heard(error, [*_told_by(error), *texts])


def _told_by(error: BaseException | None) -> list[str]:
    """The text of an error, and those of the errors that it was made of."""
    return [] if error is None else [str(error), *_told_by(error.__cause__)]


class _Records(logging.Handler):
    """Keeps the texts of log records."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
