"""Every data set at hand with every formulation: certified or not, and after how many seconds.

    python benchmarks/all_data_sets.py                                     # solver=auto, all sets, limit 20 s
    python benchmarks/all_data_sets.py --sets main --solvers auto newton --limit 10 --results FILE
    python benchmarks/all_data_sets.py --only "spambase*ranksvm" sonar --again failed time_limit
    python benchmarks/all_data_sets.py --longest 10 --limit 5 --results docs/all_data_sets/limit.csv
    python benchmarks/all_data_sets.py --page                              # the tables of docs/all_data_sets.md

The main sets are those of the catalogue whose files are on the search path, the keel sets the files of ``keel/`` there
(a ``manifest.csv`` beside the folder names their nominal columns); ``artificial`` adds a hundred correlated
features. Each is coded by preprocess=standard, as a whole: nothing is held out. A cell is a data set, a formulation and
a solver; its row is written to the csv file as soon as it is known, and a cell that has a row is not computed again,
unless its status is named by ``--again``. Solves run in processes of their own, with one thread, after all loops were
compiled: a solve that raises an error is a row, and so is one that takes its process with it or is ended because it
passed three times its limit and 30 s.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

import csv
import math
import multiprocessing
import queue
import resource
import runpy
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatch
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from omegaconf import OmegaConf
from rich.console import Console

from auclab import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import AuclabError
from auclab.datasets import load, names
from auclab.datasets.catalogue import dataset_configs, find_file, search_path
from auclab.datasets.file import load_file
from auclab.datasets.preprocess import none, standard
from auclab.datasets.records import Dataset
from auclab.formulations import Program

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "all_data_sets.md"
RESULTS = PAGE.with_suffix("") / "results.csv"
TOLERANCE = 1e-6

FORMULATIONS: dict[str, Program] = {
    "bauc": BufferedAUC(),
    "bauc_z": GeneralizedBufferedAUC(-0.5),
    "bauc_z_l1": GeneralizedBufferedAUC(-0.5, norm="l1"),
    "ranksvm_l1": RankSVM(0.01, norm="l1"),
    "ranksvm_linf": RankSVM(0.01, norm="linf"),
    "ranksvm_l2": RankSVM(0.01),
    "ranksvm_squared": RankSVM(0.001, squared=True),
    "csvm_l2": CSVM(0.01),
    "csvm_squared": CSVM(0.001, squared=True),
    "ecsvm_l2": ECSVM(-0.5),
    "partial_auc": PartialAUC(0.2),
    "partial_auc_squared": PartialAUC(0.2, 0.001, squared=True),
}
#: Characters of the notes of a solve that are kept.
NOTE = 300


@dataclass(frozen=True)
class Cell:
    """What is solved: a data set, a formulation, a solver."""

    data_set: str
    formulation: str
    solver: str

    def fits(self, patterns: Sequence[str]) -> bool:
        """Whether one of the patterns occurs in ``DATA_SET FORMULATION SOLVER``."""
        return any(fnmatch(f"{self.data_set} {self.formulation} {self.solver}", f"*{part}*") for part in patterns)


@dataclass(frozen=True)
class Row:
    """What came of a cell; the columns of the csv file.

    Attributes
    ----------
    rows, features, density
        Of the coded data; the share of nonzero entries before centring.
    solved_by
        The solver, or the one that auto selected.
    status
        Of the solution; else "refused" (an `AuclabError`), "error" (any other), "stopped" (ended from outside) or
        "died" (the process ended).
    seconds, processor_seconds
        Of the call of `auclab.solve`: wall clock and processor.
    limit
        The time limit in seconds.
    revision
        Commit; with "+" the package differed from it.
    """

    data_set: str
    formulation: str
    solver: str
    rows: int | None = None
    features: int | None = None
    density: float | None = None
    solved_by: str = ""
    status: str = ""
    objective: float | None = None
    lower_bound: float | None = None
    gap: float | None = None
    seconds: float | None = None
    processor_seconds: float | None = None
    iterations: int | None = None
    limit: float | None = None
    revision: str = ""
    note: str = ""

    @property
    def cell(self) -> Cell:
        """What was solved."""
        return Cell(self.data_set, self.formulation, self.solver)

    @property
    def texts(self) -> dict[str, str]:
        """As written to the file: seconds with four digits, values with twelve."""
        digits = {"objective": ".12g", "lower_bound": ".12g", "gap": ".3g", "density": ".3g", "limit": "g"}
        return {
            name: "" if value is None else format(value, digits.get(name, ".4g")) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


def read_rows(path: Path) -> dict[Cell, dict[str, str]]:
    """The last row of each cell."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {Cell(row["data_set"], row["formulation"], row["solver"]): row for row in csv.DictReader(file)}


