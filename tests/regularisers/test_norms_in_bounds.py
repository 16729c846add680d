"""What bounds ask of a norm, against draws; also for a norm of the user's, which states none of it."""

import numpy as np
import pytest

from auclab.bounds import linear_complexity
from auclab.regularisers import NORMS, VectorNorm


class Weighted(VectorNorm):
    """``Σ c_k abs(w_k)``; its dual is ``max abs(g_k)/c_k``."""

    name = "weighted"

    def __call__(self, w):
        return float(abs(w) @ self._weights(w))

    def dual(self, g):
        return float((abs(g) / self._weights(g)).max())

    def subgradient(self, w):
        return np.sign(w) * self._weights(w)

    def epigraph(self, unit):
        raise NotImplementedError("bounds need no rows")

    @staticmethod
    def _weights(w):
        return np.arange(1.0, w.size + 1.0)


ALL = [*NORMS.values(), Weighted()]


@pytest.mark.parametrize("norm", ALL, ids=lambda norm: norm.name)
def test_what_a_norm_says_holds_for_draws(norm):
    rng = np.random.default_rng(0)
    X, d = rng.standard_normal((12, 5)), 5
    w = rng.standard_normal((2000, d))
    w /= np.array([[norm(each)] for each in w])
    corners = np.vstack([w, np.eye(d) / np.array([[norm(each)] for each in np.eye(d)])])
    assert norm.largest_image(X) >= np.linalg.norm(X @ corners.T, axis=0).max() * (1 - 1e-12)
    np.testing.assert_allclose(norm.dual_rows(X), [norm.dual(row) for row in X])
    x = rng.standard_normal((2000, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    assert norm.ball_radius(d) >= norm.dual_rows(x).max() * (1 - 1e-12)
    rows = X / norm.dual_rows(X)[:, None]
    signs = rng.choice((-1.0, 1.0), (4000, len(X)))
    assert norm.mean_sum(len(X), d) >= norm.dual_rows(signs @ rows).mean() / len(X)


@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize("norm", ALL, ids=lambda norm: norm.name)
def test_a_closed_form_is_a_bound_and_exact_where_it_says_so(norm, gaussian):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((9, 4))
    found = norm.mean_of_columns(np.linalg.norm(X, axis=0), gaussian=gaussian)
    if found is None:
        return
    shape = (200_000, len(X))
    draws = norm.dual_rows((rng.standard_normal(shape) if gaussian else rng.choice((-1.0, 1.0), shape)) @ X).mean()
    assert found[0] >= 0.99 * draws
    assert not found[1] or found[0] == pytest.approx(draws, rel=0.01)


def test_a_norm_of_the_users_has_a_complexity_by_draws():
    X = np.random.default_rng(2).standard_normal((30, 3))
    found = linear_complexity(X, norm_bound=2.0, norm=Weighted(), draws=500)
    assert found.upper >= 2.0 * Weighted().dual_rows(X).max() * np.sqrt(2 / np.pi)  # one row alone, by Jensen
