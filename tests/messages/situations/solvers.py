# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the solvers may use: small programs, and parts that are called directly."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from auclab._core.base import Status
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.formulations.scorecard import Scorecard
from auclab.samples.as_sample import as_sample
from auclab.solvers.binned import solve as solve_in_bins
from auclab.solvers.budget import check_memory, check_seconds
from auclab.solvers.integer.solver import solve_max_features
from auclab.solvers.kernel.solve import solve_kernel
from auclab.solvers.monitor import Monitor
from auclab.solvers.path import InnerPath, solve_path
from auclab.solvers.registry import check_exportable, check_solvable
from messages.situations import X2, Y, auclab, blocks, csv, f, k, new_folder, r
from messages.situations.conditions import giving, under

MANY = [[float(i % 7), float(i * i % 11)] for i in range(12)]
LABELS = [i % 2 for i in range(12)]


def solved(formulation: object = "bauc", **options: object) -> object:
    """The solution on four rows."""
    return auclab.solve(formulation, X2, Y, **options)


def in_kernel(formulation: object = f.RankSVM(0.1), kernel: object = k.RBF(1.0), **options: object) -> object:
    """The solution over a kernel."""
    return auclab.solve(formulation, X2, Y, kernel=kernel, **options)


def precomputed(matrix: object) -> object:
    """The solution over the values of a kernel."""
    return auclab.solve(f.RankSVM(0.1), matrix, Y, kernel="precomputed")


def card(**options: object) -> object:
    """A scorecard of two items."""
    formulation = Scorecard(**options.pop("formulation", {}))
    return auclab.solve(formulation, [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]], Y, **options)


#: Forty rows of noise, and the sum of two columns as a third one.
NOISE = np.random.default_rng(0).standard_normal((40, 4))
ALTERNATING = [k % 2 for k in range(40)]
WITH_SUM = np.c_[NOISE[:, :2], NOISE[:, :2].sum(axis=1)]
#: Four rows of 2,001 columns; 4,001 rows, and 1,501 and 1,500 rows of the classes, of which one column ranks most.
WIDE = np.random.default_rng(0).standard_normal((4, 2001))
LONG = np.c_[np.arange(4001.0) + 500.0 * (np.arange(4001) % 7 == 0)]
LONG_LABELS = np.arange(4001) > 2000


def late(call: object) -> object:
    """What `call` returns where the time of every loop is over at its first look at the clock."""
    return under({"auclab.solvers.monitor.Monitor.stopped": giving(Status.TIME_LIMIT)}, call)


def on_path(status: Status) -> object:
    """The scorer of a value of λ, whose solve ends so."""
    ended = replace(auclab.solve(f.RankSVM(0.01), X2, Y), status=status)
    path = InnerPath(f.RankSVM(0.01), X2, Y, [0.01], solver="clarabel")
    return under({"auclab.solvers.path.following_solution": giving(ended)}, lambda: path.refined(0))


def of_sum(at_most: float = 3.0) -> object:
    """Two items whose points add up to 3 or more, and to no more than this."""
    rows = [
        {"coefficients": {0: 1, 1: 1}, "at_least": 3.0},
        {"coefficients": {0: 1, 1: 1}, "at_most": at_most},
    ]
    return card(constraints=auclab.Constraints(rows=rows))
