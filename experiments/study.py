"""Common part of all studies: rows of results, their files, and the command line.

A study is a module of one of two shapes: ``run(scale) -> rows``, or ``SEEDS``, how many seeds each scale has, and
``run_seed(seed, scale) -> rows`` where the seeds are independent. Studies live in the repository and are not installed.

``python run.py -m experiment=<paper>_<study> scale=full`` is a sweep, a tracked job per seed (`experiments.sweep`), and
needs ``conf/experiment/<paper>_<study>.yaml``; ``python -m experiments.<paper>.<study> --scale full [--jobs 2]`` does
not track. Both write ``experiments/<paper>/results/<study>.csv``: its first line is the command that reproduces it, its
second the commit, versions and machine. At scale ``smoke`` they only print.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import cast

import numpy as np
from rich.console import Console

from auclab._core.base import AuclabError
from auclab.runs.screen.console import plain_errors

FOLDER = Path(__file__).parent
SCALES = ("smoke", "default", "full")
# as printed; as it should be; or where the two agree
AS_PUBLISHED, CORRECTED, AGREE = "as_published", "corrected", ""

#: Prefix of a claim_id that is not a claim but a raw value, stored for studies that evaluate many of them.
VALUE = "value."


@dataclass(frozen=True)
class Row:
    """One value of one claim, for one seed.

    `variant` is "as_published", "corrected", or empty where the two agree; other readings of a paper are named in its
    README.
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


def values_and_means(
    measured: Iterable[tuple[str, str, Mapping[str, float]]], seed: int, mean: str = "{key}.mean"
) -> Iterator[Row]:
    """A value for every (data set, scorer, measures), then the means of each scorer over the data sets.

    `mean`: the claim of a mean, with the measure as ``{key}``.

    Examples
    --------
    >>> rows = values_and_means([("a", "lda", {"auc": 0.5}), ("b", "lda", {"auc": 1.0})], 3)
    >>> [(row.claim_id, row.value, row.variant) for row in rows]
    [('value.a.auc', 0.5, 'lda'), ('value.b.auc', 1.0, 'lda'), ('auc.mean', 0.75, 'lda')]
    """
    found: dict[str, list[Mapping[str, float]]] = {}
    for name, scorer, numbers in measured:
        found.setdefault(scorer, []).append(numbers)
        for key, value in numbers.items():
            yield Row(f"{VALUE}{name}.{key}", round(value, 6), seed, scorer)
    for scorer, every in found.items():
        for key in every[0]:
            yield Row(mean.format(key=key), float(np.mean([numbers[key] for numbers in every])), seed, scorer)


def find_studies() -> list[str]:
    """Names of the modules that are studies: those in a paper's folder with one of the two functions."""
    paths = [path for folder in FOLDER.glob("*/expected.csv") for path in folder.parent.glob("*.py")]
    found = [path for path in paths if re.search(r"^def run(_seed)?\(", path.read_text(encoding="utf-8"), re.MULTILINE)]
    return sorted(f"experiments.{path.parent.name}.{path.stem}" for path in found)


def load_study(name: str) -> ModuleType:
    """The module of a study.

    Raises
    ------
    AuclabError
        No such module, or one without ``run`` and ``run_seed``.
    """
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # a module that the study imports is missing
        raise AuclabError(f"no study {name!r}; choose one of {', '.join(find_studies())}") from error
    if not (hasattr(module, "run") or hasattr(module, "run_seed")):
        raise AuclabError(f"{name} is not a study: it defines neither run nor run_seed")
    return module


def count_seeds(study: str, scale: str) -> int:
    """How many independent jobs a study has; 1 for one of the first shape."""
    module = load_study(study)
    seeds: Mapping[str, int] | None = getattr(module, "SEEDS", None)
    return seeds[scale] if seeds and hasattr(module, "run_seed") else 1


def rows_of(study: str, seed: int, scale: str) -> list[Row]:
    """Rows of one job of a study."""
    module = load_study(study)
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
        parser.add_argument("--jobs", type=int, default=1, help="seeds computed in parallel, each in its own process")
    options, console = parser.parse_args(arguments), Console()
    with plain_errors(lambda line: SystemExit(1)):  # such as a missing data set
        if seeds is None:
            rows = list(cast(Study, run)(options.scale))
        else:
            rows = _all_seeds(cast(SeedStudy, run), seeds[options.scale], options.scale, options.jobs)
    for row in rows:
        console.print(f"{row.claim_id:40} {row.variant:14} seed {row.seed:<4} {row.value:.8g}", highlight=False)
    if options.scale != "smoke":
        target = FOLDER / paper / "results" / f"{study}.csv"
        write(target, rows, command=f"python -m experiments.{paper}.{study} --scale {options.scale}")
        console.print(f"written: {target.relative_to(FOLDER.parent)}")


def _all_seeds(run_seed: SeedStudy, count: int, scale: str, jobs: int) -> list[Row]:
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    found = Parallel(n_jobs=jobs, batch_size=1)(delayed(_listed)(run_seed, seed, scale) for seed in range(count))
    return [row for rows in found for row in rows]


def _listed(run_seed: SeedStudy, seed: int, scale: str) -> list[Row]:
    return list(run_seed(seed, scale))


def write(path: Path, rows: Iterable[Row], *, command: str, origin: str | None = None) -> None:
    """Write rows below the command that reproduces them and their origin, by default the present code and machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {command}\n# {origin or _origin()}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(Row))
        table.writerows(astuple(row) for row in rows)


def read(path: Path) -> tuple[str, str, list[Row]]:
    """Command, origin and rows of a file written by `write`."""
    with path.open(newline="", encoding="utf-8") as file:
        command, origin = (file.readline().removeprefix("# ").strip() for _ in range(2))
        rows = [
            Row(row["claim_id"], float(row["value"]), int(row["seed"]), row["variant"]) for row in csv.DictReader(file)
        ]
    return command, origin, rows


def _origin() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return (
        f"commit {commit()}; Python {platform.python_version()}, {packages}; {os.cpu_count()} CPUs, threads {threads}"
    )


def commit() -> str:
    """The commit of the code, with "+changes" if src/ or experiments/ have uncommitted changes."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=FOLDER.parent, capture_output=True, text=True, check=True).stdout

    try:
        changed = git("status", "--porcelain", "--", "src", "experiments/*.py")
        return git("rev-parse", "--short", "HEAD").strip() + ("+changes" if changed.strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
