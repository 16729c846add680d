"""Data larger than memory: solves over bins and with a score of every row on parquet files, beside memory.

    python benchmarks/blocks.py --rows 2e7 --folder FOLDER [--limit-gb 3] [--ways bins rows memory bins-pinned1 …]
    python benchmarks/blocks.py --page                                 write the table of docs/blocks.md

Every way runs in its own process. `rows` runs under a limit on its private memory (RLIMIT_DATA), so it fails rather
than use more. Prints seconds of the solve with the check of all values, processor seconds with those of the workers,
passes over the files, peak memory, and the objective; rows of docs/blocks.csv that were measured again are replaced.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import measured
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from auclab import solve
from auclab.formulations import BufferedAUC
from auclab.samples.blocks import DaskEngine, LocalEngine, open_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

N_FEATURES, FILES, ROW_GROUP = 20, 8, 131_072
#: What is measured, and what the page calls it.
WAYS = {
    "rows": "score of every row, this process, limited to 3 GB",
    "memory": "in memory, no limit",
    "rows-dask1": "score of every row, one Dask worker",
    "bins": "bins, this process",
    "bins-pinned1": "bins, one Dask worker on one core",
    "bins-pinned2": "bins, two Dask workers on a core each",
    "sgd": "scikit-learn's averaged SGD, hinge loss, one epoch over standardised columns",
}
FIELDS = (
    "way", "rows", "seconds", "processor", "passes", "client_gb", "worker_gb", "status", "gap", "objective", "load",
    "of_workers", "auc",
)  # fmt: skip
RESULTS, PAGE = measured.ROOT / "docs" / "blocks.csv", measured.ROOT / "docs" / "blocks.md"
COMMAND, PAGE_COMMAND = "python benchmarks/blocks.py", "benchmarks/blocks.py --page"


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


class Counted:
    """An engine that counts its passes over all blocks."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.passes = engine, 0

    def run(self, task: Any, blocks: Any, arguments: Any) -> Any:
        """As the engine."""
        self.passes += 1
        return self.engine.run(task, blocks, arguments)

    def reduce(self, task: Any, blocks: Any) -> Any:
        """As the engine."""
        self.passes += 1
        return self.engine.reduce(task, blocks)


def peak_gb() -> float:
    """The peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def processor() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def on_one_core(number: int) -> None:
    """All threads of this process on one core, those of pyarrow as well."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), {number})


def first_file_auc(folder: str, coef: np.ndarray) -> float:
    """AUC of the scores on the rows of the first file."""
    table = pq.read_table(Path(folder) / "part-0.parquet").to_pandas()
    return float(roc_auc_score(table.pop("y"), table.to_numpy() @ coef))


def averaged_sgd(folder: str) -> dict[str, Any]:
    """One pass for means and deviations, one epoch of averaged stochastic gradient descent, by row groups."""

    def blocks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for path in sorted(Path(folder).glob("*.parquet")):
            file = pq.ParquetFile(path)
            for number in range(file.num_row_groups):
                table = file.read_row_group(number).to_pandas()
                y = table.pop("y").to_numpy()
                yield table.to_numpy(), y

    before, begin = processor(), time.perf_counter()
    scaler, model, rows = StandardScaler(), SGDClassifier(loss="hinge", alpha=1e-6, average=True, random_state=0), 0
    for X, _ in blocks():
        scaler.partial_fit(X)
    for X, y in blocks():
        model.partial_fit(scaler.transform(X), y, classes=[0, 1])
        rows += y.size
    found = {"way": "sgd", "rows": rows, "seconds": time.perf_counter() - begin, "processor": processor() - before}
    found |= {"passes": 2, "client_gb": peak_gb(), "load": os.getloadavg()[0]}
    return found | {"auc": first_file_auc(folder, model.coef_[0] / scaler.scale_)}