class Results:
    """The csv file: one row a cell, written when it is known."""

    def __init__(self, path: Path) -> None:
        self.path, self.lock = path, threading.Lock()
        self.rows = read_rows(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.rewrite()

    def rewrite(self) -> None:
        """Sorted, without rows that were replaced."""
        formulations = list(FORMULATIONS)

        def place(cell: Cell) -> tuple[bool, str, int, str]:
            known = cell.formulation in formulations
            return (
                cell.data_set.startswith("keel_"),
                cell.data_set,
                formulations.index(cell.formulation) if known else -1,
                cell.solver,
            )

        beside = self.path.with_suffix(".new")
        with beside.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows[cell] for cell in sorted(self.rows, key=place))
        beside.replace(self.path)

    def add(self, row: Row) -> None:
        """Append a row."""
        with self.lock, self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, list(row.texts), lineterminator="\n").writerow(row.texts)
            self.rows[row.cell] = row.texts


def main_sets() -> dict[str, Callable[[], Dataset]]:
    """The published sets of the catalogue under their own names, if their files are there."""
    found: dict[str, Callable[[], Dataset]] = {}
    for name in names():
        config: Any = OmegaConf.load(dataset_configs() / f"{name}.yaml")
        file = config.get("file")
        if isinstance(file, str) and file.split(".")[0] == name and find_file(file):
            found[name] = partial(load, name)
    return found


def keel_sets() -> dict[str, Callable[[], Dataset]]:
    """The files ``keel/*.csv`` of the first folder of the search path that has them."""
    for folder in search_path():
        if files := sorted((folder / "keel").glob("*.csv")):
            break
    else:
        return {}
    nominal: dict[str, Any] = {}
    if (manifest := folder / "manifest.csv").exists():
        table = pd.read_csv(manifest, dtype=str, keep_default_na=False)
        listed = dict(zip(table["name"], table["categorical_features"], strict=True))
        nominal = {name: text if text == "ALL" else text.split() for name, text in listed.items()}
    read = partial(load_file, target="target", positive="positive")
    return {file.stem: partial(read, file, nominal=nominal.get(file.stem, ())) for file in files}


