"""The studies are a package beside src, which only ``python -m`` finds by itself."""

import sys
from pathlib import Path

REPOSITORY = str(Path(__file__).parents[2])
if REPOSITORY not in sys.path:
    sys.path.insert(0, REPOSITORY)


def pytest_runtest_logreport(report):
    """Sum the seconds that studies needed at smoke scale."""
    for name, value in report.user_properties:
        if report.when == "call" and name == "smoke_seconds":
            _seconds.append(value)


def pytest_terminal_summary(terminalreporter):
    """All studies at smoke scale are to stay below four minutes of one core; reported, not asserted."""
    if _seconds:
        terminalreporter.write_line(f"smoke runs of {len(_seconds)} studies: {sum(_seconds):.0f} s")


_seconds = []
