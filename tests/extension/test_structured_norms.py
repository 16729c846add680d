"""Norms that are not functions of the moduli of w: fused lasso, ``‖Fw‖₁`` and ``‖Lw‖₂``, compared with CVXPY."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import auclab
from auclab import AuclabError, Constraints
from auclab.formulations import CSVM, Composed, GeneralizedBufferedAUC, RankSVM
from auclab.formulations.problem import Problem
from auclab.regularisers import Epigraph, Norm
from auclab.samples.as_sample import as_sample
from extension.structured_norms import AnalysisL1, FusedLasso, Mahalanobis

SOLVERS = ("newton", "cutting_plane", "clarabel")


def sample(seed):
    """Up to 50 rows in up to 6 correlated columns, with classes that overlap."""
    generator = np.random.default_rng([seed, 7])
    n, m = int(generator.integers(2, 7)), int(generator.integers(20, 50))
    X = generator.normal(size=(m, n)) @ (np.eye(n) + 0.7 * generator.normal(size=(n, n)))
    y = (X @ generator.normal(size=n) + 2.0 * generator.normal(size=m) > 0).astype(int)
    y[:2] = 0, 1
    return X, y


def norm_of(seed, n):
    """Each of the three kinds in turn."""
    generator = np.random.default_rng([seed, 8])
    if seed % 3 == 0:
        return FusedLasso(n, float(generator.uniform(0.2, 5.0)))
    if seed % 3 == 1:
        return AnalysisL1(generator.normal(size=(n + int(generator.integers(5)), n)))
    A = generator.normal(size=(n, n))
    return Mahalanobis(np.linalg.cholesky(A @ A.T + 0.05 * np.eye(n)).T)


def program(seed, n):
    """Hinge and squared hinge, pairs and points in turn; any λ, the norm or its square."""
    generator = np.random.default_rng([seed, 9])
    penalty = float(10.0 ** generator.uniform(-3.0, -0.5))
    comparisons, loss = ("pairs", "points")[seed // 6 % 2], ("hinge", "squared_hinge")[seed // 3 % 2]
    return Composed(comparisons, loss, Norm(norm_of(seed, n), penalty, bool(generator.integers(2))))


def optimum(program, X, y, constraints=lambda w: []):
    """The least value by CVXPY, with a term for every margin."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    if program.comparisons.name == "pairs":
        margins = (X[y == 1][:, None] - X[y == 0][None]).reshape(-1, X.shape[1]) @ w
    else:
        margins = cp.multiply(np.where(y == 1, 1.0, -1.0), X @ w + b)
    norm, regulariser = program.regulariser.norm, program.regulariser
    length = cp.norm2(norm.L @ w) if norm.name == "mahalanobis" else cp.norm1(norm.F @ w)
    error = cp.pos(1.0 - margins - program.threshold * length)
    loss = cp.sum(error if program.loss.is_hinge else cp.square(error)) / margins.size
    cost = regulariser.weight * (cp.square(length) if regulariser.squared else length)
    return float(cp.Problem(cp.Minimize(loss + cost), constraints(w)).solve(solver="CLARABEL"))


def check(solution, least):
    """Optimal, and neither objective nor bound on the wrong side of the optimum."""
    assert solution.status == "optimal"
    assert solution.gap <= 1e-6
    assert solution.objective == pytest.approx(least, abs=1e-6)
    assert solution.lower_bound <= least + 1e-8


@pytest.mark.slow
@pytest.mark.covering(seed=12)
@pytest.mark.parametrize("seed", range(40))
def test_every_solver_certifies_what_cvxpy_finds(seed):
    X, y = sample(seed)
    given = program(seed, X.shape[1])
    least = optimum(given, X, y)
    for solver in SOLVERS:
        check(auclab.solve(given, X, y, solver=solver), least)


@pytest.mark.parametrize("seed", [0, 2])
def test_no_multipliers_prove_more_than_the_optimum(seed):
    """Of such a norm ‖g‖_* may be far below the dual norm of the moduli, and above that of the errors' moduli alone."""
    X, y = sample(seed)
    given = program(seed, X.shape[1])
    least, best = optimum(given, X, y), auclab.solve(given, X, y, solver="clarabel")
    generator = np.random.default_rng(seed)
    for size in (0.0, 0.01, 0.3):
        multipliers = best.multipliers * (1.0 + size * generator.uniform(-1.0, 1.0, y.size))
        found = auclab.certify(given, X, y, best.coef, multipliers=multipliers)
        assert found.lower_bound <= least + 1e-8
        assert found.gap <= 1e-6 or size
    shares = np.where(y == 1, 1.0 / y.sum(), 1.0 / (y == 0).sum())
    for share in (1.0, 0.3, 0.03):
        assert auclab.certify(given, X, y, best.coef, multipliers=share * shares).lower_bound <= least + 1e-8


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["signs", "box", "row", "buffer", "constant column", "units"])
def test_constraints_buffers_constant_columns_and_units(kind, seed):
    X, y = sample(seed)
    n = X.shape[1]
    given, limits, held = program(seed, n), None, lambda w: []
    if kind == "signs":
        limits, held = Constraints(nonnegative=[0], nonpositive=[1]), lambda w: [w[0] >= 0, w[1] <= 0]
    if kind == "box":
        limits = Constraints(lower=dict.fromkeys(range(n), -0.1), upper=dict.fromkeys(range(n), 0.05))
        held = lambda w: [w >= -0.1, w <= 0.05]  # noqa: E731
    if kind == "row":
        limits = Constraints(rows=[{"coefficients": {0: 1.0, 1: 2.0}, "at_most": -0.1}])
        held = lambda w: [w[0] + 2.0 * w[1] <= -0.1]  # noqa: E731
    if kind == "buffer":
        given = Composed(given.comparisons, given.loss, given.regulariser, -0.2)
    if kind == "constant column":  # its weight changes no score, and makes the norm smaller
        X[:, 0] = 3.0
    least = optimum(given, X, y, held)
    if kind == "units":
        X, given = 1e5 * X, given.with_params(regulariser=given.regulariser.in_units(1e5))
    for solver in SOLVERS:
        check(auclab.solve(given, X, y, solver=solver, constraints=limits), least)


