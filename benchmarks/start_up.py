"""CPU seconds of one run, start included, here and of another checkout.

    python benchmarks/start_up.py [--rounds 5] [--before FOLDER --python PYTHON] [--results FILE]

Every round runs each side once, so that all of them meet the same load; the first round makes the stores and is not
counted. Labels are calibrated on inner folds in every run (`decision.probability=sigmoid`): left alone, a run leaves
that out where the clock says that its solve was long. Prints medians, and the ratio to the first side.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import measured

RUN = ("solver=highs", "dataset=ionosphere", "decision.probability=sigmoid")
RESULTS = measured.ROOT / "docs" / "start_up.csv"


def seconds(command: list[str], folder: Path) -> float:
    """CPU seconds of a run, of the user and of the system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Bytecode is kept, as it is where the package is installed.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    subprocess.run([*command, *RUN], cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", type=Path, help="another checkout, which is the first side")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has its package")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    sides = {"now": [sys.executable, str(measured.ROOT / "run.py")]}
    if options.before is not None:
        sides = {"before": [options.python, str(options.before / "run.py")], **sides}
    folders = {side: Path(tempfile.mkdtemp(prefix="start-up-")) for side in sides}
    found: dict[str, list[float]] = {side: [] for side in sides}
    with measured.writer(options.results, "python benchmarks/start_up.py --before …", ["round", *sides]) as keep:
        for number in range(options.rounds + 1):
            row = {side: seconds(command, folders[side]) for side, command in sides.items()}
            if number:
                keep({"round": number} | {side: f"{value:.2f}" for side, value in row.items()})
                for side, value in row.items():
                    found[side].append(value)
    first = statistics.median(found[next(iter(sides))])
    for side, values in found.items():
        print(
            f"{side}: median {(middle := statistics.median(values)):.2f} CPU seconds, {middle / first:.2f} of the first"
        )


if __name__ == "__main__":
    main()
