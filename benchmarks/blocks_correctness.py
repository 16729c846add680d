"""The optimum of rows in blocks beside that of the same rows in memory: layouts × engines × programs × ways.

    python benchmarks/blocks_correctness.py [--layouts dask.array …]     the file of results
    python benchmarks/blocks_correctness.py --page                       the table of docs/blocks.md

500,000 rows × 8 columns from a seed, drawn with replacement from 100,000 distinct ones, so that scores are tied within
and between the classes. A layout whose package is missing is left out, and its rows of the file stay.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import measured
import numpy as np
import pandas as pd
import pyarrow.dataset
import pyarrow.parquet as pq

from auclab import RankSVM, solve
from auclab.datasets.blocks import dask_dataset, load_blocks
from auclab.formulations import ECSVM, BufferedAUC
from auclab.metrics import auc_score, bauc_score, scored_table, summarise
from auclab.samples.blocks import DaskEngine, LocalEngine

N_ROWS, N_DISTINCT, N_COLUMNS = 500_000, 100_000, 8
PROGRAMS = {"ranksvm": RankSVM(0.01, squared=True), "bauc": BufferedAUC(), "ec_svm": ECSVM(-0.05)}
#: Options of the solver for a score of every row, and for bins of scores.
WAYS: dict[str, dict[str, Any]] = {"every row": {"bins": 0}, "bins": {}}
FIELDS = (
    "layout", "engine", "program", "way", "seconds", "status", "gap", "objective_off", "coef_off", "proved", "auc_off",
    "bauc_off", "limits_hold", "bits",
)  # fmt: skip
RESULTS, PAGE = measured.ROOT / "docs" / "blocks_correctness.csv", measured.ROOT / "docs" / "blocks.md"
COMMAND, PAGE_COMMAND = "python benchmarks/blocks_correctness.py", "benchmarks/blocks_correctness.py --page"
#: The column that is in the names of folders where files are partitioned.
PART = f"x{N_COLUMNS - 1}"


def make_rows() -> pd.DataFrame:
    """Normal columns, the last one with four values; a third of the rows are positive, and shifted."""
    rng = np.random.default_rng(51)
    y = (rng.random(N_DISTINCT) < 1 / 3).astype("int8")
    X = rng.normal(size=(N_DISTINCT, N_COLUMNS)) + 0.4 * y[:, None]
    X[:, -1] = np.clip(np.round(X[:, -1]), -1, 2)
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(N_COLUMNS)]).assign(y=y)
    return frame.iloc[rng.integers(0, N_DISTINCT, N_ROWS)].reset_index(drop=True)


def uneven(frame: pd.DataFrame, folder: Path) -> Path:
    """Two files with row groups of 1 to 150,000 rows."""
    folder.mkdir()
    for number, lengths in enumerate([(1, 150_000, 999, 99_000), (120_000, 7, 80_000, 49_993)]):
        first = number * 250_000
        with pq.ParquetWriter(folder / f"{number}.parquet", pyarrow.Table.from_pandas(frame[:0]).schema) as file:
            for length in lengths:
                file.write_table(pyarrow.Table.from_pandas(frame[first : first + length]), row_group_size=length)
                first += length
    return folder


def partitioned(frame: pd.DataFrame, folder: Path) -> Any:
    """A dataset of pyarrow with folders ``x7=value``."""
    frame.to_parquet(folder, partition_cols=[PART], index=False, row_group_size=50_000)
    return pyarrow.dataset.dataset(folder, partitioning="hive")


def dask_array(frame: pd.DataFrame, folder: Path) -> Any:
    """Chunks of 70,000 rows."""
    import dask.array

    return dask.array.from_array(frame.drop(columns="y").to_numpy(), chunks=(70_000, N_COLUMNS))


def dask_frame(frame: pd.DataFrame, folder: Path) -> Any:
    """Eight partitions, from parquet files."""
    import dask.dataframe

    dask.dataframe.from_pandas(frame, npartitions=8).to_parquet(folder)
    return dask.dataframe.read_parquet(folder)


def lazy_frame(frame: pd.DataFrame, folder: Path) -> Any:
    """A query of polars."""
    import polars

    return polars.from_pandas(frame).lazy()


def relation(frame: pd.DataFrame, folder: Path) -> Any:
    """A relation of DuckDB."""
    import duckdb

    return duckdb.from_df(frame)


#: The layout whose rows come in another order: a partition after the other.
REORDERED = "pyarrow dataset, partitioned"
#: Name of the layout, the package that it needs, the function that makes it.
LAYOUTS: dict[str, tuple[str, Callable[[pd.DataFrame, Path], Any]]] = {
    "parquet, uneven row groups": ("pyarrow", uneven),
    REORDERED: ("pyarrow", partitioned),
    "dask.array": ("dask", dask_array),
    "dask.dataframe": ("dask", dask_frame),
    "polars LazyFrame": ("polars", lazy_frame),
    "DuckDB relation": ("duckdb", relation),
}


def opened(source: Any, y: np.ndarray, engine: Any) -> Any:
    """The data set of a layout."""
    if not hasattr(source, "to_delayed"):
        return load_blocks(source, "y", engine=engine)
    if hasattr(source, "columns"):
        return dask_dataset(source, target="y", engine=engine)
    return dask_dataset(source, y, engine=engine)


@contextmanager
def own_client() -> Iterator[DaskEngine]:
    """An engine on the caller's own Client, of two threads in a worker."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster) as client:
        yield DaskEngine(client=client)


