"""Every data set with every formulation, by version: certified or not, and CPU seconds.

    python benchmarks/all_data_sets.py --sets main --limit 200 --results FILE    # in a checkout of each version
    python benchmarks/by_version.py --keep 0.2=FILE 0.3=FILE                    # into docs/by_version.csv
    python benchmarks/by_version.py --page                                      # the tables of docs/results.md

Run the versions at the same time on one machine, so that they meet the same load. Only cells that all versions have are
counted. CPU seconds are those of `auclab.solve`, certificate included, with loops compiled before.
"""

from __future__ import annotations

import argparse
import csv
import re
import statistics
from collections.abc import Iterable
from pathlib import Path

import measured

RESULTS = measured.ROOT / "docs" / "by_version.csv"
PAGE = measured.ROOT / "docs" / "results.md"
PAGE_COMMAND = "benchmarks/by_version.py --page"
STUDIES = measured.ROOT / "experiments" / "README.md"
COMMAND = "python benchmarks/by_version.py --keep 0.2=… 0.3=…"
COPIED = ["data_set", "formulation", "rows", "features", "status", "objective", "processor_seconds"]
FIELDS = ["version", "commit", *COPIED]
Cell = tuple[str, str]


def keep(versions: dict[str, Path]) -> None:
    """Put the files of several versions into one."""
    read = {}
    for version, path in versions.items():
        with path.open(encoding="utf-8", newline="") as file:
            read[version] = {(row["data_set"], row["formulation"]): row for row in csv.DictReader(file)}
    shared = set.intersection(*(set(rows) for rows in read.values()))
    with measured.writer(RESULTS, COMMAND, FIELDS) as write:
        for version, rows in read.items():
            for cell in sorted(shared):
                row = rows[cell]
                write({"version": version, "commit": row["revision"]} | {field: row[field] for field in COPIED})


def by_version(rows: Iterable[measured.Row]) -> dict[str, dict[Cell, measured.Row]]:
    """The cells of each version, the oldest version first."""
    found: dict[str, dict[Cell, measured.Row]] = {}
    for row in rows:
        found.setdefault(row["version"], {})[row["data_set"], row["formulation"]] = row
    return found


def seconds(cells: Iterable[measured.Row]) -> list[float]:
    """CPU seconds, ascending."""
    return sorted(float(row["processor_seconds"]) for row in cells)


def apart(old: measured.Row, new: measured.Row) -> float:
    """How far the objectives of two versions are apart, relative."""
    before, now = float(old["objective"]), float(new["objective"])
    return abs(now - before) / max(abs(before), 1e-9)


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The tables of the page."""
    versions = by_version(rows)
    shown = measured.significant
    summary = []
    for version, cells in versions.items():
        spent = seconds(cells.values())
        certified = sum(row["status"] == "optimal" for row in cells.values())
        commit = next(iter(cells.values()))["commit"].replace("+", " and changes")
        numbers = (statistics.median(spent), spent[int(0.9 * len(spent))], spent[-1], sum(spent))
        summary.append([version, commit, f"{certified} of {len(cells)}", *map(shown, numbers)])
    first, last = (versions[name] for name in (next(iter(versions)), list(versions)[-1]))
    sets = []
    for name in dict.fromkeys(cell[0] for cell in last):
        of_set = [cell for cell in last if cell[0] == name]
        spent = [sum(seconds(each[cell] for cell in of_set)) for each in versions.values()]
        size = f"{int(last[of_set[0]]['rows']):,} × {last[of_set[0]]['features']}"
        furthest = max(apart(first[cell], last[cell]) for cell in of_set)
        sets.append([name, size, *map(shown, spent), shown(spent[-1] / spent[0]), f"{furthest:.0e}"])
    head = ["version", "commit", "certified", "median CPU s", "90 %", "longest", "all"]
    each = ["data set", "rows × features", *(f"{name}, CPU s" for name in versions), "ratio", "objectives apart"]
    return {
        "versions": measured.table(head, summary),
        "data sets": measured.table(each, sets),
        "papers": papers(STUDIES.read_text(encoding="utf-8")),
    }


def papers(page: str) -> str:
    """The scoreboard of the papers, with links from docs/."""
    lines = page[page.index("| printed claims of |") :].partition("\n\n")[0]
    return re.sub(r"\]\((\w)", r"](../experiments/\1", lines)


def sentences(rows: list[measured.Row]) -> list[str]:
    """What the text of the page says about the same numbers."""
    versions = by_version(rows)
    (old, first), *_, (new, last) = versions.items()
    ratios = [float(last[cell]["processor_seconds"]) / float(first[cell]["processor_seconds"]) for cell in last]
    furthest = max(apart(first[cell], last[cell]) for cell in last)
    return [
        f"{len(last)} cells, {len({cell[0] for cell in last})} data sets with "
        f"{len({cell[1] for cell in last})} formulations",
        f"In the median of the cells {new} takes {statistics.median(ratios):.2f} of the CPU seconds of {old}",
        f"the objectives differ by at most {furthest:.0e}",
    ]


def main() -> None:
    """Keep files, or fill in the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", nargs="+", metavar="VERSION=FILE", help="oldest first")
    parser.add_argument("--page", action="store_true", help="fill in docs/results.md")
    options = parser.parse_args()
    if options.keep:
        keep({version: Path(path) for version, path in (each.split("=", 1) for each in options.keep)})
    if options.page:
        rows = measured.read(RESULTS)
        measured.fill(PAGE, PAGE_COMMAND, tables(rows))
        print(*sentences(rows), sep="\n")


if __name__ == "__main__":
    main()
