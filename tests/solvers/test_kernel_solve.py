"""Programs over a whole reproducing-kernel space: against CVXPY with all of K, and the bound against K as a whole."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

import auclab
import reference_kernels
from auclab import (
    CSVM,
    ECSVM,
    AuclabError,
    BufferedAUC,
    ExactAUC,
    GeneralizedBufferedAUC,
    PartialAUC,
    RankSVM,
    Status,
)
from auclab.formulations import Scorecard
from auclab.kernels import RBF, Laplacian, Polynomial, Precomputed
from auclab.solvers.kernel.solve import solve_kernel
from programs import label

PROGRAMS = [
    RankSVM(1e-3, squared=True),
    RankSVM(1e-2),
    CSVM(1e-3, squared=True),
    CSVM(1e-2),
    GeneralizedBufferedAUC(-0.05),
    ECSVM(-0.05),
    PartialAUC(0.3, 1e-3, squared=True),
    PartialAUC(0.3, 1e-2),
]
KERNELS = [RBF(0.3), Laplacian(0.2), Polynomial(2, 0.2), Precomputed(), RBF("scale")]
#: A kernel for each program; AUCLAB_SEEDS=20 is every kernel for every program, at several sizes.
MANY = int(os.environ.get("AUCLAB_SEEDS", "1")) > 1


def rings(seed, m, noise=0.5):
    """A sample that no linear scorer ranks."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, (X[:, 0] ** 2 + X[:, 1] + noise * rng.normal(size=m) > 0.8).astype(int)


def problem(seed, kernel):
    """A random problem; every third has weights."""
    rng = np.random.default_rng(100 + seed)
    m = int(rng.integers(40, 400 if MANY and seed % 5 == 0 else 70))
    X, y = rings(seed, m)
    if isinstance(kernel, Precomputed):
        X = reference_kernels.full_matrix(RBF(0.5), X)
    return X, y, rng.integers(1, 4, m).astype(float) if seed % 3 == 0 else None


CASES = [
    (program, kernel, 5 * p + k)
    for p, program in enumerate(PROGRAMS)
    for k, kernel in enumerate(KERNELS)
    if MANY or k == p % len(KERNELS)
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(
    ("program", "kernel", "seed"),
    CASES,
    ids=[f"{label(program)}-{kernel.name}-{seed}" for program, kernel, seed in CASES],
)
def test_the_optimum_is_that_of_all_of_the_kernel_matrix(program, kernel, seed):
    X, y, weight = problem(seed, kernel)
    K = reference_kernels.full_matrix(kernel.resolved(X), X)
    solution = solve_kernel(program, X, y, kernel, tolerance=1e-8, sample_weight=weight)
    optimum = reference_kernels.optimum(program, K, y, weight)
    assert solution.gap <= 1e-6
    assert solution.objective == pytest.approx(optimum, abs=1e-7)
    assert solution.lower_bound <= optimum + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS[:6], ids=label)
def test_no_lower_bound_is_above_the_optimum_and_each_is_that_of_its_multipliers(program):
    X, y = rings(1, 60)
    kernel = RBF(0.4)
    K = reference_kernels.full_matrix(kernel, X)
    best = solve_kernel(program, X, y, kernel, tolerance=1e-7)
    for budget in (3, 12, 25):
        solution = solve_kernel(program, X, y, kernel, tolerance=1e-6, max_landmarks=budget)
        assert solution.n_landmarks <= budget
        assert solution.lower_bound <= best.objective
        assert best.lower_bound <= solution.objective
        if solution.gap > 1e-6:
            assert solution.status is Status.ITERATION_LIMIT
            assert any("max_landmarks" in note for note in solution.notes)
        if solution.lower_bound > 0:
            twin = reference_kernels.lower_bound(program, K, y, solution.multipliers)
            assert solution.lower_bound <= twin <= solution.lower_bound + 1e-6


