"""How fast the objective falls: a user's fifteen lines after each iteration, newton and cutting_plane by tolerance.

    python benchmarks/time_to_gap.py            # measure, docs/solvers/time_to_gap.csv, minutes
    python benchmarks/time_to_gap.py --draw     # docs/solvers/time_to_gap.png, from that file

Problems of user_code.py. Processor seconds of one thread; a point of newton and cutting_plane is a solve from the start
to that tolerance, the least of two. Objectives are evaluated here, without auclab, and so is the time of L-BFGS-B: its
seconds are those after each of its iterations.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

import sys
from collections.abc import Iterator
from time import process_time
from typing import Any

import measured
import numpy as np
from user_code import PROBLEMS, USER, Problem, _small, hinge, minimise

from auclab import BufferedAUC, RankSVM, solve

RESULTS = measured.ROOT / "docs" / "solvers" / "time_to_gap.csv"
PICTURE = RESULTS.with_suffix(".png")
COMMAND = "python benchmarks/time_to_gap.py"
FIELDS = ("problem", "method", "tolerance", "seconds", "objective")
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
#: Problems of the picture: dense, and small enough for a few minutes in all.
SHOWN = (
    *("artificial 10³ + 10³ × 10", "artificial 10⁴ + 10⁴ × 10", "artificial 10⁵ + 10⁵ × 10"),
    *("artificial 10⁴, columns × 10^(−3…3)", "ionosphere × 1", "ionosphere × 10", "ionosphere × 100"),
    *("100 correlated features", "30 positives, 10⁵ negatives", "20 binary features"),
    *("artificial 10⁴ + 10⁴ × 10, RankSVM 1e-05 ‖w‖²", "ionosphere × 1, RankSVM 1e-05 ‖w‖²"),
)
#: Colour and line of each method.
STYLES = {USER: ("#000000", ":"), "newton": ("#0072b2", "-"), "cutting_plane": ("#d55e00", "--")}
#: What is nearer to the best objective is drawn here.
FLOOR = 1e-10


def measure(problem: Problem) -> Iterator[dict[str, Any]]:
    """A row for each iteration of L-BFGS-B, and for each tolerance of the solvers."""
    X, y = problem.make()
    pos, neg = X[y == 1], X[y == 0]

    def value(w: np.ndarray) -> float:
        return hinge(pos, neg, w) + problem.penalty * float(w @ w)

    points: list[tuple[float, np.ndarray]] = []

    def remember(intermediate_result: Any) -> None:
        points.append((process_time(), intermediate_result.x.copy()))  # SciPy changes the array in place

    begin = process_time()
    minimise(pos, neg, problem.penalty, remember)
    for seconds, w in points:
        yield {"problem": problem.label, "method": USER, "seconds": seconds - begin, "objective": value(w)}
    program = RankSVM(problem.penalty, squared=True) if problem.penalty else BufferedAUC()
    for method in ("newton", "cutting_plane"):
        solve(program, *_small(X), solver=method)  # loads the loops
        for tolerance in TOLERANCES:
            found = []
            for _ in range(2):
                begin = process_time()
                solution = solve(program, X, y, solver=method, tolerance=tolerance, time_limit=120.0)
                found.append(process_time() - begin)
            named = {"problem": problem.label, "method": method, "tolerance": tolerance}
            yield {**named, "seconds": min(found), "objective": value(solution.coef)}


def draw() -> None:
    """One panel a problem: distance from the best objective of all, relative, against seconds."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    sys.path.insert(0, str(measured.ROOT / "docs"))
    from save_figure import save_figure

    rows = measured.read(RESULTS)
    figure = Figure(figsize=(9.2, 6.6), dpi=110, layout="constrained")
    axes = np.ravel(figure.subplots(3, 4))
    for ax, name in zip(axes, SHOWN, strict=True):
        here = [row for row in rows if row["problem"] == name]
        best = min(float(row["objective"]) for row in here)
        for method, (colour, line) in STYLES.items():
            curve = sorted((float(r["seconds"]), float(r["objective"])) for r in here if r["method"] == method)
            seconds, objective = np.array(curve).T
            above = np.maximum(np.minimum.accumulate(objective) / max(best, 1e-3) - best / max(best, 1e-3), FLOOR)
            ax.plot(seconds, above, line, color=colour, marker="o", markersize=3, label=method)
        ax.set(xscale="log", yscale="log", ylim=(FLOOR / 3, 30))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_title(name.replace(", RankSVM", ",\nRankSVM").replace(", columns", ",\ncolumns"), fontsize=7.5)
        ax.tick_params(labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.supxlabel("processor seconds", fontsize=9)
    figure.supylabel("objective above the best one found, relative (1e-10: nothing left)", fontsize=9)
    save_figure(figure, PICTURE)


def main() -> None:
    """Measure, or draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true")
    if not parser.parse_args().draw:
        with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
            for problem in (problem for problem in PROBLEMS if problem.label in SHOWN):
                for row in measure(problem):
                    keep(row)
                print(problem.label, flush=True)
    draw()


if __name__ == "__main__":
    main()
