"""Results files of benchmarks, with their origin on top, and the tables of pages that are made from them.

A results file starts with two lines, the command that writes it and its origin: commit, versions, machine. A table
is in its page between ``<!-- begin: COMMAND, NAME -->`` and ``<!-- end -->``; the script of COMMAND writes it from
the file, and tests/test_measured_tables.py checks that page and file agree.

    import measured

    with measured.writer(RESULTS, "python benchmarks/x.py", FIELDS) as keep:
        keep({"rows": 10, "seconds": 0.5})
    measured.fill(PAGE, "benchmarks/x.py --page", {"seconds": table})
"""

from __future__ import annotations

import csv
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- begin: {command}, {name} -->", "<!-- end -->"
PACKAGES = ("numpy", "scipy", "numba", "highspy")
Row = dict[str, str]


def origin() -> str:
    """Commit, with "+changes" where src/ or benchmarks/ differ from it, versions, the machine and its load."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    try:
        commit = git("rev-parse", "--short", "HEAD") + "+changes" * bool(
            git("status", "--porcelain", "src", "benchmarks")
        )
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    machine = f"{platform.machine()}, {os.cpu_count()} CPUs, threads {os.environ.get('OMP_NUM_THREADS', 'all')}"
    machine += f", load {os.getloadavg()[0]:.1f}"
    return f"commit {commit}; Python {platform.python_version()}, {packages}; {machine}"


@contextmanager
def writer(
    path: Path, command: str, fields: Sequence[str], kept: Iterable[Row] = ()
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A function that keeps a row, as soon as it is there, below the two lines of origin and the rows of `kept`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = list(kept)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {command}\n# {origin()}\n")
        table = csv.DictWriter(file, fields, lineterminator="\n")
        table.writeheader()
        table.writerows(kept)
        file.flush()  # or they were lost with the process, should it end before the next row

        def keep(row: Mapping[str, Any]) -> None:
            table.writerow({k: f"{value:.10g}" if isinstance(value, float) else value for k, value in row.items()})
            file.flush()

        yield keep


def read(path: Path) -> list[Row]:
    """Rows of a results file, without the lines of origin."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def origin_of(path: Path) -> tuple[str, str]:
    """Command and origin of a results file; empty where it has none."""
    with path.open(encoding="utf-8") as file:
        lines = [
            line.removeprefix("# ").strip() if line.startswith("#") else "" for line in (*islice(file, 2), "", "")
        ][:2]
    return lines[0], lines[1]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lines of a table in Markdown.

    Examples
    --------
    >>> print(table(["rows", "seconds"], [["10", "0.5"]]))
    | rows | seconds |
    |---|---|
    | 10 | 0.5 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" if line[0] != "---" else "|" + "---|" * len(line) for line in lines)


def filled(text: str, command: str, tables: Mapping[str, str]) -> str:
    """The text of a page with its tables.

    Raises
    ------
    ValueError
        The page has no place for a table.
    """
    for name, content in tables.items():
        first = BEGIN.format(command=command, name=name)
        before, mark, rest = text.partition(first)
        if not mark or END not in rest:
            raise ValueError(f"no place for a table: {first} … {END}")
        text = f"{before}{mark}\n{content}\n{END}{rest.partition(END)[2]}"
    return text


def fill(page: Path, command: str, tables: Mapping[str, str]) -> None:
    """Write tables into a page."""
    page.write_text(filled(page.read_text(encoding="utf-8"), command, tables), encoding="utf-8")


def significant(value: float, digits: int = 2) -> str:
    """A number in few digits, without an exponent where that is short.

    Examples
    --------
    >>> [significant(each) for each in (0.0463, 0.27, 12.4, 268.0, 2900.0)]
    ['0.046', '0.27', '12', '270', '2900']
    """
    return f"{float(f'{value:.{digits}g}'):g}"


def power(value: float) -> str:
    """A small number by its first digit.

    Examples
    --------
    >>> power(2.3e-7), power(0.54)
    ('2e-7', '0.5')
    """
    return f"{value:.1g}" if value > 1e-4 else f"{value:.0e}".replace("e-0", "e-")
