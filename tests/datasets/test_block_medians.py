"""Medians of blocks against NumPy's, and the mean of parts."""

import numpy as np
import pytest

from auclab.datasets.block_statistics import MedianSample, NumberStatistics, block_medians
from auclab.samples.blocks.files import tree_sum


def medians_of(parts, size=100):
    sample = tree_sum(MedianSample.of(part, size) for part in parts)
    return block_medians(lambda task: tree_sum(map(task, parts)), sample)


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
    found = medians_of(np.split(X, cuts))
    with np.errstate(over="ignore"):
        expected = np.nanmedian(X / 4.0, axis=0) * 4.0
    np.testing.assert_allclose(found, expected, rtol=2e-16, atol=1e-322)
    np.testing.assert_array_equal(found[:2], np.nanmedian(X[:, :2], axis=0))


@pytest.mark.parametrize("size", [1, 20])
def test_a_sample_that_misleads_and_brackets_in_parts(size, monkeypatch):
    """Sorted rows of which a sample has the first alone, and brackets with more values than may be gathered."""
    monkeypatch.setattr("auclab.datasets.block_statistics.MOST_GATHERED", 10)
    rng = np.random.default_rng(0)
    X = np.stack([np.sort(rng.normal(size=3001)), rng.integers(0, 3, 3001), np.full(3001, 7.0)], axis=1)
    parts = np.split(X, [5, 1000, 2900])
    first = MedianSample.of(parts[0], size) + MedianSample.of(np.full((len(X) - 5, 3), 1.0), 1)
    passes = []

    def run(task):
        passes.append(1)
        assert len(passes) < 10  # where no bracket narrows, passes do not end
        return tree_sum(map(task, parts))

    np.testing.assert_array_equal(block_medians(run, first), np.median(X, axis=0))


def test_the_only_value_of_two_parts_is_their_mean():
    missing, value = (NumberStatistics.of(np.array([[number]])) for number in (np.nan, 3.0))
    assert (missing + value).mean == 3.0
