"""Fill in the tables of docs/all_data_sets.md from docs/all_data_sets/results.csv, of benchmarks/all_data_sets.py.

    python docs/all_data_sets.py

Beside it, ``limit.csv`` has the longest cells again with a shorter limit, and ``solvers.csv`` the longest ones with
single solvers; ``reasons.json`` ("SET FORMULATION": reason) may say more on a cell that is not certified than its
notes do.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

PAGE = Path(__file__).with_name("all_data_sets.md")
RESULTS = PAGE.with_suffix("") / "results.csv"
#: The longest cells again with a shorter limit.
LIMITED = PAGE.with_suffix("") / "limit.csv"
#: The longest cells with auto and with single solvers.
COMPARED = PAGE.with_suffix("") / "solvers.csv"
REASONS = PAGE.with_suffix("") / "reasons.json"
MARKS = ("<!-- the tables of docs/all_data_sets.py begin -->", "<!-- and end -->")
#: How the formulations are shown.
SHOWN = {
    "bauc": "bAUC",
    "bauc_z": "bAUC_z, z = −0.5",
    "bauc_z_l1": "bAUC_z, z = −0.5, l1",
    "ranksvm_l1": "RankSVM 0.01, l1",
    "ranksvm_linf": "RankSVM 0.01, linf",
    "ranksvm_l2": "RankSVM 0.01, l2",
    "ranksvm_squared": "RankSVM 0.001 ‖w‖²",
    "csvm_l2": "C-SVM 0.01, l2",
    "csvm_squared": "C-SVM 0.001 ‖w‖²",
    "ecsvm_l2": "EC-SVM, z = −0.5",
    "partial_auc": "partial AUC to 0.2",
    "partial_auc_squared": "partial AUC to 0.2, 0.001 ‖w‖²",
}
#: Data sets with fewer rows than this are small.
SMALL = 5_000
#: What a status says by itself.
WITHIN = {"optimal_within": "the lower bound is proved for all w up to a norm bound"}
#: Ratios of shorter times than this, in seconds, say nothing.
SHORTEST = 0.1
#: How many of the longest cells are shown, and from which ratio on the cells in which auto is behind.
LONGEST, BEHIND = 5, 2


def read(path: Path = RESULTS) -> pd.DataFrame:
    """The results, with the group of the data set and whether the cell is certified."""
    results = pd.read_csv(path, dtype={"revision": str, "note": str, "solved_by": str})
    keel = results["data_set"].str.startswith("keel_")
    sizes = ["rows", "features"]  # which a solve that ended its process did not say
    results[sizes] = results.groupby("data_set")[sizes].transform("max")
    results["group"] = np.where(keel, "KEEL", np.where(results["rows"] < SMALL, "main, small", "main, large"))
    results["certified"] = results["status"] == "optimal"
    return results


def tables(auto: pd.DataFrame, limited: pd.DataFrame, compared: pd.DataFrame, reasons: dict[str, str]) -> str:
    """All tables in Markdown."""
    parts = [
        facts(auto),
        "### Certified, and seconds",
        by_group(auto),
        by_formulation(auto),
        "### The longest",
        longest(auto),
        with_limit(limited),
        "### Not certified",
        uncertified(auto, reasons),
        "### auto against the best single solver",
        against_best(compared),
    ]
    return "\n\n".join(parts)


def facts(auto: pd.DataFrame) -> str:
    """The first sentences."""
    names = pd.Series(auto["data_set"].unique())
    keel, made = names.str.startswith("keel_").sum(), (names == "correlated_features").sum()
    limits = " and ".join(f"{limit:g}" for limit in sorted(auto["limit"].unique()))
    revisions = ", ".join(sorted(auto["revision"].dropna().unique()))
    within = (auto["status"] == "optimal_within").sum()
    return (
        f"{len(auto):,} cells: {len(names) - keel - made} sets of the catalogue, {keel} of KEEL and {made} artificial "
        f"one (100 correlated features, 5,000 + 5,000) with {auto['formulation'].nunique()} formulations, "
        f"`solver=auto`, `time_limit={limits}`, tolerance 1e-6, one thread a solve. **{auto['certified'].sum():,} "
        f"({share(auto['certified'])}) are certified for every w**, {within} more up to a radius. Commit {revisions}."
    )


def share(certified: pd.Series) -> str:
    """Per cent; 100 only if it is all of them."""
    return "100 %" if certified.all() else f"{min(100 * certified.mean(), 99.9):.1f} %"


def quantiles(cells: pd.DataFrame) -> list[str]:
    """Median, 90 %, 99 % and maximum of the seconds."""
    return [f"{cells['seconds'].quantile(level, interpolation='higher'):.2g}" for level in (0.5, 0.9, 0.99, 1.0)]


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def by_group(auto: pd.DataFrame) -> str:
    """A row a group of data sets."""
    names = {
        "main, small": f"catalogue, under {SMALL:,} rows",
        "main, large": f"catalogue, {SMALL:,} rows and more",
        "KEEL": "KEEL",
    }
    rows = [
        [name, str(cells["data_set"].nunique()), certified(cells), *quantiles(cells)]
        for group, name in names.items()
        if len(cells := auto[auto["group"] == group])
    ]
    return markdown(["data sets", "sets", "certified", "median s", "90 %", "99 %", "longest"], rows)


def certified(cells: pd.DataFrame) -> str:
    """So many of so many."""
    return f"{cells['certified'].sum()} of {len(cells)}"


def by_formulation(auto: pd.DataFrame) -> str:
    """A row a formulation."""
    rows = []
    for formulation, name in SHOWN.items():
        cells = auto[auto["formulation"] == formulation]
        if cells.empty:
            continue
        keel = cells["group"] == "KEEL"
        counts = [certified(part) if len(part) else "–" for part in (cells[~keel], cells[keel])]
        rows.append([name, *counts, *quantiles(cells)])
    return markdown(["formulation", "catalogue", "KEEL", "median s", "90 %", "99 %", "longest"], rows)


def longest(auto: pd.DataFrame) -> str:
    """The cells that took most seconds."""
    rows = [
        [*name_of(row), size(row), text(row["solved_by"]), status(row), f"{row['seconds']:.1f}"]
        for _, row in auto.nlargest(LONGEST, "seconds").iterrows()
    ]
    return markdown(["data set", "formulation", "rows × features", "solver", "gap", "seconds"], rows)


def with_limit(limited: pd.DataFrame) -> str:
    """What a shorter limit leaves of the longest cells."""
    return (
        f"With `time_limit={limited['limit'].max():g}`, {limited['certified'].sum()} of the {len(limited)} longest are "
        f"certified; the last one ends after {limited['seconds'].max():.1f} s."
    )


def uncertified(auto: pd.DataFrame, reasons: dict[str, str]) -> str:
    """Every cell that is not certified for all w, the largest gap first."""
    cells = auto[~auto["certified"]].sort_values("gap", ascending=False, na_position="first")
    if cells.empty:
        return "None."
    rows = [
        [*name_of(row), size(row), text(row["solved_by"]), status(row), f"{row['seconds']:.1f}", reason(row, reasons)]
        for _, row in cells.iterrows()
    ]
    return markdown(["data set", "formulation", "rows × features", "solver", "status, gap", "seconds", "why"], rows)


def reason(row: pd.Series, reasons: dict[str, str]) -> str:
    """Why a cell is not certified."""
    given = reasons.get(f"{row['data_set']} {row['formulation']}") or text(row["note"])
    said = [words for words in (WITHIN.get(row["status"], ""), given) if words]
    return "; ".join(said).replace("|", "\\|")


def against_best(compared: pd.DataFrame) -> str:
    """The cells in which a single solver is ahead of auto by the largest ratio, all measured in one run."""
    keys = ["data_set", "formulation"]
    single = compared[(compared["solver"] != "auto") & compared["certified"]]
    best = single.loc[single.groupby(keys)["processor_seconds"].idxmin(), [*keys, "solver", "processor_seconds"]]
    auto = compared[compared["solver"] == "auto"]
    both = auto.merge(best, on=keys, suffixes=("", "_best"))
    ratio = both["processor_seconds"] / both["processor_seconds_best"]
    long = both.assign(ratio=ratio)[both["certified"] & (both["processor_seconds"] >= SHORTEST)]
    solvers = ", ".join(sorted(compared.loc[compared["solver"] != "auto", "solver"].unique()))
    behind = long[long["ratio"] > BEHIND].sort_values("ratio", ascending=False)
    words = (
        f"The {len(auto)} cells in which auto took most seconds, with auto, {solvers} one after the other, "
        f"`time_limit={compared['limit'].max():g}`; processor seconds, which a busy machine lengthens less. auto "
        f"certified {auto['certified'].sum()} of them; some single solver, chosen cell by cell, {len(both)}, among "
        f"them {(~both['certified']).sum()} that auto did not. In the {len(long)} in which auto took at least "
        f"{SHORTEST} s, its median ratio to the fastest single solver is {long['ratio'].median():.2f}, the largest "
        f"{long['ratio'].max():.1f}, and {len(behind)} are above {BEHIND}:"
    )
    rows = [
        [
            *(*name_of(row), text(row["solved_by"]), f"{row['processor_seconds']:.2f}"),
            *(row["solver_best"], f"{row['processor_seconds_best']:.2f}", f"{row['ratio']:.1f}"),
        ]
        for _, row in behind.iterrows()
    ]
    header = ["data set", "formulation", "auto ended with", "seconds", "fastest", "seconds", "ratio"]
    return f"{words}\n\n{markdown(header, rows)}"


def name_of(row: pd.Series) -> list[str]:
    """Data set and formulation."""
    return [row["data_set"], SHOWN[row["formulation"]]]


def size(row: pd.Series) -> str:
    """Rows × features."""
    return "–" if pd.isna(row["rows"]) else f"{row['rows']:,.0f} × {row['features']:.0f}"


def status(row: pd.Series) -> str:
    """The gap, after the status where that is not optimal."""
    gap = "no bound" if pd.isna(row["gap"]) else f"{row['gap']:.0e}"
    return gap if row["certified"] else f"{row['status'].replace('_', ' ')}, {gap}"


def text(value: object) -> str:
    """Empty fields as nothing."""
    return "" if pd.isna(value) else str(value)


def fill(page: str, made: str) -> str:
    """The page with the tables between its marks."""
    start, end = (re.escape(mark) for mark in MARKS)
    return re.sub(f"({start}\n).*?(\n{end})", lambda found: found[1] + made + found[2], page, flags=re.DOTALL)


def made() -> str:
    """The tables from the files."""
    return tables(read(), read(LIMITED), read(COMPARED), json.loads(REASONS.read_text(encoding="utf-8")))


if __name__ == "__main__":
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), made()), encoding="utf-8")
