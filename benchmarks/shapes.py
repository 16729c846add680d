"""Tables of many shapes, wide, text-like, rare, tall, with every formulation and norm, beside other programs.

    python benchmarks/shapes.py                                       # everything
    python benchmarks/shapes.py --only wide "--programs=CSVM l1;bAUC" # kinds or shapes, and programs, separated by ;
    python benchmarks/shapes.py --resume                              # what this commit has not measured yet
    python benchmarks/shapes.py --page                                # the table of docs/solver_speed.md

Each measured cell replaces its lines in docs/shapes.csv at once; where src or benchmarks differ from the commit, lines
are printed and not written.

Wall seconds of `auclab.solve(…, solver="auto", time_limit=…)` with the certified gap that was reached, and, where one
of them states the same program, of scikit-learn's liblinear (CSVM², with a large intercept scale, as it penalises the
intercept), of L-BFGS-B on the pair hinge of RankSVM² with a few lines of NumPy, and of CVXPY with Clarabel on tables of
up to 10,000 pairs or points. Rows are made from a seed; the first solves, on small tables, are not counted.
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from time import perf_counter
from typing import Any

import measured
import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from auclab import CSVM, ECSVM, AuclabError, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import Array
from auclab._core.hinge import pair_hinge_active
from auclab.formulations.base import Program
from auclab.samples.as_sample import as_sample

COMMAND, PAGE_COMMAND = "python benchmarks/shapes.py", "benchmarks/shapes.py --page"
RESULTS, PAGE = measured.ROOT / "docs/shapes.csv", measured.ROOT / "docs/solver_speed.md"
COLUMNS = ("shape", "kind", "program", "solver", "seconds", "gap", "objective", "status", "limit", "commit")


def gaussian(n_rows: int, n_columns: int, share: float = 0.4, shift: float = 0.3) -> tuple[Array, Any]:
    """Normal rows; the first 20 columns of the positives are shifted."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, n_columns)), rng.random(n_rows) < share
    X[y, :20] += shift
    return X, y


