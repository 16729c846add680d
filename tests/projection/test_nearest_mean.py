"""Nearest weighted means: cases by hand, and optimality by the best feasible direction."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab.projection.nearest_mean import nearest_mean
from auclab.projection.quadratic import solve_quadratic
from auclab.regularisers import norm_named
from auclab.types import NORMS

DUAL_ORDER = {"l1": np.inf, "l2": 2, "linf": 1}


def steepest(gradient, capacity, total):
    """Argmin of ``gradient·q`` over ``0 ≤ q ≤ capacity``, ``Σ q = total``: fill from the smallest gradient up."""
    point, left = np.zeros_like(capacity), total
    for k in np.argsort(gradient):
        point[k] = min(capacity[k], left)
        left -= point[k]
    return point


@pytest.mark.parametrize("norm", NORMS)
def test_by_hand(norm):
    # Of weights up to 1 that sum to 1.5 on the points 0, 1 and 3: ½·1 + 1·3 is nearest to 10, 1·0 + ½·1 to −10.
    X, capacity = np.array([[0.0], [1.0], [3.0]]), np.ones(3)
    assert nearest_mean(X, capacity, 1.5, np.array([10.0]), norm_named(norm)) == pytest.approx(
        [0.0, 0.5, 1.0], abs=1e-6
    )
    assert nearest_mean(X, capacity, 1.5, np.array([-10.0]), norm_named(norm)) == pytest.approx(
        [1.0, 0.5, 0.0], abs=1e-6
    )


@given(seed=st.integers(0, 10_000), norm=st.sampled_from(NORMS), sparse=st.booleans())
@settings(max_examples=60)
def test_feasible_and_optimal(seed, norm, sparse):
    rng = np.random.default_rng(seed)
    n_points, n_features = rng.integers(2, 9), rng.integers(1, 4)
    X, target = rng.normal(size=(n_points, n_features)), 3 * rng.normal(size=n_features)
    capacity = rng.uniform(0.1, 1.0, n_points)
    total = rng.uniform(0.1, 0.95) * capacity.sum()
    point = nearest_mean(sp.csr_matrix(X) if sparse else X, capacity, total, target, norm_named(norm))
    assert point.sum() == pytest.approx(total, rel=1e-12)
    assert (point >= -1e-12).all()
    assert (point <= capacity + 1e-9).all()

    def distance(q):
        return np.linalg.norm(target - X.T @ q, DUAL_ORDER[norm])

    for _ in range(20):
        other = steepest(rng.normal(size=n_points), capacity, total)
        for step in (0.01, 0.3, 1.0):
            assert distance(point + step * (other - point)) >= distance(point) - 1e-7
    if norm == "l2":
        gradient = -X @ (target - X.T @ point)
        assert gradient @ (point - steepest(gradient, capacity, total)) <= 1e-6 * max(1.0, np.abs(gradient).max())


def test_all_of_the_capacity():
    assert nearest_mean(np.eye(2), np.array([0.5, 0.25]), 0.75, np.zeros(2), norm_named("l2")).tolist() == [0.5, 0.25]


def test_an_infeasible_quadratic_program_has_no_point():
    identity = sp.eye_array(1, format="csc")
    # x = 2 and x ≤ 1.
    assert solve_quadratic(identity, np.zeros(1), (identity, np.array([2.0])), (identity, np.array([1.0]))) is None
    assert solve_quadratic(identity, np.zeros(1), None, (-identity, np.array([-3.0]))) == pytest.approx([3.0])


def nearest_by_clarabel(X, capacity, total, target):
    """The distance of the nearest mean, as a quadratic program in q and the rest r."""
    n_points, n_features = X.shape
    both = n_points + n_features
    quadratic = sp.diags_array(np.r_[np.zeros(n_points), np.ones(n_features)], format="csc")
    equal = np.vstack([np.hstack([X.T, np.eye(n_features)]), np.r_[np.ones(n_points), np.zeros(n_features)]])
    box = np.eye(n_points, both)
    point = solve_quadratic(
        quadratic,
        np.zeros(both),
        (sp.csc_array(equal), np.r_[target, total]),
        (sp.csc_array(np.vstack([box, -box])), np.r_[capacity, np.zeros(n_points)]),
    )
    return np.linalg.norm(point[n_points:])


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    n_points=st.sampled_from([2, 9, 60]),
    n_features=st.integers(1, 8),
    binary=st.booleans(),
    size=st.sampled_from([1e-3, 0.3, 3.0]),
)
@settings(max_examples=40)
def test_the_euclidean_one_is_as_near_as_that_of_a_quadratic_program(seed, n_points, n_features, binary, size):
    rng = np.random.default_rng(seed)
    X, target = rng.normal(size=(n_points, n_features)), size * rng.normal(size=n_features)
    X = (X > 0.3).astype(float) if binary else X
    capacity = rng.random(n_points) * (rng.random(n_points) < 0.9)
    capacity[0] = 0.5
    total = rng.uniform(0.1, 0.9) * capacity.sum()
    point = nearest_mean(X, capacity, total, target, norm_named("l2"))
    assert point.sum() == pytest.approx(total, rel=1e-14)
    assert (point >= 0).all()
    assert (point <= capacity).all()
    nearest = nearest_by_clarabel(X, capacity, total, target)
    assert np.linalg.norm(target - X.T @ point) <= nearest + 1e-9 * max(1.0, np.linalg.norm(target))


@pytest.mark.slow
def test_many_sparse_features_and_far_scales():
    rng = np.random.default_rng(0)
    X = sp.random(120, 2_500, 0.01, "csr", rng=rng)
    capacity, target = np.full(120, 0.02), 0.1 * np.asarray(X[:30].mean(axis=0)).ravel()
    sparse = nearest_mean(X, capacity, 1.0, target, norm_named("l2"))
    gradient = X @ (X.T @ sparse - target)
    assert gradient @ (sparse - steepest(gradient, capacity, 1.0)) <= 1e-9
    rows = rng.normal(size=(40, 3))
    near, far = (
        nearest_mean(scale * rows, np.full(40, 0.1), 1.0, scale * rows[0], norm_named("l2")) for scale in (1.0, 1e120)
    )
    np.testing.assert_allclose(far, near, atol=1e-9)


def test_a_target_between_near_rows_beside_a_far_one():
    # In the first two columns, which are equal, rows 4 and 5 are on either side of 0, and in the last one rows 0 and 5.
    # Steps of the dual end at a distance of 3e-4; weights of 0.1, 0.001, 0.044, 0.044 and 0.81 have one of 1e-9.
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
    point = nearest_mean(X, capacity, 1.0, np.zeros(3), norm_named("l2"))
    assert point.sum() == pytest.approx(1.0, rel=1e-14)
    assert np.linalg.norm(X.T @ point) < 1e-7


def test_where_the_linear_program_is_not_solved_the_distance_is_that_of_weights_in_the_set(monkeypatch):
    """Of any weights the distance is an upper bound; HiGHS may fail where numbers differ by many powers of ten."""
    unsolved = SimpleNamespace(x=None, message="numbers")
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: unsolved)
    X, capacity = np.array([[0.0], [1.0], [2.0]]), np.array([0.6, 0.8, 0.6])
    weights = nearest_mean(X, capacity, 1.0, np.array([2.0]), norm_named("l1"))
    assert weights == pytest.approx(capacity / 2)
