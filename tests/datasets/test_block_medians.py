"""Medians of blocks against NumPy's."""

import numpy as np
import pytest

from auclab.datasets.block_medians import block_medians


@pytest.mark.parametrize("seed", range(20))
def test_medians_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    columns = [
        rng.normal(size=n),
        np.round(rng.normal(size=n)),
        rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-320, 308, n),
        rng.choice([-0.0, 0.0, 5e-324, -5e-324], n),
        np.full(n, 1.7e308),
    ]
    X = np.where(rng.random((n, 5)) < 0.3, np.nan, np.stack(columns, axis=1))
    X[0] = 1.0  # a value in each column
    cuts = np.sort(rng.integers(0, n + 1, 3))
    found = block_medians(lambda: np.split(X, cuts), 5)
    with np.errstate(over="ignore"):
        expected = np.nanmedian(X / 4.0, axis=0) * 4.0
    np.testing.assert_allclose(found, expected, rtol=2e-16, atol=1e-322)
    np.testing.assert_array_equal(found[:2], np.nanmedian(X[:, :2], axis=0))