@pytest.mark.parametrize("program", PROGRAMS, ids=label)
def test_the_objective_is_that_of_the_scores(program):
    """Evaluated again from `decision_function` and cᵀKc by the brute-force twin of linear programs."""
    from reference_programs import objective

    X, y = rings(2, 50)
    kernel = Laplacian(0.5)
    solution = solve_kernel(program, X, y, kernel, tolerance=1e-4)
    K = reference_kernels.full_matrix(kernel, X)
    c = np.zeros(y.size)
    c[solution.landmarks] = solution.dual_coef
    np.testing.assert_allclose(solution.decision_function(X), K @ c + solution.intercept, atol=1e-9)
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))  # a linear problem with the same scores and the same length
    twin = objective(program, root.T @ c, solution.intercept, root, y)
    assert solution.objective == pytest.approx(twin, abs=1e-8)
    assert solution.length == pytest.approx(np.sqrt(c @ K @ c))


def test_scores_do_not_depend_on_blocks_sparsity_or_an_offset(monkeypatch):
    X, y = rings(3, 90)
    program = RankSVM(1e-3, squared=True)
    dense = solve_kernel(program, X, y, RBF(0.4), tolerance=1e-6)
    for other in (sp.csr_array(X), X + 1024.0):
        solution = solve_kernel(program, other, y, RBF(0.4), tolerance=1e-6)
        assert solution.objective == pytest.approx(dense.objective, rel=2e-6)
        np.testing.assert_allclose(solution.decision_function(other), dense.decision_function(X), atol=2e-2)
    monkeypatch.setattr("auclab.solvers.kernel.solution.BLOCK_BYTES", 8 * 7 * dense.n_landmarks)
    np.testing.assert_allclose(dense.decision_function(X[:20]), dense.decision_function(X)[:20], atol=1e-12)


def test_a_matrix_that_is_not_kept_gives_the_same(monkeypatch):
    """A budget below K's size, and blocks that do not divide it."""
    X, y = rings(4, 150)
    program = RankSVM(1e-3, squared=True)
    kept = solve_kernel(program, X, y, RBF(0.4), tolerance=1e-3)
    monkeypatch.setattr("auclab.solvers.kernel.training.CHUNK", 37)
    computed = solve_kernel(program, X, y, RBF(0.4), tolerance=1e-3, memory_gb=3e-4)
    assert computed.lower_bound <= kept.objective
    assert kept.lower_bound <= computed.objective
    assert computed.gap <= 1e-3
    little = solve_kernel(program, X, y, RBF(0.4), tolerance=1e-3, memory_gb=5e-5)
    assert little.n_landmarks <= 10
    assert any("memory_gb" in note for note in little.notes)


def test_a_large_penalty_gives_zero_and_no_landmarks():
    X, y = rings(5, 60)
    for program in (RankSVM(5.0), GeneralizedBufferedAUC(-5.0), CSVM(5.0)):
        solution = solve_kernel(program, X, y, RBF(0.4), tolerance=1e-3)
        assert solution.n_landmarks == 0
        assert solution.gap <= 1e-3
        assert set(solution.decision_function(X[:3])) == {solution.intercept}


@pytest.mark.parametrize("program", [BufferedAUC(), PartialAUC(0.3), CSVM(0.0)], ids=label)
def test_a_program_without_a_norm_is_certified_in_its_span(program):
    X, y = rings(6, 120, noise=1.5)
    few, more = (solve_kernel(program, X, y, RBF(0.4), tolerance=1e-6, max_landmarks=n) for n in (4, 12))
    for solution in (few, more):
        assert solution.space == "span"
        assert solution.status in (Status.OPTIMAL, Status.OPTIMAL_WITHIN)
        assert "no norm" in solution.notes[0]
    assert more.objective <= few.objective + 1e-9
    # the same program on the kernel values at the landmarks as features
    from auclab import solve

    features = few.kernel.between(X, X[few.landmarks])
    linear = solve(program, features, y, tolerance=1e-8)
    assert few.objective == pytest.approx(linear.objective, abs=1e-6)


