"""auclab's solvers beside what a user would write: fifteen lines with SciPy's L-BFGS-B, and the program in CVXPY.

    python benchmarks/user_code.py [--resume]     # measure, docs/solvers/user_code.csv
    python benchmarks/user_code.py --page         # the tables of docs/solver_speed.md and README.md, from that file

Problems are those of benchmarks/benchopt_ranksvm, which draws the curves. Processor seconds of one thread, the least of
the repetitions, after a solve that loads the compiled loops; auclab's solvers stop at a certified gap of 1e-6. The
objective is evaluated here, without auclab. *Above* is its distance from the best one of the problem, relative.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import cvxpy as cp
import measured
import numpy as np
import scipy.sparse as sp
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parent / "benchopt_ranksvm"))
from benchmark_utils import samples
from benchmark_utils.by_hand import hinge, minimise

from auclab import BufferedAUC, RankSVM, solve
from auclab._core.base import AuclabError
from auclab.datasets import load
from auclab.datasets.preprocess import standard

DOCS = measured.ROOT / "docs"
PAGE, README, RESULTS = DOCS / "solver_speed.md", measured.ROOT / "README.md", DOCS / "solvers" / "user_code.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/user_code.py", "benchmarks/user_code.py --page"
FIELDS = ("problem", "pairs", "method", "seconds", "objective", "lower_bound", "status")
USER = "L-BFGS-B"
LIMIT = 120.0
#: Options of `auclab.solve`, and the most pairs that a method gets.
METHODS: dict[str, tuple[dict[str, Any], float]] = {
    "newton": ({"solver": "newton"}, 1e15),
    "cutting_plane": ({"solver": "cutting_plane"}, 1e11),
    "HiGHS windows": ({"solver": "highs", "encoding": "aggregated"}, 5e7),
    "HiGHS dual form": ({"solver": "highs", "encoding": "dual"}, 4e4),
    "Clarabel": ({"solver": "clarabel"}, 1.5e5),
}
CVXPY, MOST_CVXPY = "CVXPY-Clarabel", 1.5e5


@dataclass(frozen=True)
class Problem:
    """A sample and a penalty; `make` gives (X, y)."""

    name: str
    make: Callable[[], tuple[Any, np.ndarray]]
    penalty: float = 0.0
    squared: bool = True

    @property
    def label(self) -> str:
        """The name, with the penalty."""
        return f"{self.name}, RankSVM {self.penalty:g} ‖w‖{'²' * self.squared}" if self.penalty else self.name


def artificial(size: int, decades: int = 0) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """The mixture of Norton & Uryasev, ten columns whose scales range over `decades` powers of ten."""

    def make() -> tuple[np.ndarray, np.ndarray]:
        data = load("artificial", n_pos=size, n_neg=size, seed=0)
        X = data.frame.to_numpy(dtype=float)
        return X * 10.0 ** np.linspace(-decades / 2, decades / 2, X.shape[1]), data.y

    return make


def ionosphere(factor: int) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Ionosphere, every row repeated with noise, standardised."""

    def make() -> tuple[np.ndarray, np.ndarray]:
        data = load("perturbed", base="ionosphere", factor=factor, seed=0)
        return standard(data).fit_transform(data.X), data.y

    return make


PROBLEMS = (
    Problem("artificial 10³ + 10³ × 10", artificial(1000)),
    Problem("artificial 10⁴ + 10⁴ × 10", artificial(10_000)),
    Problem("artificial 10⁵ + 10⁵ × 10", artificial(100_000)),
    Problem("artificial 10⁶ + 10⁶ × 10", artificial(1_000_000)),
    Problem("artificial 10⁴, columns × 10^(−3…3)", artificial(10_000, 6)),
    *(Problem(f"ionosphere × {factor}", ionosphere(factor)) for factor in (1, 10, 100, 1000)),
    Problem("100 correlated features", samples.correlated),
    Problem("30 positives, 10⁵ negatives", samples.few_positives),
    Problem("20 binary features", samples.binary),
    *(Problem("artificial 10⁴ + 10⁴ × 10", artificial(10_000), penalty) for penalty in (5e-5, 1e-5, 1e-6)),
    *(Problem("ionosphere × 1", ionosphere(1), penalty) for penalty in (5e-5, 1e-5, 1e-6)),
    Problem("text, 4,000 × 50,000", samples.text, 0.01),
    Problem("text, 4,000 × 50,000", samples.text, 0.02, squared=False),
)
#: What the README shows of them.
SHOWN = (
    *("artificial 10⁴ + 10⁴ × 10", "artificial 10⁵ + 10⁵ × 10", "artificial 10⁶ + 10⁶ × 10", "ionosphere × 1"),
    *("ionosphere × 100", "100 correlated features"),
)
#: Penalties that no page shows: their rows are like those of 1e-5.
HIDDEN = ("5e-05 ‖w‖²", "1e-06 ‖w‖²")


