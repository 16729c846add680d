"""Both ways to ascend in Figs. 5 and 6 reach what a scan of all directions of a plane finds."""

import numpy as np
import pytest
from experiments.calders_jaroszewicz_2007 import sampling

from auclab.metrics import auc_score, soft_auc


@pytest.fixture(scope="module")
def plane():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 200])
    X = random.standard_normal((500, 2)) @ np.array([[1.0, 0.4], [0.0, 2.0]]) + y[:, None] * np.array([1.0, -0.5])
    return X, y


def scan(X, y, measure):
    angles = np.linspace(0, 2 * np.pi, 1500, endpoint=False)
    return max(measure(y, X @ np.array([np.cos(a), np.sin(a)])) for a in angles)


@pytest.mark.parametrize("beta", [None, 1.0, 5.0])
def test_the_polynomial_reaches_the_best_direction(plane, beta):
    def measure(y, scores):
        return auc_score(y, scores) if beta is None else soft_auc(y, scores, beta=beta)

    X, y = plane
    coef = sampling.on_all_rows(X, y, beta)
    # the polynomial is not the measure: degree 30 is off by some 1e-3
    assert measure(y, X @ coef / np.linalg.norm(coef)) == pytest.approx(scan(X, y, measure), abs=2e-3)


@pytest.mark.slow
@pytest.mark.covering(beta=1)
@pytest.mark.parametrize("beta", [None, 1.0])
def test_samples_as_large_as_the_data_reach_it_too(plane, beta):
    def measure(y, scores):
        return auc_score(y, scores) if beta is None else soft_auc(y, scores, beta=beta)

    X, y = plane
    coef = sampling.on_samples(X, y, 600, beta, np.random.default_rng(0))
    assert np.linalg.norm(coef) == pytest.approx(1.0)
    assert measure(y, X @ coef) == pytest.approx(scan(X, y, measure), abs=1e-4)


def test_samples_follow_their_seed():
    X, y = np.random.default_rng(1).standard_normal((80, 3)), np.repeat([0, 1], 40)
    first, again, other = (sampling.on_samples(X, y, 20, None, np.random.default_rng(s)) for s in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
