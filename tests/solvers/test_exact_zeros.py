"""What is zero in the optimum is zero in `coef`: solvers, losses and norms against the dual."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from auclab import Constraints, GeneralizedBufferedAUC, PartialAUC, Status, solve
from auclab.formulations import Composed
from auclab.formulations.problem import Problem
from auclab.regularisers import ElasticNet, GroupLasso, Norm
from auclab.samples.as_sample import as_sample
from auclab.solvers.certificate import certify_answer
from auclab.solvers.solution import RawSolution
from auclab.solvers.verification import with_exact_zeros
from extension.weighted_l1 import WeightedL1

N = 24
GROUPS = tuple(k // 3 for k in range(N))
REGULARISERS = {
    "l1": Norm("l1", 0.1),
    "l1 squared": Norm("l1", 0.05, squared=True),
    "elastic net": ElasticNet(0.1, 0.05),
    "group lasso": GroupLasso(GROUPS, 0.1),
    "weighted l1": Norm(WeightedL1(tuple(1.0 + 0.1 * (k % 4) for k in range(N))), 0.08),
}
#: Solvers that end next to zeros, and at them.
SOLVERS = ("newton", "interior", "cutting_plane", "clarabel", "highs", "auto")


def data(seed=1, m=90):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, N)) + 0.4 * rng.normal(size=(m, 1))
    return X, (X[:, :4] @ [2.0, -1.5, 1.0, 0.7] + rng.normal(size=m) > 0.5).astype(int)


@lru_cache
def support(program, seed=1):
    """The columns that are not zero in the optimum: where ``‖g_G‖ = s c_G``."""
    X, y = data(seed)
    tight = solve(program, X, y, solver="clarabel", tolerance=1e-10)
    assert tight.status is Status.OPTIMAL
    gradient = X.T @ np.where(y == 1, tight.multipliers, -tight.multipliers)
    regulariser = program.regulariser
    slope = regulariser.slope(regulariser.norm(tight.coef)) - program.threshold * tight.multipliers.sum() / 2
    numbers, factors = regulariser.norm.length_groups(N)
    size = np.sqrt(np.bincount(numbers, gradient**2)) / (slope * factors)
    # Strictly complementary: the zeros are told from the others by far.
    used = size > 1 - 1e-3
    assert (size[used] > 1 - 1e-8).all()
    return frozenset(np.flatnonzero(used[numbers]).tolist())


def check(solution, expected, X, y):
    assert solution.status is Status.OPTIMAL
    assert frozenset(np.flatnonzero(solution.coef).tolist()) == expected
    assert 0 < len(expected) < N
    # The certificate is that of the point.
    value = solution.formulation.value(solution.coef, solution.intercept, X, y)
    assert solution.objective == pytest.approx(value, rel=1e-12)
    assert solution.gap <= 1e-6


CASES = [
    pytest.param(regulariser, loss, margins, solver, id=f"{regulariser}-{loss}-{margins}-{solver}")
    for regulariser in REGULARISERS
    for loss in ("hinge", "squared_hinge")
    for margins in ("pairs", "points")
    for solver in SOLVERS
    if solver != "interior" or (loss == "hinge" and regulariser != "group lasso")
    if solver != "highs" or (loss == "hinge" and regulariser in ("l1", "weighted l1"))
]


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize(("regulariser", "loss", "margins", "solver"), CASES)
def test_the_support_is_that_of_the_optimum(regulariser, loss, margins, solver):
    program = Composed(margins, loss, REGULARISERS[regulariser])
    X, y = data()
    check(solve(program, X, y, solver=solver), support(program), X, y)


@pytest.mark.parametrize(
    ("regulariser", "solver"), [("l1", "interior"), ("elastic net", "newton"), ("group lasso", "clarabel")]
)
def test_the_support_of_points(regulariser, solver):
    program = Composed("points", "hinge", REGULARISERS[regulariser])
    X, y = data()
    check(solve(program, X, y, solver=solver), support(program), X, y)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["interior", "cutting_plane", "clarabel"])
def test_with_a_buffer_the_level_is_that_of_penalty_and_buffer(solver):
    program = GeneralizedBufferedAUC(-0.3, "l1")
    X, y = data()
    check(solve(program, X, y, solver=solver), support(program), X, y)


def test_over_the_hardest_negatives():
    program = PartialAUC(0.4, 0.1, "l1")
    X, y = data()
    newton = solve(program, X, y, solver="newton", tolerance=1e-9)
    expected = frozenset(np.flatnonzero(abs(newton.coef) > 1e-6).tolist())
    check(solve(program, X, y, solver="clarabel"), expected, X, y)


@pytest.mark.parametrize("solver", ["cutting_plane", "clarabel"])
def test_multipliers_of_constraints_count(solver):
    """With ``w_2 + w_5 ≥ 0.3`` a column is not zero that would be, since the constraint pulls it."""
    X, y = data()
    program = Composed("pairs", "hinge", Norm("l1", 0.1))
    stated = Constraints(rows=[{"coefficients": {10: 1.0, 11: 1.0}, "at_least": 0.3}])
    newton = solve(program, X, y, solver="newton", constraints=stated, tolerance=1e-9)
    expected = frozenset(np.flatnonzero(abs(newton.coef) > 1e-6).tolist())
    assert expected != support(program)
    solution = solve(program, X, y, solver=solver, constraints=stated)
    check(solution, expected, X, y)
    assert solution.certificate.violation <= 1e-12


@pytest.mark.slow
def test_two_hundred_rows_of_a_thousand_columns():
    """The interior-point method ends with hundreds of coefficients of 1e-9 that are zero in the optimum."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(200, 1000)), np.zeros(1000)
    w[:10] = 2.0 * rng.normal(size=10)
    y = (X @ w + rng.normal(size=200) > 0).astype(int)
    program = Composed("points", "hinge", Norm("l1", 0.15))
    solution, newton = (solve(program, X, y, solver=solver) for solver in ("interior", "newton"))
    assert solution.gap <= 1e-6
    np.testing.assert_array_equal(solution.coef != 0, newton.coef != 0)
    assert 10 <= np.count_nonzero(solution.coef) <= 30