def correlated() -> Dataset:
    """100 features of rank 5 and a little noise, 5,000 + 5,000."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 5)) @ rng.normal(size=(5, 100)) + 0.1 * rng.normal(size=(10_000, 100))
    X[:5000] += 0.003 * rng.normal(size=100)
    return Dataset("correlated_features", pd.DataFrame(X).rename(columns=str), np.repeat([1, 0], 5000))


SETS: dict[str, Callable[[], dict[str, Callable[[], Dataset]]]] = {
    "main": main_sets,
    "keel": keel_sets,
    "artificial": lambda: {"correlated_features": correlated},
}


@dataclass(frozen=True)
class Prepared:
    """A data set as the solvers see it."""

    X: Any
    y: np.ndarray
    facts: dict[str, Any]

    @classmethod
    def of(cls, dataset: Dataset) -> Prepared:
        """Code all rows."""
        coded: Any = none(dataset).fit_transform(dataset.X, dataset.y)
        nonzero = sp.csr_array(coded).count_nonzero()
        X = standard(dataset).fit_transform(dataset.X, dataset.y)
        rows, features = X.shape
        return cls(X, dataset.y, {"rows": rows, "features": features, "density": nonzero / np.prod(coded.shape)})


def measure(cell: Cell, prepared: Prepared, limit: float, revision: str) -> Row:
    """Solve a cell; every error is a row."""
    facts: dict[str, Any] = {**asdict(cell), **prepared.facts, "limit": limit, "revision": revision}
    wall, processor = perf_counter(), process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = solve(
                FORMULATIONS[cell.formulation], prepared.X, prepared.y,
                solver=cell.solver, tolerance=TOLERANCE, time_limit=limit,
            )  # fmt: skip
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the table is to show
        facts["status"] = "refused" if isinstance(error, AuclabError) else "error"
        facts["note"] = short(f"{type(error).__name__}: {error}")
        return Row(**facts, seconds=perf_counter() - wall, processor_seconds=process_time() - processor)
    notes = [note for note in found.notes if not note.startswith("auto selected")]
    return Row(
        **facts,
        solved_by=found.solver,
        status=str(found.status),
        objective=known(found.objective),
        lower_bound=known(found.lower_bound),
        gap=known(found.gap),
        seconds=perf_counter() - wall,
        processor_seconds=process_time() - processor,
        iterations=found.iterations,
        note=short("; ".join(notes)),
    )


def known(value: float) -> float | None:
    """A number, or None for NaN."""
    return None if math.isnan(value) else float(value)


def short(text: str) -> str:
    """On one line, and not longer than `NOTE`."""
    line = " ".join(text.split())
    return line if len(line) <= NOTE else f"{line[: NOTE - 1]}…"


def serve(connection: Connection, limit: float, solvers: Sequence[str], memory: float) -> None:
    """What a process of its own does: compile, then solve the cells that it is sent."""
    if memory:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (int(memory * 2**30), resource.RLIM_INFINITY))
    found = revision()
    compile_loops(solvers)
    connection.send(found)
    loaded: tuple[str, Prepared] | None = None
    while (cell := connection.recv()) is not None:
        try:
            if loaded is None or loaded[0] != cell.data_set:
                loaded = None
                makers = {name: make for sets in SETS.values() for name, make in sets().items()}
                loaded = cell.data_set, Prepared.of(makers[cell.data_set]())
            row = measure(cell, loaded[1], limit, found)
        except (AuclabError, ValueError, MemoryError) as error:
            note = short(f"not loaded: {type(error).__name__}: {error}")
            row = Row(**asdict(cell), status="error", note=note, limit=limit, revision=found)
        connection.send(row)


def compile_loops(solvers: Sequence[str]) -> None:
    """Every formulation once with every solver, on small samples, dense and sparse."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [60, 90])
    dense = rng.normal(0.5 * y[:, None], 1.0, (150, 4))
    zeros = np.hstack([dense, rng.random((150, 12)) < 0.2]) * (rng.random((150, 16)) < 0.5)
    for X in (dense, np.asfortranarray(dense), sp.csr_matrix(zeros)):
        for solver in solvers:
            for formulation in FORMULATIONS:
                measure(Cell("small", formulation, solver), Prepared(X, y, {}), 10.0, "")


#: Limit in seconds, solvers, and GiB of memory of a process.
Options = tuple[float, Sequence[str], float]


class Worker:
    """A process that solves cells; it is started anew after a solve that ended it."""

    def __init__(self, options: Options) -> None:
        self.options, self.limit, self.revision = options, options[0], ""
        self.process: Any = None
        self.connection: Any = None

    def solve(self, cell: Cell) -> Row:
        """The row of a cell."""
        if self.process is None:
            self.start()
        facts: dict[str, Any] = {**asdict(cell), "limit": self.limit, "revision": self.revision}
        begin = perf_counter()
        try:
            self.connection.send(cell)
            if self.connection.poll(3.0 * self.limit + 30.0):
                row: Row = self.connection.recv()
                return row
            self.process.kill()  # the solve may be in a library that no Python signal ends
            status, note = "stopped", "passed three times its limit and 30 s"
        except (EOFError, ConnectionError):
            status, note = "died", "its process ended"
        seconds = perf_counter() - begin
        self.process.join()
        if status == "died":
            note += f" with exit code {self.process.exitcode}"
        self.process = None
        return Row(**facts, status=status, note=note, seconds=seconds)

    def start(self) -> None:
        """Start the process, and wait until it has compiled its loops."""
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, *self.options), daemon=True)
        self.process.start()
        theirs.close()
        self.revision = self.connection.recv()

    def close(self) -> None:
        """Let the process end."""
        if self.process is not None:
            self.connection.send(None)
            self.process.join()


