"""The proximal Newton step with the l2 norm next to the same step by Clarabel, at w = 0 and near it too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, RankSVM
from auclab.formulations.constraints import ColumnConstraints
from auclab.solvers.newton import steps
from auclab.solvers.newton.steps import conic_step, proximal_step

PROGRAMS = [
    RankSVM(0.1),
    RankSVM(0.02, squared=True),
    GeneralizedBufferedAUC(-0.3),
    CSVM(0.1),
    CSVM(0.02, squared=True),
    ECSVM(-0.3),
]


def smoothed_model(program, seed, n, m, size):
    """Hessian, negative gradient, point and spread of m random margins, and the size of the gradient and of w."""
    rng = np.random.default_rng(seed)
    over_points = program.comparisons.name == "points"
    X, y = rng.normal(size=(m, n)), np.sign(rng.normal(size=(m, 1)))
    D = np.hstack([X * y, y if over_points else np.zeros((m, 1)), np.full((m, 1), program.threshold)])
    weights = rng.random(m) / m
    hessian = (D * weights[:, None]).T @ D + 1e-6 * np.diag(np.r_[np.ones(n), float(over_points), 0.0])
    w = size[1] * rng.normal(size=n)
    theta = np.r_[w, rng.normal() if over_points else 0.0, np.linalg.norm(w)]
    return hessian, size[0] * D.T @ weights, theta, np.r_[np.ones(n + 1), max(program.threshold**2, 1e-6)]


def value(program, hessian, negative_gradient, theta, step):
    t = np.linalg.norm((theta + step)[:-2])
    step = np.r_[step[:-1], t - theta[-1]]
    penalty = program.regulariser.weight * (t * t if program.regulariser.squared else t)
    return 0.5 * step @ hessian @ step - negative_gradient @ step + penalty


@given(
    seed=st.integers(0, 10**6),
    number=st.integers(0, len(PROGRAMS) - 1),
    n=st.integers(1, 6),
    m=st.integers(8, 40),
    gradient=st.sampled_from([0.1, 1.0, 5.0]),
    length=st.sampled_from([0.0, 1e-14, 1e-3, 1.0]),
)
def test_l2_is_the_minimum_of_the_model(seed, number, n, m, gradient, length):
    program = PROGRAMS[number]
    hessian, negative_gradient, theta, spread = smoothed_model(program, seed, n, m, (gradient, length))
    step = proximal_step(program, hessian, negative_gradient, theta, spread)
    free = np.r_[:n, [n] if program.comparisons.name == "points" else [], n + 1].astype(int)
    reference = np.zeros(n + 2)
    ridge = 1e-10 * np.maximum(hessian.diagonal(), 1e-3 * spread)
    reference[free] = conic_step(
        program, (hessian + np.diag(ridge))[np.ix_(free, free)], negative_gradient[free], theta[free]
    )
    least = value(program, hessian, negative_gradient, theta, reference)
    assert value(program, hessian, negative_gradient, theta, step) <= least + 1e-7 * max(abs(least), 1e-3)


@pytest.mark.parametrize("length", [0.0, 1e-14, 1.0])
def test_where_w_is_0_it_is_exactly_0(length):
    program = CSVM(10.0)
    hessian, negative_gradient, theta, spread = smoothed_model(program, 0, 4, 30, (1.0, length))
    end = theta + proximal_step(program, hessian, negative_gradient, theta, spread)
    assert not end[:4].any()
    assert end[-1] == 0
    # The intercept is that of the model without w.
    at_null = hessian @ (end - theta) - negative_gradient
    assert at_null[4] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("rounding", [-1e-12, 0.0, 1e-12])
def test_a_column_without_curvature_does_not_hide_the_others(rounding):
    """In a narrow band entries of the Hessian are of the order 1/h; that of a column of no margin is their rounding."""
    hessian = np.diag([1e4, rounding, 2e4, 0.0, 0.0])
    step = proximal_step(BufferedAUC(), hessian, np.array([1.0, 1e-3, 1.0, 0.0, 0.0]), np.zeros(5), np.ones(5))
    assert step[[0, 2]] == pytest.approx([1e-4, 5e-5])
    assert np.isfinite(step).all()
    assert step[1] > 1.0


@pytest.mark.parametrize("program", [RankSVM(0.1), RankSVM(0.1, "l1"), RankSVM(0.02, squared=True), CSVM(0.1)], ids=str)
def test_steps_within_bounds_need_no_cone_program_and_are_the_same(program, monkeypatch):
    """Without them, 100 columns with signs took 43 steps in place of 9."""
    by_active_sets = 0
    for seed in range(20):
        hessian, gradient, theta, spread = smoothed_model(program, seed, 5, 40, (1.0, 1.0))
        theta[:5] = abs(theta[:5])
        theta[-1] = program.regulariser.norm(theta[:5])
        signs = ColumnConstraints.of(5, lower=np.zeros(5))
        with monkeypatch.context() as patch:
            patch.setattr(steps._QuadraticModel, "within_bounds", lambda *_: None)
            by_cone = proximal_step(program, hessian, gradient, theta, spread, signs)
        found = proximal_step(program, hessian, gradient, theta, spread, signs)
        model = steps._QuadraticModel(program, hessian, gradient, theta, spread, None)
        by_active_sets += not program.regulariser.squared and model.within_bounds(signs) is not None
        assert ((theta + found)[:5] >= 0).all()
        np.testing.assert_allclose(found[:5], by_cone[:5], atol=2e-3)
    assert by_active_sets >= 18 or program.regulariser.squared