def test_equal_rows_of_both_classes_bound_a_program_without_a_norm():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    solution = solve_kernel(BufferedAUC(), X, [0, 1, 0, 1], RBF(1.0), tolerance=1e-6)
    assert solution.objective == pytest.approx(0.25, abs=1e-6)  # the pair of equal rows has margin 0


@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [
        (RankSVM(0.1, "l1"), {}, "norm l2"),
        (GeneralizedBufferedAUC(0.1), {}, "z ≤ 0"),
        (ExactAUC(), {}, "no kernel form"),
        (Scorecard(), {}, "scorecard gives whole points to columns, but a kernel has none"),
        (RankSVM(0.1), {"max_landmarks": 0}, "whole number ≥ 1"),
        (RankSVM(0.1), {"memory_gb": 0.0}, "memory_gb"),
        (RankSVM(0.1), {"kernel": Precomputed()}, "square matrix"),
        (RankSVM(0.1), {"tolerance": -1.0}, "tolerance"),
    ],
)
def test_mistakes_are_named(program, arguments, message):
    X, y = rings(0, 20)
    with pytest.raises(AuclabError, match=message):
        solve_kernel(program, X, y, arguments.pop("kernel", RBF(1.0)), **arguments)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "not symmetric"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), "not distances"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "not finite"),
    ],
)
def test_a_matrix_that_is_no_kernel_is_refused(matrix, message):
    with pytest.raises(AuclabError, match=message):
        solve_kernel(RankSVM(0.1), matrix, [0, 1], Precomputed())


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_bound_with_a_threshold_is_that_of_a_program_nearby_where_it_has_something_to_spare(seed):
    X, y = rings(seed, 60)
    solution = solve_kernel(GeneralizedBufferedAUC(-0.3), X, y, RBF(0.4), tolerance=1e-4)
    assert solution.status is Status.OPTIMAL
    assert solution.iterations < 100


def test_a_time_limit_ends_with_a_point_and_a_bound():
    X, y = rings(9, 1500)
    solution = solve_kernel(RankSVM(1e-5, squared=True), X, y, RBF(3.0), tolerance=1e-9, time_limit=0.3)
    assert solution.status in (Status.TIME_LIMIT, Status.ITERATION_LIMIT)
    assert 0 <= solution.lower_bound <= solution.objective < 1


def test_a_matrix_with_a_negative_eigenvalue_is_no_kernel():
    rng = np.random.default_rng(0)
    matrix = 0.3 * rng.normal(size=(60, 60))
    matrix = 0.5 * (matrix + matrix.T)
    np.fill_diagonal(matrix, abs(matrix).max() + 0.01)
    y = (rng.random(60) < 0.5).astype(int)
    with pytest.raises(AuclabError, match="negative eigenvalue"):
        auclab.solve(RankSVM(0.1, squared=True), matrix, y, kernel="precomputed")


def test_landmarks_are_added_where_only_the_solve_shows_that_they_are_missing():
    """The g of the best bound lies in the span of 2 of 7 rows, that of the solve does not."""
    first, second, third = [1.475, -1.715, 1.434], [-0.574, 0.430, -2.894], [-1.481, 0.687, 1.604]
    X = np.array([first, second, second, third, first, second, second])
    y = np.array([0, 0, 0, 0, 1, 0, 0])
    program, kernel = PartialAUC(0.3, penalty=0.0461, squared=True), Polynomial(degree=2, gamma=0.13638)
    values, vectors = np.linalg.eigh((0.13638 * X @ X.T + 1.0) ** 2)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    best = auclab.solve(program, features, y, tolerance=1e-9)
    solution = solve_kernel(program, X, y, kernel)
    assert solution.status is Status.OPTIMAL
    assert solution.lower_bound <= best.objective <= solution.objective <= 1.001 * best.objective
