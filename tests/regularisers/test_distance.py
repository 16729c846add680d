"""Distances to weighted means: cases by hand, the program in q by CVXPY, and rows far from ordinary units."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab._core.base import NORMS
from auclab.regularisers import GroupLasso, norm_named
from auclab.regularisers.projection import distance_to_means, solve_quadratic


def dual_in_cvxpy(norm, g, n):
    if norm == "groups":
        return cp.max(
            cp.hstack([cp.norm(g[k : k + 2]) / np.sqrt(len(range(k, min(k + 2, n)))) for k in range(0, n, 2)])
        )
    return cp.norm(g, {"l1": "inf", "l2": 2, "linf": 1}[norm])


def norm_of(name, n):
    return GroupLasso(tuple(k // 2 for k in range(n)), 1.0).norm if name == "groups" else norm_named(name)


@pytest.mark.parametrize("norm", NORMS)
def test_by_hand(norm):
    # Of weights up to 1 that sum to 1.5 on the points 0, 1 and 3: ½·1 + 1·3 is nearest to 10, 1·0 + ½·1 to −10.
    X, capacity = np.array([[0.0], [1.0], [3.0]]), np.ones(3)
    for target, distance in ((10.0, 6.5), (-10.0, 10.5), (2.0, 0.0)):
        found = distance_to_means(X, capacity, 1.5, np.array([target]), norm_named(norm))
        assert found == pytest.approx(distance, abs=1e-9)


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    norm=st.sampled_from([*NORMS, "groups"]),
    sparse=st.booleans(),
    binary=st.booleans(),
    spread=st.sampled_from([0, 3]),
)
@settings(max_examples=60)
def test_it_is_that_of_the_program_over_the_weights(seed, norm, sparse, binary, spread):
    rng = np.random.default_rng(seed)
    n_points, n_features = rng.integers(2, 40), rng.integers(1, 6)
    X, target = rng.normal(size=(n_points, n_features)), rng.choice([0.1, 3.0]) * rng.normal(size=n_features)
    X = (X > 0.3).astype(float) if binary else X
    unit = 10.0 ** rng.integers(-spread, spread + 1, n_features)
    X, target = X * unit, target * unit
    capacity = rng.random(n_points) * (rng.random(n_points) < 0.9)
    capacity[0] = 0.5
    total = rng.uniform(0.1, 0.9) * capacity.sum()
    q = cp.Variable(n_points)
    best = cp.Problem(
        cp.Minimize(dual_in_cvxpy(norm, (target - X.T @ q) / unit.max(), n_features)),
        [q >= 0, q <= capacity, cp.sum(q) == total],
    ).solve(solver="CLARABEL")
    rows = sp.csr_array(X) if sparse else X
    found = distance_to_means(rows, capacity, total, target, norm_of(norm, n_features))
    assert found / unit.max() == pytest.approx(best, rel=1e-6, abs=1e-6)


def test_all_of_the_capacity():
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert distance_to_means(X, np.array([0.5, 0.25]), 0.75, np.zeros(2), norm_named("l1")) == 0.5


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_units_do_not_matter(scale):
    rng = np.random.default_rng(0)
    rows, target = rng.normal(size=(40, 3)), np.array([3.0, 0.0, 1.0])
    near = distance_to_means(rows, np.full(40, 0.1), 1.0, target, norm_named("l2"))
    far = distance_to_means(scale * rows, np.full(40, 0.1), 1.0, scale * target, norm_named("l2"))
    assert far == pytest.approx(scale * near, rel=1e-9)


def test_rows_that_are_all_equal_have_one_mean():
    assert distance_to_means(np.zeros((3, 2)), np.full(3, 0.5), 1.0, np.array([3.0, 4.0]), norm_named("l2")) == 5.0


def test_a_target_between_near_rows_beside_a_far_one():
    # In the first two columns, which are equal, rows 4 and 5 are on either side of 0, and in the last one rows 0 and 5:
    # weights of 0.1, 0.001, 0.044, 0.044 and 0.81 have a mean at a distance of 1e-9.
    near = [
        [-4.485, 17.739],
        [-5064.135, -7701.769],
        [-8.243, 11.321],
        [-11.836, 22.760],
        [10.183, 8.938],
        [-13.223, -13.262],
    ]
    X = np.array([[first, first, last] for first, last in near]) / 1000.0
    capacity = np.array([1.15952009, 1.15952009, 1.73928014, 0.57976005, 1.73928014, 0.0])
    assert distance_to_means(X, capacity, 1.0, np.zeros(3), norm_named("l2")) < 1e-7


def test_an_infeasible_quadratic_program_has_no_point():
    identity = sp.eye_array(1, format="csc")
    # x = 2 and x ≤ 1.
    assert solve_quadratic(identity, np.zeros(1), (identity, np.array([2.0])), (identity, np.array([1.0]))) is None
    assert solve_quadratic(identity, np.zeros(1), None, (-identity, np.array([-3.0]))) == pytest.approx([3.0])
