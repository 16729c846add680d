"""A table like that of docs/solver_speed.md, and the figure of that page, from result files of benchopt.

    python benchmarks/benchopt_ranksvm/table.py benchmarks/benchopt_ranksvm/outputs/*.parquet [--plot FILE] [--all]

Each curve counts with its last point: the solve at the last tolerance, or where L-BFGS-B ended. Seconds are
the least of the repetitions, which other work on the machine lengthens least, relative to L-BFGS-B, or to newton where
the problem is not smooth. *Above* is the distance of the objective from the best one that any solver found for the
problem, relative. ``--all`` lists every solver with its seconds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from benchopt.results import read_results

PROBLEM = ["dataset_name", "objective_name"]
USER, NEWTON, CUTTING_PLANE = "L-BFGS-B", "auclab[solver=newton]", "auclab[solver=cutting_plane]"
#: The others, as they are shown.
OTHERS = {
    "auclab[solver=highs windows]": "HiGHS windows",
    "auclab[solver=highs dual]": "HiGHS dual form",
    "auclab[solver=clarabel]": "Clarabel",
    "CVXPY-Clarabel": "CVXPY-Clarabel",
    "dlib": "dlib",
}
#: Data sets of the table and their pairs.
SHOWN = {
    "artificial[decades=0,size=1000]": ("artificial 10³ + 10³ × 10", "10⁶"),
    "artificial[decades=0,size=10000]": ("artificial 10⁴ + 10⁴", "10⁸"),
    "artificial[decades=0,size=100000]": ("artificial 10⁵ + 10⁵", "10¹⁰"),
    "artificial[decades=0,size=1000000]": ("artificial 10⁶ + 10⁶", "10¹²"),
    "ionosphere[factor=1]": ("ionosphere × 1", "28,350"),
    "ionosphere[factor=10]": ("ionosphere × 10", "2.8·10⁶"),
    "ionosphere[factor=100]": ("ionosphere × 100", "2.8·10⁸"),
    "ionosphere[factor=1000]": ("ionosphere × 1000", "2.8·10¹⁰"),
    "artificial[decades=6,size=10000]": ("artificial 10⁴, columns × 10^(−3…3)", "10⁸"),
    "hard[kind=correlated]": ("100 correlated features", "2.5·10⁷"),
    "hard[kind=few_positives]": ("30 positives, 10⁵ negatives", "3·10⁶"),
    "hard[kind=binary]": ("20 binary features", "10⁸"),
    "hard[kind=text]": ("text, 4,000 × 50,000", "4·10⁶"),
}


def label(points: pd.DataFrame) -> tuple[str, str]:
    """Problem and pairs."""
    first = points.iloc[0]
    name, pairs = SHOWN.get(first["dataset_name"], (first["dataset_name"], ""))
    penalty = first["p_obj_penalty"]
    return (f"{name}, RankSVM {penalty:g} ‖w‖{'²' * bool(first['p_obj_squared'])}" if penalty else name), pairs


class Problem:
    """What the solvers reached on one problem."""

    def __init__(self, points: pd.DataFrame) -> None:
        self.label, self.pairs = label(points)
        self.best = float(points["objective_value"].min())
        last = points.groupby(["solver_name", "idx_rep"], sort=False).tail(1)
        by_solver = {str(name): ends for name, ends in last.groupby("solver_name")}
        self.seconds = {name: float(ends["time"].min()) for name, ends in by_solver.items()}
        self.ends = {name: ends.iloc[-1] for name, ends in by_solver.items()}
        self.unit = self.seconds.get(USER, self.seconds.get(NEWTON, 1.0))

    def ratio(self, solver: str) -> str:
        """Seconds relative to those of the user's own program."""
        return f"{float(f'{self.seconds[solver] / self.unit:.2g}'):g}" if solver in self.seconds else "–"

    def above(self, solver: str) -> str:
        """Distance from the best objective."""
        if solver not in self.ends:
            return "–"
        distance = (self.ends[solver]["objective_value"] - self.best) / max(self.best, 1e-3)
        return f"{distance:.0e}" if distance else "0"

    def gap(self, solver: str) -> str:
        """Certified gap."""
        found = self.ends[solver]["objective_gap"] if solver in self.ends else np.nan
        return "–" if np.isnan(found) else f"{max(found, 0.0):.0e}"

    def row(self) -> str:
        """A row of the table."""
        others = ", ".join(f"{shown} {self.ratio(name)}" for name, shown in OTHERS.items() if name in self.seconds)
        ours = [text for name in (NEWTON, CUTTING_PLANE) for text in (self.ratio(name), self.gap(name))]
        return "| " + " | ".join([self.label, self.pairs, self.above(USER), *ours, others]) + " |"

    def rows(self) -> list[str]:
        """A row a solver."""
        return [
            f"| {self.label} | {name} | {seconds:.3g} | {self.ratio(name)} | {self.above(name)} | {self.gap(name)} |"
            for name, seconds in sorted(self.seconds.items(), key=lambda item: item[1])
        ]


def plot(problems: list[tuple[Problem, pd.DataFrame]], path: Path) -> None:
    """Distance from the best objective against seconds in the first repetition, one panel a problem."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    styles = {USER: ("#000000", ":"), NEWTON: ("#0072b2", "-"), CUTTING_PLANE: ("#d55e00", "--")}
    columns = min(4, len(problems))
    n_rows = -(-len(problems) // columns)
    figure = Figure(figsize=(2.3 * columns, 2.0 * n_rows + 0.4), layout="constrained")
    axes = np.ravel(figure.subplots(n_rows, columns))
    for ax in axes[len(problems) :]:
        ax.set_axis_off()
    for ax, (problem, points) in zip(axes, problems, strict=False):
        for solver, (colour, line) in styles.items():
            curve = points[(points["solver_name"] == solver) & (points["idx_rep"] == 0)]
            curve = curve[curve["objective_value"] < 1.0].sort_values("time")  # without w = 0
            value = np.minimum.accumulate(curve["objective_value"].to_numpy()) / problem.best - 1
            shown = solver.removeprefix("auclab[solver=").removesuffix("]")
            ax.loglog(curve["time"], np.maximum(value, 1e-10), line, color=colour, marker=".", label=shown)
        ax.set_title(problem.label, fontsize=7)
        ax.set_ylim(3e-11, 30)
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.tick_params(labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("seconds", fontsize=8)
    figure.supylabel("objective above the optimum, relative (1e-10: nothing left)", fontsize=8)
    handles = {line.get_label(): line for ax in axes for line in ax.get_lines()}
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--all", action="store_true", help="a row a solver, with seconds")
    arguments = parser.parse_args()
    results = pd.concat([read_results(path) for path in arguments.results], ignore_index=True)
    problems = [(Problem(points), points) for _, points in results.groupby(PROBLEM, sort=False)]
    if arguments.all:
        print("| problem | solver | seconds | relative | above | gap |\n|---|---|---|---|---|---|")
        print("\n".join(row for problem, _ in problems for row in problem.rows()))
    else:
        print("| problem | pairs | L-BFGS-B above | newton | gap | cutting_plane | gap | others |")
        print("|---|---|---|---|---|---|---|---|")
        print("\n".join(problem.row() for problem, _ in problems))
    if arguments.plot is not None:
        plot(
            [(problem, points) for problem, points in problems if not problem.label.startswith("text")], arguments.plot
        )


if __name__ == "__main__":
    main()
