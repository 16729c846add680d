"""Structured solvers against a short program with SciPy and against generic solvers.

    python benchmarks/structured_solver.py                                   # what the README shows
    python benchmarks/structured_solver.py --only "artificial 1" text --repeat 7
    python benchmarks/structured_solver.py --sizes 1e3 1e4 1e5 1e6 1e7 --memory --csv out.csv --plot gaps.png

Ratios of medians within one run: every competitor is warmed up (compile time is apart), they alternate, and all have
the same threads. The user's own fifteen lines are kept here as they would be written: sort, searchsorted, subgradient,
SciPy's L-BFGS-B; they give no certificate. The others stop at a certified relative gap of 1e-6. dlib is included where
it is installed (it has a C++ core that builds for minutes), at the tolerance at which it comes within about 1e-7.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import platform
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from auclab import BufferedAUC, RankSVM, solve
from auclab.datasets import load
from auclab.formulations import HingeProgram

Curve = list[tuple[float, float]]


@dataclass(frozen=True)
class Outcome:
    """What came out: objective, certified relative gap (NaN without one), evaluations, and time-to-gap points."""

    objective: float
    gap: float
    evaluations: int
    curve: Curve


@dataclass(frozen=True)
class Case:
    """A problem: data and program."""

    X: Any
    y: np.ndarray
    program: HingeProgram

    @property
    def pairs(self) -> float:
        """Number of pairs."""
        return float((self.y == 1).sum()) * float((self.y == 0).sum())


def users_own(case: Case) -> Outcome:
    """Fifteen lines with SciPy; objective, and no gap."""
    pos, neg, penalty = case.X[case.y == 1], case.X[case.y == 0], case.program.penalty
    start, curve = perf_counter(), []

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        p, n = pos @ w, neg @ w + 1.0
        above = len(n) - np.searchsorted(np.sort(n), p, side="right")
        below = np.searchsorted(np.sort(p), n, side="left")
        pairs = len(p) * len(n)
        value = (below @ n - above @ p) / pairs + penalty * w @ w
        curve.append((perf_counter() - start, value))
        return value, (neg.T @ below - pos.T @ above) / pairs + 2 * penalty * w

    result = minimize(objective, np.zeros(case.X.shape[1]), jac=True, method="L-BFGS-B")
    return Outcome(float(result.fun), float("nan"), int(result.nfev), curve)


def certified(**options: Any) -> Callable[[Case], Outcome]:
    """A solver of ours, or one that we call."""

    def run(case: Case) -> Outcome:
        found = solve(case.program, case.X, case.y, time_limit=60.0, **options)
        bounds = [(seconds, value) for seconds, value, _ in found.history]
        return Outcome(found.objective, found.gap, found.iterations, bounds)

    return run


def dlib_rank(case: Case) -> Callable[[Case], Outcome]:
    """Train with dlib's svm_rank_trainer; converting the data for dlib is not part of the time.

    It minimises ½‖w‖² + C·mean hinge, so C = 1/(2λ); its epsilon bounds the loss and not the objective.
    """
    import dlib

    data = dlib.ranking_pair()
    for row, label in zip(case.X, case.y, strict=True):
        (data.relevant if label == 1 else data.nonrelevant).append(dlib.vector(row.tolist()))

    def run(case: Case) -> Outcome:
        trainer = dlib.svm_rank_trainer()
        trainer.c, trainer.epsilon = 1.0 / (2.0 * case.program.penalty), 1e-8
        rank = trainer.train(data)
        w = np.array([rank.weights[k] for k in range(case.X.shape[1])])
        return Outcome(case.program.value(w, 0.0, case.X, case.y), float("nan"), 0, [])

    return run


#: Solvers, and the largest number of pairs on which each is run.
COMPETITORS: dict[str, tuple[Callable[[Case], Outcome], float]] = {
    "L-BFGS-B": (users_own, 1e15),
    "newton": (certified(solver="newton"), 1e15),
    "cutting_plane": (certified(solver="cutting_plane"), 1e11),
    "highs windows": (certified(solver="highs", encoding="aggregated"), 5e7),
    "highs dual": (certified(solver="highs", encoding="dual"), 4e4),
    "clarabel": (certified(solver="clarabel"), 1.5e5),
}
DLIB_UP_TO = 1e9


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and standard deviation 1; constant ones dropped."""
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def artificial(size: int, program: HingeProgram | None = None) -> Case:
    """The artificial data of Norton & Uryasev."""
    data = load("artificial", n_pos=size, n_neg=size, seed=0)
    return Case(data.frame.to_numpy(), data.y, program or BufferedAUC())


def ionosphere(factor: int, program: HingeProgram | None = None) -> Case:
    """Ionosphere, each row repeated with noise."""
    data = load("perturbed", base="ionosphere", factor=factor, seed=0)
    return Case(standardised(data.frame.to_numpy(dtype=float)), data.y, program or BufferedAUC())


