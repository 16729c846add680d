"""Data larger than memory: the structured solver on parquet files, beside the same solve in memory.

    python benchmarks/blocks.py --rows 2e7 --folder FOLDER [--limit-gb 3] [--ways blocks memory dask1 dask2]
    python benchmarks/blocks.py --bins                                 the effect of binned scores on the certificate

Every way runs in its own process. `blocks` runs under a limit on its private memory (RLIMIT_DATA), so it fails rather
than use more. Prints seconds of the solve, passes over the files and their seconds, peak memory, and the objective's
distance from that of the first way.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from auclab import solve
from auclab.formulations import BufferedAUC
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.samples.blocks import BlockTable, DaskEngine, open_parquet
from auclab.samples.memory import Sample
from auclab.solvers.dispatch import solve_problem
from auclab.solvers.newton import solver as newton
from auclab.types import Array

N_FEATURES, FILES, ROW_GROUP = 20, 8, 131_072
WAYS = ("blocks", "memory", "dask1", "dask2")


def make_files(folder: Path, n_rows: int) -> None:
    """Normal columns of scales 0.01 to 100, the positives shifted along a random direction; fixed seed."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    direction = rng.normal(size=N_FEATURES) / np.sqrt(N_FEATURES)
    for number in range(FILES):
        y = (rng.random(n_rows // FILES) < 0.5).astype("int8")
        X = rng.normal(size=(y.size, N_FEATURES)) + 0.5 * y[:, None] * direction
        X *= np.geomspace(0.01, 100.0, N_FEATURES)
        table = pa.table({**{f"x{k}": X[:, k] for k in range(N_FEATURES)}, "y": y})
        pq.write_table(
            table, folder / f"part-{number}.parquet", row_group_size=ROW_GROUP, compression="none", use_dictionary=False
        )


def one_way(way: str, folder: str, limit_gb: float) -> None:
    """Solve in this process and print seconds, passes and memory as one line of JSON."""
    engine = None
    if way == "blocks":
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit_gb * 1e9), int(limit_gb * 1e9)))
    elif way.startswith("dask"):
        engine = DaskEngine(workers=int(way[4:]))
        engine.connect()
    passes: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    run = BlockTable.run

    def counted(self: BlockTable, task: Callable[..., Any], arguments: Any = None) -> Iterator[Any]:
        begin = time.perf_counter()
        yield from run(self, task, arguments)
        passes[task.__name__] += 1
        seconds[task.__name__] += time.perf_counter() - begin

    with patch.object(BlockTable, "run", counted):
        table, labels = open_parquet(folder, target="y", engine=engine)
        X = np.asarray(table) if way == "memory" else table
        begin = time.perf_counter()
        solution = solve(BufferedAUC(), X, labels.to_numpy(), solver="newton")
        elapsed = time.perf_counter() - begin
    print(
        json.dumps(
            {
                "seconds": elapsed,
                "objective": solution.objective,
                "gap": solution.gap,
                "status": str(solution.status),
                "passes": sum(passes.values()),
                "pass_seconds": sum(seconds.values()),
                "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
            }
        )
    )
    if engine is not None:
        engine.close()


@dataclass(frozen=True)
class BinnedSample(Sample):
    """Scores rounded to a grid, down for positives and up for negatives: the objective is then an upper bound."""

    n_bins: int = 0

    def scores(self, coef: Array) -> tuple[Array, Array]:
        """Scores rounded to `n_bins` bins of their range."""
        pos, neg = super().scores(coef)
        width = (max(pos.max(), neg.max()) - min(pos.min(), neg.min())) / self.n_bins
        return (np.floor(pos / width) * width, np.ceil(neg / width) * width) if width > 0 else (pos, neg)


def bins(n: int) -> None:
    """The certified gap with binned scores: rigorous, as multipliers need not come from the exact scores."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(2 * n, 10)) + 0.2 * y[:, None]
    whole = as_sample(X, y)
    parts = {field.name: getattr(whole, field.name) for field in fields(whole)}
    exact = solve_problem(Problem(BufferedAUC(), whole), "newton", tolerance=1e-6)
    print(f"{n} + {n} x 10, exact scores: gap {exact.gap:.1e}")
    # Without the exact finish: it is for few margins at the kink, and millions of these are tied.
    without_exact_finish = patch.object(newton.NewtonSolve, "_exact", lambda self, smoothed, half_width: smoothed)
    for power in (12, 14, 16, 18, 20):
        sample = BinnedSample(**parts, n_bins=2**power)
        with without_exact_finish:
            binned = solve_problem(Problem(BufferedAUC(), sample), "newton", tolerance=1e-6, time_limit=60.0)
        true = Problem(BufferedAUC(), whole).objective(binned.coef, 0.0)
        print(
            f"2^{power} bins: certified gap {binned.gap:.1e}, the point's true objective is "
            f"{true / exact.objective - 1:.1e} above the exact optimum"
        )


def main() -> None:
    """Write the files, then run each way in turn."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--folder", type=Path, default=Path("blocks_benchmark"))
    parser.add_argument("--limit-gb", type=float, default=3.0)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--bins", action="store_true")
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one_way(options.one, str(options.folder), options.limit_gb)
        return
    if options.bins:
        bins(1_000_000)
        return
    if not options.folder.exists():
        make_files(options.folder, int(options.rows))
    # Arrow's own allocator and threads reserve far more than they use, which counts towards the limit.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
    first: dict[str, float] = {}
    for way in options.ways:
        command = [sys.executable, __file__, "--one", way, "--folder", options.folder, "--limit-gb", options.limit_gb]
        load = os.getloadavg()[0]
        answer = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)
        if answer.returncode:
            print(f"{way:7} failed: {answer.stderr.strip().splitlines()[-1]}")
            continue
        measured = json.loads(answer.stdout.strip().splitlines()[-1])
        first = first or measured
        relative = measured["seconds"] / first["seconds"]
        per_pass = measured["pass_seconds"] / max(measured["passes"], 1)
        difference = abs(measured["objective"] / first["objective"] - 1)
        print(
            f"{way:7} {measured['seconds']:7.1f} s ({relative:.2f}), {measured['passes']} passes of {per_pass:.2f} s, "
            f"peak {measured['peak_gb']:.2f} GB, {measured['status']}, gap {measured['gap']:.1e}, "
            f"objective off by {difference:.1e}; load {load:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
