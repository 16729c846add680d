"""Weights whose mean is a given point: against a linear program, in every form of rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from auclab.projection.common_mean import _rows_of_face, weights_of_mean


def feasible(X, capacity, total, target):
    """How far inside its capacities a linear program can keep such weights, as a part of them; None if it cannot."""
    rows = np.c_[np.r_[X.T, np.ones((1, len(X)))], np.zeros(X.shape[1] + 1)]
    inside = np.c_[np.r_[-np.eye(len(X)), np.eye(len(X))], np.r_[capacity, capacity]]
    found = linprog(
        np.r_[np.zeros(len(X)), -1.0], A_ub=inside, b_ub=np.r_[np.zeros(len(X)), capacity],
        A_eq=rows, b_eq=np.r_[target, total], bounds=[(0, None)] * (len(X) + 1),
    )  # fmt: skip
    return -found.fun if found.status == 0 else None


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(6, 30), st.floats(0.1, 0.9), st.floats(0.0, 1.5))
def test_weights_are_found_where_a_linear_program_has_some_well_inside_and_nowhere_else(seed, n, m, share, away):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) * 10.0 ** rng.integers(-3, 4, size=n) + 0.0
    capacity = rng.uniform(0.5, 1.5, size=m) / m
    total = share * capacity.sum()
    target = total * (X.mean(axis=0) + away * X.std(axis=0) * rng.normal(size=n) / np.sqrt(n))
    found, inside = (
        weights_of_mean(X, capacity, total, target),
        feasible(X / X.std(axis=0), capacity, total, target / X.std(axis=0)),
    )
    if found is not None:
        assert (found >= 0).all()
        assert (found <= capacity).all()
        assert found.sum() == pytest.approx(total, rel=1e-12)
        assert abs(X.T @ found - target).max() <= 1e-12 * abs(X).max()
        assert inside is not None
    elif inside is not None:
        assert inside < 1e-4  # at the border
    sparse = weights_of_mean(sp.csr_matrix(X), capacity, total, target)
    assert (sparse is None) == (found is None)


def test_a_column_that_is_zero_everywhere_needs_a_target_of_zero():
    X = np.c_[np.arange(5.0), np.zeros(5)]
    assert weights_of_mean(X, np.full(5, 0.5), 1.0, np.array([2.0, 0.0])) is not None
    assert weights_of_mean(X, np.full(5, 0.5), 1.0, np.array([2.0, 0.1])) is None


def test_full_capacities_are_the_only_weights_where_the_total_is_their_sum():
    X, capacity = np.array([[0.0], [4.0]]), np.array([0.25, 0.75])
    assert weights_of_mean(X, capacity, 1.0, np.array([3.0])).tolist() == [0.25, 0.75]
    assert weights_of_mean(X, capacity, 1.0, np.array([2.0])) is None


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_category_that_no_row_of_the_mean_has(form):
    """Its rows have no weight, where the search alone comes nearer by a factor of e a step."""
    rng = np.random.default_rng(0)
    rare = (np.arange(200) % 40 == 0).astype(float)
    X = np.c_[rng.normal(size=200), rare, 1.0 - rare]
    found = weights_of_mean(form(X), np.full(200, 0.01), 1.0, np.array([0.1, 0.0, 1.0]))
    assert found is not None
    assert (found[rare == 1.0] == 0).all()
    assert X.T @ found == pytest.approx([0.1, 0.0, 1.0], abs=1e-13)
    assert weights_of_mean(form(X), np.full(200, 0.001), 0.199, np.array([0.0, 0.0, 0.199])) is None  # 195 rows: .195


@pytest.mark.parametrize("seed", range(20))
def test_sparse_rows_of_a_face_are_those_of_dense_rows(seed):
    """Values below, at and above 0 that a column has at an end, and zeros that are stored."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(-1, 2, (60, 4)).astype(float)
    dense[rng.random((60, 4)) < 0.5] = 0.0
    sparse = sp.csr_matrix(dense)
    sparse.data[::7] = 0.0
    dense = sparse.toarray()
    ends = np.where(rng.random(4) < 0.5, dense.min(axis=0), dense.max(axis=0))
    target = np.where(rng.random(4) < 0.5, ends, dense.mean(axis=0))
    expected = [k for k in range(60) if all(dense[k, j] == v for j, v in enumerate(target) if v in _ends(dense[:, j]))]
    assert _rows_of_face(sparse, 1.0, target).tolist() == _rows_of_face(dense, 1.0, target).tolist() == expected


def _ends(column):
    return {column.min(), column.max()}


def test_the_search_ends_at_a_border_that_no_single_column_shows():
    """Two categories whose sum is 1 for all rows but some: of those the mean has none."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]] * 20)
    assert weights_of_mean(X, np.full(60, 0.1), 1.0, np.array([0.5, 0.5])) is None
