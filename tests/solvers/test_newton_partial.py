"""Partial AUC by Newton: the smoothed loss against all pairs, the optima against CVXPY, the proof of w = 0."""

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from auclab import BufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import NORMS, Status
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.minimise import DampedNewton
from auclab.solvers.newton.steps import HessianOperator
from auclab.solvers.smoothed.partial_loss import PartialLoss
from programs import CVAR, PROBLEMS, label, overlapping, tied


def drawn(seed, weighted):
    rng = np.random.default_rng(seed)
    X, y = (overlapping if seed % 2 else tied)(seed)
    return X, y, rng.uniform(0.5, 2.0, y.size) if weighted else None, rng


def smoothed_hinge(a, h):
    return np.where(np.abs(a) < h, (a + h) ** 2 / (4 * h), np.maximum(a, 0.0))


def formed(problem, coef, h):
    """The smoothed value, r and the slopes of all pairs, formed one by one; the level by bisection.

    Where those who lose anything fit into the capacity, the value is what they lose; the other r are then NaN.
    """
    sample = problem.sample
    a = 1.0 - (sample.X_pos @ coef)[:, None] + (sample.X_neg @ coef)[None, :]
    loss, capacity = sample.share_pos @ smoothed_hinge(a, h), sample.share_neg / problem.program.max_fpr
    if capacity[loss > 0].sum() < 1 - 1e-12:
        return capacity @ loss, np.where(loss > 0, capacity, np.nan), np.clip((a + h) / (2 * h), 0, 1), a
    low, high = loss.min() - h, loss.max() + h
    for _ in range(200):
        level = 0.5 * (low + high)
        if capacity @ np.clip((loss - level + h) / (2 * h), 0, 1) > 1:
            low = level
        else:
            high = level
    value = level + capacity @ smoothed_hinge(loss - level, h)
    return value, capacity * np.clip((loss - level + h) / (2 * h), 0, 1), np.clip((a + h) / (2 * h), 0, 1), a


