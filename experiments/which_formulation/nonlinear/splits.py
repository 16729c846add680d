"""Ten splits of every set, every scorer tuned alike; a row of results/splits.csv for each, written as it is found.

``python -m experiments.which_formulation.nonlinear.splits`` continues where the file ends; ``--minutes 70`` begins no
split after that time, ``--scale smoke`` computes two sets in seconds and writes nothing, and ``--set pima --split 3
--scorer ranksvm2_rbf`` computes one row and shows it next to the stored one.

A row without a scorer is a set that is left out or was not reached, with the reason; one with a scorer and without
values is a scorer that failed. Rows of a scorer that met a limit have their values and say so.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console

from auclab._core.base import AuclabError
from auclab.metrics import auc_score, bauc_score, voros_score
from auclab.metrics.partial import partial_auc
from auclab.runs.screen.console import plain_errors
from experiments.study import commit
from experiments.which_formulation.nonlinear.scorers import MAX_FPR, SCORERS, Fitted
from experiments.which_formulation.nonlinear.sets import SMALL, Entry, Parts, entries, load_set, split

RESULTS = Path(__file__).parent / "results" / "splits.csv"
COMMAND = "python -m experiments.which_formulation.nonlinear.splits"
SPLITS = 10


@dataclass(frozen=True)
class Result:
    """One scorer on one split; `reason` says what is missing, or which limit was met."""

    set: str
    source: str
    split: int = -1
    scorer: str = ""
    n_train: int = 0
    n_pos: int = 0
    n_features: int = 0
    n_test: int = 0
    auc: float = math.nan
    bauc: float = math.nan
    partial_auc: float = math.nan
    voros: float = math.nan
    seconds: float = math.nan
    fit_seconds: float = math.nan
    gap: float = math.nan
    size: int = 0
    choice: str = ""
    reason: str = ""


def results_of(entry: Entry, number: int, scorers: Sequence[str], *, trial: bool = False) -> Iterator[Result]:
    """Rows of a split."""
    parts = split(load_set(entry.name), number)
    yield from (one(entry, parts, number, scorer, trial=trial) for scorer in scorers)


def one(entry: Entry, parts: Parts, number: int, scorer: str, *, trial: bool = False) -> Result:
    """One scorer on a split; what stops it is its reason."""
    counts: Any = {
        "n_train": len(parts.y),
        "n_pos": int(parts.y.sum()),
        "n_features": parts.X.shape[1],
        "n_test": len(parts.y_test),
    }
    try:
        found = SCORERS[scorer](parts, number, trial)
    except ImportError as error:
        return Result(entry.name, entry.source, number, scorer, **counts, reason=f"not installed: {error.name}")
    except (AuclabError, ArithmeticError, ValueError) as error:  # of SciPy a LinAlgError, which is a ValueError
        text = " ".join(str(error).split())[:200]
        return Result(entry.name, entry.source, number, scorer, **counts, reason=f"{type(error).__name__}: {text}")
    return Result(entry.name, entry.source, number, scorer, **counts, **_measured(parts, found))


def _measured(parts: Parts, found: Fitted) -> dict[str, Any]:
    y, scores = parts.y_test, found.scores
    numbers = {
        "auc": auc_score(y, scores),
        "bauc": bauc_score(y, scores),
        "partial_auc": partial_auc(y, scores, max_fpr=MAX_FPR, standardized="area"),
        "voros": voros_score(y, scores),
        "seconds": found.seconds,
        "fit_seconds": found.fit_seconds,
    }
    rounded: dict[str, Any] = {key: round(float(value), 5) for key, value in numbers.items()}
    gap = float(f"{found.gap:.2g}")
    return rounded | {"gap": gap, "size": found.size, "choice": found.choice, "reason": found.limits}


def read(path: Path = RESULTS) -> tuple[str, str, list[Result]]:
    """Command, origin and rows of the results.

    Raises
    ------
    AuclabError
        There are none.
    """
    if not path.exists():
        raise AuclabError(f"{path.name} is missing; run {COMMAND} first")
    with path.open(newline="", encoding="utf-8") as file:
        command, where = (file.readline().removeprefix("# ").strip() for _ in range(2))
        kinds = {each.name: {"int": int, "float": float}.get(str(each.type), str) for each in fields(Result)}
        rows = [Result(**{key: kinds[key](value) for key, value in row.items()}) for row in csv.DictReader(file)]
    return command, where, rows


def _origin() -> str:
    packages = ", ".join(f"{name} {_version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba", "lightgbm"))
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return (
        f"commit {commit()}; Python {platform.python_version()}, {packages}; {os.cpu_count()} CPUs, threads {threads}"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _write(path: Path, rows: Sequence[Result], head: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(head)
        table = csv.writer(file, lineterminator="\n")
        table.writerow(each.name for each in fields(Result))
        table.writerows(astuple(row) for row in rows)


def compute(path: Path, minutes: float, console: Console) -> None:
    """Go on where the file ends, until all is there or the time is over."""
    end = time.monotonic() + 60 * minutes
    path.parent.mkdir(parents=True, exist_ok=True)
    head = f"# {COMMAND}\n# {_origin()}\n"
    kept: list[Result] = []
    if path.exists():
        command, where, rows = read(path)
        head, kept = f"# {command}\n# {where}\n", [row for row in rows if row.scorer]
    present = {(row.set, row.split, row.scorer) for row in kept}
    _write(path, kept, head)
    every = entries()
    closing = [Result(entry.name, entry.source, reason=entry.left_out) for entry in every if entry.left_out]
    for entry in (entry for entry in every if not entry.left_out):
        for number in range(SPLITS):
            missing = [scorer for scorer in SCORERS if (entry.name, number, scorer) not in present]
            if missing and time.monotonic() > end:
                closing.append(Result(entry.name, entry.source, reason=f"the time ended before split {number}"))
                break
            if missing:
                found = list(results_of(entry, number, missing))
                _append(path, found)
                seconds = sum(row.seconds for row in found if not math.isnan(row.seconds))
                console.print(f"{entry.name} {number}: {seconds:.1f} s", highlight=False)
    _append(path, closing)


def _append(path: Path, rows: Sequence[Result]) -> None:
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(astuple(row) for row in rows)


def show(found: Result, console: Console, stored: Sequence[Result] = ()) -> None:
    """A row, and the stored one of the same set, split and scorer."""
    same = [row for row in stored if (row.set, row.split, row.scorer) == (found.set, found.split, found.scorer)]
    for label, row in (("computed", found), *(("stored", row) for row in same)):
        values = "  ".join(f"{key} {getattr(row, key):.5f}" for key in ("auc", "bauc", "partial_auc", "voros"))
        line = f"{label:9} {row.set} split {row.split} {row.scorer}  {values}  {row.seconds:.2f} s  gap {row.gap:.1g}"
        console.print(f"{line}  {row.choice}  {row.reason}".rstrip(), highlight=False, soft_wrap=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--scale", choices=("smoke", "default"), default="default")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--set", help="one set, with --split and --scorer: computed, shown and not written")
    parser.add_argument("--split", type=int, default=0)
    parser.add_argument("--scorer", choices=tuple(SCORERS))
    options, console = parser.parse_args(arguments), Console()
    with plain_errors(lambda line: SystemExit(1)):
        if options.scale == "smoke":
            for name in SMALL:
                for row in results_of(Entry(name, name, 0, 0), 0, tuple(SCORERS), trial=True):
                    show(row, console)
        elif options.set:
            stored = read()[2] if RESULTS.exists() else []
            chosen = [options.scorer] if options.scorer else tuple(SCORERS)
            for row in results_of(Entry(options.set, "", 0, 0), options.split, chosen):
                show(row, console, stored)
        else:
            compute(RESULTS, options.minutes, console)


if __name__ == "__main__":
    main()
