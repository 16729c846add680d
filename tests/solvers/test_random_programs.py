"""Random small programs of every row of the table: the structured solvers against HiGHS and Clarabel."""

import os

import numpy as np
import pytest

from auclab import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, RankSVM, solve
from auclab._core.base import NORMS, Status
from auclab.solvers.registry import is_linear
from programs import label

PROGRAMS = [
    BufferedAUC(),
    *(GeneralizedBufferedAUC(-0.1, norm) for norm in NORMS),
    *(kind(0.02, norm, squared=squared) for kind in (RankSVM, CSVM) for squared in (False, True) for norm in NORMS),
    *(ECSVM(-0.1, norm) for norm in NORMS),
]
#: One problem of every kind; more seeds (AUCLAB_SEEDS=20) are more of the same kinds at other sizes.
SEEDS = range(int(os.environ.get("AUCLAB_SEEDS", "7")))
AGREE = 1e-7


def random_problem(seed):
    """One of the kinds that `seed` stands for, its sizes and features at random."""
    rng = np.random.default_rng(1_000 + seed)
    n_pos, n_neg, n = rng.integers(5, 41), rng.integers(5, 41), int(rng.integers(1, 9))
    if seed % 5 == 4:  # imbalanced
        n_pos, n_neg = 5, 40
    y = np.repeat([1, 0], [n_pos, n_neg])
    X = rng.normal(size=(y.size, n)) + np.outer(y, rng.normal(size=n))
    kind = ("plain", "integers", "separable", "collinear", "constant", "duplicated", "equal_means")[seed % 7]
    if kind == "integers":
        X = np.rint(X)
    elif kind == "separable":
        X[:, 0] = np.where(y == 1, 1.0, -1.0) + rng.uniform(-0.5, 0.5, y.size)
    elif kind == "collinear":
        X = np.rint(64 * X) / 64  # the sums are exact: otherwise a w of 1e16 could use their rounding
        X = np.c_[X, X @ rng.integers(-2, 3, n)]
    elif kind == "constant":
        X = np.c_[X, np.full(y.size, 7.0)]
    elif kind == "duplicated":
        X = np.c_[X, X[:, 0]]
    elif kind == "equal_means":
        X[y == 1] -= X[y == 1].mean(axis=0)
        X[y == 0] -= X[y == 0].mean(axis=0)
    return kind, X, y


def reference_of(program, X, y):
    """The optimum by a generic solver, no further off than its own certificate says."""
    if is_linear(program):
        solution = solve(program, X, y, solver="highs", encoding="full", tolerance=1e-9)
    else:
        solution = solve(program, X, y, solver="clarabel", tolerance=1e-9)
    return solution


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=label)
def test_structured_solvers_agree_with_generic_ones(program, seed):
    kind, X, y = random_problem(seed)
    reference = reference_of(program, X, y)
    allowed = AGREE * max(reference.objective, 1e-3)
    # Both ends of the reference's own certificate: the optimum lies between them.
    assert reference.objective - reference.lower_bound <= allowed, (kind, reference.certificate)
    for solver in ("newton", "cutting_plane"):
        solution = solve(program, X, y, solver=solver, tolerance=1e-8)
        # Integers may lie exactly at the threshold, where no multipliers are strictly feasible.
        ended = (Status.OPTIMAL, Status.OPTIMAL_WITHIN) if kind == "integers" else (Status.OPTIMAL,)
        assert solution.status in ended, (solver, kind, solution.certificate)
        assert abs(solution.objective - reference.objective) <= allowed, (solver, kind)
        if kind == "separable" and program.threshold == program.regulariser.weight == 0:
            assert solution.objective == 0.0
            assert any("hard-margin" in note for note in solution.notes)