def one_way(way: str, folder: str, limit_gb: float) -> None:
    """Solve in this process and print what was measured as one line of JSON."""
    if way == "sgd":
        print(json.dumps(averaged_sgd(folder)))
        return
    method, _, workers = way.replace("-pinned", "-dask").partition("-dask")
    dask = DaskEngine(workers=int(workers)) if workers else None
    if way == "rows":
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit_gb * 1e9), int(limit_gb * 1e9)))
    if dask is not None:
        client = dask.connect()
        if "pinned" in way:
            for number, worker in enumerate(sorted(client.scheduler_info()["workers"])):
                client.run(on_one_core, number % (os.cpu_count() or 1), workers=[worker])
        of_workers = sum(client.run(processor).values())
    engine = Counted(dask or LocalEngine())
    table, labels = open_parquet(folder, target="y", engine=engine)
    y = (labels == 1).to_numpy()
    del labels
    X: Any = np.asarray(table) if method == "memory" else table
    before, begin = processor(), time.perf_counter()
    options: dict[str, Any] = {"bins": 0} if method == "rows" else {}
    solution = solve(BufferedAUC(), X, y, solver="newton", **options)
    found: dict[str, Any] = {"seconds": time.perf_counter() - begin, "client_gb": peak_gb()}
    if dask is not None:
        found["of_workers"] = sum(dask.connect().run(processor).values()) - of_workers
        found["worker_gb"] = max(dask.connect().run(peak_gb).values())
        dask.close()
    found |= {
        "way": way,
        "rows": y.size,
        "processor": processor() - before,
        "passes": engine.passes,
        "status": str(solution.status),
        "gap": solution.gap,
        "objective": repr(solution.objective),
        "load": os.getloadavg()[0],
        "auc": first_file_auc(folder, solution.coef),
    }
    print(json.dumps(found))


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The table of the page."""
    by_way = {row["way"]: row for row in rows}
    lines = []
    for way, name in WAYS.items():
        if (row := by_way.get(way)) is None:
            continue
        worker = f", worker {measured.significant(float(row['worker_gb']))} GB" if row["worker_gb"] else ""
        lines.append(
            [
                name,
                f"{measured.significant(float(row['seconds']))} s",
                row["passes"] if way != "memory" else "–",
                f"{measured.significant(float(row['client_gb']))} GB{worker}",
                measured.power(float(row["gap"])) if row["gap"] else "–",
                f"{float(row['auc']):.5f}" if row["auc"] else "–",
            ]
        )
    head = ["run", "time", "passes", "peak memory", "gap", "AUC"]
    return {"ways": measured.table(head, lines)}


def sentences(rows: list[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    objective = {row["way"]: float(row["objective"]) for row in rows if row["objective"]}
    off = max(abs(value - objective["memory"]) for value in objective.values())
    one, two = (next(float(row["seconds"]) for row in rows if row["way"] == f"bins-pinned{count}") for count in (1, 2))
    return [
        f"The objectives agree with the solve in memory to {off:.1e}",
        f"two take {two / one:.2f} of the time of one",
    ]


def main() -> None:
    """Write the files, then run each way in turn."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--folder", type=Path, default=Path("blocks_benchmark"))
    parser.add_argument("--limit-gb", type=float, default=3.0)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--page", action="store_true", help="write the table of docs/blocks.md")
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one_way(options.one, str(options.folder), options.limit_gb)
        return
    if options.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    if not options.folder.exists():
        make_files(options.folder, int(options.rows))
    # Arrow's own allocator and threads reserve far more than they use, which counts towards the limit.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
    kept = [row for row in measured.read(RESULTS) if row["way"] not in options.ways] if RESULTS.exists() else []
    with measured.writer(RESULTS, COMMAND, FIELDS, kept) as keep:
        for way in options.ways:
            command = [
                sys.executable,
                __file__,
                "--one",
                way,
                "--folder",
                options.folder,
                "--limit-gb",
                options.limit_gb,
            ]
            answer = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)
            if answer.returncode:
                print(f"{way:10} failed: {answer.stderr.strip().splitlines()[-1]}")
                continue
            found = json.loads(answer.stdout.strip().splitlines()[-1])
            keep(found)
            print(found, flush=True)


if __name__ == "__main__":
    main()
