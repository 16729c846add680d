"""Sums of outer products of sparse rows against NumPy on dense ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from auclab import CSVM, ECSVM, GeneralizedBufferedAUC, RankSVM
from auclab._core.rows import sparse_gram, sparse_window_products
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.smoothed import smooth_loss


def mostly_zero(rng, n_rows, n_columns=6):
    """Rows with few entries; some rows and columns without any."""
    return rng.integers(-3, 4, (n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.3).astype(float)


def with_stored_zeros(X):
    """A CSR matrix that stores some of its zeros, as subtractions leave them."""
    matrix = sp.csr_array(X + 5.0)
    matrix.data -= 5.0
    return matrix


@given(seed=st.integers(0, 10_000), stored=st.booleans())
def test_gram_is_that_of_the_dense_rows(seed, stored):
    rng = np.random.default_rng(seed)
    X = mostly_zero(rng, 9)
    weight = rng.uniform(0.0, 2.0, 9) * (rng.random(9) < 0.7)
    matrix = with_stored_zeros(X) if stored else sp.csr_array(X)
    np.testing.assert_allclose(sparse_gram(matrix, weight), (X * weight[:, None]).T @ X, atol=1e-12)


@given(seed=st.integers(0, 10_000))
def test_window_products_are_those_of_the_dense_rows(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 12)), int(rng.integers(1, 12))
    outer, inner = mostly_zero(rng, m), mostly_zero(rng, k)
    order, inner_order = rng.permutation(m).astype(np.int32), rng.permutation(k).astype(np.int32)
    share, inner_share = rng.uniform(0, 1, m), rng.uniform(0, 1, k)
    # Few different ends: tied, empty and disjoint windows.
    first, last = np.sort(rng.integers(0, k + 1, (2, m)), axis=1).astype(np.int32)
    last = np.maximum(first, last)
    got = sparse_window_products(
        sp.csr_array(outer), sp.csr_array(inner), (order, inner_order), (share, inner_share), first, last
    )
    want = np.zeros((6, 6))
    for i in range(m):
        window = inner_order[first[i] : last[i]]
        opposite = inner_share[first[i] : last[i]] @ inner[window]
        want += share[i] * np.outer(outer[order[i]], opposite)
    np.testing.assert_allclose(got, want, atol=1e-12)


@pytest.mark.parametrize("few_pos", [True, False])
@pytest.mark.parametrize("program", [RankSVM(0.1), GeneralizedBufferedAUC(-0.2), CSVM(0.1), ECSVM(-0.2)])
@given(seed=st.integers(0, 10_000), half_width=st.sampled_from([0.01, 0.7, 5.0]), weighted=st.booleans())
def test_smoothed_loss_is_the_same_on_dense_and_on_sparse_rows(program, few_pos, seed, half_width, weighted):
    rng = np.random.default_rng(seed)
    n_pos, n_neg = (4, 15) if few_pos else (15, 4)
    X, y = mostly_zero(rng, 19), np.r_[np.ones(n_pos), np.zeros(n_neg)]
    weight = rng.uniform(0.5, 2.0, 19) if weighted else None
    theta, step = (np.r_[rng.normal(size=6), 0.0, abs(rng.normal())] for _ in range(2))
    found = []
    for rows in (X, sp.csr_array(X)):
        problem = Problem(program, as_sample(rows, y, weight))
        # The rows themselves: an offset of the dense ones would move their Hessian's entries for the intercept.
        sample = problem.sample.uncentred()
        loss = smooth_loss(problem, sample)
        evaluation = loss.evaluate(theta, half_width)
        moved = loss.linearised(evaluation, step)
        found.append(
            [
                evaluation.value,
                *evaluation.multipliers,
                loss.direction_sum(evaluation.multipliers),
                loss.hessian(evaluation),
                loss.hessian_diagonal(evaluation),
                *moved,
                sample.mean_difference,
            ]
        )
    for dense, sparse in zip(*found, strict=True):
        np.testing.assert_allclose(sparse, dense, rtol=1e-9, atol=1e-9 * max(1.0, float(np.max(np.abs(dense)))))


def test_entries_stored_twice_are_added_before_products_are_formed():
    twice = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    sample = as_sample(twice, [1, 0])
    assert sample.gram(np.ones(1), np.ones(1)).tolist() == [[9.0, 0.0], [0.0, 25.0]]
    assert twice.nnz == 3  # the caller's matrix is left alone
