"""Data with more columns than rows: in the span of the rows, and certified on the rows as given."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import auclab.solvers.reformulations as reformulations
from auclab import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, Status, solve
from auclab.formulations.problem import Problem
from auclab.models.hard_margin import hard_margin
from auclab.regularisers.projection import separating_multipliers, solve_quadratic_pair
from auclab.samples.as_sample import as_sample
from auclab.samples.rotated import is_wide, rotated
from auclab.solvers.monitor import Monitor
from auclab.solvers.reformulations import InRowSpace, is_rotated
from programs import CONVEX, CVAR, label

EUCLIDEAN = [p for p in (*CONVEX, *CVAR) if not p.uses_norm or p.regulariser.name == "l2"]
#: No hinge is left at the optimum of the first, and all have one at those of the others.
STRENGTHS = (1e-3, 0.5, 3.0)
SOFT = [
    *(RankSVM(strength, squared=squared) for strength, squared in product(STRENGTHS, (False, True))),
    *(CSVM(strength, squared=squared) for strength, squared in product(STRENGTHS, (False, True))),
    *(GeneralizedBufferedAUC(-strength) for strength in STRENGTHS),
    *(ECSVM(-strength) for strength in STRENGTHS),
    *(PartialAUC(0.3, strength, squared=True) for strength in STRENGTHS),
]

FEW = [
    RankSVM(1e-3, squared=True),
    RankSVM(0.1),
    CSVM(0.01, squared=True),
    GeneralizedBufferedAUC(-0.1),
    PartialAUC(0.3, 0.01),
]


def wide(seed=0, n_rows=24, n_columns=60, shift=0.4):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3 == 0
    X = rng.normal(size=(n_rows, n_columns))
    X[y, :5] += shift
    return X, y


def conflicting(seed=0):
    """Wide rows of which some belong to both classes, so that no scorer separates them."""
    X, y = wide(seed, 18, 40)
    return np.vstack([X, X[:6]]), np.r_[y, ~y[:6]]


def sparse(seed=0):
    X, y = wide(seed)
    return sp.csr_array(np.where(abs(X) > 1.0, X, 0.0)), y


DEGENERATE = {
    "duplicate rows": (np.repeat(wide()[0], 2, axis=0), np.repeat(wide()[1], 2)),
    "rank 3": (
        np.random.default_rng(1).normal(size=(20, 3)) @ np.random.default_rng(2).normal(size=(3, 50)),
        wide(3, 20)[1],
    ),
    "constant columns": (np.c_[wide()[0], np.full((24, 3), 7.0), np.zeros(24)], wide()[1]),
    "far from 0": (wide()[0] + 1e6, wide()[1]),
    "two rows": (wide()[0][:2], np.array([True, False])),
    "one positive": (wide()[0], np.arange(24) == 5),
    "equal columns": (np.repeat(wide()[0][:, :8], 5, axis=1), wide()[1]),
    "of all sizes": (wide()[0] * np.logspace(0, -6, 60), wide()[1]),
}


def unrotated(monkeypatch):
    """Solvers get rows as they are, and no separator is tried first."""
    monkeypatch.setattr(reformulations, "is_rotated", lambda problem: False)
    monkeypatch.setattr(reformulations, "is_separated_by_rows", lambda sample: False)


@given(
    seed=st.integers(0, 10_000), n_rows=st.integers(2, 15), rank=st.integers(1, 30), offset=st.sampled_from([0.0, 50.0])
)
def test_rotated_rows_have_the_same_differences_of_scores_and_lengths(seed, n_rows, rank, offset):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, 40)) + offset
    y = np.arange(n_rows) < max(1, n_rows // 3)
    sample = as_sample(X, y)
    rows = rotated(sample)
    assert rows.sample.n_features <= min(rank, n_rows - 1)
    u = rng.normal(size=rows.sample.n_features)
    w = rows.original(u)
    assert np.linalg.norm(w) == pytest.approx(np.linalg.norm(u), rel=1e-7)
    scale = np.linalg.norm(u) * np.linalg.norm(X, axis=1).max()
    for ours, theirs in zip(rows.sample.scores(u), sample.scores(w), strict=True):
        np.testing.assert_allclose(ours + rows.centre @ w, theirs, atol=1e-9 * scale)
    np.testing.assert_allclose(rows.coordinates(w), u, atol=1e-6 * np.linalg.norm(u))


def test_rows_that_are_all_the_same_have_no_basis():
    assert rotated(as_sample(np.ones((3, 5)), [0, 1, 1])) is None


@given(seed=st.integers(0, 10_000), n_rows=st.integers(4, 30), n_columns=st.integers(3, 40))
def test_multipliers_by_the_gram_matrix_are_those_of_the_program_over_columns(seed, n_rows, n_columns):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    sides = np.where(X[:, 0] + 0.1 * X[:, 1] > 0, 1.0, -1.0)
    sides[:2] = 1.0, -1.0
    matrix = sp.csc_array(-sides[:, None] * np.c_[X, np.ones(n_rows)])
    twin = solve_quadratic_pair(
        sp.diags_array(np.r_[np.ones(n_columns), 0.0], format="csc"),
        np.zeros(n_columns + 1),
        None,
        (matrix, -np.ones(n_rows)),
    )
    found = separating_multipliers(X @ X.T, sides)
    if twin is None:
        assert found is None
        return
    assert found is not None
    w = X.T @ (sides * found)
    np.testing.assert_allclose(w, twin[0][:-1], atol=1e-6 * np.linalg.norm(w))
    assert abs(sides @ found) <= 1e-8 * found.sum()


def test_classes_that_no_scorer_separates_have_no_separator():
    X, y = conflicting()
    assert hard_margin(Problem(RankSVM(0.1), as_sample(X, y))) is None


@pytest.mark.parametrize("program", [RankSVM(0.1, squared=True), GeneralizedBufferedAUC(-0.2), CSVM(0.1)], ids=label)
def test_a_point_on_rotated_rows_is_one_on_the_rows(program):
    X, y = wide()
    problem = Problem(program, as_sample(X + 3.0, y))
    w = (X[y].mean(axis=0) - X[~y].mean(axis=0)) * 0.1
    start = w, 0.0 if problem.over_pairs else 0.7
    span = InRowSpace.of(problem, Monitor())
    there = span.forth(*start)
    assert span.problem.sample.n_features == 23
    assert span.problem.objective(*there) == pytest.approx(problem.objective(*start), rel=1e-9)
    coef, intercept = span.back(*there)
    np.testing.assert_allclose(coef, w, atol=1e-9)
    if not problem.over_pairs:
        assert intercept == pytest.approx(start[1], abs=1e-9)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("data", [wide, conflicting, sparse])
@pytest.mark.parametrize("program", [*EUCLIDEAN, *SOFT], ids=label)
def test_the_optimum_is_that_without_rotation(program, data, monkeypatch):
    X, y = data(1)
    strong = max(program.regulariser.weight, -program.threshold) >= 0.1  # many hinges are left
    assert is_rotated(Problem(program, as_sample(X, y))) or (data is sparse and strong)
    found = solve(program, X, y, solver="newton")
    assert found.status in (Status.OPTIMAL, Status.OPTIMAL_WITHIN)
    unrotated(monkeypatch)
    twin = solve(program, X, y, solver="clarabel")
    assert twin.gap <= 1e-5
    assert found.objective == pytest.approx(twin.objective, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(
    "program", [RankSVM(0.1), RankSVM(2.0, squared=True), CSVM(0.3, squared=True), ECSVM(-0.5)], ids=label
)
@pytest.mark.parametrize("solver", ["newton", "clarabel", "cutting_plane"])
def test_weights_are_repeated_rows(program, solver):
    X, y = wide(2)
    weight = np.arange(24) // 3 % 3.0
    found = solve(program, X, y, solver=solver, sample_weight=weight)
    repeated = np.repeat(np.arange(24), weight.astype(int))
    twin = solve(program, X[repeated], y[repeated], solver=solver)
    assert found.gap <= 1e-6
    assert found.objective == pytest.approx(twin.objective, rel=3e-6)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize(
    "program",
    [
        RankSVM(0.01, squared=True),
        RankSVM(0.5),
        CSVM(0.1),
        GeneralizedBufferedAUC(-0.1),
        BufferedAUC(),
        PartialAUC(0.3, 0.1),
    ],
    ids=label,
)
def test_degenerate_rows_are_certified(program, name):
    found = solve(program, *DEGENERATE[name])
    assert found.status in (Status.OPTIMAL, Status.OPTIMAL_WITHIN)
    assert found.gap <= 1e-6


def test_other_norms_and_many_rows_are_left_as_they_are():
    X, y = wide()
    assert not is_rotated(Problem(RankSVM(0.1, "l1"), as_sample(X, y)))
    assert not is_rotated(Problem(GeneralizedBufferedAUC(-0.1, "linf"), as_sample(X, y)))
    assert not is_wide(as_sample(X[:, :20], y))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(200, 2_000), (1_000, 2_000)])
@pytest.mark.parametrize(
    "program",
    [
        RankSVM(1e-3, squared=True),
        RankSVM(0.1),
        CSVM(0.01, squared=True),
        GeneralizedBufferedAUC(-0.5),
        PartialAUC(0.1, 0.01),
    ],
    ids=label,
)
def test_wide_gaussian_tables_are_solved_without_a_step(program, shape):
    found = solve(program, *wide(0, *shape))
    assert found.status is Status.OPTIMAL
    assert found.gap <= 1e-6
    assert found.iterations == 0


def test_two_points_have_the_separator_between_them():
    """Points 1 and −1 with α = ½ each: w = 1 by hand."""
    sides = np.array([1.0, -1.0])
    gram = np.array([[1.0, -1.0], [-1.0, 1.0]])
    np.testing.assert_allclose(separating_multipliers(gram, sides), [0.5, 0.5], rtol=1e-6)
    assert separating_multipliers(gram, sides, lambda: True) is None
    assert separating_multipliers(np.zeros((2, 2)), sides) is None
