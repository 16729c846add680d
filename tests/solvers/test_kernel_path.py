"""Paths over a kernel's space: the same optima as solves by themselves, and parts of a matrix that is kept."""

from dataclasses import replace

import numpy as np
import pytest

from auclab import CSVM, ECSVM, AuclabError, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM
from auclab.kernels import RBF, Laplacian, Polynomial, Precomputed
from auclab.solvers.kernel.solve import solve_kernel, solve_kernel_path
from auclab.solvers.kernel.training import training_problem
from programs import label

CASES = [
    (RankSVM(1.0, squared=True), "penalty", [1e-3, 1.0, 3e-2, 5.0], RBF(0.4)),
    (RankSVM(1.0), "penalty", [1e-2, 1e-1], Laplacian(0.3)),
    (CSVM(1.0, squared=True), "penalty", [1e-3, 1e-1], Polynomial(2)),
    (PartialAUC(0.3, 1.0, squared=True), "penalty", [1e-3, 1e-1], RBF("scale")),
    (GeneralizedBufferedAUC(-1.0), "threshold", [-0.2, -0.02], RBF(0.4)),
    (ECSVM(-1.0), "threshold", [-0.02, -0.2], RBF(0.4)),
]


def rings(seed, m):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, (X[:, 0] ** 2 + X[:, 1] + 0.5 * rng.normal(size=m) > 0.8).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize(("program", "parameter", "values", "kernel"), CASES, ids=[label(case[0]) for case in CASES])
def test_each_value_has_the_optimum_of_a_solve_by_itself(program, parameter, values, kernel):
    X, y = rings(1, 70)
    path = solve_kernel_path(program, X, y, kernel, values, parameter=parameter, tolerance=1e-7)
    for value, solution in zip(values, path, strict=True):
        alone = solve_kernel(replace(program, **{parameter: value}), X, y, kernel, tolerance=1e-7)
        assert solution.formulation == alone.formulation
        assert solution.gap <= 1e-6
        assert solution.status is alone.status
        assert solution.objective == pytest.approx(alone.objective, rel=1e-6, abs=1e-8)
        assert solution.lower_bound <= alone.objective + 1e-12


def test_a_solve_begins_where_the_one_before_ended():
    """Fewer landmarks are chosen anew: a value that changes nothing takes no stage but one."""
    X, y = rings(2, 200)
    first, second = solve_kernel_path(RankSVM(1.0, squared=True), X, y, RBF(0.4), [1e-3, 1.0001e-3], tolerance=1e-3)
    assert len(first.stages) <= 1
    assert set(first.landmarks) == set(second.landmarks)


@pytest.mark.parametrize("memory", [2e9, 1.0])
@pytest.mark.parametrize("kernel", [RBF(0.4), Polynomial(2), Precomputed()])
def test_a_part_of_a_matrix_is_that_of_its_rows(kernel, memory):
    X, y = rings(3, 60)
    given = RBF(0.5).between(X, X) if isinstance(kernel, Precomputed) else X
    whole = training_problem(RankSVM(0.1), given, y, kernel, memory=memory)
    rows = np.array([40, 3, 17, 5, 22])
    part = whole.rows_in_data_order(rows)
    K = given if isinstance(kernel, Precomputed) else whole.kernel.between(X, X)
    K = K[np.ix_(rows, rows)]
    vectors = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(part.times(vectors), K @ vectors, atol=1e-12)
    np.testing.assert_allclose(part.times(vectors[:, 0]), K @ vectors[:, 0], atol=1e-12)
    np.testing.assert_allclose(part.rows_of(np.array([4, 1])), K[[4, 1]], atol=1e-12)
    np.testing.assert_allclose(part.block(slice(1, 3), np.array([0, 4])), K[1:3][:, [0, 4]], atol=1e-12)
    np.testing.assert_allclose(part.diagonal, np.diag(K))
    smaller = part.part(np.array([2, 0]))
    np.testing.assert_allclose(smaller.block(slice(0, 2), slice(0, 2)), K[np.ix_([2, 0], [2, 0])], atol=1e-12)
    assert part.held == whole.matrix.held == (8.0 * 60**2 if whole.matrix.is_kept else 0.0)


def test_rows_of_a_larger_matrix_are_solved_as_by_themselves():
    X, y = rings(4, 90)
    program, rows = RankSVM(1.0, squared=True), np.r_[5:80]
    whole = training_problem(program, X, y, RBF("scale"), memory=2e9)
    part = whole.rows_in_data_order(rows)
    (shared,) = solve_kernel_path(program, X[rows], y[rows], RBF(9.0), [0.01], tolerance=1e-7, matrix=part)
    alone = solve_kernel(RankSVM(0.01, squared=True), X[rows], y[rows], whole.kernel, tolerance=1e-7)
    assert shared.kernel == whole.kernel  # that of the matrix, not the one beside it
    assert shared.objective == pytest.approx(alone.objective, rel=1e-6)
    np.testing.assert_allclose(shared.decision_function(X), alone.decision_function(X), atol=1e-3)


def test_what_has_no_path_is_said():
    X, y = rings(6, 30)
    with pytest.raises(AuclabError, match="bauc has no parameter 'penalty'"):
        solve_kernel_path(BufferedAUC(), X, y, "rbf", [0.1])
    with pytest.raises(AuclabError, match="norm l2"):
        solve_kernel_path(RankSVM(1.0, norm="l1"), X, y, "rbf", [0.1])
    with pytest.raises(AuclabError, match="memory_gb"):
        solve_kernel_path(RankSVM(1.0), X, y, "rbf", [0.1], memory_gb=0.0)