@given(
    seed=st.integers(0, 10_000),
    share=st.sampled_from([0.04, 0.3, 0.5, 1.0]),
    half_width=st.sampled_from([0.01, 0.3, 4.0]),
    length=st.sampled_from([1.0, 3.0]),
    weighted=st.booleans(),
)
def test_the_smoothed_loss_is_that_of_the_formed_pairs(seed, share, half_width, length, weighted):
    X, y, weight, rng = drawn(seed, weighted)
    problem = Problem(PartialAUC(share), as_sample(X, y, weight))
    sample, loss = problem.sample, PartialLoss(problem, problem.sample)
    theta, step = np.r_[rng.normal(size=3), 0.0, 0.0], np.r_[rng.normal(size=3), 0.0, 0.0]
    if length > 1:  # a separator of many rows, where few negatives lose anything
        theta[:3] = length * sample.mean_difference + 0.01 * theta[:3]  # no margin at the edge of a band
    value, r, slopes, a = formed(problem, theta[:3], half_width)
    evaluation = loss.evaluate(theta, half_width)
    assert evaluation.value == pytest.approx(value, rel=1e-9)
    given = evaluation.multipliers[2]
    r = np.where(np.isnan(r), given, r)  # of those who lose nothing, only the sum counts
    q = sample.share_pos[:, None] * r[None, :] * slopes
    for found, expected in zip(evaluation.multipliers, (q.sum(axis=1), q.sum(axis=0), r), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    assert evaluation.smoothing_gap == pytest.approx(value - (q * a).sum(), rel=1e-7, abs=1e-10)
    # The weights r are admissible as they stand.
    assert evaluation.multipliers[2].sum() == pytest.approx(1.0, abs=1e-12)
    assert (evaluation.multipliers[2] <= sample.share_neg / share * (1 + 1e-12)).all()
    # The linearised multipliers move the gradient by the Hessian, which is also given by its products.
    gradient, hessian = -loss.direction_sum(evaluation.multipliers), loss.hessian(evaluation)
    scale = max(1.0, float(np.abs(hessian).max()))
    moved = -loss.direction_sum(loss.linearised(evaluation, step))
    np.testing.assert_allclose(moved, gradient + hessian @ step, rtol=1e-7, atol=1e-8 * scale)
    assert sum(loss.linearised(evaluation, step)[2]) == pytest.approx(1.0, abs=1e-9 * scale)
    product = HessianOperator(loss, ((1.0, evaluation),), np.zeros(5)) @ step
    np.testing.assert_allclose(product, hessian @ step, rtol=1e-7, atol=1e-8 * scale)
    assert (loss.hessian_diagonal(evaluation) >= hessian.diagonal() - 1e-8 * scale).all()
    # CSR rows.
    sparse = Problem(problem.program, as_sample(sp.csr_array(X), y, weight))
    same = PartialLoss(sparse, sparse.sample)
    np.testing.assert_allclose(same.hessian(same.evaluate(theta, half_width)), hessian, rtol=1e-7, atol=1e-7 * scale)


@pytest.mark.parametrize("seed", range(12))
def test_gradient_and_hessian_are_the_derivatives_of_the_formed_value(seed):
    X, y, weight, rng = drawn(2 * seed + 1, seed % 3 == 0)
    problem, h, e = Problem(PartialAUC([0.05, 0.4, 0.8][seed % 3]), as_sample(X, y, weight)), 0.4, 1e-5
    loss, coef = PartialLoss(problem, problem.sample), rng.normal(size=3)
    evaluation = loss.evaluate(np.r_[coef, 0.0, 0.0], h)
    gradient = -loss.direction_sum(evaluation.multipliers)[:3]
    hessian = loss.hessian(evaluation)[:3, :3]
    for _ in range(5):
        direction = rng.normal(size=3)
        up, here, down = (formed(problem, coef + t * direction, h)[0] for t in (e, 0.0, -e))
        assert gradient @ direction == pytest.approx((up - down) / (2 * e), rel=1e-4, abs=1e-6)
        # A margin or a loss that enters the band between changes the second derivative.
        sides = [
            -loss.direction_sum(loss.evaluate(np.r_[coef + t * direction, 0.0, 0.0], h).multipliers)[:3]
            for t in (1e-7, -1e-7)
        ]
        assert hessian @ direction == pytest.approx((sides[0] - sides[1]) / 2e-7, rel=1e-3, abs=1e-3)
        assert direction @ hessian @ direction == pytest.approx((up - 2 * here + down) / e**2, rel=0.05, abs=0.05)


def test_five_positives_of_many_are_certified_in_few_steps():
    """Fewer than a tenth of the negatives lose anything, and a band around the level 0 would hold all others."""
    rng = np.random.default_rng(0)
    y = np.arange(50_000) < 5
    X = rng.standard_normal((y.size, 20)) + 0.5 * y[:, None]
    solution = solve(PartialAUC(0.1, 1e-2, squared=True), X, y, solver="newton")
    assert solution.status is Status.OPTIMAL
    assert solution.iterations < 40
    plain = solve(RankSVM(1e-3, squared=True), X, y, solver="newton")  # ten times it: α is a tenth, λ, too
    assert solution.objective == pytest.approx(10 * plain.objective, rel=1e-5)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("norm", NORMS)
def test_a_step_that_is_too_long_ends_near_the_minimum_along_it(norm, squared):
    X, y, weight, rng = drawn(7, True)
    program, h = PartialAUC(0.3, 0.05, norm, squared), 0.05
    problem = Problem(program, as_sample(X, y, weight))
    loss, w, direction = PartialLoss(problem, problem.sample), rng.normal(size=3), rng.normal(size=3)
    method = DampedNewton(program, problem.sample.spread, Monitor())
    theta = method.on_cone(np.r_[w, 0.0, 0.0])
    start = loss.evaluate(theta, h)
    gradient, step = loss.direction_sum(start.multipliers), np.r_[direction, 0.0, 0.0]

    def value(length):
        point = method.on_cone(theta + length * step)
        return loss.evaluate(point, h).value + method.penalty(point)

    def slope_at(length):
        point = method.on_cone(theta + length * step)
        return method._slope(point, step, loss.direction_sum(loss.evaluate(point, h).multipliers), 1)

    assert slope_at(0.3) == pytest.approx((value(0.3 + 1e-6) - value(0.3 - 1e-6)) / 2e-6, rel=1e-4)
    step = 100.0 * (step if slope_at(0.0) < 0 else -step)
    assert value(1.0) > value(0.0)
    found = method._searched(loss, h, theta, step, gradient)
    assert 0.0 < found.length < 1.0
    assert abs(slope_at(found.length)) <= 0.2 * abs(slope_at(0.0)) or value(found.length) < value(0.0)
    assert value(found.length) < value(0.0) < value(1.0)


def in_cvxpy(program, X, y, weight):
    """The optimum of the program as it is written down, every pair formed."""
    weight = np.ones(y.size) if weight is None else weight
    share_pos, share_neg = weight[y == 1] / weight[y == 1].sum(), weight[y == 0] / weight[y == 0].sum()
    coef, level = cp.Variable(X.shape[1]), cp.Variable()
    pos, neg = X[y == 1] @ coef, X[y == 0] @ coef
    losses = cp.hstack([share_pos @ cp.pos(1 - pos + neg[j]) for j in range(share_neg.size)])
    size = cp.norm(coef, {"l1": 1, "l2": 2, "linf": "inf"}[program.regulariser.name])
    penalty = program.regulariser.weight * (cp.square(size) if program.regulariser.squared else size)
    problem = cp.Problem(cp.Minimize(level + share_neg @ cp.pos(losses - level) / program.max_fpr + penalty))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value


@pytest.mark.slow
@pytest.mark.covering(seed=12)
@pytest.mark.parametrize("seed", range(40))
def test_random_programs_have_the_optima_of_cvxpy(seed):
    rng = np.random.default_rng(seed)
    n_pos, n_neg, n = rng.integers(3, 10), rng.integers(3, 12), rng.integers(1, 5)
    X = rng.integers(-1, 3, (n_pos + n_neg, n)) if seed % 3 == 0 else rng.normal(size=(n_pos + n_neg, n))
    X, y = X.astype(float), np.r_[np.ones(n_pos), np.zeros(n_neg)]
    X[y == 1] += rng.choice([0.3, 1.0, 2.0])
    weight = rng.uniform(0.2, 3.0, y.size) if seed % 4 == 1 else None
    penalty = float(rng.choice([0.0, 1e-3, 0.02, 0.3]))
    # Some shares are below one negative, 1 is all of them.
    share = float(rng.choice([0.05, 0.2, 0.37, 0.5, 1.0]))
    program = PartialAUC(share, penalty, NORMS[seed % 3], penalty > 0 and bool(rng.integers(2)))
    expected = in_cvxpy(program, X, y, weight)
    solution = solve(program, X, y, solver="newton", tolerance=1e-7, sample_weight=weight)
    assert solution.objective == pytest.approx(expected, abs=1e-7)
    assert solution.lower_bound == pytest.approx(expected, abs=2e-7)
    assert solution.lower_bound <= expected + 1e-9


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("data", PROBLEMS)
@pytest.mark.parametrize("program", CVAR, ids=label)
def test_newton_certifies_what_the_conic_solver_finds(program, data):
    X, y = PROBLEMS[data]
    solution = solve(program, X, y, solver="newton")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(solve(program, X, y, solver="clarabel").objective, rel=2e-6, abs=1e-8)


def test_all_negatives_are_the_plain_programs():
    X, y = overlapping(41, 60, 80)
    for program, plain in (
        (PartialAUC(1.0), BufferedAUC()),
        (PartialAUC(1.0, 0.05, "l1"), RankSVM(0.05, "l1")),
        (PartialAUC(1.0, 0.01, squared=True), RankSVM(0.01, squared=True)),
    ):
        found, expected = (solve(p, X, y, solver="newton").objective for p in (program, plain))
        assert found == pytest.approx(expected, rel=2e-6)


def gaussian(shift, size=20_000, n_features=6):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(shift, 1, (size, n_features)), rng.normal(0, 1, (size, n_features))])
    return X, np.r_[np.ones(size), np.zeros(size)]


