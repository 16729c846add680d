"""The smoothed loss against the brute force that forms every margin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab import CSVM, ECSVM, GeneralizedBufferedAUC, RankSVM
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.newton.steps import HessianOperator
from auclab.solvers.smoothed import smooth_loss
from programs import overlapping, tied

PROGRAMS = [RankSVM(0.1), GeneralizedBufferedAUC(-0.2), CSVM(0.1), ECSVM(-0.2)]


def formed(problem, theta, half_width):
    """Smoothed mean, its slopes, and directions of all margins, formed one by one."""
    sample, z = problem.sample, problem.program.threshold
    if problem.over_pairs:
        rows = (sample.X_pos[:, None, :] - sample.X_neg[None, :, :]).reshape(-1, sample.n_features)
        weights, signs = np.outer(sample.share_pos, sample.share_neg).ravel(), np.zeros(len(rows))
    else:
        rows, weights = np.vstack([sample.X_pos, -sample.X_neg]), np.concatenate(sample.point_weights)
        signs = np.r_[np.ones(sample.n_pos), -np.ones(sample.n_neg)]
    directions = np.c_[rows, signs, np.full(len(rows), z)]
    a = 1.0 - directions @ theta
    h = half_width
    loss = np.where(np.abs(a) < h, (a + h) ** 2 / (4 * h), np.maximum(a, 0.0))
    slope = np.clip((a + h) / (2 * h), 0.0, 1.0)
    return directions, weights, a, loss, slope


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
@given(
    seed=st.integers(0, 10_000),
    half_width=st.sampled_from([1e-3, 0.1, 0.7, 5.0]),
    weighted=st.booleans(),
)
def test_smoothed_loss_is_that_of_the_formed_margins(program, seed, half_width, weighted):
    rng = np.random.default_rng(seed)
    X, y = (overlapping if seed % 2 else tied)(seed)
    weight = rng.uniform(0.5, 2.0, y.size) if weighted else None
    problem = Problem(program, as_sample(X, y, weight))
    loss = smooth_loss(problem, problem.sample)
    theta = np.r_[rng.normal(size=3), 0.0 if problem.over_pairs else rng.normal(), abs(rng.normal())]
    step = np.r_[rng.normal(size=3), 0.0 if problem.over_pairs else rng.normal(), rng.normal()]
    directions, weights, a, values, slope = formed(problem, theta, half_width)
    evaluation = loss.evaluate(theta, half_width)
    near = {"rel": 1e-9, "abs": 1e-11}
    assert evaluation.value == pytest.approx(weights @ values, **near)
    assert evaluation.smoothing_gap == pytest.approx(weights @ (values - slope * a), **near)
    # At the edge of the band rounding may count a margin in or out; its value and slope are the same either way.
    inside, outside = (weights @ (np.abs(a) < half_width * (1 + e)) for e in (-1e-9, 1e-9))
    assert inside - 1e-12 <= evaluation.band_share <= outside + 1e-12
    gradient = loss.direction_sum(evaluation.multipliers)
    np.testing.assert_allclose(gradient, (weights * slope) @ directions, rtol=1e-8, atol=1e-10)
    if inside == outside:
        band = np.abs(a) < half_width
        hessian = (directions * (weights * band)[:, None]).T @ directions / (2 * half_width)
        scale = max(1.0, float(np.abs(hessian).max()))
        np.testing.assert_allclose(loss.hessian(evaluation), hessian, rtol=1e-8, atol=1e-8 * scale)
        moved = loss.direction_sum(loss.linearised(evaluation, step))
        np.testing.assert_allclose(moved, gradient - hessian @ step, rtol=1e-7, atol=1e-8 * scale)
        extra = np.arange(theta.size, dtype=float)
        products = HessianOperator(loss, ((1.0, evaluation),), extra)
        products = products + 2.0 * products
        np.testing.assert_allclose(products @ step, 3 * (hessian @ step + extra * step), rtol=1e-7, atol=1e-7 * scale)
        assert (products.diagonal() >= 3 * (hessian.diagonal() + extra) - 1e-7 * scale).all()


def test_the_smoothing_lies_above_the_hinge_by_at_most_a_quarter_of_the_half_width():
    X, y = overlapping(1)
    problem = Problem(RankSVM(0.0), as_sample(X, y))
    theta = np.r_[0.5, -0.2, 0.1, 0.0, 0.0]
    hinge = problem.objective(theta[:3], 0.0)
    for half_width in (0.01, 0.3):
        smoothed = smooth_loss(problem, problem.sample).evaluate(theta, half_width).value
        assert hinge <= smoothed <= hinge + half_width / 4
