"""Least bPOE of a linear loss: against a grid of weights, against the bPOE of the point, and by its certificate."""

from __future__ import annotations

import numpy as np
import pytest

from auclab._core.base import AuclabError
from auclab.metrics import bpoe
from auclab.solvers import minimise_bpoe


@pytest.mark.parametrize("seed", range(4))
def test_no_portfolio_of_a_grid_is_better(seed):
    random = np.random.default_rng(seed)
    losses = random.standard_normal((30, 3)) - 0.3
    found = minimise_bpoe(losses, 0.6, nonnegative=True, sum_to=1.0)
    assert found.value == pytest.approx(bpoe(losses @ found.coef, 0.6), abs=1e-9)
    assert found.coef.sum() == pytest.approx(1.0)
    assert found.coef.min() >= 0.0
    grid = [(a, b, 1 - a - b) for a in np.linspace(0, 1, 41) for b in np.linspace(0, 1, 41) if a + b <= 1]
    best = min(bpoe(losses @ np.array(w), 0.6) for w in grid)
    assert found.lower_bound - 1e-9 <= found.value <= best + 1e-9
    assert best - found.value < 0.02


def test_an_offset_needs_no_sum():
    random = np.random.default_rng(1)
    losses, offset = random.standard_normal((20, 1)), random.standard_normal(20)
    found = minimise_bpoe(losses, 0.9, offset=offset)
    assert found.value == pytest.approx(bpoe(losses[:, 0] * found.coef[0] + offset, 0.9), abs=1e-9)
    best = min(bpoe(losses[:, 0] * w + offset, 0.9) for w in np.linspace(-5, 5, 2001))
    assert best - 5e-3 < found.value <= best + 1e-9


def test_weights_act_as_repeated_scenarios():
    losses = np.random.default_rng(2).standard_normal((8, 2))
    twice = minimise_bpoe(np.repeat(losses, 2, axis=0), 0.5, sum_to=1.0, nonnegative=True)
    weighted = minimise_bpoe(losses, 0.5, sum_to=1.0, nonnegative=True, sample_weight=np.full(8, 2.0))
    assert weighted.value == pytest.approx(twice.value, abs=1e-6)


def test_every_loss_above_the_threshold_on_average_has_bpoe_one():
    found = minimise_bpoe([[1.0], [2.0]], 0.5, sum_to=1.0)
    assert found.value == pytest.approx(1.0)
    assert np.isnan(found.coef).all()


def test_shapes_are_checked():
    with pytest.raises(AuclabError, match="row for each scenario"):
        minimise_bpoe([1.0, 2.0], 0.5)
    with pytest.raises(AuclabError, match="offset"):
        minimise_bpoe([[1.0], [2.0]], 0.5, offset=[1.0, 2.0, 3.0])