def test_newton_steps_in_a_column_in_which_the_hessian_is_flat():
    """The norm alone determines its weight, at the scale of the others; in units 10⁶ times as large a step is lost."""
    X, y = sample(221)
    X[:, 0] = 3.0
    given = program(221, X.shape[1])
    check(auclab.solve(given, X, y, solver="newton"), optimum(given, X, y))


def test_newton_within_signs_where_the_norm_pulls_at_entries_that_are_0():
    """A step that fixes entries at 0 column by column takes the slope of an absolute norm, which is 0 there."""
    X, y = sample(23)
    given, limits = program(23, X.shape[1]), Constraints(nonnegative=[0], nonpositive=[1])
    least = optimum(given, X, y, lambda w: [w[0] >= 0, w[1] <= 0])
    check(auclab.solve(given, X, y, solver="newton", constraints=limits), least)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_few_features_are_the_best_of_all_subsets(seed):
    X, y = sample(seed)
    norm = norm_of(seed, X.shape[1])
    subsets = map(list, itertools.combinations(range(X.shape[1]), 1))
    least = min(optimum(RankSVM(0.05, norm=norm.restricted(some)), X[:, some], y) for some in subsets)
    check(auclab.solve(RankSVM(0.05, norm=norm), X, y, constraints=Constraints(max_features=1)), least)


def test_a_norm_that_does_not_say_what_it_is_on_some_columns_is_refused_where_that_is_needed():
    class Unrestricted(Mahalanobis):
        restricted = auclab.regularisers.VectorNorm.restricted

    X, y = sample(2)
    norm = Unrestricted(norm_of(2, X.shape[1]).L)
    with pytest.raises(AuclabError, match=r"mahalanobis does not say what it is .* `restricted"):
        auclab.solve(RankSVM(0.05, norm=norm), X, y, constraints=Constraints(max_features=1))
    bounded = auclab.solve(RankSVM(0.05, norm=norm), X, y, solver="newton", constraints=Constraints(nonnegative=[0]))
    assert bounded.gap <= 1e-6


def test_a_constant_scorer_of_points_is_proved_by_the_multipliers_of_the_solver():
    """`null_penalty` is an upper bound for a round norm; below it no multipliers of w = 0 are known in advance."""
    X, y = sample(2)
    norm = norm_of(2, X.shape[1])
    largest = CSVM(1.0, norm=norm).null_penalty(X, y)
    for part in (0.3, 0.9, 0.99, 1.01):
        given = CSVM(part * largest, norm=norm)
        check(auclab.solve(given, X, y), optimum(given, X, y))


def test_a_buffer_alone_is_certified_for_every_w():
    X, y = sample(2)
    given = GeneralizedBufferedAUC(-0.3, norm=norm_of(2, X.shape[1]))
    check(auclab.solve(given, X, y), optimum(given, X, y))


class SignedParts(AnalysisL1):
    """``‖Fw‖₁`` with parts of either sign: ``u = Fw``, ``abs(u) ≤ v``, ``Σ v ≤ t``."""

    def epigraph(self, unit):
        F, one = sp.csr_array(self.F * unit), sp.eye_array(len(self.F))
        return Epigraph.polyhedral(
            [F, None, -one, None],
            [-F, None, one, None],
            [None, None, one, -one],
            [None, None, -one, -one],
            [None, [[-1.0]], None, np.ones((1, len(self.F)))],
        )


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_parts_of_an_epigraph_may_be_negative_and_more_than_the_columns(solver):
    X, y = sample(1)
    given = RankSVM(0.05, norm=SignedParts(norm_of(1, X.shape[1]).F))
    check(auclab.solve(given, X, y, solver=solver), optimum(given, X, y))


@pytest.mark.parametrize("seed", range(6))
def test_no_vector_of_a_box_is_longer_than_what_encloses_the_box(seed):
    X, y = sample(seed)
    problem = Problem(program(seed, X.shape[1]), as_sample(X, y))
    generator, dual = np.random.default_rng(seed), problem.program.regulariser.norm.dual
    for width in (0.0, 0.1, 3.0):
        low = generator.normal(size=X.shape[1])
        high = low + width * generator.random(low.size)
        gradient, more = problem.enclosed(low, high)
        limit = (dual(gradient) + more) * (1.0 + 1e-12)
        corners = generator.random((50, low.size)) < 0.5
        assert max(dual(np.where(upper, high, low)) for upper in corners) <= limit
        assert more == pytest.approx(0.0) if width == 0 else more > 0.01 * width
    assert max(map(dual, X)) <= problem.largest_row


def test_least_parts_of_rows_and_cones():
    x = np.array([3.0, -4.0])
    assert FusedLasso(2, 2.0).epigraph(np.ones(2)).least_parts(x).tolist() == [3.0, 4.0, 14.0]
    assert FusedLasso(2, 2.0).epigraph(np.ones(2)).least_parts(abs(x), moduli=True).tolist() == [3.0, 4.0, 14.0]
    grouped = auclab.regularisers.GroupLasso((0, 0), 1.0).norm.epigraph(np.array([2.0, 1.0]))
    assert grouped.least_parts(x).tolist() == pytest.approx([np.sqrt(36.0 + 16.0)])
    assert Mahalanobis(np.eye(2)).epigraph(np.ones(2)).least_parts(x).size == 0