def run(cells: Sequence[Cell], results: Results, options: Options, workers: int) -> None:
    """Solve all cells, a data set at a time in each process."""
    todo: queue.SimpleQueue[list[Cell]] = queue.SimpleQueue()
    for name in dict.fromkeys(cell.data_set for cell in cells):
        todo.put([cell for cell in cells if cell.data_set == name])
    console, done = Console(stderr=True), iter(range(1, len(cells) + 1))

    def work() -> None:
        worker = Worker(options)
        with suppress(queue.Empty):
            while True:
                for cell in todo.get_nowait():
                    row = worker.solve(cell)
                    results.add(row)
                    gap = "" if row.gap is None else f", gap {row.gap:.1e}"
                    what = f"{cell.data_set} {cell.formulation} {cell.solver}: {row.status} {row.solved_by}"
                    seconds = f"{row.seconds:.2f} s" if row.seconds is not None else row.note
                    console.print(f"{next(done)}/{len(cells)} {what}, {seconds}{gap}", highlight=False, soft_wrap=True)
        worker.close()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def chosen(arguments: argparse.Namespace) -> Iterator[Cell]:
    """The cells that are asked for."""
    groups = list(SETS) if arguments.sets == "all" else [arguments.sets]
    for group in groups:
        for name in SETS[group]():
            for formulation in FORMULATIONS:
                for solver in arguments.solvers:
                    cell = Cell(name, formulation, solver)
                    if cell.fits(arguments.only) and not cell.fits(arguments.skip):
                        yield cell


def longest(count: int, solvers: Sequence[str]) -> list[Cell]:
    """The cells of the committed results in which auto took most seconds, with these solvers."""
    rows = {cell: float(row["seconds"]) for cell, row in read_rows(RESULTS).items() if cell.solver == "auto"}
    cells = sorted(rows, key=lambda cell: -rows[cell])[:count]
    return [replace(cell, solver=solver) for cell in cells for solver in solvers]


def revision() -> str:
    """The commit, with "+" if the package differs from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "src/auclab") else "")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", choices=[*SETS, "all"], default="all")
    parser.add_argument("--solvers", nargs="+", default=["auto"], metavar="SOLVER")
    parser.add_argument("--only", nargs="+", default=[""], metavar="PATTERN", help='in "SET FORMULATION SOLVER"')
    parser.add_argument("--skip", nargs="+", default=[], metavar="PATTERN")
    parser.add_argument("--longest", type=int, default=0, metavar="N", help="the N longest of the committed results")
    parser.add_argument("--again", nargs="+", default=[], metavar="STATUS", help="repeat these; any: whatever it is")
    parser.add_argument("--limit", type=float, default=20.0, metavar="SECONDS", help="time_limit of a solve")
    parser.add_argument("--workers", type=int, default=1, help="processes that solve at the same time")
    parser.add_argument(
        "--memory", type=float, default=0.0, metavar="GIB", help="of a process; default: half the machine's"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--page", action="store_true", help="fill in docs/all_data_sets.md; solve nothing")
    arguments = parser.parse_args()
    if arguments.page:
        runpy.run_path(str(PAGE.with_suffix(".py")), run_name="__main__")
        return
    results = Results(arguments.results)
    again = {status.lower() for status in arguments.again}
    old = {cell for cell, row in results.rows.items() if not again & {row["status"], "any"}}
    asked = longest(arguments.longest, arguments.solvers) if arguments.longest else chosen(arguments)
    cells = [cell for cell in asked if cell not in old]
    memory = arguments.memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**31 / arguments.workers
    try:
        run(cells, results, (arguments.limit, arguments.solvers, memory), arguments.workers)
    finally:
        results.rewrite()


if __name__ == "__main__":
    main()