def measure(problem: Problem, repetitions: int) -> Iterator[dict[str, Any]]:
    """A row for each method that takes the problem."""
    X, y = problem.make()
    pos, neg = X[y == 1], X[y == 0]
    pairs = float(pos.shape[0]) * neg.shape[0]
    times = repetitions if pairs < 1e9 else 1

    def row(method: str, seconds: float, w: np.ndarray, bound: float, status: str) -> dict[str, Any]:
        length = float(np.linalg.norm(w))
        value = hinge(pos, neg, w) + problem.penalty * (length**2 if problem.squared else length)
        named = {"problem": problem.label, "pairs": f"{pairs:.10g}", "method": method, "seconds": seconds}
        return {**named, "objective": value, "lower_bound": bound, "status": status}

    if problem.squared or not problem.penalty:  # a norm has no gradient at 0, where it starts
        found, seconds = timed(lambda: minimise(pos, neg, problem.penalty), times)
        yield row(USER, seconds, found.x, np.nan, "")
    program = RankSVM(problem.penalty, squared=problem.squared) if problem.penalty else BufferedAUC()
    for method, (options, most) in METHODS.items():
        if pairs > most or (sp.issparse(X) and method not in ("newton", "cutting_plane")):
            continue
        try:
            solve(program, *_small(X), **options)
            solution, seconds = timed(partial(solve, program, X, y, time_limit=LIMIT, **options), times)
        except AuclabError:
            continue  # not a linear program
        yield row(method, seconds, solution.coef, solution.lower_bound, str(solution.status))
    if pairs <= MOST_CVXPY:
        w, seconds = timed(lambda: in_cvxpy(pos, neg, problem), 1)
        yield row(CVXPY, seconds, w, np.nan, "")


def _small(X: Any) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], 20)
    rows = rng.normal(size=(40, 3)) + 0.5 * y[:, np.newaxis]
    return (sp.csr_array(rows) if sp.issparse(X) else rows), y


def timed(work: Callable[[], Any], repetitions: int) -> tuple[Any, float]:
    """The result of `work`, and its least processor seconds; of short work three times as many repetitions."""
    seconds: list[float] = []
    while len(seconds) < repetitions or (sum(seconds) < 0.5 and len(seconds) < 3 * repetitions):
        begin = process_time()
        found = work()
        seconds.append(process_time() - begin)
    return found, min(seconds)


def in_cvxpy(pos: np.ndarray, neg: np.ndarray, problem: Problem) -> np.ndarray:
    """The program as a user writes it: one hinge a pair, over variables for the scores, solved by Clarabel."""
    rows, w = np.vstack([pos, neg]), cp.Variable(pos.shape[1])
    scores = cp.Variable(len(rows))
    pairs = sp.hstack(
        [
            sp.kron(sp.eye_array(len(pos)), np.ones((len(neg), 1))),
            -sp.kron(np.ones((len(pos), 1)), sp.eye_array(len(neg))),
        ],
        format="csr",
    )
    length = cp.sum_squares(w) if problem.squared else cp.norm(w)
    objective = cp.sum(cp.pos(1 - pairs @ scores)) / pairs.shape[0] + problem.penalty * length
    cp.Problem(cp.Minimize(objective), [scores == rows @ w]).solve(
        solver=cp.CLARABEL, tol_gap_rel=1e-6, tol_gap_abs=1e-6, tol_feas=1e-6
    )
    return np.asarray(w.value)


class Rows:
    """What the methods reached on one problem."""

    def __init__(self, rows: list[measured.Row]) -> None:
        self.of = {row["method"]: row for row in rows}
        self.pairs = _power(float(rows[0]["pairs"]))
        self.best = min(float(row["objective"]) for row in rows)
        self.unit = float(self.of[USER if USER in self.of else "newton"]["seconds"])

    def ratio(self, method: str) -> str:
        """Seconds relative to those of the user's own program, or newton's."""
        return measured.significant(float(self.of[method]["seconds"]) / self.unit) if method in self.of else "–"

    def above(self, method: str) -> str:
        """Distance of the objective from the best."""
        if method not in self.of:
            return "–"
        distance = (float(self.of[method]["objective"]) - self.best) / max(self.best, 1e-3)
        return measured.power(distance) if distance > 1e-10 else "0"

    def gap(self, method: str) -> str:
        """Certified gap."""
        if method not in self.of:
            return "–"
        value, bound = (float(self.of[method][key]) for key in ("objective", "lower_bound"))
        gap = (value - bound) / max(abs(value), 1e-3)
        return measured.power(gap) if gap > 1e-9 else "< 1e-9"  # the digits of the file


