"""The secant update maps the step to the change and stays positive definite."""

import numpy as np
import pytest

from auclab.solvers.newton.minimise import with_secant


@pytest.mark.parametrize("seed", range(10))
def test_steps_of_a_quadratic_are_mapped_to_the_changes_of_its_gradient(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(8, 5))
    true, step = root.T @ root + 0.1 * np.eye(5), rng.normal(size=5)
    given = true * rng.uniform(0.5, 2.0)
    found = with_secant(given, step, true @ step)
    np.testing.assert_allclose(found @ step, true @ step, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found, found.T, rtol=1e-12, atol=1e-12)
    assert np.linalg.eigvalsh(found)[0] > 0


@pytest.mark.parametrize("factor", [-1.0, 0.0, 0.05, 20.0, np.nan, np.inf])
def test_a_change_that_contradicts_the_matrix_is_not_taken(factor):
    given, step = np.diag([1.0, 2.0]), np.array([1.0, 1.0])
    assert with_secant(given, step, factor * (given @ step)) is given
    assert with_secant(given, np.zeros(2), np.zeros(2)) is given
