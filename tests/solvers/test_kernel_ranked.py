"""Kernels over ranked pairs and other losses: CVXPY pair by pair with all of K, and the bound at few landmarks."""

import cvxpy as cp
import numpy as np
import pytest

import auclab
import reference_kernels
from auclab import CSVM, AuclabError, BufferedAUC, GeneralizedBufferedAUC, RankSVM, Status
from auclab.kernels import RBF, Laplacian, Polynomial, Precomputed
from reference_ranked import KINDS, data

PROGRAMS = [
    RankSVM(1e-3, squared=True),
    RankSVM(1e-2),
    GeneralizedBufferedAUC(-0.05),
    RankSVM(1e-3, squared=True, loss="squared_hinge"),
    RankSVM(1e-2, loss="squared_hinge"),
]
KERNELS = [RBF(0.5), Laplacian(0.3), Precomputed(), Polynomial(2, 0.3)]


def root_of(K):
    """Rows whose inner products are K."""
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return root[:, values > 1e-13 * values.max()]


def optimum(program, K, pairs):
    """The least value over the space, with a term for every pair."""
    root, (upper, lower, weight) = root_of(K), pairs
    w = cp.Variable(root.shape[1])
    size, regulariser = cp.norm(w, 2), program.regulariser
    error = cp.pos(1.0 - (root[upper] - root[lower]) @ w - program.threshold * size)
    loss = weight @ (error if program.loss.is_hinge else cp.square(error))
    cost = cp.sum_squares(w) if regulariser.squared else size
    return float(cp.Problem(cp.Minimize(loss + regulariser.weight * cost)).solve(solver="CLARABEL"))


def given_data(kind, seed, kernel, size=26):
    X, y, given, pairs = data(kind, seed, size)
    K = reference_kernels.full_matrix(RBF(0.4) if isinstance(kernel, Precomputed) else kernel, X)
    return (K if isinstance(kernel, Precomputed) else X), K, y, given, pairs


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_optimum_over_the_space_is_that_of_cvxpy_pair_by_pair(kind, number):
    program, kernel = PROGRAMS[number], KERNELS[(number + KINDS.index(kind)) % len(KERNELS)]
    X, K, y, given, pairs = given_data(kind, number, kernel)
    solution = auclab.solve(program, X, y, kernel=kernel, tolerance=1e-7, **given)
    least = optimum(program, K, pairs)
    assert solution.status is Status.OPTIMAL
    assert solution.gap <= 1e-7
    assert solution.objective == pytest.approx(least, abs=1e-6)
    assert solution.lower_bound <= least + 1e-7


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_no_bound_of_few_landmarks_is_above_the_value_of_all(program, kind):
    X, _, y, given, _ = given_data(kind, 3, RBF(0.4), 40)
    best = auclab.solve(program, X, y, kernel=RBF(0.4), tolerance=1e-6, **given)
    few = auclab.solve(program, X, y, kernel=RBF(0.4), tolerance=1e-6, max_landmarks=5, **given)
    assert best.gap <= 1e-6
    assert few.n_landmarks <= 5
    assert few.lower_bound <= best.objective <= few.objective + 1e-9
    assert few.status in (Status.OPTIMAL, Status.ITERATION_LIMIT)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_the_objective_is_that_of_the_scores_pair_by_pair(program, kind):
    X, K, y, given, (upper, lower, weight) = given_data(kind, 1, Laplacian(0.3), 40)
    solution = auclab.solve(program, X, y, kernel=Laplacian(0.3), tolerance=1e-4, **given)
    c = np.zeros(len(K))
    c[solution.landmarks] = solution.dual_coef
    scores, size, regulariser = solution.decision_function(X), np.sqrt(c @ K @ c), program.regulariser
    np.testing.assert_allclose(scores, K @ c, atol=1e-9)
    error = np.maximum(0.0, 1.0 - (scores[upper] - scores[lower]) - program.threshold * size)
    value = weight @ (error if program.loss.is_hinge else error**2)
    value += regulariser.weight * (size**2 if regulariser.squared else size)
    assert solution.objective == pytest.approx(value, abs=1e-8)


def test_the_bound_is_that_of_its_multipliers():
    """γᵀKγ of the stored γ = α − β is the square of ‖g‖ in ``τS − ‖τg‖²/(4λ)``: at the optimum ``‖τg‖ = 2λ‖h‖``."""
    X, K, y, given, _ = given_data("times", 0, RBF(0.4), 40)
    solution = auclab.solve(PROGRAMS[0], X, y, kernel=RBF(0.4), tolerance=1e-7, **given)
    gamma = solution.multipliers
    assert gamma.sum() == pytest.approx(0.0, abs=1e-12)  # every pair adds and takes the same
    assert np.sqrt(gamma @ K @ gamma) == pytest.approx(2e-3 * solution.length, rel=1e-3)


def test_another_loss_over_two_classes_is_certified_over_the_space():
    generator = np.random.default_rng(5)
    X = generator.normal(size=(30, 3))
    y = (X[:, 0] ** 2 + generator.normal(size=30) > 0.7).astype(int)
    pos, neg = np.flatnonzero(y), np.flatnonzero(1 - y)
    pairs = np.repeat(pos, neg.size), np.tile(neg, pos.size), np.full(pos.size * neg.size, 1 / pos.size / neg.size)
    program = RankSVM(1e-3, squared=True, loss="squared_hinge")
    solution = auclab.solve(program, X, y, kernel=RBF(0.4), tolerance=1e-7)
    least = optimum(program, reference_kernels.full_matrix(RBF(0.4), X), pairs)
    assert solution.gap <= 1e-7
    assert solution.objective == pytest.approx(least, abs=1e-6)
    assert solution.lower_bound <= least + 1e-7


def test_a_program_without_a_norm_is_certified_in_the_span():
    X, _, y, given, _ = given_data("times", 2, RBF(0.4), 60)
    solution = auclab.solve(BufferedAUC(), X, y, kernel=RBF(0.4), max_landmarks=10, **given)
    assert solution.space == "span"
    assert solution.status is Status.OPTIMAL_WITHIN


def test_what_is_refused():
    X, _, y, given, _ = given_data("times", 0, RBF(0.4))
    with pytest.raises(AuclabError, match="with points kernels support the hinge alone"):
        auclab.solve(CSVM(0.1, loss="squared_hinge"), X, np.arange(len(X)) % 2, kernel="rbf")
    with pytest.raises(AuclabError, match="set norm=l2"):
        auclab.solve(RankSVM(0.1, "l1"), X, y, kernel="rbf", **given)
