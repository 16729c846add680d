"""What all studies share: rows of results, where they are kept, and the command line.

A study is a module of one of two shapes: ``run(scale) -> rows``, or ``SEEDS``, how many seeds each scale has, and
``run_seed(seed, scale) -> rows`` where the seeds are independent of each other.

``python run.py -m experiment=<paper>_<study> scale=full`` is a sweep, a tracked job per seed (`experiments.sweep`), and
needs ``conf/experiment/<paper>_<study>.yaml``; ``python -m experiments.<paper>.<study> --scale full [--jobs 2]`` does
without a store. Both write ``experiments/<paper>/results/<study>.csv``: its first line is the command that makes it
again, its second where it was made. At scale ``smoke`` they only print.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import cast

from rich.console import Console

from auclab.pipeline.console import plain_errors

FOLDER = Path(__file__).parent
SCALES = ("smoke", "default", "full")
# as printed; as it has to be; or where print and truth agree
AS_PUBLISHED, CORRECTED, AGREE = "as_published", "corrected", ""

#: First word of a claim_id that is no claim: a raw value, kept for a study that works on many of them.
VALUE = "value."


@dataclass(frozen=True)
class Row:
    """One value of one claim, for one seed.

    `variant` is "as_published", "corrected", or empty where print and truth agree; a study with other ways to read
    the print names them in its paper's README.
    """

    claim_id: str
    value: float
    seed: int = 0
    variant: str = AGREE


Study = Callable[[str], Iterable[Row]]
SeedStudy = Callable[[int, str], Iterable[Row]]


def holds(claim_id: str, truth: bool, seed: int = 0, variant: str = AGREE) -> Row:
    """A statement that is true (1) or not (0)."""
    return Row(claim_id, float(truth), seed, variant)


def find_studies() -> list[str]:
    """Names of the modules that are studies: those in a paper's folder with one of the two functions."""
    paths = [path for folder in FOLDER.glob("*/expected.csv") for path in folder.parent.glob("*.py")]
    found = [path for path in paths if re.search(r"^def run(_seed)?\(", path.read_text(encoding="utf-8"), re.MULTILINE)]
    return sorted(f"experiments.{path.parent.name}.{path.stem}" for path in found)


def count_seeds(study: str, scale: str) -> int:
    """How many independent jobs a study has; 1 for one of the first shape."""
    seeds: Mapping[str, int] | None = getattr(import_module(study), "SEEDS", None)
    return seeds[scale] if seeds and hasattr(import_module(study), "run_seed") else 1


def rows_of(study: str, seed: int, scale: str) -> list[Row]:
    """What one job of a study finds."""
    module = import_module(study)
    return list(module.run_seed(seed, scale) if hasattr(module, "run_seed") else module.run(scale))


def main(
    run: Study | SeedStudy, seeds: Mapping[str, int] | None = None, arguments: Sequence[str] | None = None
) -> None:
    """The command line of a study: ``main(run)``, or ``main(run_seed, SEEDS)``."""
    path = Path(inspect.getfile(run))
    paper, study = path.parent.name, path.stem
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{paper}.{study}", description=inspect.getdoc(run))
    parser.add_argument("--scale", choices=SCALES, default="default")
    if seeds is not None:
        parser.add_argument("--jobs", type=int, default=1, help="seeds at a time, each in a process of its own")
    asked, console = parser.parse_args(arguments), Console()
    with plain_errors(lambda line: SystemExit(1)):  # such as a data set that is not here
        if seeds is None:
            rows = list(cast(Study, run)(asked.scale))
        else:
            rows = _all_seeds(cast(SeedStudy, run), seeds[asked.scale], asked.scale, asked.jobs)
    for row in rows:
        console.print(f"{row.claim_id:40} {row.variant:14} seed {row.seed:<4} {row.value:.8g}", highlight=False)
    if asked.scale != "smoke":
        target = FOLDER / paper / "results" / f"{study}.csv"
        write(target, rows, command=f"python -m experiments.{paper}.{study} --scale {asked.scale}")
        console.print(f"written: {target.relative_to(FOLDER.parent)}")


def _all_seeds(run_seed: SeedStudy, count: int, scale: str, jobs: int) -> list[Row]:
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    found = Parallel(n_jobs=jobs, batch_size=1)(delayed(_listed)(run_seed, seed, scale) for seed in range(count))
    return [row for rows in found for row in rows]


def _listed(run_seed: SeedStudy, seed: int, scale: str) -> list[Row]:
    return list(run_seed(seed, scale))


def write(path: Path, rows: Iterable[Row], *, command: str, place: str | None = None) -> None:
    """Keep rows below the command that makes them again and the place they were made at, which is here if not told."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {command}\n# {place or _place()}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(Row))
        table.writerows(astuple(row) for row in rows)


def read(path: Path) -> tuple[str, str, list[Row]]:
    """Command, place and rows of a file that `write` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        command, place = (file.readline().removeprefix("# ").strip() for _ in range(2))
        rows = [
            Row(row["claim_id"], float(row["value"]), int(row["seed"]), row["variant"]) for row in csv.DictReader(file)
        ]
    return command, place, rows


def _place() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return (
        f"commit {commit()}; Python {platform.python_version()}, {packages}; {os.cpu_count()} CPUs, threads {threads}"
    )


def commit() -> str:
    """The commit of the code, with "+changes" where code that counts here is not committed."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=FOLDER.parent, capture_output=True, text=True, check=True).stdout

    try:
        changed = git("status", "--porcelain", "--", "src", "experiments/*.py")
        return git("rev-parse", "--short", "HEAD").strip() + ("+changes" if changed.strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
