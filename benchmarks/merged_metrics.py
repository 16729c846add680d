"""AUC and bAUC of more scores than fit: summaries of blocks from a generator, beside one process that sorts.

    python benchmarks/merged_metrics.py --rows 1e9                     limits, one pass; this process
    python benchmarks/merged_metrics.py --rows 1e8 --way sort          all scores in memory, sorted
    python benchmarks/merged_metrics.py --all                          all of `WAYS`, docs/merged_metrics.csv
    python benchmarks/merged_metrics.py --page                         the table of docs/merged_metrics.md from it

Scores are normal, half of them positive and higher by 1, in blocks of 10⁶ with a stream of PCG64 each: they are made
anew in every pass. Every way is one process. Prints one line of JSON: seconds, processor seconds, peak memory, results.
The AUC of the population is Φ(1/√2) = 0.76024994.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import measured
import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab.metrics import ScoreSummary, auc_score, bauc_score, score_blocks, score_edges, summarise

BLOCK = 1_000_000
PAGE = measured.ROOT / "docs" / "merged_metrics.md"
RESULTS = PAGE.with_suffix(".csv")
COMMAND, PAGE_COMMAND = "python benchmarks/merged_metrics.py --all", "benchmarks/merged_metrics.py --page"
FIELDS = ("arguments", "rows", "bins", "processor", "seconds", "peak_gb", "bytes", "auc_low", "auc_high", "bauc_low",
          "bauc_high")  # fmt: skip
#: Arguments of the rows of the page, and how they are called there.
WAYS = {
    "--rows 5e7 --way sort": "sorted in memory: `auc_score`, `bauc_score`",
    "--rows 1e8": "summary, 4,096 bins",
    "--rows 1e9": "summary, 4,096 bins: one pass, limits",
    "--rows 1e9 --bins 65536": "summary, 65,536 bins",
}


def block(number: int) -> tuple[NDArray[np.bool_], Array]:
    """Labels and scores of one block."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(0, spawn_key=(number,))))
    scores = rng.standard_normal(BLOCK)
    positive = np.arange(BLOCK) < BLOCK // 2
    scores[positive] += 1.0
    return positive, scores


def summaries(n_blocks: int, n_bins: int) -> dict[str, object]:
    """Limits from one pass."""
    positive, scores = block(n_blocks)  # a sample that is no part of the data
    edges = score_edges(scores[positive], scores[~positive], n_bins)
    blocks = score_blocks(lambda: (block(k) for k in range(n_blocks)))
    ScoreSummary.from_scores(positive[:2], scores[:2], edges=edges)  # compiles
    begin = time.perf_counter()
    summary = summarise(blocks, edges=edges)
    passed = time.perf_counter() - begin
    found: dict[str, object] = {"pass": passed, "auc": summary.auc(), "bauc": summary.bauc()}
    found["limits"] = time.perf_counter() - begin - passed
    found["bytes"] = len(summary.to_bytes())
    return found


def sorted_in_memory(n_blocks: int) -> dict[str, object]:
    """`auc_score` and `bauc_score` of all scores."""
    labels, scores = np.empty(n_blocks * BLOCK, bool), np.empty(n_blocks * BLOCK)
    begin = time.perf_counter()
    for k in range(n_blocks):
        labels[k * BLOCK : (k + 1) * BLOCK], scores[k * BLOCK : (k + 1) * BLOCK] = block(k)
    made = time.perf_counter() - begin
    auc = auc_score(labels, scores)
    first = time.perf_counter() - begin - made
    return {"made": made, "auc": auc, "auc_seconds": first, "bauc": bauc_score(labels, scores)}


def measure_all() -> None:
    """Every way in a process of its own, to the results file."""
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for arguments in WAYS:
            command = [sys.executable, __file__, *arguments.split()]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found = json.loads(printed.splitlines()[-1])
            for metric in ("auc", "bauc"):
                low, high = found[metric] if isinstance(found[metric], list) else [found[metric]] * 2
                found |= {f"{metric}_low": repr(low), f"{metric}_high": repr(high)}  # all digits
            keep({"arguments": arguments} | {key: found[key] for key in FIELDS if key in found})
            print(printed, flush=True)


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The table of the page."""
    lines = [
        [
            _power(float(row["rows"])),
            WAYS[row["arguments"]],
            f"{measured.significant(float(row['processor']))} s",
            f"{measured.significant(float(row['peak_gb']))} GB",
            *(_limits(float(row[f"{metric}_low"]), float(row[f"{metric}_high"])) for metric in ("auc", "bauc")),
        ]
        for row in rows
    ]
    return {"ways": measured.table(["scores", "way", "processor time", "peak memory", "AUC", "bAUC"], lines)}


def sentences(rows: list[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    by = {row["arguments"]: row for row in rows}
    first, few, many = by["--rows 5e7 --way sort"], by["--rows 1e9"], by["--rows 1e9 --bins 65536"]
    busy = max(float(row["seconds"]) / float(row["processor"]) for row in rows)
    memory = 1e9 * float(first["peak_gb"]) / float(first["rows"])
    sizes = [f"{measured.significant(float(row['bytes']) / 1e6)} MB" for row in (few, many)]
    return [
        f"wall-clock times were up to {busy:.0f} times the processor times",
        f"sorting 10⁹ scores in memory would take about {measured.significant(memory, 1)} GB",
        f"its summary: {sizes[0]} with 4,096 bins, {sizes[1]} with 65,536",
    ]


def _power(rows: float) -> str:
    """10⁹, or 5·10⁷."""
    digits, exponent = f"{rows:.0e}".split("e+")
    power = "10" + str(int(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digits == "1" else f"{digits}·{power}"


def _limits(low: float, high: float) -> str:
    """A value with ten digits, or limits with two digits more than they share."""
    if high - low < 1e-11:
        return f"{low:.10f}"
    digits = 2 - int(np.floor(np.log10(high - low)))
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def fill_pages() -> None:
    """Write the table into the page."""
    measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))


def main() -> None:
    """Run one way and print its results; or all; or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--bins", type=int, default=4096)
    parser.add_argument("--way", choices=("summaries", "sort"), default="summaries")
    parser.add_argument("--all", action="store_true", help="measure every row of the page")
    parser.add_argument("--page", action="store_true", help="write the table of docs/merged_metrics.md")
    given = parser.parse_args()
    if given.all or given.page:
        measure_all() if given.all else fill_pages()
        return
    n_blocks = int(given.rows) // BLOCK
    begin = time.perf_counter()
    found = sorted_in_memory(n_blocks) if given.way == "sort" else summaries(n_blocks, given.bins)
    found |= {
        "rows": n_blocks * BLOCK,
        "bins": given.bins,
        "way": given.way,
        "seconds": time.perf_counter() - begin,
        "processor": time.process_time(),
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
