"""One pass from means and covariances is the pass that stores every row, and its minimum that of the pairwise loss."""

import numpy as np
import pytest
from experiments.gao_2013_opauc.one_pass import batch, one_pass


@pytest.fixture
def stream():
    random = np.random.default_rng(1)
    positive = random.random(120) < 0.4
    return random.standard_normal((120, 3)) + positive[:, np.newaxis] * [1.0, 0.5, 0.0], positive


@pytest.mark.slow
def test_the_pass_is_that_of_stored_rows(stream):
    X, positive = stream
    w = np.zeros(3)
    for k, x in enumerate(X):
        pairs = [(x - other) if positive[k] else (other - x) for other in X[:k][positive[:k] != positive[k]]]
        if pairs:
            gradient = np.mean([-(1 - d @ w) * d for d in pairs], axis=0)
            w = w - 0.01 * (0.1 * w + gradient)
    assert one_pass(X, positive, 0.01, 0.1) == pytest.approx(w, abs=1e-12)


def test_the_batch_minimum_has_no_gradient(stream):
    X, positive = stream
    w = batch(X, positive, 0.05)
    differences = (X[positive][:, np.newaxis] - X[~positive]).reshape(-1, 3)
    gradient = -((1 - differences @ w)[:, np.newaxis] * differences).mean(axis=0) + 0.05 * w
    assert np.abs(gradient).max() < 1e-12
