# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the solvers may use: small programs, and parts that are called directly."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.formulations.scorecard import Scorecard
from auclab.samples.as_sample import as_sample
from auclab.solvers.binned import checkpoint
from auclab.solvers.binned.choice import solve as solve_in_bins
from auclab.solvers.budget import check_memory, check_seconds
from auclab.solvers.integer.max_features import solve_max_features
from auclab.solvers.kernel.prune import prune
from auclab.solvers.path import solve_path
from auclab.solvers.registry import check_solvable
from messages.situations import X2, Y, auclab, f, k, new_folder

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


def stored_checkpoint(version: int) -> object:
    """Read a checkpoint of this version."""
    path = new_folder() / "state.npz"
    np.savez(path, version=version)
    return checkpoint.read_checkpoint(path)