def _power(pairs: float) -> str:
    """28,350, 10⁸ or 2.8·10⁶."""
    if pairs < 1e5:
        return f"{pairs:,.0f}"
    digits, exponent = f"{pairs:.1e}".split("e+")
    power = "10" + str(int(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digits == "1.0" else f"{digits.removesuffix('.0')}·{power}"


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The table of docs/solver_speed.md and that of the README."""
    problems = {
        name: Rows([row for row in rows if row["problem"] == name])
        for name in dict.fromkeys(r["problem"] for r in rows)
    }
    shown = {name: found for name, found in problems.items() if not name.endswith(HIDDEN)}
    others = [method for method in (*METHODS, CVXPY) if method not in ("newton", "cutting_plane")]
    full = [
        [
            *(name, found.pairs, found.above(USER)),
            *(found.ratio("newton"), found.gap("newton"), found.ratio("cutting_plane")),
            ", ".join(f"{method} {found.ratio(method)}" for method in others if method in found.of),
        ]
        for name, found in shown.items()
    ]
    short = [
        [
            *(name, found.pairs, f"1 ({found.above(USER)} too high)"),
            f"{found.ratio('newton')}, {found.gap('newton')}",
            *(found.ratio(method) for method in ("HiGHS dual form", "Clarabel")),
        ]
        for name, found in problems.items()
        if name in SHOWN
    ]
    head = ["problem", "pairs", "L-BFGS-B above", "newton", "gap", "cutting_plane", "others"]
    of_readme = ["data", "pairs", "L-BFGS-B", "newton, certified gap", "HiGHS, dual form", "Clarabel"]
    return {"solvers": measured.table(head, full), "readme": measured.table(of_readme, short)}


def sentences(rows: list[measured.Row]) -> list[str]:
    """What the text of docs/solver_speed.md says about these numbers."""
    problems = {name: Rows([row for row in rows if row["problem"] == name]) for name in (r["problem"] for r in rows)}
    small = [
        found for name, found in problems.items() if name.startswith("ionosphere × 1,") or name == "ionosphere × 1"
    ]

    def times(method: str) -> str:
        of_all = [1e3 * float(found.of[method]["seconds"]) for found in small]
        return f"{measured.significant(min(of_all))} to {measured.significant(max(of_all))} ms"

    above = sorted((float(found.of[USER]["objective"]) - found.best) / found.best for found in small)
    plain, scaled = problems["artificial 10⁴ + 10⁴ × 10"], problems["artificial 10⁴, columns × 10^(−3…3)"]
    newton = [measured.significant(1e3 * float(found.of["newton"]["seconds"])) for found in (scaled, plain)]
    longer = float(scaled.of[USER]["seconds"]) / float(plain.of[USER]["seconds"])
    return [
        f"On ionosphere the fifteen lines take {times(USER)} and stop {measured.power(above[0])} to "
        f"{above[-1]:.0e}".replace("e-0", "e-")
        + " above the optimum",
        f"newton takes {times('newton')} and proves its optimum",
        f"newton takes {newton[0]} ms if columns differ in scale by 10⁶, and {newton[1]} ms otherwise. "
        f"If they differ, L-BFGS-B takes {measured.significant(longer)} times as long",
    ]


def fill_pages() -> None:
    """Write the tables into both pages."""
    found = tables(measured.read(RESULTS))
    measured.fill(PAGE, PAGE_COMMAND, {"solvers": found["solvers"]})
    measured.fill(README, PAGE_COMMAND, {"readme": found["readme"]})


def main() -> None:
    """Measure, or write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the tables of docs/solver_speed.md and README.md")
    parser.add_argument("--resume", action="store_true", help="keep the problems that are in the file")
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.page:
        fill_pages()
        return
    console = Console(width=160)
    kept = measured.read(RESULTS) if arguments.resume and RESULTS.exists() else []
    kept = [row for row in kept if row["problem"] != kept[-1]["problem"]]  # the last one may be half
    done = {row["problem"] for row in kept}
    with measured.writer(RESULTS, COMMAND, FIELDS, kept) as keep:
        for problem in PROBLEMS:
            for row in measure(problem, arguments.repetitions) if problem.label not in done else ():
                keep(row)
                console.print(row)


if __name__ == "__main__":
    main()
