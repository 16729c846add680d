"""What all studies share: rows of results, where they are kept, and the command line.

A study is a module with ``run(scale) -> rows``. ``python -m experiments.<paper>.<study> --scale full`` writes
``experiments/<paper>/results/<study>.csv``: its first line is the command that makes it again, its second where it was
made. ``--scale smoke`` prints and keeps nothing.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from importlib.metadata import version
from pathlib import Path

from rich.console import Console

FOLDER = Path(__file__).parent
SCALES = ("smoke", "default", "full")
# as printed; as it has to be; or where print and truth agree
AS_PUBLISHED, CORRECTED, AGREE = "as_published", "corrected", ""


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


def holds(claim_id: str, truth: bool, seed: int = 0, variant: str = AGREE) -> Row:
    """A statement that is true (1) or not (0)."""
    return Row(claim_id, float(truth), seed, variant)


def main(run: Study, arguments: Sequence[str] | None = None) -> None:
    """The command line of a study."""
    path = Path(inspect.getfile(run))
    paper, study = path.parent.name, path.stem
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{paper}.{study}", description=inspect.getdoc(run))
    parser.add_argument("--scale", choices=SCALES, default="default")
    scale = parser.parse_args(arguments).scale
    rows = list(run(scale))
    console = Console()
    for row in rows:
        console.print(f"{row.claim_id:40} {row.variant:14} seed {row.seed:<4} {row.value:.8g}", highlight=False)
    if scale != "smoke":
        target = FOLDER / paper / "results" / f"{study}.csv"
        write(target, rows, command=f"python -m experiments.{paper}.{study} --scale {scale}")
        console.print(f"written: {target.relative_to(FOLDER.parent)}")


def write(path: Path, rows: Iterable[Row], *, command: str) -> None:
    """Keep rows below the command that makes them again and the place they were made at."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {command}\n# {_place()}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(Row))
        table.writerows(astuple(row) for row in rows)


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
