"""The step for l1 and linf on the faces of the norm's cone, next to the same step by Clarabel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab import CSVM, ECSVM, GeneralizedBufferedAUC, RankSVM
from auclab.regularisers import norm_named
from auclab.regularisers.faces import L1Face, LinfFace
from auclab.solvers.newton.active_set_step import active_set_step
from auclab.solvers.newton.steps import conic_step

RIDGE = 1e-10


def programs(norm):
    return [
        RankSVM(0.1, norm=norm),
        RankSVM(0.02, norm=norm, squared=True),
        GeneralizedBufferedAUC(-0.3, norm=norm),
        CSVM(0.1, norm=norm),
        CSVM(0.02, norm=norm, squared=True),
        ECSVM(-0.3, norm=norm),
    ]


def model_of(program, rng, n, m, collinear=False, binary=False, null=False, step=1.0):
    """Hessian, negative gradient and point of a smoothed loss over m random margins."""
    X = rng.normal(size=(m, n))
    if binary:
        X = (X > 0.3).astype(float)
    if collinear:
        X[:, -1] = -X[:, 0]
        X[:, n // 2] = X[:, 0]
    z = np.full((m, 1), program.threshold)
    y = np.sign(rng.normal(size=(m, 1)))
    D = np.hstack([X * y, y, z]) if program.comparisons.name == "points" else np.hstack([X, z])
    weights = rng.random(m) / m
    hessian = (D * weights[:, None]).T @ D
    hessian += np.diag(RIDGE * np.maximum(hessian.diagonal(), 1e-3))
    w = np.zeros(n) if null else rng.normal(size=n) * (rng.random(n) < 0.7)
    between = rng.normal(size=D.shape[1] - n - 1)
    return hessian, step * D.T @ weights, np.r_[w, between, norm_named(program.regulariser.name)(w)]


def value(program, hessian, negative_gradient, theta, step):
    t = (theta + step)[-1]
    penalty = program.regulariser.weight * (t * t if program.regulariser.squared else t)
    return 0.5 * step @ hessian @ step - negative_gradient @ step + penalty


@given(
    seed=st.integers(0, 10**6),
    number=st.integers(0, 5),
    norm=st.sampled_from(["l1", "linf"]),
    n=st.integers(1, 9),
    m=st.integers(2, 30),
    collinear=st.booleans(),
    binary=st.booleans(),
    null=st.booleans(),
    scale=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_it_is_the_minimum_of_the_model(seed, number, norm, n, m, collinear, binary, null, scale):
    program = programs(norm)[number]
    model = model_of(program, np.random.default_rng(seed), n, m, collinear, binary, null, scale)
    step = active_set_step(program, *model)
    if step is None:
        return  # counted in the next test
    theta = model[-1]
    n_features = theta.size - (2 if program.comparisons.name == "points" else 1)
    end = theta + step
    assert norm_named(norm)(end[:n_features]) <= end[-1] * (1 + 1e-12) + 1e-15
    least = value(program, *model, conic_step(program, *model))
    assert value(program, *model, step) <= least + 1e-8 * max(abs(least), 1e-3)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_it_hardly_ever_gives_up(norm):
    rng = np.random.default_rng(0)
    steps = [
        active_set_step(program, *model_of(program, rng, 12, 40, collinear=repeat % 2 == 0, binary=repeat % 3 == 0))
        for program in programs(norm)
        for repeat in range(20)
    ]
    assert sum(step is None for step in steps) <= 1


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_from_the_minimum_it_stays(norm):
    program = RankSVM(0.1, norm=norm)
    hessian, negative_gradient, theta = model_of(program, np.random.default_rng(1), 30, 200, step=5.0)
    step = active_set_step(program, hessian, negative_gradient, theta)
    at_end = negative_gradient - hessian @ step
    again = active_set_step(program, hessian, at_end, theta + step)
    np.testing.assert_allclose(again, 0.0, atol=1e-12)


def test_l1_leaves_out_and_takes_in():
    # ½‖v‖² − c·v + |w|₁: soft thresholding of c.
    program = RankSVM(1.0, norm="l1")
    c = np.array([3.0, -2.5, 0.5, 0.0])
    hessian = np.diag([1.0, 1.0, 1.0, 1.0, 1e-12])
    theta = np.array([0.0, 1.0, 4.0, 0.0, 5.0])
    negative_gradient = np.r_[c, 0.0] - hessian @ theta
    end = theta + active_set_step(program, hessian, negative_gradient, theta)
    np.testing.assert_allclose(end, [2.0, -1.5, 0.0, 0.0, 3.5], atol=1e-9)


def test_linf_cuts_the_largest_off():
    # ½‖w − c‖² + λ max|w|: the largest are lowered to a common t by λ in all.
    program = RankSVM(2.0, norm="linf")
    c = np.array([5.0, -4.0, 1.0])
    hessian = np.diag([1.0, 1.0, 1.0, 1e-12])
    theta = np.array([1.0, 0.0, 0.0, 1.0])
    end = theta + active_set_step(program, hessian, np.r_[c, 0.0] - hessian @ theta, theta)
    np.testing.assert_allclose(end, [3.5, -3.5, 1.0, 3.5], atol=1e-9)


@pytest.mark.parametrize("face_type", [L1Face, LinfFace])
@pytest.mark.parametrize("seed", range(5))
def test_the_reduced_model_is_the_model_on_the_face(face_type, seed):
    rng = np.random.default_rng(seed)
    n, size = 6, 8
    root = rng.normal(size=(size, size))
    hessian, linear = root @ root.T, rng.normal(size=size)
    face = face_type(rng.choice([-1.0, 0.0, 1.0], n), size)
    matrix, right = face.reduced(hessian, linear)
    reduced = rng.normal(size=right.size)
    point = face.expanded(reduced)
    assert 0.5 * reduced @ matrix @ reduced - right @ reduced == pytest.approx(
        0.5 * point @ hessian @ point - linear @ point
    )
    if face.contains(point):
        assert face.norms(point[:n]) == pytest.approx(point[-1])
