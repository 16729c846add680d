"""The screens of docs/comparing.md: a sweep of four formulations on four data sets, compared, and the best on one.

python benchmarks/comparing.py           # runs the sweep in an empty folder, minutes
python benchmarks/comparing.py --page    # writes the page from the results file
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import measured

RESULTS = measured.ROOT / "docs" / "comparing.csv"
PAGE = measured.ROOT / "docs" / "comparing.md"
COMMAND = "python benchmarks/comparing.py"
PAGE_COMMAND = "benchmarks/comparing.py --page"

#: Every screen and the command that shows it, in this order; the first one has lines of progress and is not kept.
SWEEP = (
    "auclab run -m formulation=ranksvm,csvm,ecsvm,logistic tune=auto "
    "dataset=breast_cancer,ionosphere,heart_statlog,sonar split.seed=range(5)"
)
SCREENS = {"compare": "auclab compare", "best": "auclab compare --where dataset=ionosphere"}


def measure() -> None:
    """Run the sweep, and keep the lines of the screens."""
    environment = os.environ | {"COLUMNS": "120", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder, measured.writer(RESULTS, COMMAND, ("screen", "line")) as keep:

        def lines_of(command: str) -> list[str]:
            done = subprocess.run(
                shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True, check=True
            )
            return [line.rstrip() for line in done.stdout.strip("\n").splitlines()]

        def begins(screen: str, lines: list[str]) -> int:
            return next(at for at, line in enumerate(lines) if line.startswith("best ")) if screen == "best" else 0

        print(lines_of(SWEEP)[-1])
        for screen, command in SCREENS.items():
            lines = lines_of(command)
            for line in lines[begins(screen, lines) :]:
                keep({"screen": screen, "line": line})


def tables(rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The screens as indented blocks."""
    return {
        screen: "\n".join(f"    {row['line']}".rstrip() for row in rows if row["screen"] == screen)
        for screen in SCREENS
    }


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true")
    if not parser.parse_args().page:
        measure()
    measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))


if __name__ == "__main__":
    main()
