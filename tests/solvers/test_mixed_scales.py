"""Tables whose columns differ in scale by many orders: newton finds, and proves, the optimum of the data as given."""

import numpy as np
import pytest

from auclab import CSVM, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import NORMS
from auclab.regularisers import norm_named
from programs import label
from reference_programs import objective


def table(kind, n_rows, seed=0, n_features=8):
    """A third of positives; columns of scales 1e-9 to 1e9, a million with tiny changes, or counts."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_rows) % 3 == 0).astype(int)
    X = rng.normal(size=(n_rows, n_features)) + 0.4 * y[:, None] * rng.normal(size=n_features)
    if kind == "scales":
        return X * 10.0 ** rng.uniform(-9, 9, n_features), y
    if kind == "offset":
        return 1e6 + 1e-3 * X, y
    if kind == "mixed":
        scaled = X * 10.0 ** rng.uniform(-9, 9, n_features)
        return np.where(np.arange(n_features) % 2, 1e6 + 1e-3 * X, scaled), y
    return np.floor(np.exp(rng.uniform(0, 12, n_features)) * np.abs(X)), y


@pytest.mark.parametrize(
    ("program", "kind", "n_rows"),
    [
        (RankSVM(0.01), "scales", 3_000),
        (RankSVM(0.01), "scales", 400),
        (RankSVM(0.01, "l1"), "scales", 3_000),
        (RankSVM(0.01, "linf"), "scales", 3_000),
        (GeneralizedBufferedAUC(-0.1), "scales", 3_000),
        (GeneralizedBufferedAUC(-0.1), "scales", 1_000),
        (GeneralizedBufferedAUC(-0.3), "scales", 2_000),  # proved for w up to ten times as long
        (RankSVM(0.01, "l1"), "mixed", 3_000),
        (RankSVM(0.01, squared=True), "offset", 3_000),
        (BufferedAUC(), "mixed", 3_000),
        (PartialAUC(0.2, 0.01), "scales", 400),
        (CSVM(0.01, squared=True), "counts", 3_000),
    ],
    ids=lambda value: label(value) if hasattr(value, "norm") else str(value),
)
def test_newton_certifies_tables_of_any_scales(program, kind, n_rows):
    X, y = table(kind, n_rows)
    solution = solve(program, X, y, solver="newton")
    assert solution.gap <= 1e-6
    if n_rows < 1_000:
        assert solution.objective == pytest.approx(
            objective(program, solution.coef, solution.intercept, X, y), rel=1e-9
        )


def test_the_exact_finish_ends_where_it_gains_nothing():
    X, y = table("scales", 400)
    solution = solve(GeneralizedBufferedAUC(-0.1), X, y, solver="newton")
    assert solution.gap <= 1e-6
    assert len(solution.history) <= 20  # it went on for 130 steps of half a second


def test_tiny_penalties_are_certified_where_columns_are_far_from_their_mean():
    X, y = table("counts", 20_000, n_features=10)
    solution = solve(RankSVM(0.01, "l1"), X, y, solver="newton")
    assert solution.gap <= 1e-6


@pytest.mark.parametrize("norm", NORMS)
def test_a_shortened_gradient_keeps_columns_of_small_spread(norm):
    rng = np.random.default_rng(0)
    for _ in range(20):
        gradient, spread = rng.normal(size=5), 10.0 ** rng.uniform(-6, 6, 5)
        length = 0.9 * norm_named(norm).dual(gradient)
        weight = (spread / spread.max()) ** 2
        found = norm_named(norm).shortened(gradient, length, weight)
        assert norm_named(norm).dual(found) <= length * (1 + 1e-12)
        plain = (length / norm_named(norm).dual(gradient) - 1.0) * gradient
        assert np.linalg.norm((found - gradient) / spread) <= np.linalg.norm(plain / spread) * (1 + 1e-9)
    assert not norm_named(norm).shortened(gradient, 0.0, weight).any()