@contextmanager
def engine_of(name: str) -> Iterator[Any]:
    """The engine of a name."""
    if name == "this process":
        yield LocalEngine()
    elif name == "own client":
        with own_client() as engine:
            yield engine
    else:
        engine = DaskEngine(workers=int(name.split()[0]))
        try:
            yield engine
        finally:
            engine.close()


ENGINES = ("this process", "1 worker", "2 workers", "4 workers", "own client")


class Memory:
    """The rows in memory, and the optimum of a program there."""

    def __init__(self, program: Any, X: np.ndarray, y: np.ndarray) -> None:
        self.X, self.y = X, y
        self.solution = solve(program, X, y, solver="newton")
        self.auc, self.bauc = self.metrics(self.solution.coef)

    def metrics(self, coef: np.ndarray) -> tuple[float, float]:
        """AUC and bAUC of the scores."""
        scores = self.X @ coef
        return auc_score(self.y, scores), bauc_score(self.y, scores)


def compare(dataset: Any, program: Any, options: dict[str, Any], memory: Memory) -> dict[str, Any]:
    """Solve in blocks, summarise the scores, and compare with memory."""
    begin, ours = time.perf_counter(), memory.solution
    found = solve(program, dataset.X, dataset.y, solver="newton", **options)
    seconds = time.perf_counter() - begin
    summary = summarise(scored_table(dataset.X, dataset.y, found.coef))
    auc, bauc = summary.auc(), summary.bauc()
    exact_auc, exact_bauc = memory.metrics(found.coef)
    return {
        "seconds": seconds,
        "status": str(found.status),
        "gap": found.gap,
        "objective_off": abs(found.objective / ours.objective - 1.0),
        "coef_off": np.abs(found.coef - ours.coef).max() / np.abs(ours.coef).max(),
        "proved": found.lower_bound <= ours.objective and ours.lower_bound <= found.objective,
        "auc_off": abs(exact_auc - memory.auc),
        "bauc_off": abs(exact_bauc - memory.bauc),
        "limits_hold": auc.low <= exact_auc <= auc.high and bauc.low <= exact_bauc <= bauc.high,
        "bits": hashlib.sha256(np.r_[found.objective, found.coef].tobytes()).hexdigest()[:8],
    }


def largest(rows: list[measured.Row], *keys: str) -> str:
    """The largest values of columns."""
    return ", ".join(measured.power(max(float(row[key]) for row in rows)) for key in keys)


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The table of the page: the largest differences over engines, programs and layouts with the same order of rows."""
    lines = []
    for name, reordered in (("as in memory", False), ("reordered", True)):
        of_way = [
            [row for row in rows if row["way"] == way and (row["layout"] == REORDERED) == reordered] for way in WAYS
        ]
        lines.append([name, *(largest(ours, "objective_off", "coef_off") for ours in of_way)])
    return {"layouts": measured.table(["row order", "every row", "bins"], lines)}


def sentences(rows: list[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    bits = {tuple(row[key] for key in ("layout", "program", "way", "bits")) for row in rows}
    proved = all(row["status"] == "optimal" and row["proved"] == row["limits_hold"] == "True" for row in rows)
    return [
        f"{'All' if len(bits) == len(rows) / len(ENGINES) else 'Not all'} engines give the same bits",
        f"{'every' if proved else 'not every'} certificate and summary limit holds",
        f"AUC agrees to {largest(rows, 'auc_off')} and bAUC to {largest(rows, 'bauc_off')}",
    ]


def main() -> None:
    """Compare everything, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    parser.add_argument("--page", action="store_true", help="write the table of docs/blocks.md")
    given = parser.parse_args()
    if given.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    frame = make_rows()
    X, y = frame.drop(columns="y").to_numpy(), frame["y"].to_numpy()
    memory = {name: Memory(program, X, y) for name, program in PROGRAMS.items()}
    layouts = [each for each in given.layouts if find_spec(LAYOUTS[each][0])]
    kept = [row for row in measured.read(RESULTS) if row["layout"] not in layouts] if RESULTS.exists() else []
    with measured.writer(RESULTS, COMMAND, FIELDS, kept) as keep, tempfile.TemporaryDirectory() as place:
        for layout in layouts:
            source = LAYOUTS[layout][1](frame, Path(place) / str(list(LAYOUTS).index(layout)))
            for name in ENGINES:
                with engine_of(name) as engine:
                    dataset = opened(source, y, engine)
                    for program in PROGRAMS:
                        for way, options in WAYS.items():
                            found = compare(dataset, PROGRAMS[program], options, memory[program])
                            keep({"layout": layout, "engine": name, "program": program, "way": way, **found})
                            print(layout, name, program, way, *found.values(), flush=True)


if __name__ == "__main__":
    main()
