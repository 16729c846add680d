"""A whole run of `run.py` on parquet files in blocks: peak memory, seconds and passes over the rows, part by part.

    python benchmarks/blocks_run.py --rows 2e7 --folder FOLDER [--split none] [--engine local]
    python benchmarks/blocks_run.py --page          the tables of docs/blocks_at_scale.md

The files are those of `benchmarks/blocks.py`, 20 columns. The run is a process of its own; a thread in it samples the
memory, and every pass over the blocks is counted for the part of the run that asked for it. The row of
docs/blocks_run.csv with the same rows, split and engine is replaced.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import defaultdict
from pathlib import Path
from typing import Any

import blocks_costs
import measured
from blocks import make_files

FIELDS = ("rows", "split", "engine", "part", "seconds", "passes", "peak_gb", "load")
RESULTS, PAGE = measured.ROOT / "docs" / "blocks_run.csv", measured.ROOT / "docs" / "blocks_at_scale.md"
COMMAND, PAGE_COMMAND = "python benchmarks/blocks_run.py", "benchmarks/blocks_run.py --page"
#: Parts of a run by functions of the call stack, the outermost first; the first that is found counts.
PARTS = (
    ("load_dataset", "files and labels"),
    ("fit_transform", "preprocessing"),
    ("interruptible", "solve"),  # which works in a thread of its own, while this one waits
    ("_write_scores", "scores.parquet"),
    ("_write_multipliers", "multipliers.parquet"),
    ("part_sha256", "checksum"),
    ("measure", "metrics"),
    ("_guarantee", "bounds"),
    ("decide", "metrics"),
)
#: Parts whose passes are carried to more rows; of the metrics, two are.
COUNTED = ("preprocessing", "solve", "checksum", "multipliers.parquet")
N_COLUMNS = 20
#: Workers and rows to which the page carries what was measured.
CARRIED = ((1e9, 16), (1e9, 64), (1e10, 16), (1e10, 64))


def one_run(folder: str, split: str, engine: str, output: str) -> None:
    """Run run.py in this process, and print what was measured as one line of JSON."""
    from auclab.samples.blocks import engines as passes

    seconds: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    peaks: dict[str, float] = defaultdict(float)
    seen, main, page = {"pass": 0, "data": 0}, threading.main_thread().ident, os.sysconf("SC_PAGE_SIZE")
    last = [time.perf_counter()]

    def watch() -> None:
        while True:
            number = passes.number_of_passes()  # before the stack, which then is in the pass that was counted last
            names = [frame.name for frame in traceback.extract_stack(sys._current_frames().get(main or 0))]
            part = next((name for function, name in PARTS if function in names), "the rest")
            seen["data"] |= part == "files and labels"
            part = part if seen["data"] else "libraries"
            now = time.perf_counter()
            seconds[part] += now - last[0]
            last[0] = now
            counts[part] += number - seen["pass"]
            seen["pass"] = number
            memory = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * page / 1e9
            peaks[part] = max(peaks[part], memory)
            time.sleep(0.02)

    threading.Thread(target=watch, daemon=True).start()
    from auclab.cli.main import main as auclab

    settings = [
        "run", "dataset=blocks", f"dataset.path={folder}", "dataset.target=y", "preprocess=none", f"split={split}",
        "formulation=bauc", "solver=newton", "tracking=none", "figures=test", f"engine={engine}",
        f"hydra.run.dir={output}",
    ]  # fmt: skip
    sys.argv = ["auclab", *settings]
    try:
        auclab()
    except SystemExit as ended:
        if ended.code:
            raise
    whole = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(json.dumps({"seconds": seconds, "passes": counts, "peaks": peaks, "whole": whole}))


def measure(options: argparse.Namespace) -> None:
    """One run, and its rows of the results."""
    if not options.folder.exists():
        make_files(options.folder, int(options.rows))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=options.folder.parent) as output:
        command = [sys.executable, __file__, "--one", output, "--folder", options.folder]
        command += ["--split", options.split, "--engine", options.engine]
        answer = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
    if answer.returncode:
        raise SystemExit(answer.stderr[-2000:])
    found = json.loads(answer.stdout.strip().splitlines()[-1])
    same = {"rows": str(int(options.rows)), "split": options.split, "engine": options.engine}
    kept = measured.read(RESULTS) if RESULTS.exists() else []
    kept = [row for row in kept if any(row[key] != value for key, value in same.items())]
    rows: list[dict[str, Any]] = [
        {"part": part, "seconds": seconds, "passes": found["passes"].get(part, 0), "peak_gb": found["peaks"].get(part)}
        for part, seconds in found["seconds"].items()
    ]
    rows.append(
        {
            "part": "all",
            "seconds": sum(found["seconds"].values()),
            "passes": sum(found["passes"].values()),
            "peak_gb": found["whole"],
        }
    )
    with measured.writer(RESULTS, COMMAND, FIELDS, kept) as keep:
        for row in rows:
            keep({**same, **row, "load": load})
            print({**same, **row})


def tables(runs: list[measured.Row]) -> dict[str, str]:
    """The tables of the page: what was measured, and what it is carried to."""
    whole = [
        [
            f"{int(row['rows']):,}",
            row["split"],
            row["part"],
            row["passes"],
            f"{measured.significant(float(row['peak_gb']), 3)} GB",
        ]
        for row in runs
    ]
    of_first = {row["part"]: row for row in runs if row["rows"] == runs[0]["rows"]}
    peaks = {part: float(row["peak_gb"]) for part, row in of_first.items()}
    per_row = (peaks["all"] - peaks["libraries"]) / float(runs[0]["rows"])
    passes = sum(int(of_first[part]["passes"]) for part in COUNTED if part in of_first)
    passes += 2  # metrics: a sample for the edges, and the summary
    carried, cost = [], blocks_costs.costs(measured.read(blocks_costs.RESULTS))
    for rows, workers in CARRIED:
        seconds = rows * max(cost.read * N_COLUMNS, cost.row + cost.entry * N_COLUMNS) / workers
        carried.append(
            [
                "10⁹" if rows == 1e9 else "10¹⁰",
                str(workers),
                f"{passes} × {measured.significant(seconds)} s",
                f"{measured.significant(passes * seconds / 60)} min",
                f"{measured.significant(8 * rows * N_COLUMNS / workers / 1e9)} GB",
                f"{measured.significant(peaks['libraries'] + rows * per_row)} GB",
            ]
        )
    head = ["rows", "workers", "passes", "run", "rows of a worker, if kept", "this process, at most"]
    return {
        "measured": measured.table(["rows", "split", "stage of the run", "passes", "peak memory"], whole),
        "carried": measured.table(head, carried),
    }


def sentences(_: list[measured.Row]) -> list[str]:
    """What the text of the page says about the costs of a pass."""
    cost = blocks_costs.costs(measured.read(blocks_costs.RESULTS))
    return [
        f"reading {1e9 * cost.read:.1f} ns an entry, sums {1e9 * cost.row:.0f} ns a row and {1e9 * cost.entry:.1f} ns "
        "an entry"
    ]


def main() -> None:
    """A run, or the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--folder", type=Path, default=Path("blocks_benchmark"))
    parser.add_argument("--split", default="none")
    parser.add_argument("--engine", default="local")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one_run(str(options.folder), options.split, options.engine, options.one)
    elif options.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
    else:
        measure(options)


if __name__ == "__main__":
    main()
