"""Nearest weighted means: cases by hand, and optimality by the best feasible direction."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab.projection.nearest_mean import nearest_mean
from auclab.projection.quadratic import solve_quadratic
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
    assert nearest_mean(X, capacity, 1.5, np.array([10.0]), norm) == pytest.approx([0.0, 0.5, 1.0], abs=1e-6)
    assert nearest_mean(X, capacity, 1.5, np.array([-10.0]), norm) == pytest.approx([1.0, 0.5, 0.0], abs=1e-6)


@given(seed=st.integers(0, 10_000), norm=st.sampled_from(NORMS), sparse=st.booleans())
@settings(max_examples=60)
def test_feasible_and_optimal(seed, norm, sparse):
    rng = np.random.default_rng(seed)
    n_points, n_features = rng.integers(2, 9), rng.integers(1, 4)
    X, target = rng.normal(size=(n_points, n_features)), 3 * rng.normal(size=n_features)
    capacity = rng.uniform(0.1, 1.0, n_points)
    total = rng.uniform(0.1, 0.95) * capacity.sum()
    point = nearest_mean(sp.csr_matrix(X) if sparse else X, capacity, total, target, norm)
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
    assert nearest_mean(np.eye(2), np.array([0.5, 0.25]), 0.75, np.zeros(2), "l2").tolist() == [0.5, 0.25]


def test_an_infeasible_quadratic_program_has_no_point():
    identity = sp.eye_array(1, format="csc")
    # x = 2 and x ≤ 1.
    assert solve_quadratic(identity, np.zeros(1), (identity, np.array([2.0])), (identity, np.array([1.0]))) is None
    assert solve_quadratic(identity, np.zeros(1), None, (-identity, np.array([-3.0]))) == pytest.approx([3.0])