def test_fewer_zeros_where_all_would_cost_more_than_the_tolerance():
    """Multipliers of another λ have slack in a column that counts: it is kept, and the zeros are set."""
    X, y = data()
    program = Composed("pairs", "hinge", Norm("l1", 0.1))
    problem = Problem(program, as_sample(X, y))
    tight = solve(program, X, y, solver="clarabel", tolerance=1e-10)
    used = np.flatnonzero(tight.coef)
    least = used[abs(tight.coef[used]).argmin()]
    other = solve(Composed("pairs", "hinge", Norm("l1", 0.12)), X, y, solver="newton", tolerance=1e-10)
    gradient = X.T @ np.where(y == 1, other.multipliers, -other.multipliers)
    # A λ with these slopes: the least of the coefficients has slack, and more than its size.
    noisy = np.where(tight.coef == 0, 1e-9, tight.coef)
    sides = y == 1
    raw = RawSolution(noisy, 0.0, Status.OPTIMAL, (other.multipliers[sides], other.multipliers[~sides]))
    proof = certify_answer(problem, raw, problem.objective(noisy, 0.0), 1e-6)
    assert 1 - abs(gradient[least]) / 0.1 < 0  # without slack it is no candidate
    assert np.flatnonzero(with_exact_zeros(problem, raw, proof, 1e-6)[0].coef).tolist() == used.tolist()
    factor = 0.5 * 0.1 / abs(gradient[least])
    weak = replace(raw, multipliers=tuple(factor * part for part in raw.multipliers))
    found, objective = with_exact_zeros(problem, weak, proof, 1e-6)
    assert found.coef[used].all()
    assert not found.coef[tight.coef == 0].all()
    assert objective <= proof.certificate.objective + 1e-6


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_norms_without_zeros_are_left_alone(norm):
    X, y = data()
    problem = Problem(Composed("pairs", "hinge", Norm(norm, 0.1)), as_sample(X, y))
    solution = solve(problem.program, X, y)
    parts = solution.multipliers[y == 1], solution.multipliers[y == 0]
    raw = RawSolution(solution.coef, 0.0, Status.OPTIMAL, parts)
    proof = certify_answer(problem, raw, solution.objective, 1e-6)
    assert with_exact_zeros(problem, raw, proof, 1e-6) is None


@pytest.mark.parametrize("margins", ["pairs", "points"])
def test_zeros_leave_no_hinge_where_there_was_none(margins):
    """Of separable rows the optimum is a vertex: the other columns take up what the zeros change in its scores."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 60)), np.repeat([1, 0], 12)
    X[:12] += 0.4
    program = Composed(margins, "hinge", Norm("l1", 1e-3))
    solution, newton = (solve(program, X, y, solver=solver) for solver in ("interior", "newton"))
    np.testing.assert_array_equal(solution.coef != 0, newton.coef != 0)
    assert solution.objective - program.regulariser.value(solution.coef) <= 1e-9
    assert solution.gap <= 2e-7
