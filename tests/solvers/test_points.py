"""Programs over points by newton: tables of one-hot columns, which are collinear, and small ones."""

import numpy as np
import pytest

from auclab import CSVM, ECSVM, solve
from auclab._core.base import NORMS, Status
from auclab.solvers.registry import is_linear
from programs import CONVEX, label, overlapping

POINTS = [program for program in CONVEX if program.comparisons.name == "points"]


def one_hot(rows, seed=0, n_numeric=3, categories=(2, 5, 7, 4)):
    """Standardised numeric and one-hot columns; those of a category add up to a constant, and some are rare."""
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.35).astype(int)
    blocks = [rng.normal(size=(rows, n_numeric)) + 0.4 * y[:, None]]
    for size in categories:
        shares = rng.dirichlet(np.full(size, 0.7))
        drawn = np.where(rng.random(rows) < 0.3 * y, 0, rng.choice(size, size=rows, p=shares))
        blocks.append(np.eye(size)[drawn])
    X = np.hstack(blocks)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "program",
    [
        *(CSVM(0.01, norm) for norm in NORMS),
        *(CSVM(0.001, norm, squared=True) for norm in NORMS),
        *(ECSVM(-0.2, norm) for norm in NORMS),
        CSVM(0.0),
    ],
    ids=label,
)
def test_collinear_columns_are_certified(program, weighted):
    X, y = one_hot(3_000)
    weight = np.random.default_rng(1).integers(0, 4, y.size).astype(float) if weighted else None
    solution = solve(program, X, y, solver="newton", sample_weight=weight)
    assert solution.status in (Status.OPTIMAL, Status.OPTIMAL_WITHIN)
    assert solution.gap <= 1e-6
    reference = solve(program, X, y, solver="highs" if is_linear(program) else "clarabel", sample_weight=weight)
    assert solution.objective == pytest.approx(reference.objective, rel=2e-6)


@pytest.mark.parametrize("program", POINTS, ids=label)
@pytest.mark.parametrize("seed", range(2))
def test_small_programs(program, seed):
    X, y = overlapping(seed, 30, 40, 4)
    X = np.c_[X, -X[:, :1], X[:, 0] + X[:, 1]]
    solution = solve(program, X, y, solver="newton")
    reference = solve(program, X, y, solver="clarabel", tolerance=1e-8)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-6, abs=1e-9)
    assert solution.gap <= 1e-6
