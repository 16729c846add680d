"""Products with a kernel matrix: blocks, zeros and threads against the whole matrix."""

import numpy as np
import pytest

from auclab.kernels import RBF
from auclab.solvers.kernel import training as module
from auclab.solvers.kernel.training import KernelMatrix
from reference_kernels import full_matrix


@pytest.mark.parametrize("memory", [1e9, 1e3], ids=["kept", "computed"])
@pytest.mark.parametrize("zeros", ["none", "some", "most", "all"])
@pytest.mark.parametrize("columns", [(), (2,)], ids=["vector", "two"])
def test_a_product_is_that_with_the_whole_matrix(monkeypatch, memory, zeros, columns):
    monkeypatch.setattr(module, "CHUNK", 16)
    monkeypatch.setattr(module, "_MIN_THREADED", 50)
    rng = np.random.default_rng(0)
    X, order = rng.normal(size=(75, 3)), rng.permutation(75)
    matrix = KernelMatrix(RBF(0.4), X, order, memory)
    vectors = rng.normal(size=(75, *columns))
    share = {"none": 0.0, "some": 0.3, "most": 0.95, "all": 1.0}[zeros]
    vectors[rng.random(75) < share] = 0.0
    expected = full_matrix(RBF(0.4), X[order]) @ vectors
    np.testing.assert_allclose(matrix.times(vectors), expected, atol=1e-13)
    assert matrix.is_kept == (memory == 1e9)


def test_blocks_of_zeros_are_not_computed(monkeypatch):
    """s rows that are not zero take ``s (m − s/2)`` values and not ``m²/2``, wherever they are."""
    monkeypatch.setattr(module, "CHUNK", 10)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 2))
    matrix = KernelMatrix(RBF(0.4), X, np.arange(100), 1e3)
    computed = []
    between = RBF.between
    monkeypatch.setattr(RBF, "between", lambda self, X, Y: computed.append(len(X) * len(Y)) or between(self, X, Y))
    vector = np.zeros(100)
    vector[rng.permutation(100)[:20]] = 1.0
    product = matrix.times(vector)
    assert sum(computed) == (10 + 9) * 100  # of 10 × 10 blocks those of two rows, one of a symmetric pair
    np.testing.assert_allclose(product, full_matrix(RBF(0.4), X) @ vector, atol=1e-13)