def badly_scaled() -> Case:
    """Columns that differ in scale by 10⁶."""
    plain = artificial(10_000)
    return Case(plain.X * 10.0 ** np.linspace(-3, 3, plain.X.shape[1]), plain.y, plain.program)


def correlated() -> Case:
    """100 features of rank 5 and a little noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 5)) @ rng.normal(size=(5, 100)) + 0.1 * rng.normal(size=(10_000, 100))
    X[:5000] += 0.003 * rng.normal(size=100)
    return Case(X, np.repeat([1, 0], 5000), BufferedAUC())


def few_positives() -> Case:
    """30 against 10⁵."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(0.7, 1, (30, 10)), rng.normal(0, 1, (100_000, 10))])
    return Case(X, np.repeat([1, 0], [30, 100_000]), BufferedAUC())


def binary() -> Case:
    """Features of zeros and ones: heavily tied scores."""
    rng = np.random.default_rng(2)
    X = np.vstack([rng.random((5000, 20)) < 0.5, rng.random((20_000, 20)) < 0.4]).astype(float)
    return Case(X, np.repeat([1, 0], [5000, 20_000]), BufferedAUC())


def sparse_text(program: HingeProgram) -> Case:
    """4,000 documents of about 100 of 50,000 words whose frequencies fall as in a language; CSR."""
    rng = np.random.default_rng(3)
    documents, words = 4_000, 50_000
    frequency = 1.0 / np.arange(10, words + 10)
    columns = rng.choice(words, p=frequency / frequency.sum(), size=(documents, 100))
    rows = np.repeat(np.arange(documents), 100)
    X = sp.csr_array((np.ones(rows.size), (rows, columns.ravel())), shape=(documents, words))
    X.sum_duplicates()
    X = sp.csr_array(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    weight = rng.normal(size=words) * (rng.random(words) < 0.1)
    scores = np.asarray(X @ weight)
    y = (scores + 0.5 * scores.std() * rng.normal(size=documents) > np.median(scores)).astype(int)
    return Case(X, y, program)


def cases(sizes: list[int]) -> dict[str, Callable[[], Case]]:
    """Every problem by name, built when it is called."""
    found: dict[str, Callable[[], Case]] = {}
    for size in sizes:
        found[f"artificial {size:.0e} + {size:.0e}".replace("e+0", "e")] = partial(artificial, size)
    for factor in (1, 10, 100, 1000):
        found[f"ionosphere x {factor}"] = partial(ionosphere, factor)
    found["artificial 1e4, columns x 10^(-3..3)"] = badly_scaled
    found["100 correlated features"] = correlated
    found["30 positives, 1e5 negatives"] = few_positives
    found["20 binary features"] = binary
    for name, data in (("ionosphere", partial(ionosphere, 1)), ("artificial 1e4", partial(artificial, 10_000))):
        for penalty in (5e-5, 1e-5, 1e-6):
            program = RankSVM(penalty, squared=True)
            found[f"{name}, RankSVM {penalty:g}"] = partial(data, program)
    for program in (RankSVM(0.01, squared=True), RankSVM(0.02)):
        square = "²" if program.squared else ""
        found[f"text, RankSVM {program.penalty:g}{square}"] = partial(sparse_text, program)
    return found


def competitors(case: Case) -> Iterator[tuple[str, Callable[[Case], Outcome]]]:
    """Solvers that can solve the case in reasonable time."""
    is_sparse, squared = sp.issparse(case.X), case.program.squared
    for name, (run, most_pairs) in COMPETITORS.items():
        if case.pairs > most_pairs or (is_sparse and name in ("clarabel", "highs windows")):
            continue
        if name.startswith("highs") and not case.program.is_linear:
            continue
        if name == "L-BFGS-B" and case.program.penalty and not squared:
            continue
        yield name, run
    if squared and not is_sparse and case.pairs <= DLIB_UP_TO and _version("dlib") != "-":
        yield "dlib", dlib_rank(case)


def measure(case: Case, repeat: int) -> tuple[dict[str, float], dict[str, Outcome]]:
    """Median seconds and outcomes, the competitors in turn."""
    runs = dict(competitors(case))
    seconds: dict[str, list[float]] = {name: [] for name in [*runs, "roc_auc_score"]}
    outcomes: dict[str, Outcome] = {}
    for _ in range(repeat):
        for name, run in runs.items():
            start = perf_counter()
            outcomes[name] = run(case)
            seconds[name].append(perf_counter() - start)
        scores = case.X @ np.ones(case.X.shape[1])
        start = perf_counter()
        roc_auc_score(case.y, scores)
        seconds["roc_auc_score"].append(perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}, outcomes


def peak_memory(name: str, sizes: list[int], competitor: str) -> float:
    """Peak resident bytes of a fresh process that makes the data and solves, over the bytes of the data."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return float(pool.apply(_peak, (name, sizes, competitor)))


def _peak(name: str, sizes: list[int], competitor: str) -> float:
    case = cases(sizes)[name]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    COMPETITORS[competitor][0](case)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = case.X.data.nbytes  # of a sparse matrix its values
    unit = 1 if sys.platform == "darwin" else 1024
    return (size + (after - before) * unit) / size


def plot(curves: dict[str, dict[str, Outcome]], path: Path) -> None:
    """Relative distance of the objective from the best one against seconds, one panel a problem."""
    from matplotlib.figure import Figure

    columns = min(3, len(curves))
    n_rows = -(-len(curves) // columns)
    figure = Figure(figsize=(2.6 * columns, 2.3 * n_rows + 0.4), layout="constrained")
    axes = np.ravel(figure.subplots(n_rows, columns))
    styles = {"L-BFGS-B": ("#000000", ":"), "newton": ("#0072b2", "-"), "cutting_plane": ("#d55e00", "--")}
    for ax in axes[len(curves) :]:
        ax.set_axis_off()
    for ax, (name, outcomes) in zip(axes, curves.items(), strict=False):
        best = min(outcome.objective for outcome in outcomes.values())
        for competitor, outcome in outcomes.items():
            colour, line = styles[competitor]
            points = np.array(outcome.curve)
            values = np.minimum.accumulate(points[:, 1]) / best - 1
            ax.loglog(points[:, 0], np.maximum(values, 1e-10), line, color=colour, marker=".", label=competitor)
        ax.set_title(name, fontsize=8)
        ax.set_ylim(3e-11, 30)
        ax.tick_params(labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("seconds", fontsize=8)
    figure.supylabel("objective above the optimum, relative (1e-10: nothing left)", fontsize=8)
    handles = {line.get_label(): line for ax in axes for line in ax.get_lines()}
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)


def write(rows: list[dict[str, Any]], path: Path) -> None:
    """The measurements with machine, versions and threads."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "-"


def main() -> None:
    """Run the comparison, print the table, write csv and figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e3, 1e4, 1e5], help="observations per class")
    parser.add_argument("--only", nargs="+", default=[""], help="only problems whose names hold one of these")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help="peak memory of newton, in a process of its own")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--plot", type=Path, help="time-to-gap curves")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes]
    warm = load("artificial", n_pos=150, n_neg=150, seed=1)
    for program in (BufferedAUC(), RankSVM(0.01, squared=True)):
        for _, run in competitors(small := Case(warm.frame.to_numpy(), warm.y, program)):
            run(small)
    rows: list[dict[str, Any]] = []
    curves: dict[str, dict[str, Outcome]] = {}
    table = Table("problem", "pairs", *COMPETITORS, "dlib", "roc_auc_score", "peak / data", box=None)
    machine = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        **{package: _version(package) for package in ("auclab", "numpy", "scipy", "highspy", "clarabel", "dlib")},
    }
    for name, make in cases(sizes).items():
        if not any(part in name for part in arguments.only):
            continue
        case = make()
        seconds, outcomes = measure(case, arguments.repeat)
        best = min(outcome.objective for outcome in outcomes.values())
        unit = seconds.get("L-BFGS-B", seconds["newton"])
        cells = []
        for competitor in (*COMPETITORS, "dlib"):
            outcome = outcomes.get(competitor)
            if outcome is None:
                cells.append("—")
                continue
            above = (outcome.objective - best) / max(best, 1e-3)
            quality = f"{above:.0e} above" if np.isnan(outcome.gap) else f"gap {max(outcome.gap, 0):.0e}"
            cells.append(f"{seconds[competitor] / unit:.3g}, {quality}")
            rows.append(
                {"problem": name, "pairs": case.pairs, "solver": competitor, "seconds": seconds[competitor]}
                | {"objective": outcome.objective, "gap": outcome.gap, "evaluations": outcome.evaluations}
                | {"repeat": arguments.repeat}
                | machine
            )
        memory = f"{peak_memory(name, sizes, 'newton'):.2f}" if arguments.memory else "—"
        table.add_row(name, f"{case.pairs:.2g}", *cells, f"{seconds['roc_auc_score'] / unit:.3g}", memory)
        with_curves = {k: outcomes[k] for k in ("L-BFGS-B", "newton", "cutting_plane") if k in outcomes}
        curves[name] = {k: outcome for k, outcome in with_curves.items() if len(outcome.curve) > 1}
        Console(stderr=True).print(f"{name}: {', '.join(f'{k} {v:.3g} s' for k, v in seconds.items())}")
        if arguments.csv is not None:  # after every problem: nothing measured is lost
            write(rows, arguments.csv)
    Console(width=220).print(table)
    if arguments.plot is not None:
        plot({name: outcomes for name, outcomes in curves.items() if outcomes}, arguments.plot)


if __name__ == "__main__":
    main()
