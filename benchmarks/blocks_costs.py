"""What a pass over blocks costs: reading an entry, and summing a row and an entry by bins; the cost model of the pages.

    python benchmarks/blocks_costs.py           # measure, docs/blocks_costs.csv
    python benchmarks/blocks_costs.py --page    # the cost model of docs/blocks.md, from that file

Processor seconds of one thread: reading the row groups of files in the system's cache (those of `blocks.py`, 20
columns), sums of rows in memory with 10 and with 20 columns, and the program of the bin means, which the process that
solves adds to every pass. The least of the repetitions. The model is arithmetic with these three.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import measured
import numpy as np
from blocks import N_FEATURES, ROW_GROUP, make_files

from auclab import BufferedAUC, solve
from auclab.samples.as_sample import as_sample
from auclab.samples.blocks import open_parquet
from auclab.samples.blocks.labels import LabelledRows
from auclab.solvers.binned.binned_loss import N_PARTS, SumInBins, grid_for, moves_of

PAGE = measured.ROOT / "docs" / "blocks.md"
RESULTS = PAGE.with_name("blocks_costs.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/blocks_costs.py", "benchmarks/blocks_costs.py --page"
FIELDS = ("part", "rows", "columns", "seconds")
#: Rows that are read and summed, bins of a pass, passes of a solve, repetitions.
ROWS, N_BINS, PASSES, REPETITIONS = 2_000_000, 4_096, 4, 5
#: Rows, columns and workers of the columns of the model.
SIZES = (("2·10⁷ × 20, W = 1", 2e7, 1), ("10⁹ × 20, W = 16", 1e9, 16), ("10¹⁰ × 20, W = 64", 1e10, 64))
#: Where memory is read from: this process with workers, by the number of rows; a worker that reads files.
SCALE, WAYS = PAGE.with_name("blocks_scale.csv"), PAGE.with_name("blocks.csv")


@dataclass(frozen=True)
class Costs:
    """Processor seconds: reading an entry, summing a row and an entry, and what the process that solves adds."""

    read: float
    row: float
    entry: float
    bound: float


def costs(rows: Sequence[measured.Row]) -> Costs:
    """The costs in a results file; sums are a line through two numbers of columns."""
    seconds = {(row["part"], int(row["columns"])): float(row["seconds"]) / float(row["rows"]) for row in rows}
    (few, of_few), (many, of_many) = sorted((n, value) for (part, n), value in seconds.items() if part == "sums")
    entry = (of_many - of_few) / (many - few)
    (bound,) = (float(row["seconds"]) for row in rows if row["part"] == "bound")
    return Costs(seconds["read", N_FEATURES] / N_FEATURES, of_few - few * entry, entry, bound)


def memory_of_client() -> tuple[float, float]:
    """GB without rows, and bytes a row: a line through the least and the largest number of rows with workers."""
    found = sorted(
        (float(row["rows"]), float(row["client_gb"])) for row in measured.read(SCALE) if row["workers"] != "0"
    )
    (few, of_few), (many, of_many) = found[0], found[-1]
    each = (of_many - of_few) / (many - few)
    return of_few - few * each, 1e9 * each


def memory_of_worker() -> float:
    """GB of one of two workers."""
    (row,) = (row for row in measured.read(WAYS) if row["way"] == "bins-dask2")
    return float(row["worker_gb"])


def timed(work: Callable[[], object]) -> float:
    """The least processor seconds of the repetitions, after a first one."""
    found = []
    for _ in range(REPETITIONS + 1):
        begin = process_time()
        work()
        found.append(process_time() - begin)
    return min(found[1:])


def measure() -> Iterator[dict[str, Any]]:
    """A row for reading, two for sums, one for the program of the bin means."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "rows"
        make_files(folder, ROWS)
        table, _ = open_parquet(folder, target="y")
        seconds = timed(lambda: [block.read().shape for block in table.blocks])
    yield {"part": "read", "rows": ROWS, "columns": N_FEATURES, "seconds": seconds}
    rng, program = np.random.default_rng(0), BufferedAUC()
    for n in (N_FEATURES // 2, N_FEATURES):
        y = rng.random(ROW_GROUP) < 0.5
        X = rng.normal(size=(ROW_GROUP, n)) + 0.1 * y[:, None]
        theta = np.r_[np.full(n, 0.3), 0.0, 0.0]
        grid = grid_for(program, as_sample(X, y), theta, N_BINS)
        task = SumInBins(theta[:n], moves_of(program, theta), grid)
        blocks = [LabelledRows(number, (0, 0), X, y, None) for number in range(ROWS // ROW_GROUP)]
        seconds = timed(partial(task, blocks))
        yield {"part": "sums", "rows": len(blocks) * ROW_GROUP, "columns": n, "seconds": seconds}
    y = np.arange(2 * N_BINS) % 2
    X = rng.normal(size=(y.size, N_FEATURES)) + 0.1 * y[:, None]
    weight = rng.random(y.size) + 0.5
    seconds = timed(lambda: solve(program, X, y, sample_weight=weight, solver="newton", tolerance=1e-8))
    yield {"part": "bound", "rows": y.size, "columns": N_FEATURES, "seconds": seconds}


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """The cost model, by arithmetic."""
    cost = costs(rows)
    short = measured.significant

    def seconds(value: float) -> str:
        return f"{short(value)} s"

    def memory(value: float) -> str:
        return f"{short(value)} GB"

    sent = f"{short(N_BINS * (32 * N_FEATURES + 32 * N_PARTS) / 1e6)} MB"
    reads = [8 * m * N_FEATURES / 8 * cost.read / workers for _, m, workers in SIZES]
    sums = [m * (cost.row + cost.entry * N_FEATURES) / workers for _, m, workers in SIZES]
    kept = [f", {memory(8 * m * N_FEATURES / workers / 1e9)} to keep all rows" for _, m, workers in SIZES]
    rate, row, entry = f"{8e-9 / cost.read:.1f} GB/s", f"{1e9 * cost.row:.0f}", f"{1e9 * cost.entry:.1f}"
    own, each = memory_of_client()
    lines = [
        ["read, per pass", f"8·m·n bytes / (W · {rate})", *map(seconds, reads)],
        ["sums, per pass", f"m·({row} + {entry}·n) ns / W", *map(seconds, sums)],
        ["to this process, per pass", f"B·(32·n + {32 * N_PARTS:,}) bytes", *[sent] * len(SIZES)],
        ["this process, per pass", "step and bound", *[seconds(cost.bound)] * len(SIZES)],
        [f"a solve, P = {PASSES}", "P times the larger of the first two",
         *(seconds(PASSES * max(each)) for each in zip(reads, sums, strict=True))],
        ["memory of this process", f"{memory(own)}, and {short(each)} bytes a row (tables above)",
         *(memory(own + each * m / 1e9) for _, m, _ in SIZES)],
        ["memory of a worker", "two blocks and two sums (tables above)",
         *(f"{memory(memory_of_worker())}{more}" for more in kept)],
    ]  # fmt: skip
    return {"model": measured.table(["quantity", "formula", *(name for name, _, _ in SIZES)], lines)}


def sentences(rows: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    cost = costs(rows)
    return [
        f"Reading takes 8·m·n bytes at {8e-9 / cost.read:.1f} GB/s, the sums {1e9 * cost.row:.0f} ns a row and "
        f"{1e9 * cost.entry:.1f} ns an entry (`benchmarks/blocks_costs.py`, one core, files in the system's cache)",
        f"The solver in memory finds this minimum in {measured.significant(cost.bound)} s",
    ]


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true")
    if not parser.parse_args().page:
        with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
            for row in measure():
                keep(row)
                print(row, flush=True)
        return
    measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))


if __name__ == "__main__":
    main()