@pytest.mark.parametrize("penalty", [0.0, 1e-3])
def test_many_pairs_are_certified_in_few_steps(penalty):
    X, y = gaussian(1.0)
    solution = solve(PartialAUC(0.1, penalty, squared=penalty > 0), X, y, solver="newton")
    assert solution.status is Status.OPTIMAL
    assert solution.certificate.norm_bound == np.inf
    assert solution.iterations < 40
    bundle = solve(PartialAUC(0.1, penalty, squared=penalty > 0), X, y, solver="cutting_plane")
    assert solution.objective == pytest.approx(bundle.objective, rel=2e-6)


@pytest.mark.parametrize(
    "program", [PartialAUC(0.1), PartialAUC(0.1, 1e-3, squared=True), PartialAUC(0.1, 0.3, "l1")], ids=label
)
def test_w_zero_is_certified_in_few_steps(program):
    X, y = gaussian(0.3)
    solution = solve(program, X, y, solver="newton")
    assert (solution.status, solution.objective) == (Status.OPTIMAL, 1.0)
    assert solution.gap <= 1e-6
    assert solution.iterations < 20
    assert program.regulariser.squared or any("w = 0 is optimal" in note for note in solution.notes)


def monks(seed):
    """The first of MONK's problems: all combinations of six categories, 124 of them twice, as standardised columns."""
    levels = (3, 3, 2, 3, 4, 2)
    rows = np.array(list(itertools.product(*map(range, levels))))
    rows = np.vstack([rows, rows[np.random.default_rng(seed).permutation(432)[:124]]])
    X = np.hstack([(rows[:, [k]] == np.arange(n)).astype(float) for k, n in enumerate(levels)])
    return (X - X.mean(axis=0)) / X.std(axis=0), ((rows[:, 0] == rows[:, 1]) | (rows[:, 4] == 0)).astype(int)


@pytest.mark.parametrize("max_fpr", [0.05, 0.2, 0.3, 0.8])
@pytest.mark.parametrize("seed", [3, 8, 9, 10, 11])
def test_tied_margins_of_categories_are_certified_in_few_steps(seed, max_fpr):
    """Where all margins of the band agree in a column, its curvature is rounding, and steps ignored the others."""
    X, y = monks(seed)
    for labels in (y, 1 - y):
        solution = solve(PartialAUC(max_fpr), X, labels, solver="newton")
        assert solution.gap <= 1e-6
        assert solution.iterations <= 60
