"""Products of encoded rows against those of the filled matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from auclab.samples.blocks.row_forms import EncodedRows
from auclab.samples.blocks.table import Less


@pytest.mark.parametrize("in_ball", [False, True])
def test_all_products_are_those_of_the_matrix(in_ball):
    rng = np.random.default_rng(1)
    n, k, m = 60, 3, 5
    h = sp.csr_array((rng.random((n, m)) < 0.3).astype(float))
    at = rng.permutation(k + m)
    rows = EncodedRows(rng.normal(size=(n, k)), h, at[:k], at[k:], rng.normal(size=m), rng.random(m) + 0.5)
    if in_ball:
        before, factor = np.asarray(rows), rng.random(n) + 0.1
        rows = rows.times(factor)
        np.testing.assert_allclose(np.asarray(rows), before * factor[:, None], atol=1e-14)
    X = np.asarray(rows)
    v, V, q = rng.normal(size=k + m), rng.normal(size=(k + m, 2)), rng.normal(size=n)
    np.testing.assert_allclose(rows @ v, X @ v, atol=1e-12)
    np.testing.assert_allclose(rows @ V, X @ V, atol=1e-12)
    np.testing.assert_allclose(q @ rows, q @ X, atol=1e-12)
    Q = rng.normal(size=(4, n)) * (rng.random((4, n)) < 0.2)
    np.testing.assert_allclose(Q @ rows, Q @ X, atol=1e-12)
    np.testing.assert_allclose(rows.__rmatmul__(sp.csr_array(Q)), Q @ X, atol=1e-12)
    for weights in (q, np.where(rng.random(n) < 0.4, q, 0.0)):
        np.testing.assert_allclose(rows.gram(weights), (X.T * weights) @ X, atol=1e-12)
    np.testing.assert_allclose(rows.norms(), np.linalg.norm(X, axis=1), atol=1e-12)
    np.testing.assert_allclose((rows.min(), rows.max()), (X.min(axis=0), X.max(axis=0)), atol=1e-14)
    assert rows.sum() == pytest.approx(X.sum())
    some = np.flatnonzero(rng.random(n) < 0.5)
    np.testing.assert_array_equal(rows[some], X[some])
    offset = rng.normal(size=k + m)
    np.testing.assert_allclose(np.asarray(Less(tuple(offset)).apply(rows)), X - offset, atol=1e-13)
