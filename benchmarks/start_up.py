"""CPU seconds of one run, start included, here and of another checkout.

    python benchmarks/start_up.py [--rounds 5] [--before FOLDER --python PYTHON] [--results FILE]
    python benchmarks/start_up.py --first --rounds 3 --before FOLDER --python PYTHON

Every round runs each side once, so that all of them meet the same load; the first round makes the stores and is not
counted. Labels are calibrated on inner folds in every run (`decision.probability=sigmoid`): left alone, a run leaves
that out where the clock says that its solve was long. Prints medians, and the ratio to the first side. With `--first`
every run is the first on a machine: it compiles its loops, in a cache of its own, and makes its store.
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
FIRST_RUN = ("dataset=breast_cancer",)
RESULTS, FIRST_RESULTS = measured.ROOT / "docs" / "start_up.csv", measured.ROOT / "docs" / "first_run.csv"


def seconds(command: list[str], folder: Path, *, first: bool) -> float:
    """CPU seconds of a run, of the user and of the system."""
    folder = Path(tempfile.mkdtemp(dir=folder)) if first else folder
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Bytecode is kept, as it is where the package is installed.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    if first:
        environment["NUMBA_CACHE_DIR"] = str(folder / "loops")
    else:
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    words = FIRST_RUN if first else RUN
    subprocess.run([*command, *words], cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", type=Path, help="another checkout, which is the first side")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has its package")
    parser.add_argument("--first", action="store_true", help="each run is the first one, and compiles")
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    results = options.results or (FIRST_RESULTS if options.first else RESULTS)
    typed = "python benchmarks/start_up.py" + (" --first" if options.first else "") + " --before …"
    sides = {"now": [sys.executable, str(measured.ROOT / "run.py")]}
    if options.before is not None:
        sides = {"before": [options.python, str(options.before / "run.py")], **sides}
    folders = {side: Path(tempfile.mkdtemp(prefix="start-up-")) for side in sides}
    found: dict[str, list[float]] = {side: [] for side in sides}
    with measured.writer(results, typed, ["round", *sides]) as keep:
        for number in range(options.rounds + 1):
            row = {side: seconds(command, folders[side], first=options.first) for side, command in sides.items()}
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