def rare(n_rows: int, n_columns: int, n_pos: int) -> tuple[Array, Any]:
    """Normal rows with so few positives."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, n_columns)), np.zeros(n_rows, dtype=bool)
    y[:n_pos] = True
    X[y] += 0.5
    return X, y


def text(n_rows: int, n_columns: int, words: int = 60) -> tuple[Any, Any]:
    """Rows of length 1 with the logarithms of counts of words whose frequencies follow Zipf's law."""
    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(1, n_columns + 1)
    columns = rng.choice(n_columns, (n_rows, words), p=share / share.sum())
    counts = (np.ones(n_rows * words), (np.repeat(np.arange(n_rows), words), columns.ravel()))
    X = sp.csr_array(counts, shape=(n_rows, n_columns))
    X.sum_duplicates()
    X.data = 1.0 + np.log(X.data)
    X = sp.csr_array(sp.diags_array(1.0 / np.sqrt(X.multiply(X).sum(axis=1))) @ X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # what liblinear takes
    scores = np.asarray(X @ (rng.standard_normal(n_columns) * (rng.random(n_columns) < 0.1)))
    noisy = scores + 0.3 * scores.std() * rng.standard_normal(n_rows)
    return X, noisy > np.quantile(noisy, 0.7)


Shape = tuple[str, Callable[[], tuple[Any, Any]]]
SHAPES: dict[str, Shape] = {
    "60 × 30": ("small", lambda: gaussian(60, 30)),
    "100 × 5": ("small", lambda: gaussian(100, 5)),
    "100 × 2,000": ("wide", lambda: gaussian(100, 2_000)),
    "200 × 2,000": ("wide", lambda: gaussian(200, 2_000)),
    "1,000 × 500": ("wide", lambda: gaussian(1_000, 500)),
    "1,000 × 2,000": ("wide", lambda: gaussian(1_000, 2_000)),
    "1,000 × 10,000": ("wide", lambda: gaussian(1_000, 10_000)),
    "100 × 50,000": ("wide", lambda: gaussian(100, 50_000)),
    "text 2,000 × 20,000": ("text", lambda: text(2_000, 20_000)),
    "text 20,000 × 50,000": ("text", lambda: text(20_000, 50_000)),
    "5 of 10⁶ × 20": ("rare", lambda: rare(1_000_000, 20, 5)),
    "50 of 10⁶ × 20": ("rare", lambda: rare(1_000_000, 20, 50)),
    "5 of 2,000 × 50": ("rare", lambda: rare(2_000, 50, 5)),
    "10⁶ × 1": ("tall", lambda: gaussian(1_000_000, 1)),
    "10⁵ × 20": ("tall", lambda: gaussian(100_000, 20)),
    "30,000 × 300": ("tall", lambda: gaussian(30_000, 300)),
    "10⁵ × 1,000": ("large", lambda: gaussian(100_000, 1_000)),
}
PROGRAMS: dict[str, Program] = {
    "RankSVM²": RankSVM(1e-3, squared=True),
    "RankSVM": RankSVM(1e-2),
    "RankSVM l1": RankSVM(1e-2, "l1"),
    "RankSVM linf": RankSVM(1e-1, "linf"),
    "CSVM²": CSVM(1e-3, squared=True),
    "CSVM l1": CSVM(1e-2, "l1"),
    "CSVM linf": CSVM(1e-1, "linf"),
    "bAUC": BufferedAUC(),
    "bAUC z": GeneralizedBufferedAUC(-0.05),
    "EC-SVM": ECSVM(-0.05),
    "partial AUC": PartialAUC(0.1, 1e-2, squared=True),
    "RankSVM² 1e-5": RankSVM(1e-5, squared=True),
}
#: Of text the program of the table and two more; a shape without a line has every program but the last.
FEW = {
    "text": ("RankSVM² 1e-5", "RankSVM²", "CSVM²"),
    "rare": ("RankSVM²", "bAUC", "CSVM²", "partial AUC"),
    "large": ("RankSVM²",),
}


class TooLongError(Exception):
    """A peer that does not end."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` in what takes longer."""

    def raise_it(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, raise_it)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def by_lbfgsb(program: Program, X: Any, y: Any) -> float:
    """The objective of L-BFGS-B on values and subgradients of the pair hinge with λ‖w‖²."""
    sample = as_sample(X, y)

    def oracle(w: Array) -> Any:
        active = pair_hinge_active(*sample.scores(w), 1.0)
        slope = 2.0 * program.regulariser.weight * w - sample.combine(*active)
        return program.objective(w, 0.0, sample), slope

    start = 0.1 * sample.mean_difference / sample.spread**2
    options: Any = {"maxiter": 3_000, "maxfun": 6_000, "ftol": 1e-12, "gtol": 1e-9}
    return float(minimize(oracle, start, jac=True, method="L-BFGS-B", options=options).fun)


def by_liblinear(program: Program, X: Any, y: Array) -> float:
    """The objective of scikit-learn's LinearSVC, whose C is 1/(2λm)."""
    from sklearn.svm import LinearSVC

    C = 1.0 / (2.0 * program.regulariser.weight * len(y))
    model = LinearSVC(C=C, loss="hinge", tol=1e-6, max_iter=20_000, intercept_scaling=10.0).fit(X, y)
    return program.value(model.coef_.ravel(), float(model.intercept_[0]), X, y)


def peers(name: str, X: Any, y: Any) -> Iterator[tuple[str, Callable[[], float]]]:
    """Other programs that state the same."""
    program = PROGRAMS[name]
    if name.startswith("RankSVM²"):
        yield "L-BFGS-B", lambda: by_lbfgsb(program, X, y)
    if name == "CSVM²":
        yield "liblinear", lambda: by_liblinear(program, X, y)
    margins = int(y.sum()) * int((~y).sum()) if program.comparisons.name == "pairs" else len(y)
    if margins <= 10_000 and X.shape[0] * X.shape[1] <= 500_000:
        yield "clarabel", lambda: float(solve(program, X, y, solver="clarabel", time_limit=60.0).objective)


def names_of(shape: str) -> tuple[str, ...]:
    """The programs that are solved on a shape."""
    return FEW.get(SHAPES[shape][0]) or tuple(PROGRAMS)[:-1]


def cell(shape: str, name: str, X: Any, y: Any, longest: float) -> Iterator[dict[str, Any]]:
    """A line for every solver of a program on the rows of a shape."""
    kind = SHAPES[shape][0]
    limit = 60.0 if kind == "large" or shape == "text 20,000 × 50,000" else longest
    begin = perf_counter()
    try:
        solution = solve(PROGRAMS[name], X, y, time_limit=limit)
        found: dict[str, Any] = {
            "solver": f"auto: {solution.solver}",
            "gap": solution.gap,
            "objective": solution.objective,
            "status": str(solution.status),
        }
    except AuclabError as error:
        found = {"solver": "auto", "gap": "", "objective": "", "status": f"refused: {error}"}
    yield {"shape": shape, "kind": kind, "program": name, "seconds": perf_counter() - begin, "limit": limit} | found
    for peer, run in peers(name, X, y):
        begin, status = perf_counter(), "ended"
        try:
            with at_most(60.0):
                objective: Any = run()
        except TooLongError:
            objective, status = "", "60 s"
        row = {"shape": shape, "kind": kind, "program": name, "solver": peer, "gap": "", "limit": 60.0}
        yield row | {"objective": objective, "status": status, "seconds": perf_counter() - begin}


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """Of every shape the programs, those certified, the longest solve with its share of the limit, the largest gap."""
    lines = []
    for shape in dict.fromkeys(row["shape"] for row in rows):
        ours = [row for row in rows if row["shape"] == shape and row["solver"].startswith("auto")]
        certified = [row for row in ours if row["gap"] and float(row["gap"]) <= 1e-6]
        worst = max(ours, key=lambda row: float(row["seconds"]))
        theirs = next((row for row in rows if row["shape"] == shape and row["solver"] == "L-BFGS-B"), None)
        own = next((row for row in ours if theirs and row["program"] == theirs["program"]), None)
        lines.append(
            [
                shape,
                f"{len(certified)} of {len(ours)}",
                measured.significant(float(np.median([float(row["seconds"]) for row in ours]))),
                f"{measured.significant(float(worst['seconds']))} ({worst['program']})",
                measured.significant(float(own["seconds"])) if own else "–",
                _seconds(theirs) if theirs else "–",
            ]
        )
    head = ["rows × columns", "certified", "median, s", "longest, s", "RankSVM², s", "L-BFGS-B, s"]
    return {"shapes": measured.table(head, lines)}


def _seconds(row: measured.Row) -> str:
    return "over 60" if row["status"] == "60 s" else measured.significant(float(row["seconds"]))


def sentences(rows: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    ours = [row for row in rows if row["solver"].startswith("auto")]
    late = [row for row in ours if float(row["seconds"]) > 1.1 * float(row["limit"]) + 0.5]
    certified = sum(bool(row["gap"]) and float(row["gap"]) <= 1e-6 for row in ours)
    return [
        f"{certified} of {len(ours)} solves were certified to 1e-6",
        f"{len(late)} took longer than 1.1 times the limit plus half a second",
    ]


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--only", default="", help="kinds or shapes, separated by ;")
    parser.add_argument("--programs", default="", help="separated by ;")
    parser.add_argument("--resume", action="store_true", help="leave out what this commit has measured")
    parser.add_argument("--longest", type=float, default=10.0, help="the time limit of most solves")
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    commit = measured.origin().split()[1].rstrip(";")
    rows: list[Any] = measured.read(RESULTS) if RESULTS.is_file() else []
    done = {(row["shape"], row["program"]) for row in rows if arguments.resume and row["commit"] == commit}
    cells = [each for each in chosen(arguments.only, arguments.programs) if each not in done]
    for name in dict.fromkeys(name for _, name in cells):  # loads and compiles what is needed
        solve(PROGRAMS[name], *gaussian(300, 400), time_limit=20.0)
        solve(PROGRAMS[name], *gaussian(3_000, 10), time_limit=20.0)
    for shape, group in groupby(cells, key=itemgetter(0)):
        X, y = SHAPES[shape][1]()
        for _, name in group:
            found = [row | {"commit": commit} for row in cell(shape, name, X, y, arguments.longest)]
            for row in found:
                print(*(f"{value:.3g}" if isinstance(value, float) else value for value in row.values()), flush=True)
            rows = [row for row in rows if (row["shape"], row["program"]) != (shape, name)] + found
            if not commit.endswith("+changes"):
                write(rows)
    if commit.endswith("+changes"):
        print("nothing is written: src or benchmarks differ from the commit that the lines would name")


def chosen(only: str, programs: str) -> list[tuple[str, str]]:
    """The shapes and programs of the options, all where they are empty.

    Raises
    ------
    SystemExit
        A name that is none, with those that there are.
    """
    known = {*SHAPES, *(kind for kind, _ in SHAPES.values())}, {*PROGRAMS}
    places, names = ({part.strip() for part in text.split(";") if part.strip()} for text in (only, programs))
    for asked, there in zip((places, names), known, strict=True):
        if asked - there:
            raise SystemExit(f"unknown: {', '.join(sorted(asked - there))}; there are {', '.join(sorted(there))}")
    return [
        (shape, name)
        for shape, (kind, _) in SHAPES.items()
        if not places or {shape, kind} & places
        for name in names_of(shape)
        if not names or name in names
    ]


def write(rows: Sequence[Any]) -> None:
    """All lines in the order of shapes and programs."""
    order = [*SHAPES], [*PROGRAMS]
    places = {id(row): (order[0].index(row["shape"]), order[1].index(row["program"])) for row in rows}
    with measured.writer(RESULTS, COMMAND, COLUMNS) as keep:
        for row in sorted(rows, key=lambda row: places[id(row)]):
            keep(row)


if __name__ == "__main__":
    main()
